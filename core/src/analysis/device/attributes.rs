//! What the arguments of device work say: kinds of copies, annotations of CUDA graphs, limits of occupancy, priorities.

use crate::trace::Trace;
use crate::trace::capture::NODE_ID;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::fields::Value;
use crate::trace::table::layout::FieldPlace;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde_json::Value as Json;

/// The kinds of memory by CUPTI's codes, as Kineto names them.
const MEMORY: [&str; 8] =
    ["Unknown", "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"];

fn argument<'a>(table: &'a Table, row: Row, key: &str) -> Option<Value<'a>> {
    table.field_named(row, FieldPlace::Args, key)
}

fn text<'a>(table: &'a Table, row: Row, key: &str) -> Option<&'a str> {
    argument(table, row, key)?.as_str()
}

/// Returns the name of a copy or memset that has its kind in its arguments, such as `Memcpy HtoD (Pageable -> Device)`.
pub(crate) fn copy_name(table: &Table, row: Row) -> Option<String> {
    match table.name(row) {
        "Memcpy" => {
            let memory = |key| text(table, row, key).map(capitalized);
            let kind = text(table, row, "copy kind").filter(|kind| !kind.is_empty())?;
            Some(match (memory("src kind"), memory("dst kind")) {
                (Some(from), Some(to)) => format!("Memcpy {kind} ({from} -> {to})"),
                _ => format!("Memcpy {kind}"),
            })
        }
        "Memset" => {
            let kind = argument(table, row, "memory kind")?;
            let name = match kind.as_str() {
                Some(name) => capitalized(name),
                None => (*MEMORY.get(usize::try_from(kind.as_i64()?).ok()?)?).to_owned(),
            };
            Some(format!("Memset ({name})"))
        }
        _ => None,
    }
}

/// `device static` as `Device Static`.
fn capitalized(kind: &str) -> String {
    let same = MEMORY.iter().find(|name| name.eq_ignore_ascii_case(kind));
    same.map_or(kind, |name| name).to_owned()
}

/// Returns the annotation that a program gave the node of a CUDA graph: names from the outermost to the innermost, and
/// what has no name as JSON. It is in the arguments, or in a file that was joined.
pub(crate) fn annotation(trace: &Trace, row: Row) -> Option<String> {
    let table = &trace.table;
    argument(table, row, NODE_ID)?;
    let own = argument(table, row, "annotation").and_then(|value| value.as_str().or_else(|| value.as_json()));
    match own.or_else(|| trace.node_annotation(row)) {
        Some(annotation) => scope_names(annotation),
        None => text(table, row, "name").map(ToOwned::to_owned),
    }
}

/// The names of scopes, which are text or JSON.
fn scope_names(annotation: &str) -> Option<String> {
    let name = |scope: &Json| match scope {
        Json::String(name) => name.clone(),
        _ => scope.get("name").and_then(Json::as_str).map_or_else(|| scope.to_string(), ToOwned::to_owned),
    };
    match serde_json::from_str(annotation) {
        Ok(Json::Array(scopes)) => {
            let names: Vec<String> = scopes.iter().map(name).collect();
            (!names.is_empty()).then(|| names.join(" / "))
        }
        Ok(scope @ (Json::Object(_) | Json::String(_))) => Some(name(&scope)),
        _ => Some(annotation.to_owned()),
    }
}

/// Returns what limits the occupancy of a kernel: `WARPS`, `REGS`, `SMEM`, `BLOCKS` or `BARRIERS`, or several with `|`.
pub(crate) fn occupancy_limit(table: &Table, row: Row) -> Option<String> {
    let occupancy: Json = serde_json::from_str(argument(table, row, "occupancy")?.as_json()?).ok()?;
    let limits = occupancy.get("limitingFactors")?.as_str()?;
    (limits != "none").then(|| limits.to_owned())
}
