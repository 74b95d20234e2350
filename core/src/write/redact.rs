//! Names, paths and hosts replaced, each by the same stand-in everywhere in the file; structure and times kept.
//!
//! Kept are the names that PyTorch and the GPU vendors gave (`aten::…`, `cuda…`, `ProfilerStep#…`), categories, keys,
//! numbers, shapes and types. Everything else that is text becomes `x` and the first 40 bits of a SHA-256 of the salt and
//! the text. Without the salt, which is not stored, a guess at a name cannot be tried out.

use super::chrome::{Rewrite, value_json};
use crate::rows::quote;
use crate::table::category::Category;
use crate::table::events::{Row, Table};
use crate::table::fields::Value;
use crate::table::layout::Place;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

/// Replaces texts by a salted hash.
#[derive(Clone, Debug)]
pub struct Redact {
    salt: Vec<u8>,
}

impl Redact {
    /// A redactor; the same salt gives the same stand-ins.
    pub fn new(salt: &[u8]) -> Self {
        Redact { salt: salt.to_vec() }
    }

    fn stand_in(&self, text: &str) -> String {
        let mut hash = Sha256::new();
        hash.update((self.salt.len() as u64).to_le_bytes());
        hash.update(&self.salt);
        hash.update(text.as_bytes());
        let digest = hash.finalize();
        let hex: Vec<String> = digest.iter().take(5).map(|b| format!("{b:02x}")).collect();
        format!("x{}", hex.concat())
    }

    /// A name or a text: kept when it is public, else replaced. Frames of a stack are replaced one by one.
    fn text(&self, text: &str) -> String {
        if is_public(text) {
            return text.to_string();
        }
        if text.contains(';') {
            let parts: Vec<String> =
                text.split(';').map(|p| if p.is_empty() { String::new() } else { self.text(p) }).collect();
            return parts.join(";");
        }
        self.frame(text).unwrap_or_else(|| self.stand_in(text))
    }

    /// `path(line): function` with both names replaced; the line is kept.
    fn frame(&self, text: &str) -> Option<String> {
        let (path, rest) = text.split_once('(')?;
        let (line, function) = rest.split_once("): ")?;
        let line: u32 = line.parse().ok()?;
        Some(format!("{}({line}): {}", self.stand_in(path), self.stand_in(function)))
    }

    fn json(&self, value: Json) -> Json {
        match value {
            Json::String(text) => Json::String(self.text(&text)),
            Json::Array(values) => values.into_iter().map(|v| self.json(v)).collect(),
            Json::Object(members) => members
                .into_iter()
                .map(|(key, value)| {
                    let value = if is_public_key(&key) { value } else { self.json(value) };
                    (key, value)
                })
                .collect(),
            other => other,
        }
    }

    fn json_text(&self, json: &str) -> String {
        match serde_json::from_str::<Json>(json) {
            Ok(value) => self.json(value).to_string(),
            Err(_) => quote(&self.stand_in(json)),
        }
    }
}

/// Names that PyTorch, CUDA and the trace format gave.
fn is_public(text: &str) -> bool {
    const NAMESPACES: [&str; 8] =
        ["aten::", "autograd::", "c10d::", "prims::", "profiler::", "at::", "void at::", "ProfilerStep#"];
    const PREFIXES: [&str; 7] = [
        "ncclDevKernel_",
        "ncclKernel_",
        "Memcpy ",
        "Memset ",
        "enumerate(DataLoader)#",
        "PyTorch Profiler",
        "nccl:",
    ];
    const WHOLE: [&str; 18] = [
        "",
        "[memory]",
        "[OutOfMemory]",
        "ac2g",
        "fwdbwd",
        "Context Sync",
        "Event Sync",
        "Stream Sync",
        "Stream Wait Event",
        "CPU",
        "CUPTI Overhead",
        "Spans",
        "Traces",
        "Trace PyTorch Profiler",
        "Iteration Start: PyTorch Profiler",
        "Record Window End",
        "Buffer Flush",
        "Lazy Function Loading",
    ];
    let number = text.chars().all(|c| c.is_ascii_digit() || "-+.[], ".contains(c));
    let metadata = text.starts_with("process_") || text.starts_with("thread_");
    let numbered = |prefix: &str| text.strip_prefix(prefix).is_some_and(|n| n.trim().parse::<u32>().is_ok());
    let call = |prefix: &str| {
        let rest = text.strip_prefix(prefix).unwrap_or("");
        rest.starts_with(|c: char| c.is_ascii_uppercase())
            && rest.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    number
        || metadata
        || numbered("GPU ")
        || numbered("stream ")
        || ["cuda", "cu", "hip"].into_iter().any(call)
        || WHOLE.contains(&text)
        || NAMESPACES.iter().chain(&PREFIXES).any(|p| text.starts_with(p))
}

/// Keys whose texts name types, devices and units.
fn is_public_key(key: &str) -> bool {
    matches!(
        key,
        "Input type"
            | "Output type"
            | "dtype"
            | "Collective name"
            | "limitingFactors"
            | "backend"
            | "backend_config"
            | "nccl_version"
            | "deviceProperties"
            | "displayTimeUnit"
            | "schemaVersion"
            | "baseTimeNanoseconds"
            | "s"
            | "bp"
            | "id"
            | "Backend"
            | "cuda_sync_kind"
            | "finished"
    )
}

impl Rewrite for Redact {
    fn name(&mut self, table: &Table, row: Row) -> Option<String> {
        let device_work = table.category(row).is_device_work() && table.category(row) != Category::Kernel;
        if device_work || table.ph(row) == b'M' {
            return None;
        }
        Some(self.text(table.name(row)))
    }

    fn field(&mut self, _: &Table, _: Row, _: Place, key: &str, value: Value<'_>) -> Option<String> {
        if is_public_key(key) {
            return None;
        }
        match value {
            Value::Text(text) => Some(quote(&self.text(text))),
            Value::Json(json) => Some(self.json_text(json)),
            other => Some(value_json(other)),
        }
    }

    fn id(&mut self, json: &str) -> Option<String> {
        Some(self.json_text(json))
    }

    fn metadata(&mut self, key: &str, json: &str) -> Option<String> {
        (!is_public_key(key)).then(|| self.json_text(json))
    }
}
