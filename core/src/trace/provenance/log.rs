//! The structured log that PyTorch writes with `TORCH_TRACE`: records of one line, some with a payload of lines that begin with a
//! tab.

use super::code::Code;
use super::frames::{Break, CompiledFrame};
use super::graphs::Parts;
use super::text::{base_name, count, cut, member, text};
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

/// The number of lines before the first record that can be something else, such as output of the program.
const MOST_BEFORE: usize = 1000;

/// Whether a text is a structured log: one of its first lines is a record.
pub(super) fn is_log(content: &str) -> bool {
    content.lines().take(MOST_BEFORE).any(|line| record_of(line).is_some())
}

/// `V1130 09:15:09.165000 23524 torch/file.py:1390] {"artifact": …}`: the JSON after the source.
fn record_of(line: &str) -> Option<&str> {
    let line = line.trim_start_matches('\u{feff}');
    let is_record = matches!(line.as_bytes(), [b'V' | b'D' | b'I' | b'W' | b'E', b'0'..=b'9', ..]);
    let (head, _) = cut(line, "] {").filter(|_| is_record)?;
    Some(&line[head.len() + 2..])
}

impl Log {
    /// Reads a log. Records that are damaged are left out.
    pub(super) fn read(content: &str) -> Log {
        let mut log = Log::default();
        let mut lines = content.lines().peekable();
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
        if let Some(code) = member(record, "inductor_output_code") {
            let graph = self.pending.iter().position(|(of, _)| *of == id).map(|at| self.pending.remove(at).1);
            let file = text(code, "filename").map(|path| base_name(path).to_owned());
            let code = Some(Code::read(&payload));
            self.graphs.push(Parts { compile_id: id, file, code, graph, ..Parts::default() });
        } else if let Some(metrics) = member(record, "compilation_metrics") {
            self.frames.extend(CompiledFrame::read(metrics));
        } else if let Some(name) = member(record, "artifact").and_then(|one| text(one, "name")) {
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
            "inductor_provenance_tracking_node_mappings" => {
                self.add_to_graph(id.as_deref(), &payload, |graph, json| graph.mappings = Some(json));
            }
            "inductor_provenance_tracking_kernel_stack_traces" => {
                self.add_to_graph(id.as_deref(), &payload, |graph, json| graph.stacks = Some(json));
            }
            "fx_graph_cache_miss" | "fx_graph_cache_bypass" => {
                self.add_to_graph(id.as_deref(), &payload, Parts::set_key);
            }
            "fx_graph_cache_hit" => {
                self.add_to_graph(id.as_deref(), &payload, |graph, json| {
                    graph.is_cached = true;
                    graph.set_key(json);
                });
            }
            _ => {}
        }
    }

    /// Adds JSON to the last graph of a compilation.
    fn add_to_graph(&mut self, id: Option<&str>, payload: &str, add: fn(&mut Parts, Json)) {
        let graph = self.graphs.iter_mut().rev().find(|graph| graph.compile_id.as_deref() == id);
        if let (Some(graph), Ok(json)) = (graph, serde_json::from_str(payload)) {
            add(graph, json);
        }
    }
}

/// The frame of a record, and its number of compilations, as `0/1`.
fn compile_id(record: &Json) -> Option<String> {
    Some(format!("{}/{}", count(record, "frame_id")?, count(record, "frame_compile_id")?))
}
