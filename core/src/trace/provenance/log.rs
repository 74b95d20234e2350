//! The structured log that PyTorch writes with `TORCH_TRACE`: records of one line, some with a payload of lines that begin with a
//! tab.

use super::code::Code;
use super::frames::{Break, CompiledFrame};
use super::graphs::Parts;
use super::traceback::base_name;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde_json::Value as Json;

/// What a log has about graphs and frames.
#[derive(Default)]
pub(super) struct Log {
    pub(super) graphs: Vec<Parts>,
    pub(super) frames: Vec<CompiledFrame>,
    pub(super) breaks: Vec<Break>,
    /// The texts of graphs whose code did not follow yet, by compile id.
    pending: Vec<(Option<String>, String)>,
}

/// Whether a text is a structured log: its first line is a record.
pub(super) fn is_log(text: &str) -> bool {
    text.lines().next().is_some_and(|line| record_of(line).is_some())
}

/// `V1130 09:15:09.165000 23524 torch/file.py:1390] {"artifact": …}`: the JSON after the source.
fn record_of(line: &str) -> Option<&str> {
    let is_level = line.starts_with(['V', 'D', 'I', 'W', 'E']);
    let at =
        line.find("] {").filter(|_| is_level && line.as_bytes().get(1).is_some_and(u8::is_ascii_digit))?;
    Some(&line[at + 2..])
}

impl Log {
    /// Reads a log. Records that are damaged are left out.
    pub(super) fn read(text: &str) -> Log {
        let mut log = Log::default();
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let Some(Ok(record)) = record_of(line).map(serde_json::from_str::<Json>) else { continue };
            let mut payload = String::new();
            while let Some(line) = lines.next_if(|line| line.starts_with('\t')) {
                payload.push_str(&line[1..]);
                payload.push('\n');
            }
            log.add(&record, payload);
        }
        log
    }

    fn add(&mut self, record: &Json, payload: String) {
        let id = compile_id(record);
        if let Some(code) = record.get("inductor_output_code") {
            let graph = self.pending.iter().position(|(of, _)| *of == id).map(|at| self.pending.remove(at).1);
            let file = code.get("filename").and_then(Json::as_str).map(base_name);
            let code = Some(Code::read(&payload));
            self.graphs.push(Parts { compile_id: id, file, code, graph, ..Parts::default() });
        } else if let Some(metrics) = record.get("compilation_metrics") {
            self.frames.extend(CompiledFrame::read(metrics));
        } else if let Some(name) = record.get("artifact").and_then(|one| one.get("name")?.as_str()) {
            self.add_artifact(name, id, payload);
        }
    }

    fn add_artifact(&mut self, name: &str, id: Option<String>, payload: String) {
        match name {
            "inductor_post_grad_graph" => {
                self.pending.retain(|(of, _)| *of != id);
                self.pending.push((id, payload));
            }
            "dynamo_graph_break_reason" => self.breaks.extend(Break::read(id, &payload)),
            _ => {
                let Some(graph) = self.graphs.iter_mut().rev().find(|graph| graph.compile_id == id) else {
                    return;
                };
                let json = || serde_json::from_str::<Json>(&payload).ok();
                match name {
                    "inductor_provenance_tracking_node_mappings" => graph.mappings = json(),
                    "inductor_provenance_tracking_kernel_stack_traces" => graph.stacks = json(),
                    "fx_graph_cache_miss" | "fx_graph_cache_hit" | "fx_graph_cache_bypass" => {
                        graph.key = json().and_then(|json| Some(json.get("key")?.as_str()?.to_owned()));
                    }
                    _ => {}
                }
            }
        }
    }
}

/// The frame of a record, and its number of compilations, as `0/1`.
fn compile_id(record: &Json) -> Option<String> {
    let number = |key| record.get(key).and_then(Json::as_u64);
    Some(format!("{}/{}", number("frame_id")?, number("frame_compile_id")?))
}
