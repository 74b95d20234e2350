//! What an answer depends on besides the events of a trace is stated by its query or export.
//!
//! Every query and export is run by several rules. One whose answer changes has to state the input, and one that states
//! it has to change for some trace.

use kinetoscope_core::analysis::query::options::Options;
use kinetoscope_core::queries::{COMPARISONS, EXPORTS, Export, Input, QUERIES, Query, Request, Started};
use kinetoscope_core::runs::compare::Comparison;
use kinetoscope_core::runs::compare::profile::Profile;
use kinetoscope_core::runs::ranks::file::Summaries;
use kinetoscope_core::runs::ranks::query::RanksOptions;
use kinetoscope_core::runs::ranks::run::Run;
use kinetoscope_core::runs::ranks::summary::Summary;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::kernel_rules::KernelRules;
use kinetoscope_core::trace::provenance::ProvenanceFile;
use kinetoscope_core::trace::step_rules::StepName;
use kinetoscope_core::trace::versions::Rules;
use kinetoscope_tests::files;
use std::collections::BTreeSet;
use std::fmt::Debug;

const TRACES: [&str; 12] = [
    "torch/2.10/kineto/memory/trace.json",
    "torch/2.15/kineto/left_open/trace.json",
    "torch/2.15/kineto/left_open_stack/trace.json",
    "torch/2.15/kineto/flops/trace.json",
    "torch/2.15/kineto/dynamo_profiles/one_graph.trace.json",
    "torch/2.15/kineto/compiled_inductor/trace.json",
    "torch/cuda/nccl/trace.json",
    "pairs/base1.json",
    "torch/cuda/stacks/trace.json",
    "torch/cuda/steps/trace.json",
    "healthy/small_gpu_trace.json",
    "../../docs/traces/serving.json",
];

/// A kernel that Inductor generated, replayed by a CUDA graph, and the log of its compilation.
const GENERATED_KERNEL: &[u8] = br#"[
    {"ph": "X", "cat": "user_annotation", "name": "\u0023# Call CompiledFxGraph None ##", "pid": 1, "tid": 2, "ts": 0, "dur": 5},
    {"ph": "X", "cat": "cpu_op", "name": "triton_red_fused_sum_1", "pid": 1, "tid": 2, "ts": 1, "dur": 3},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": {"correlation": 8}},
    {"ph": "X", "cat": "kernel", "name": "triton_red_fused_sum_1", "pid": 0, "tid": 7, "ts": 9, "dur": 3, "args": {"correlation": 8}}
]"#;
const LOG: &[u8] = b"V1130 09:16:02.479 1 torch/graph.py:1] {\"inductor_output_code\": {\"filename\": \"c1.py\"}, \"has_payload\": \"0\"}
\t# AOT ID: ['0_inference']
\t# [Provenance debug handles] triton_red_fused_sum_1:1
";

/// A compiled region that was open when the recording ended.
const OPEN_REGION: &[u8] = br#"[
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 2},
    {"ph": "X", "cat": "cpu_op", "name": "Torch-Compiled Region: 0/0", "pid": 1, "tid": 1, "ts": 5, "dur": 9,
        "args": {"finished": false}}
]"#;

/// A program that waits for a kernel.
const LONG_KERNEL: &[u8] = br#"[
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 1, "dur": 3,
        "args": {"correlation": 7}},
    {"ph": "X", "cat": "kernel", "name": "sgemm", "pid": 0, "tid": 7, "ts": 6, "dur": 80,
        "args": {"correlation": 7, "device": 0, "stream": 7}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "pid": 1, "tid": 1, "ts": 10, "dur": 78,
        "args": {"correlation": 8}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 90, "dur": 5}
]"#;

/// Returns a trace by the rules of a version of PyTorch and rules for kernels.
fn read(bytes: &[u8], version: &str, kernels: &str) -> Trace {
    let mut trace = Trace::read(bytes).expect("a trace");
    trace.choose_rules(Rules::for_version(version).expect("rules"));
    trace.kernel_rules = KernelRules::parse(kernels).expect("rules");
    trace
}

/// Returns the same trace by several rules: those of PyTorch change, or those of kernels.
fn variants(bytes: &[u8], input: Input) -> Vec<Trace> {
    match input {
        Input::TorchRules => {
            ["2.3", "2.10", "2.11", "2.13", "2.14", "2.15"].map(|version| read(bytes, version, "")).into()
        }
        Input::StepRules => ["", "aten::m", "aten::l", "## "]
            .map(|start| {
                let mut trace = read(bytes, "2.15", "");
                let step = || StepName::new(None, Some(start.len() as i64), None, None);
                trace.choose_steps(|name| (!start.is_empty() && name.starts_with(start)).then(step));
                trace
            })
            .into(),
        Input::Captures => {
            let file = |name: &str| files::read(&files::data().join("../../docs/traces").join(name));
            let [trace, capture] = ["serving.json", "serving-capture.json"].map(|name| {
                Trace::read(&file(name).unwrap_or_else(|| panic!("no {name}"))).expect("a trace")
            });
            let mut joined = trace.clone();
            joined.join_capture(capture).expect("the capture");
            vec![trace, joined]
        }
        Input::Provenance => {
            let trace = Trace::read(GENERATED_KERNEL).expect("a trace");
            let mut joined = trace.clone();
            let log = ProvenanceFile { path: "run.log", bytes: LOG };
            joined.join_provenance(&[log]).expect("the log");
            vec![trace, joined]
        }
        _ => ["", "communication,*", "gemm,*"].map(|kernels| read(bytes, "2.15", kernels)).into(),
    }
}

