//! The functions that analysts of traces need and SQL lacks.

mod answers;
mod intervals;
mod lookups;

use super::cached::Cached;
use datafusion::execution::context::SessionContext;
use datafusion::functions_aggregate::approx_percentile_cont::approx_percentile_cont_udaf;
use datafusion::logical_expr::{AggregateUDF, ScalarUDF};
use std::sync::Arc;

/// Registers the functions that need no trace: `busy_ns`, `exposed_ns`, `overlap` and `quantile`.
pub(super) fn register(context: &SessionContext) {
    context.register_udaf(AggregateUDF::from(intervals::Union::busy()));
    context.register_udaf(AggregateUDF::from(intervals::Union::exposed()));
    context.register_udf(ScalarUDF::from(intervals::Overlap::default()));
    context.register_udaf(approx_percentile_cont_udaf().as_ref().clone().with_aliases(["quantile"]));
}

/// Registers the functions about traces in memory: `ancestors`, `step_of`, `launch_of`, and one for each query of the engine.
pub(super) fn register_for(context: &SessionContext, traces: &Arc<[Cached]>) {
    for lookup in lookups::all(traces) {
        context.register_udf(ScalarUDF::from(lookup));
    }
    for (name, answer) in answers::all(traces) {
        context.register_udtf(&name, Arc::new(answer));
    }
}
