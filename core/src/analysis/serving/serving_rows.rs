//! The answer of `serving` as rows.

use super::answer::ServingAnswer;
use super::graphs::Graph;
use super::groups::{Group, ServingBound};
use super::parts::{PARTS, Part};
use super::served::Served;
use super::serving_text::text;
use crate::analysis::context::Analysis;
use crate::analysis::query::options::ListOptions;
use crate::analysis::query::question::Question;
use crate::analysis::query::{Answer, Input, Query};
use crate::base::rows::{Column, Kinds, Rows, RowsOfKinds, Variant, columns};
use crate::base::words::words;
use crate::trace::Trace;

/// The query `serving`.
pub(crate) const SERVING: Query = Query::with_kinds(
    "serving",
    "Inference engines: phases, tokens, and what bounds iterations",
    &KINDS,
    |trace, request| {
        let analysis = Analysis::new(trace).run_by(request.join);
        let answer = ServingAnswer::new(&analysis);
        if request.for_reading {
            let is_empty = answer.served.is_empty();
            return Ok(if is_empty { Rows::default().into() } else { Answer::page(text(trace, &answer)) });
        }
        Ok(request.limited(rows(trace, &answer)))
    },
)
.examples(&["run.json", "run.json --steps-from '^turn (?<batch>\\d+)$'"])
.options::<ListOptions>()
.inputs(&[Input::KernelRules, Input::StepRules, Input::Captures])
.questions(&[Question::Steps])
.hint(
    "no range has the name of an iteration, and launches do not repeat; --steps-from names the ranges, --step-rules a file with patterns",
);

words! {
    "ServingKind"
    /// What a row of `serving` is about.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum ServingKind {
        /// All iterations.
        Total = "total",
        /// The iterations of one phase.
        Phase = "phase",
        /// Those of one phase with the same number of requests and a similar number of tokens.
        Batch = "batch",
        /// A graph that is replayed.
        Graph = "graph",
        /// One iteration.
        Iteration = "iteration",
    }
}

const KINDS: Kinds = Kinds {
    column: Column::word("kind", "Kind", &ServingKind::VOCABULARY, "What the row is about."),
    variants: &[
        Variant { name: "Group", kinds: &["total", "phase", "batch"], columns: GROUP },
        Variant { name: "Graph", kinds: &["graph"], columns: GRAPH },
        Variant { name: "Iteration", kinds: &["iteration"], columns: ITERATION },
    ],
};

fn rows(trace: &Trace, answer: &ServingAnswer<'_>) -> Rows {
    let mut rows = RowsOfKinds::new(&KINDS);
    if answer.served.is_empty() {
        return rows.finish();
    }
    rows.push(ServingKind::Total.as_str(), group(None, answer, &answer.total));
    for (phase, members) in &answer.phases {
        rows.push(ServingKind::Phase.as_str(), group(Some(phase), answer, members));
    }
    for (first, members) in &answer.kinds {
        rows.push(ServingKind::Batch.as_str(), group(Some(&first.name.phase), answer, members));
    }
    for (at, replayed) in answer.graphs.iter().enumerate() {
        rows.push(ServingKind::Graph.as_str(), graph(trace, at + 1, replayed));
    }
    for one in answer.served {
        rows.push(ServingKind::Iteration.as_str(), iteration(trace, one));
    }
    rows.finish()
}

const PHASE: Column = Column::text(
    "phase",
    "Phase",
    "The phase, such as prefill, decode or mixed; of inferred iterations, `kind 1` for the largest group with the same launches, and so on, and `other` for those that do not repeat.",
);
const WALL: Column = Column::ns(
    "wall_ns",
    "Wall",
    "From the end of the iteration before to its own, when its range and its work have ended; attention_ns to between_ns add up to it. In a group, the sum.",
);
const BUSY: Column =
    Column::ns("busy_ns", "GPU busy", "The part of it in which the device works: attention_ns to copies_ns.");
const ATTENTION: Column =
    Column::ns("attention_ns", "Attention", "Wall time during which kernels of attention ran.").minor();
const KV_CACHE: Column = Column::ns(
    "kv_cache_ns",
    "KV cache",
    "Wall time during which kernels of the cache of keys and values ran, and none of the above.",
)
.minor();
const GEMM: Column =
    Column::ns("gemm_ns", "GEMM", "Wall time in matrix products and convolutions, and none of the above.")
        .minor();
const MOE_GEMM: Column =
    Column::ns("moe_gemm_ns", "MoE GEMM", "Wall time in matrix products of experts, and none of the above.")
        .minor();