fn differ<T: PartialEq + Debug>(traces: &[Trace], answer: impl Fn(&Trace) -> T) -> bool {
    let first = answer(&traces[0]);
    traces[1..].iter().any(|trace| answer(trace) != first)
}

fn changes(query: &Query, traces: &[Trace]) -> bool {
    let arguments: &[(&str, &str)] = match query.name {
        "what-if" => &[("faster", "communication=2")],
        "idle" => &[("by", "step")],
        _ => &[],
    };
    let options = Options::from_texts(query.options, arguments).expect("options");
    let answer = |trace: &Trace| {
        [false, true].map(|for_reading| {
            let request = Request::new(&options).for_reading(for_reading);
            query.answer(trace, request).map(|answer| (answer.to_text(None), answer.failed, answer.rows))
        })
    };
    differ(traces, answer)
}

fn export_changes(export: &Export, traces: &[Trace]) -> bool {
    let write = |trace: &Trace| {
        let started = export.begin(trace, &Options::default(), &[0; 16]);
        let Ok(Started::Writing(mut writing)) = started else { return Vec::new() };
        let mut out = Vec::new();
        while writing.next(trace, &mut out) {}
        out
    };
    differ(traces, write)
}

fn comparison_changes(query: &Query, traces: &[Trace]) -> bool {
    let other = read(&files::read(&files::data().join(TRACES[10])).expect("a trace"), "2.15", "");
    let answer = |trace: &Trace| {
        let [base, new] = [&other, trace].map(|trace| Profile::from_trace(trace, "trace"));
        let comparison = Comparison::between_runs(&[base], &[new]).expect("two traces");
        comparison.answer(query, Request::new(&Options::default())).expect("an answer").rows
    };
    differ(traces, answer)
}

fn run_changes(traces: &[Trace]) -> bool {
    let answer = |trace: &Trace| {
        let mut summaries = Summaries::default();
        summaries.push(&Summary::from_trace(trace, "rank0"));
        Run::new(summaries, Vec::new()).rows(&RanksOptions::default())
    };
    differ(traces, answer)
}

#[test]
fn every_query_and_export_states_its_inputs() {
    let inputs =
        [Input::TorchRules, Input::KernelRules, Input::StepRules, Input::Captures, Input::Provenance];
    for input in inputs {
        let mut changing: BTreeSet<&str> = BTreeSet::new();
        let read = |file| files::read(&files::data().join(file)).unwrap_or_else(|| panic!("no {file}"));
        for bytes in TRACES.map(read).into_iter().chain([OPEN_REGION.into(), LONG_KERNEL.into()]) {
            let traces = variants(&bytes, input);
            changing.extend(QUERIES.iter().filter(|query| changes(query, &traces)).map(|query| query.name));
            let exports = EXPORTS.iter().filter(|export| export_changes(export, &traces));
            changing.extend(exports.map(|export| export.name));
            let comparisons = COMPARISONS.iter().filter(|query| comparison_changes(query, &traces));
            changing.extend(comparisons.map(|query| query.name));
            changing.extend(run_changes(&traces).then_some("ranks"));
        }
        let queries = QUERIES.iter().chain(COMPARISONS).map(|query| (query.name, query.inputs));
        let all = queries.chain(EXPORTS.iter().map(|export| (export.name, export.inputs)));
        let stated: BTreeSet<&str> =
            all.filter(|(_, inputs)| inputs.contains(&input)).map(|(name, _)| name).collect();
        // The traces of a run are read without other files.
        if matches!(input, Input::Captures | Input::Provenance) {
            changing.remove("ranks");
        }
        // Only a step that is chosen shows it.
        if input == Input::StepRules {
            changing.insert("critical-path");
        }
        // The budgets of `check` limit what the summary shows.
        if input == Input::KernelRules {
            changing.insert("check");
        }
        let missing =
            [changing.difference(&stated), stated.difference(&changing)].map(Iterator::collect::<Vec<_>>);
        assert!(
            missing.iter().all(Vec::is_empty),
            "{input:?}: changing and not stated, stated and not changing: {missing:?}"
        );
    }
}
