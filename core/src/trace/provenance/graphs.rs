//! The graphs that `torch.compile` compiled, and their kernels, as its files describe them.

use super::code::{Code, Nodes, nodes_of};
use super::kind::CompiledKind;
use super::names::generated;
use super::text::{cut_last, member, names, number, push_new, text, texts};
use super::traceback::{Line, user_line};
use crate::base::order::{sort_by, sort_by_key};
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use serde_json::Value as Json;

/// A graph that Inductor compiled.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CompiledGraph {
    /// The frame and its number of compilations, such as `0/1`.
    pub(crate) compile_id: Option<String>,
    pub(crate) kind: Option<CompiledKind>,
    /// The number of the graph in its process.
    pub(crate) number: Option<u32>,
    /// The key in the cache of graphs, which calls have in their names.
    pub(crate) key: Option<String>,
    /// The base name of the generated file.
    pub(crate) file: Option<String>,
    /// Whether it was in the cache of Inductor: the lines are then those of the program that was compiled first.
    pub(crate) is_cached: bool,
    /// The kernels and external calls, in the order of the code.
    pub(crate) kernels: Vec<CompiledKernel>,
}

/// A call of a kernel in generated code.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CompiledKernel {
    /// The name of the kernel, or of the function that an external call is of.
    pub(crate) name: String,
    /// PyTorch's number of the call in the code.
    pub(crate) handle: u32,
    /// The nodes of the graph that Inductor lowered.
    pub(crate) nodes: Vec<String>,
    /// The nodes of the graph as the program has it, whose names are mostly those of variables.
    pub(crate) source_nodes: Vec<String>,
    /// The operators of the nodes.
    pub(crate) operators: Vec<String>,
    /// The innermost lines of the program that the nodes come from, sorted.
    pub(crate) lines: Vec<Line>,
}

impl CompiledGraph {
    /// Whether both have the same kernels, which come from the same nodes and lines. What else is known of them can differ: a log of a
    /// cache hit has no graph.
    pub(super) fn comes_from_same(&self, other: &CompiledGraph) -> bool {
        self.kernels.len() == other.kernels.len()
            && self.kernels.iter().zip(&other.kernels).all(|(own, other)| {
                (&own.name, own.handle) == (&other.name, other.handle) && own.comes_from_same(other)
            })
    }
}

impl CompiledKernel {
    pub(super) fn comes_from_same(&self, other: &CompiledKernel) -> bool {
        self.lines == other.lines && self.nodes == other.nodes
    }
}

/// What the files say about one graph.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) compile_id: Option<String>,
    pub(super) kind: Option<CompiledKind>,
    pub(super) number: Option<u32>,
    pub(super) key: Option<String>,
    pub(super) file: Option<String>,
    pub(super) is_cached: bool,
    pub(super) code: Option<Code>,
    /// The text of the graph that Inductor lowers.
    pub(super) graph: Option<String>,
    pub(super) mappings: Option<Json>,
    pub(super) stacks: Option<Json>,
    /// `kernel_information.json`.
    pub(super) information: Option<Json>,
}

impl Parts {
    /// Takes the key from the record about the cache.
    #[expect(clippy::needless_pass_by_value, reason = "it is used as all functions that add JSON")]
    pub(super) fn set_key(&mut self, json: Json) {
        self.key = text(&json, "key").map(ToOwned::to_owned);
    }

    /// Puts together what the files say.
    pub(super) fn finish(self) -> CompiledGraph {
        let nodes = self.graph.as_deref().map(nodes_of).unwrap_or_default();
        let kernels = self.handles().iter().filter_map(|handle| self.kernel(handle, &nodes)).collect();
        let code = self.code.unwrap_or_default();
        CompiledGraph {
            compile_id: self.compile_id,
            kind: self.kind.or(code.kind),
            number: self.number.or(code.number),
            key: self.key,
            file: self.file,
            is_cached: self.is_cached,
            kernels,
        }
    }

    /// The calls of kernels as `NAME:NUMBER`: those in the code, else those in the other files.
    fn handles(&self) -> Vec<String> {
        if let Some(code) = self.code.as_ref().filter(|code| !code.handles.is_empty()) {
            return code.handles.clone();
        }
        let mapped = self.mappings.as_ref().and_then(|mappings| member(mappings, "cppCodeToPost"));
        let mut handles: Vec<String> = Vec::new();
        for keys in [mapped, self.stacks.as_ref(), self.information.as_ref()].into_iter().flatten() {
            names(keys)
                .into_iter()
                .filter(|key| split(key).is_some())
                .for_each(|key| handles.push(key.into()));
        }
        sort_by_key(&mut handles, |handle| (split(handle).map_or(0, |of| i64::from(of.1)), 0));
        handles.dedup();
        handles
    }

    fn kernel(&self, handle: &str, all: &Nodes) -> Option<CompiledKernel> {
        let (name, number) = split(handle)?;
        let information = self.information.as_ref().and_then(|all| member(all, handle));
        let field = |key| information.and_then(|one| member(one, key));
        let mapping = |key, of: &str| member(member(self.mappings.as_ref()?, key)?, of);
        let nodes = texts(mapping("cppCodeToPost", handle).or_else(|| field("post_grad_nodes")));
        let mut source_nodes = texts(field("pre_grad_nodes"));
        if source_nodes.is_empty() {
            for node in &nodes {
                for before in texts(mapping("postToPre", node)) {
                    push_new(&mut source_nodes, &before);
                }
            }
        }
        let stacks =
            self.stacks.as_ref().and_then(|all| member(all, handle)).or_else(|| field("stack_traces"));
        let mut lines: Vec<Line> = texts(stacks).iter().filter_map(|stack| user_line(stack)).collect();
        let (has_lines, mut operators) = (!lines.is_empty(), Vec::new());
        for node in nodes.iter().filter_map(|name| all.get(name)) {
            node.operator.iter().for_each(|name| push_new(&mut operators, name));
            lines.extend(node.line.iter().filter(|_| !has_lines).cloned());
        }
        // The comment above an external call lists what produces its inputs as well.
        if operators.is_empty() && generated(name).is_some() {
            let original = self.code.as_ref().and_then(|code| code.original(handle));
            operators = original.unwrap_or_default().to_vec();
        }
        sort_by(&mut lines, Ord::cmp);
        lines.dedup();
        Some(CompiledKernel { name: name.into(), handle: number, nodes, source_nodes, operators, lines })
    }
}

/// `NAME:NUMBER` as its parts.
fn split(handle: &str) -> Option<(&str, u32)> {
    let (name, last) = cut_last(handle, b':')?;
    Some((name, number(last)?))
}
