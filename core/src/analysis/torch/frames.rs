//! Frames of Python stacks, and the distinct stacks of a trace.

use crate::base::handle::handle;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// The prefix of the names of `nn.Module` calls in Kineto.
pub(crate) const MODULE_PREFIX: &str = "nn.Module: ";

handle! {
    /// The index of a stack in a [`StackTable`].
    pub struct StackId;
}

impl StackId {
    /// The empty stack, which is the first of every table.
    pub(super) const EMPTY: StackId = StackId::new(0);
}

/// Distinct stacks, innermost frame first.
#[derive(Clone, Debug, Default)]
pub struct StackTable {
    stacks: Vec<Vec<String>>,
}

impl StackTable {
    /// Returns a table that has only the empty stack.
    pub(super) fn new() -> StackTable {
        StackTable { stacks: vec![Vec::new()] }
    }

    pub(super) fn push(&mut self, frames: Vec<String>) {
        self.stacks.push(frames);
    }

    /// Returns the frames of a stack; none for an unknown id.
    pub fn get(&self, id: StackId) -> &[String] {
        self.stacks.get(id.index()).map_or(&[], Vec::as_slice)
    }

    /// Returns the number of stacks, including the empty one.
    pub fn len(&self) -> usize {
        self.stacks.len()
    }

    /// Returns whether no stack was recorded.
    pub fn is_empty(&self) -> bool {
        self.stacks.len() <= 1
    }
}

/// Returns whether PyTorch shows this frame: it omits those of the autograd entry points and of its test helpers.
pub fn is_shown(frame: &str) -> bool {
    const LEFT_OUT: [(&str, &str); 6] = [
        ("autograd/__init__", "_make_grads"),
        ("autograd/__init__", "backward"),
        ("torch/tensor", "backward"),
        ("_internal/common_utils", "prof_callable"),
        ("_internal/common_utils", "prof_func_call"),
        ("_internal/common_utils", "prof_meth_call"),
    ];
    !LEFT_OUT.iter().any(|(file, function)| frame.contains(file) && frame.contains(function))
}
