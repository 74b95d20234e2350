//! What threads and calls of hand-made traces wait for.

use super::{changes, span};
use kinetoscope_core::analysis::replay::{PathPart, Replay, critical_path};
use kinetoscope_tests::answers::{made, rows_with};
use serde_json::json;

/// The loop takes 9.9 ms for each batch, which is there at once: in 100 us, or in 1 ms. The first shows that a faster loop gets data
/// earlier. The second does not, so that the bounds of what a faster loop saves are far apart.
#[test]
fn data_that_is_there_at_once_does_not_hold_a_faster_loop_up() {
    let saved = |wait: i64| {
        let batch = |at: i64| {
            let loading = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
            let start = at * 10_000;
            [
                span("user_annotation", loading, (1, 1), (start, start + wait), 0),
                span("cpu_op", "aten::train", (1, 1), (start + wait, start + 10_000), 0),
            ]
        };
        let trace = made(&json!((0..4).flat_map(batch).collect::<Vec<_>>()));
        let rows = rows_with(&trace, "what-if", &json!({"free": "operator"}));
        ["saving_low_ns", "saving_high_ns"].map(|key| rows[0][key].as_i64().expect("a time"))
    };
    assert_eq!(saved(100), [39_600_000, 39_600_000]);
    assert_eq!(saved(1_000), [9_000_000, 36_000_000]);
}

/// A kernel begins 4 us before its launch, because the clocks differ. The path goes on with what the host did before.
#[test]
fn the_path_does_not_end_where_the_clocks_differ() {
    let trace = made(&json!([
        span("cpu_op", "aten::mm", (1, 1), (0, 108), 0),
        span("cuda_runtime", "cudaLaunchKernel", (1, 1), (100, 105), 1),
        span("kernel", "gemm", (0, 7), (96, 146), 1),
    ]));
    let path = critical_path(&trace, None);
    let ns = |part: PathPart| {
        path.iter().filter(|at| at.part == part).map(|at| at.time.1 - at.time.0).sum::<i64>()
    };
    assert_eq!((ns(PathPart::Operator), ns(PathPart::Compute), ns(PathPart::Unknown)), (96_000, 50_000, 0));
}

/// The main thread calls the backward pass after 980 us without an operator. Without those, it begins as much earlier.
#[test]
fn a_backward_pass_begins_when_it_is_called() {
    let backward = |start: i64| {
        let name = "autograd::engine::evaluate_function: AddBackward0";
        span("cpu_op", name, (1, 2), (start, start + 20), 0)
    };
    let trace = made(&json!([
        span("user_annotation", "training", (1, 1), (0, 1040), 0),
        span("cpu_op", "aten::mm", (1, 1), (0, 20), 0),
        backward(20),
        span("cpu_op", "aten::add", (1, 1), (1000, 1010), 0),
        backward(1015),
    ]));
    assert_eq!(Replay::new(&trace).saving_ns(&changes("free user_code")), 980_000);
}

/// A call that frees memory waits for the kernel that runs meanwhile, or works while a kernel ends early.
#[test]
fn calls_that_free_memory_wait_for_the_device() {
    let saved = |kernel_end: i64| {
        let trace = made(&json!([
            span("cuda_runtime", "cudaLaunchKernel", (1, 1), (0, 5), 1),
            span("kernel", "gemm", (0, 7), (10, kernel_end), 1),
            span("cuda_runtime", "cudaFree", (1, 1), (20, 1020), 2),
        ]));
        Replay::new(&trace).saving_ns(&changes("gemm=2"))
    };
    assert_eq!(saved(1010), 500_000);
    assert_eq!(saved(600), 0);
}
