//! The grouping of operators, which is also the value of an option.

/// The grouping of events, in addition to name, device and whether they are user annotations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupBy {
    /// PyTorch's `group_by_input_shape`.
    pub shape: bool,
    /// PyTorch's `group_by_stack_n`: the number of frames; 0 for none.
    pub stack: usize,
    /// PyTorch's `group_by_overload_name`.
    pub overload: bool,
    /// Group by the innermost enclosing module, in place of the first frames; PyTorch has no such grouping.
    pub module: bool,
    /// PyTorch's `include_python_functions`: calls of Python functions are rows, too. Versions 2.12 and 2.13 always
    /// included them; before, they were not events.
    pub python_functions: bool,
}

impl GroupBy {
    /// Every grouping of PyTorch, with complete stacks.
    pub(crate) const ALL: GroupBy =
        GroupBy { shape: true, stack: usize::MAX, overload: true, module: false, python_functions: true };

    /// Returns the grouping with input shapes added.
    #[must_use]
    pub fn by_shape(self) -> GroupBy {
        GroupBy { shape: true, ..self }
    }

    /// Returns the grouping with the first `frames` frames of the stack added.
    #[must_use]
    pub fn by_stack(self, frames: usize) -> GroupBy {
        GroupBy { stack: frames, ..self }
    }

    /// Returns the grouping with the overload name added.
    #[must_use]
    pub fn by_overload(self) -> GroupBy {
        GroupBy { overload: true, ..self }
    }

    /// Returns the grouping with the innermost enclosing module added, in place of the stack.
    #[must_use]
    pub fn by_module(self) -> GroupBy {
        GroupBy { module: true, ..self }
    }

    /// Returns the grouping with calls of Python functions as rows.
    #[must_use]
    pub fn with_python_functions(self) -> GroupBy {
        GroupBy { python_functions: true, ..self }
    }
}