const MOE_ROUTING: Column = Column::ns(
    "moe_routing_ns",
    "MoE routing",
    "Wall time in the routing to experts, and none of the above.",
)
.minor();
const MOE_FINALIZE: Column = Column::ns(
    "moe_finalize_ns",
    "MoE finalize",
    "Wall time in sums of the outputs of experts, and none of the above.",
)
.minor();
const SAMPLING: Column = Column::ns("sampling_ns", "Sampling", "Wall time in kernels that choose tokens, by their names or launched in a range of the engine that samples, and none of the above.").minor();
const OTHER: Column = Column::ns(
    "other_kernels_ns",
    "Other",
    "Wall time in other kernels that compute, and none of the above.",
)
.minor();
const COMMUNICATION: Column = Column::ns(
    "communication_ns",
    "Communication",
    "Wall time in communication that no kernel that computes hides.",
)
.minor();
const MOE_DISPATCH: Column = Column::ns(
    "moe_dispatch_ns",
    "MoE dispatch",
    "Wall time in the exchange of tokens between experts, and none of the above.",
)
.minor();
const COPIES: Column =
    Column::ns("copies_ns", "Copies", "Wall time in copies and memsets, and none of the above.").minor();
const QUEUED: Column = Column::ns(
    "queued_ns",
    "Queued",
    "No device of the process works, and work that was launched has not started.",
)
.minor();
const LAUNCH: Column = Column::ns(
    "launch_ns",
    "Launch",
    "No device of the process works and nothing is queued, and the host is in a range, in a call that launches work.",
)
.minor();
const HOST: Column = Column::ns(
    "host_ns",
    "Host",
    "No device of the process works and nothing is queued, and the host is elsewhere in a range.",
)
.minor();
const BETWEEN: Column = Column::ns(
    "between_ns",
    "Between",
    "No device of the process works and nothing is queued, and the host is in no range.",
)
.minor();
const EVENT: Column = Column::int("event", "", "The index of its range, or of its first launch call.");
const TOKENS: Column = Column::int(
    "tokens",
    "Tokens",
    "The number of tokens that are computed, as the names state it; null if one does not.",
)
.nullable();
const GENERATED: Column = Column::int("generated", "Generated", "The number of tokens that are generated, one for each request that generates unless the names state their number; null if a name does not show it.").nullable().minor();
const GRAPHS: Column = Column::int("graphs", "Graphs", "The number of graph launches in the ranges.").minor();
const GRAPH_CALLS: Column =
    Column::ns("graph_calls_ns", "Graph calls", "Sum of the durations of those calls.").minor();
const RANGE: Column =
    Column::ns("range_ns", "Range", "The duration of the range on the host; in a group, the sum.").minor();

fn part(parts: &[i64; PARTS], part: Part) -> i64 {
    parts[part as usize]
}

columns! {
    /// The columns of groups of iterations.
    const GROUP: fn group(phase: Option<&str>, answer: &ServingAnswer<'_>, group: &Group) {
        let [p50, p90, p99] = group.percentiles_ns;
        let bound = group.bound();
        let joules = group.joules_by(answer.reading_ns, phase.is_none());
        let parts = &group.parts_ns;
    } [
        PHASE.nullable() => phase,
        Column::int("count", "Iterations", "The number of iterations.") => group.count,
        Column::int("warm_up", "Warm-up", "How many of them are a warm-up: the first ones, as long as each takes at least twice the median of the iterations with the same phase and requests and a similar number of tokens, of which there are three or more. They are left out of all values that follow, unless there are no others.") =>
            group.warm_up,
        Column::float("batch_mean", "Requests", "The mean number of requests; null if a name does not state it.").nullable() =>
            group.batch.map(|sum| group.mean(sum)),
        TOKENS => group.tokens,
        GENERATED => group.generated,
        WALL => group.wall_ns,
        Column::ns("p50_ns", "p50", "The 50th percentile of the times of the iterations, by nearest rank.") => p50,
        Column::ns("p90_ns", "p90", "Their 90th percentile.") => p90,
        Column::ns("p99_ns", "p99", "Their 99th percentile.") => p99,
        Column::rate("tokens_per_second", "Tokens/s", "Tokens divided by the wall time.").nullable() =>
            group.per_second(group.tokens),
        Column::rate("generated_per_second", "Generated/s", "Generated tokens divided by the wall time.").nullable().minor() =>
            group.per_second(group.generated),
        Column::ns("time_per_token_ns", "Time/token", "The wall time divided by the tokens.").nullable().minor() =>
            group.time_per_token_ns(),
        Column::float("joules", "Energy (J)", "The energy of the devices in the wall time, by counters of their power. Null if a device has no such counter, the readings do not cover the iterations, or they are farther apart than the median iteration of the group (for all iterations, than half of their time), and if several processes have iterations.").nullable().minor() =>
            joules,
        Column::float("joules_per_token", "J/token", "The energy divided by the tokens.").nullable().minor() =>
            joules.zip(group.tokens.filter(|&tokens| tokens > 0)).map(|(joules, tokens)| joules / tokens as f64),
        Column::word("bound", "Bound by", &ServingBound::VOCABULARY, "What takes most of the wall time; null without time.").nullable() =>
            bound.map(|bound| bound.0.as_str()),
        Column::share("bound_share", "Share", "The share of the wall time that it takes.").nullable() =>
            bound.map(|bound| group.share(bound.1)),
        BUSY => group.busy_ns(),
        ATTENTION => part(parts, Part::Attention),
        KV_CACHE => part(parts, Part::KvCache),
        GEMM => part(parts, Part::Gemm),
        MOE_GEMM => part(parts, Part::MoeGemm),
        MOE_ROUTING => part(parts, Part::MoeRouting),
        MOE_FINALIZE => part(parts, Part::MoeFinalize),
        SAMPLING => part(parts, Part::Sampling),
        OTHER => part(parts, Part::OtherKernels),
        COMMUNICATION => part(parts, Part::Communication),
        MOE_DISPATCH => part(parts, Part::MoeDispatch),
        COPIES => part(parts, Part::Copies),
        QUEUED => part(parts, Part::Queued),
        LAUNCH => part(parts, Part::Launch),
        HOST => part(parts, Part::Host),
        BETWEEN => part(parts, Part::Between),
        RANGE => group.range_ns,
        GRAPHS => group.graphs,
        GRAPH_CALLS => group.graph_calls_ns,
        Column::share("confidence", "Confidence", "If no range names the iterations, and they are inferred from launches that repeat: the share of their time of those whose launches another one has as well; else null.").nullable().minor() =>
            answer.inferred,
    ]
}

