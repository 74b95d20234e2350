//! The texts that Inductor writes: generated code, and graphs.

use super::kind::CompiledKind;
use super::traceback::{Line, line_of_comment};
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

/// What generated code says about itself in its comments.
#[derive(Default)]
pub(super) struct Code {
    pub(super) number: Option<u32>,
    pub(super) kind: Option<CompiledKind>,
    /// The calls of kernels as `NAME:NUMBER`, in their order.
    pub(super) handles: Vec<String>,
    /// The operators before decomposition: of a call, or of the kernel with this name.
    original: Vec<(String, Vec<String>)>,
}

impl Code {
    /// Reads the comments of generated code.
    pub(super) fn read(text: &str) -> Code {
        let mut code = Code::default();
        let mut above: Option<Vec<String>> = None;
        for line in text.lines().map(str::trim) {
            let comment = line.strip_prefix('#').or_else(|| line.strip_prefix("//")).map(str::trim_start);
            match comment {
                Some(comment) => code.read_comment(comment, &mut above),
                None => {
                    if let (Some((name, _)), Some(_)) = (line.split_once(" = async_compile."), &above) {
                        code.original.push((name.into(), above.take().unwrap_or_default()));
                    }
                }
            }
        }
        code
    }

    fn read_comment(&mut self, comment: &str, above: &mut Option<Vec<String>>) {
        if let Some(id) = comment.strip_prefix("AOT ID: ['").and_then(|rest| rest.split('\'').next()) {
            (self.number, self.kind) = graph_name(id);
        } else if let Some(handle) = comment.strip_prefix("[Provenance debug handles] ") {
            self.handles.push(handle.trim().into());
            self.original.extend(above.take().map(|operators| (handle.trim().into(), operators)));
        } else if let Some((_, list)) = comment.split_once("Original ATen: [") {
            let list = list.split(']').next().unwrap_or("");
            let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
            *above = Some(names.map(ToOwned::to_owned).collect());
        }
    }

    /// The operators before decomposition of a call.
    pub(super) fn original(&self, handle: &str) -> Option<&[String]> {
        let of = |name: &str| self.original.iter().find(|one| one.0 == name).map(|one| one.1.as_slice());
        of(handle).or_else(|| of(handle.rsplit_once(':')?.0))
    }
}

/// `0_forward` as a number and a kind.
pub(super) fn graph_name(name: &str) -> (Option<u32>, Option<CompiledKind>) {
    let (number, kind) = name.split_once('_').unwrap_or((name, ""));
    (number.parse().ok(), CompiledKind::ALL.into_iter().find(|one| one.as_str() == kind))
}

/// A node of a graph: its operator, and the line that it comes from.
pub(super) struct Node {
    pub(super) name: String,
    pub(super) operator: Option<String>,
    pub(super) line: Option<Line>,
}

/// The nodes in the text of a graph.
pub(super) fn nodes_of(text: &str) -> Vec<Node> {
    let mut nodes = Vec::new();
    let mut line = None;
    for row in text.lines().map(str::trim) {
        if let Some((_, place)) = row.strip_prefix('#').and_then(|comment| comment.split_once("File: ")) {
            line = line_of_comment(place.split(", code: ").next().unwrap_or(place));
        } else if let Some((name, value)) = assignment(row) {
            let operator = value.strip_prefix("torch.ops.").and_then(|call| call.split('(').next());
            let operator = operator.map(ToOwned::to_owned);
            nodes.push(Node { name: name.into(), operator, line: line.clone() });
        }
    }
    nodes
}

/// `mul: "f32[4]" = torch.ops.aten.mul.Tensor(a, b)` as the name and the value.
fn assignment(row: &str) -> Option<(&str, &str)> {
    let end = row.find(|c: char| c != '_' && !c.is_ascii_alphanumeric())?;
    let (name, rest) = row.split_at(end);
    let value = match rest.strip_prefix(": \"") {
        Some(typed) => typed.split_once("\" = ")?.1,
        None => rest.strip_prefix(" = ")?,
    };
    (!name.is_empty()).then_some((name, value))
}
