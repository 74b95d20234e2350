//! The function events of a trace, step by step: collect, memory, tree, names, kernels, merging, sums, inputs, stacks.

use super::FunctionEvents;
use super::build::Builder;
use super::stacks::Stacks;
use crate::trace::Trace;

impl FunctionEvents {
    /// The function events of a trace.
    pub fn new(trace: &Trace) -> FunctionEvents {
        let mut builder = Builder::of(trace, true);
        builder.describe_inputs();
        let (stacks, stack_of) = Stacks::new(trace, &builder.out).build();
        FunctionEvents { stacks, stack_of, ..builder.out }
    }

    /// The function events of a trace without shapes, stacks, FLOPs and torch's floating point times: less memory where only
    /// exact times are asked for.
    pub fn without_inputs(trace: &Trace) -> FunctionEvents {
        Builder::of(trace, false).out
    }
}

impl<'a> Builder<'a> {
    /// A builder that has done everything but describe the inputs.
    fn of(trace: &'a Trace, wants_all: bool) -> Self {
        let mut builder = Builder { wants_all, ..Builder::start(trace) };
        builder.collect();
        builder.attribute_memory();
        builder.flag_results();
        builder.build_tree();
        builder.name_events();
        builder.attach_kernels();
        builder.merge_lone_children();
        builder.sum_up();
        builder
    }
}
