//! The texts that Inductor writes: generated code, and graphs.

use super::kind::CompiledKind;
use super::text::{before, cut, cut_last, number};
use super::traceback::{Line, line_of_comment};
use crate::base::order::sort_by;
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
    /// The operators before decomposition: of a call, or of the kernel with this name; sorted.
    original: Vec<(String, Vec<String>)>,
}

impl Code {
    /// Reads the comments of generated code.
    pub(super) fn read(text: &str) -> Code {
        let mut code = Code::default();
        let mut above: Option<Vec<String>> = None;
        for line in text.lines().map(str::trim) {
            let comment = line.strip_prefix('#').or_else(|| line.strip_prefix("//"));
            if let Some(comment) = comment {
                code.read_comment(comment.trim_start(), &mut above);
            } else if above.is_some()
                && let Some((name, _)) = cut(line, " = async_compile.")
            {
                code.original.extend(above.take().map(|operators| (name.into(), operators)));
            }
        }
        sort_by(&mut code.original, |a, b| a.0.cmp(&b.0));
        code
    }

    fn read_comment(&mut self, comment: &str, above: &mut Option<Vec<String>>) {
        if let Some(id) = comment.strip_prefix("AOT ID: ['") {
            (self.number, self.kind) = graph_name(before(id, "'"));
        } else if let Some(handle) = comment.strip_prefix("[Provenance debug handles] ") {
            let handle = handle.trim();
            self.handles.push(handle.into());
            self.original.extend(above.take().map(|operators| (handle.into(), operators)));
        } else if let Some((_, list)) = cut(comment, "Original ATen: [") {
            let names = before(list, "]").split(',').map(str::trim).filter(|name| !name.is_empty());
            *above = Some(names.map(ToOwned::to_owned).collect());
        }
    }

    /// The operators before decomposition of a call.
    pub(super) fn original(&self, handle: &str) -> Option<&[String]> {
        let of = |name: &str| {
            let at = self.original.partition_point(|one| *one.0 < *name);
            self.original.get(at).filter(|one| one.0 == name).map(|one| one.1.as_slice())
        };
        of(handle).or_else(|| of(cut_last(handle, b':')?.0))
    }
}

/// `0_forward` as a number and a kind.
pub(super) fn graph_name(name: &str) -> (Option<u32>, Option<CompiledKind>) {
    let (first, kind) = cut(name, "_").unwrap_or((name, ""));
    (number(first), CompiledKind::ALL.into_iter().find(|one| one.as_str() == kind))
}

/// A node of a graph: its operator, and the line that it comes from.
pub(super) struct Node {
    name: String,
    pub(super) operator: Option<String>,
    pub(super) line: Option<Line>,
}

/// The nodes of a graph, sorted by name.
#[derive(Default)]
pub(super) struct Nodes(Vec<Node>);

impl Nodes {
    pub(super) fn get(&self, name: &str) -> Option<&Node> {
        let at = self.0.partition_point(|node| *node.name < *name);
        self.0.get(at).filter(|node| node.name == name)
    }
}

/// The nodes in the text of a graph.
pub(super) fn nodes_of(text: &str) -> Nodes {
    let mut nodes = Vec::new();
    let mut line = None;
    for row in text.lines().map(str::trim) {
        if let Some((_, place)) = row.strip_prefix('#').and_then(|comment| cut(comment, "File: ")) {
            line = line_of_comment(before(place, ", code: "));
        } else if let Some((name, value)) = assignment(row) {
            let operator = value.strip_prefix("torch.ops.").map(|call| before(call, "(").to_owned());
            nodes.push(Node { name: name.into(), operator, line: line.clone() });
        }
    }
    sort_by(&mut nodes, |a, b| a.name.cmp(&b.name));
    Nodes(nodes)
}

/// `mul: "f32[4]" = torch.ops.aten.mul.Tensor(a, b)` as the name and the value.
fn assignment(row: &str) -> Option<(&str, &str)> {
    let end = row.bytes().position(|c| c != b'_' && !c.is_ascii_alphanumeric())?;
    let (name, rest) = row.split_at(end);
    let value = match rest.strip_prefix(": \"") {
        Some(typed) => cut(typed, "\" = ")?.1,
        None => rest.strip_prefix(" = ")?,
    };
    (!name.is_empty()).then_some((name, value))
}
