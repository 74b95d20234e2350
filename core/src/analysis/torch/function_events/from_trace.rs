//! The stages that build the function events of a trace: events, memory, tree, names, kernels, merging, sums, inputs,
//! stacks.

use super::FunctionEvents;
use super::build::Builder;
use super::call_sites::CallSites;
use super::stacks::Stacks;
use crate::base::error::Error;
use crate::trace::Trace;

impl FunctionEvents {
    /// Builds the function events of a trace.
    pub fn new(trace: &Trace) -> FunctionEvents {
        FunctionEvents::new_until(trace, || false)
    }

    /// Builds the function events of a trace that are collected, earliest first, before `is_over` returns true: PyTorch's
    /// `post_processing_timeout_s`. It is called before each event. The trace must not be of legacy records, which are
    /// always complete.
    pub fn new_until(trace: &Trace, is_over: impl FnMut() -> bool) -> FunctionEvents {
        let mut builder = Builder::new(trace, true, is_over);
        builder.describe_inputs();
        let (stacks, stack_of) = Stacks::new(trace, &builder.out).build();
        FunctionEvents { stacks, stack_of, ..builder.out }
    }

    /// Returns the same events with the lines of calls in their stacks instead of the lines of function definitions.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] if the trace has no such lines.
    pub fn with_call_sites(self, trace: &Trace) -> Result<FunctionEvents, Error> {
        let message =
            "call-sites: this trace has no lines of calls; PyTorch records them since 2.14, with_stack=True";
        let calls = CallSites::new(trace).ok_or_else(|| Error::BadOption(message.into()))?;
        let (stacks, stack_of) = Stacks::with_call_sites(trace, &self, calls).build();
        Ok(FunctionEvents { stacks, stack_of, ..self })
    }

    /// Builds the function events of a trace without shapes, stacks, FLOPs and PyTorch's floating point times. This
    /// takes less memory if only exact times are needed.
    pub fn without_inputs(trace: &Trace) -> FunctionEvents {
        Builder::new(trace, false, || false).out
    }
}

impl<'a> Builder<'a> {
    /// Returns a builder that has completed every stage except the description of inputs.
    fn new(trace: &'a Trace, wants_all: bool, is_over: impl FnMut() -> bool) -> Self {
        let mut builder = Builder { wants_all, ..Builder::start(trace) };
        builder.collect();
        builder.cut(is_over);
        builder.attribute_memory();
        builder.flag_async();
        builder.build_tree();
        builder.name_events();
        builder.attach_kernels();
        builder.merge_lone_children();
        builder.sum_up();
        builder
    }
}