columns! {
    /// The columns of a graph.
    const GRAPH: fn graph(trace: &Trace, number: usize, graph: &Graph) [
        Column::int("graph", "Graph", "The number of the graph, from 1: the one that takes longest comes first. Launches whose work has the same names are replays of one graph.") =>
            number,
        Column::text("call", "Call", "The name of the call that launches it.") => trace.table.name(graph.first),
        Column::int("launches", "Launches", "The number of its replays.") => graph.launches,
        Column::int("activities", "Activities", "The number of kernels, copies and memsets of a replay.") =>
            graph.activities,
        Column::ns("time_ns", "Time", "Sum of the times from the first start to the last end of each replay.") =>
            graph.time_ns,
        Column::ns("mean_ns", "Mean", "The mean of those times.") => graph.mean_ns(graph.time_ns),
        Column::ns("mean_gap_ns", "Gaps", "The mean time of it in which none of its work runs.") =>
            graph.mean_ns(graph.gap_ns),
        Column::ns("mean_call_ns", "Call", "The mean duration of the launch calls.") =>
            graph.mean_ns(graph.call_ns),
        Column::ns("mean_wait_ns", "Wait", "The mean time from the start of the call to the first start.") =>
            graph.mean_ns(graph.wait_ns),
        EVENT => graph.first.index(),
    ]
}

columns! {
    /// The columns of an iteration.
    const ITERATION: fn iteration(trace: &Trace, one: &Served) {
        let parts = &one.parts_ns;
    } [
        PHASE => one.name.phase.as_str(),
        Column::text("name", "Name", "The name of its range.") => trace.table.name(one.row),
        Column::int("step", "Step", "Its number: as its name states it, else counted from 1.") => one.number,
        Column::int("batch", "Requests", "The number of requests; null if its name does not state it.").nullable() =>
            one.name.batch,
        TOKENS => one.name.tokens,
        GENERATED => one.name.generated,
        Column::bool("is_warm_up", "Warm-up", "Whether it is left out of averages.").minor() => one.is_warm_up,
        Column::ns("start_ns", "Start", "The start of its range, after the start of the recording.") =>
            one.host.0.saturating_sub(trace.start_ns),
        WALL => one.wall_ns(),
        BUSY => one.busy_ns(),
        ATTENTION => part(parts, Part::Attention),
        KV_CACHE => part(parts, Part::KvCache),
        GEMM => part(parts, Part::Gemm),
        MOE_GEMM => part(parts, Part::MoeGemm),
        MOE_ROUTING => part(parts, Part::MoeRouting),
        MOE_FINALIZE => part(parts, Part::MoeFinalize),
        SAMPLING => part(parts, Part::Sampling),
        OTHER => part(parts, Part::OtherKernels),
        COMMUNICATION => part(parts, Part::Communication),
        MOE_DISPATCH => part(parts, Part::MoeDispatch),
        COPIES => part(parts, Part::Copies),
        QUEUED => part(parts, Part::Queued),
        LAUNCH => part(parts, Part::Launch),
        HOST => part(parts, Part::Host),
        BETWEEN => part(parts, Part::Between),
        RANGE => one.host.1 - one.host.0,
        Column::int("launched", "Launched", "The number of its kernels, copies and memsets: those launched in its range, or near its end or start in none.").minor() => one.activities,
        Column::ns("device_sum_ns", "GPU sum", "Sum of their durations.").minor() => one.device_sum_ns,
        GRAPHS => one.graphs,
        GRAPH_CALLS => one.graph_calls_ns,
        EVENT => one.row.index(),
    ]
}
