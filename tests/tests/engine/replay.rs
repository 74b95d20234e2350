//! Replays and critical paths: programs whose times a second simulator computes, worked-out traces, and real ones.
//!
//! This is one file because all tests replay with the same helpers, and a rule that is changed shows in each kind of trace.

mod waits;

use kinetoscope_core::analysis::device::idle::Cause;
use kinetoscope_core::analysis::query::options::Options;
use kinetoscope_core::analysis::replay::{
    Changes, Dependency, Edge, Free, LARGEST_ERROR, Point, Replay, Segment, critical_path,
};
use kinetoscope_core::queries::{Request, query};
use kinetoscope_core::trace::Trace;
use kinetoscope_tests::answers::{made, rows_with};
use kinetoscope_tests::files;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A statement of a program that runs on one thread and starts kernels.
#[derive(Clone, Copy, Debug)]
enum Statement {
    /// An operator of this many microseconds.
    Operator(i64),
    /// A kernel of this many microseconds on a stream.
    Launch(usize, i64),
    /// A wait for a stream.
    Synchronize(usize),
    /// A wait for all streams.
    SynchronizeDevice,
}

/// How long everything takes, in microseconds.
#[derive(Clone, Copy)]
struct Machine {
    operator: f64,
    kernel: f64,
    launch: i64,
    waits: bool,
}

const RECORDED: Machine = Machine { operator: 1.0, kernel: 1.0, launch: 3, waits: true };
const STREAMS: usize = 2;

/// Runs a program. A kernel starts 6 after its launch begins and 1 after the kernel before it; a call that waits takes
/// 2, and ends 4 after what it waits for. Returns the events and the time from start to end.
fn run(program: &[Statement], machine: Machine) -> (Vec<Value>, i64) {
    let (mut events, mut now, mut ends) = (Vec::new(), 0, [0i64; STREAMS]);
    let mut event = |category: &str, name: &str, place: (i64, i64), time: (i64, i64), correlation: usize| {
        events.push(json!({
            "ph": "X", "cat": category, "name": name, "pid": place.0, "tid": place.1, "ts": time.0,
            "dur": time.1 - time.0, "args": {"correlation": correlation},
        }));
    };
    for (id, statement) in program.iter().enumerate() {
        let start = now;
        let stream = |stream: usize| (0, stream as i64 + 7);
        match *statement {
            Statement::Operator(length) => {
                now += (length as f64 * machine.operator) as i64;
                event("cpu_op", "aten::op", (1, 1), (start, now), 0);
            }
            Statement::Launch(on, length) => {
                now += machine.launch;
                event("cuda_runtime", "cudaLaunchKernel", (1, 1), (start, now), id + 1);
                let begun = if ends[on] == 0 { start + 6 } else { (start + 6).max(ends[on] + 1) };
                ends[on] = begun + (length as f64 * machine.kernel) as i64;
                event("kernel", "gemm", stream(on), (begun, ends[on]), id + 1);
            }
            Statement::Synchronize(on) => {
                let awaited = if ends[on] == 0 { i64::MIN } else { ends[on] + 4 };
                now = if machine.waits { (now + 2).max(awaited) } else { now };
                event("cuda_runtime", "cudaStreamSynchronize", (1, 1), (start, now), id + 1);
                event("cuda_sync", "Stream Sync", stream(on), (start, now), id + 1);
            }
            Statement::SynchronizeDevice => {
                let last = ends.iter().max().copied().filter(|&end| end > 0);
                let awaited = last.map_or(i64::MIN, |end| end + 4);
                now = if machine.waits { (now + 2).max(awaited) } else { now };
                event("cuda_runtime", "cudaDeviceSynchronize", (1, 1), (start, now), id + 1);
            }
        }
    }
    let end = ends.iter().copied().max().unwrap_or(0).max(now);
    (events, end)
}

/// A program that shows every delay: a launch on an empty stream, kernels one after the other, waits that have to wait and
/// waits that have not.
fn prologue() -> Vec<Statement> {
    let mut program = Vec::new();
    for stream in 0..STREAMS {
        program.extend([Statement::Launch(stream, 200), Statement::Launch(stream, 100)]);
        program.extend([Statement::SynchronizeDevice, Statement::SynchronizeDevice]);
        program.extend([Statement::Launch(stream, 100), Statement::Synchronize(stream)]);
    }
    program
}

fn statement() -> impl Strategy<Value = Statement> {
    prop_oneof![
        4 => (1..60i64).prop_map(|length| Statement::Operator(length * 2)),
        6 => (0..STREAMS, 1..40i64).prop_map(|(stream, length)| Statement::Launch(stream, length * 2)),
        1 => (0..STREAMS).prop_map(Statement::Synchronize),
        1 => Just(Statement::SynchronizeDevice),
    ]
}

fn changes(options: &str) -> Changes {
    if let Some(causes) = options.strip_prefix("free ") {
        let freed: Vec<Free> =
            causes.split(',').map(|cause| Changes::parse_free(cause).expect("a cause")).collect();
        return Changes::free(&freed);
    }
    let mut changes = Changes::default();
    changes.faster = Changes::parse_faster(options).expect("factors");
    changes
}

/// A replay takes as long as the program on a machine that differs in the same way.
#[test]
fn replays_equal_runs_on_other_machines() {
    proptest!(ProptestConfig::with_cases(300), |(statements in proptest::collection::vec(statement(), 1..60))| {
        let program = [prologue(), statements].concat();
        let (events, end) = run(&program, RECORDED);
        let trace = made(&json!(events));
        let replay = Replay::new(&trace);
        prop_assert_eq!((replay.recorded_ns(), replay.replayed_ns()), (end * 1000, end * 1000));
        let machines = [
            ("gemm=2", Machine { kernel: 0.5, ..RECORDED }),
            ("compute=0.5", Machine { kernel: 2.0, ..RECORDED }),
            ("free operator", Machine { operator: 0.0, ..RECORDED }),
            ("free launch", Machine { launch: 0, ..RECORDED }),
            ("free sync", Machine { waits: false, ..RECORDED }),
            ("free operator,launch,sync", Machine { operator: 0.0, launch: 0, waits: false, ..RECORDED }),
        ];
        for (options, machine) in machines {
            let expected = run(&program, machine).1;
            prop_assert_eq!(replay.wall_ns(&changes(options)), expected * 1000, "{}", options);
        }
    });
}

/// The times of a replay without changes, by repetition until nothing changes.
fn naive_times(replay: &Replay<'_>) -> Vec<i64> {
    let graph = replay.graph();
    let points: Vec<Point> = graph.ids().flat_map(|id| [Point::start(id), Point::end(id)]).collect();
    let mut times: Vec<i64> = graph.ids().flat_map(|id| [graph.node(id).time.0; 2]).collect();
    let index = |point: Point| point.node().index() * 2 + usize::from(point.is_end());
    // The start of a node that depends on something is not known yet.
    for &point in &points {
        if graph.edges(point).next().is_some() || point.is_end() {
            times[index(point)] = i64::MIN / 4;
        }
    }
    loop {
        let before = times.clone();
        for &point in &points {
            let after = |edge: Edge| times[index(edge.from)] + edge.delay_ns;
            let ended = point.is_end().then(|| times[index(point) - 1] + graph.own_ns(point.node()));
            let latest = graph.edges(point).map(after).chain(ended).max();
            times[index(point)] = latest.unwrap_or(times[index(point)]);
        }
        if times == before {
            return times;
        }
    }
}

/// Whether periods follow each other without a gap from the start to the end of a window.
fn covers(segments: &[Segment], window: (i64, i64)) -> bool {
    let ends =
        segments.first().map(|segment| segment.time.0).zip(segments.last().map(|segment| segment.time.1));
    ends == Some(window)
        && segments.iter().all(|segment| segment.time.0 < segment.time.1)
        && segments.windows(2).all(|two| two[0].time.1 == two[1].time.0)
}

#[test]
fn times_are_the_least_that_all_dependencies_allow() {
    proptest!(ProptestConfig::with_cases(100), |(statements in proptest::collection::vec(statement(), 1..60))| {
        let (events, end) = run(&[prologue(), statements].concat(), RECORDED);
        let trace = made(&json!(events));
        let replay = Replay::new(&trace);
        prop_assert_eq!(replay.times(&Changes::default()), naive_times(&replay));
        prop_assert!(covers(&critical_path(&trace, None), (0, end * 1000)));
        let window = (end * 300, end * 700);
        prop_assert!(covers(&critical_path(&trace, Some(window)), window));
    });
}

/// The parts of the critical path, in microseconds.
fn parts(trace: &Trace, options: &Value) -> Vec<(String, i64)> {
    let part = |row: &Value| {
        (row["part"].as_str().expect("a part").to_owned(), row["time_ns"].as_i64().expect("a time") / 1000)
    };
    rows_with(trace, "critical-path", options).iter().map(part).collect()
}

fn span(category: &str, name: &str, place: (i64, i64), time: (i64, i64), id: i64) -> Value {
    json!({
        "ph": "X", "cat": category, "name": name, "pid": place.0, "tid": place.1, "ts": time.0,
        "dur": time.1 - time.0, "args": {"correlation": id},
    })
}

/// 0 to 20 an operator, 20 to 25 a launch whose kernel starts 6 later at 31: 1 us is launch delay. It runs until 131. The
/// device is awaited from 30 until 135, 4 us after the kernel; from 135 to 150 an operator.
#[test]
fn the_path_goes_through_the_kernel_that_the_host_waits_for() {
    let events = [
        span("cpu_op", "aten::first", (1, 1), (0, 20), 0),
        span("cuda_runtime", "cudaLaunchKernel", (1, 1), (20, 25), 1),
        span("kernel", "gemm", (0, 7), (31, 131), 1),
        span("cuda_runtime", "cudaDeviceSynchronize", (1, 1), (30, 135), 2),
        span("cpu_op", "aten::last", (1, 1), (135, 150), 0),
    ];
    let expected = [
        ("compute", 100),
        ("operator", 35),
        ("launch_delay", 6),
        ("launch", 5),
        ("synchronization_delay", 4),
    ];
    let expected: Vec<(String, i64)> = expected.map(|(part, time)| (part.to_owned(), time)).into();
    let trace = made(&json!(events));
    assert_eq!(parts(&trace, &json!({})), expected);
    // Of the two operators, the one from 0 to 20 is longer.
    let rows = rows_with(&trace, "critical-path", &json!({}));
    let longest = |row: &Value| (row["start_ns"].clone(), row["event"].clone());
    assert_eq!(longest(&rows[0]), (json!(31_000), json!(2)));
    assert_eq!(longest(&rows[1]), (json!(0), json!(0)));
    // The same kernel, for which the host does not wait: the path stays on the host.
    let mut alone = events.clone();
    alone[2]["dur"] = 10.into();
    alone[3] = span("cuda_runtime", "cudaEventQuery", (1, 1), (30, 135), 2);
    let names: Vec<String> = parts(&made(&json!(alone)), &json!({})).into_iter().map(|part| part.0).collect();
    assert_eq!(names, ["synchronization", "operator", "launch", "unknown"]);
}

/// Launches at 200, 400 and so on, each of a kernel that starts 6 us later and runs for 10 us.
fn usual() -> Vec<Value> {
    let launch = |at: i64| {
        let start = at * 200;
        [
            span("cuda_runtime", "cudaLaunchKernel", (1, 1), (start, start + 2), at),
            span("kernel", "usual", (0, 7), (start + 6, start + 16), at),
        ]
    };
    (1..4).flat_map(launch).collect()
}

/// Copying takes from 1010 to 1060 on stream 8. The kernel on stream 7, launched at 1002, starts right after it at 1061;
/// without the copy it would have started at 1008.
#[test]
fn a_late_start_right_after_another_stream_is_a_wait_for_it() {
    let trace = |start: i64| {
        let mut events = usual();
        events.extend([
            span("cuda_runtime", "cudaMemcpyAsync", (1, 1), (1000, 1002), 11),
            span("gpu_memcpy", "Memcpy DtoD (Device -> Device)", (0, 8), (1010, 1060), 11),
            span("cuda_runtime", "cudaLaunchKernel", (1, 1), (1002, 1004), 12),
            span("kernel", "gemm", (0, 7), (start, start + 50), 12),
        ]);
        made(&json!(events))
    };
    let names = |trace: &Trace| parts(trace, &json!({})).into_iter().map(|part| part.0).collect::<Vec<_>>();
    assert!(names(&trace(1061)).contains(&"memcpy".to_owned()));
    // 30 us later it is no explanation.
    assert!(!names(&trace(1091)).contains(&"memcpy".to_owned()));
}

/// The forward thread runs until 100, the backward thread from 110 to 210 while the forward thread does nothing, and the
/// forward thread goes on at 220. Without operators and launches, 20 us of handing over remain, and then the last kernel: 5 us until it
/// starts, and 1 us.
#[test]
fn threads_that_take_turns_wait_for_each_other() {
    let launch = |thread: i64, start: i64, id: i64| {
        [
            span("cuda_runtime", "cudaLaunchKernel", (1, thread), (start, start + 1), id),
            span("kernel", "gemm", (0, 7), (start + 5, start + 6), id),
        ]
    };
    let mut events = vec![
        span("cpu_op", "aten::forward", (1, 1), (0, 100), 0),
        span("cpu_op", "aten::backward", (1, 2), (110, 210), 0),
        span("cpu_op", "aten::step", (1, 1), (220, 300), 0),
    ];
    events.extend([launch(1, 10, 1), launch(2, 120, 2), launch(1, 230, 3)].concat());
    let trace = made(&json!(events));
    let replay = Replay::new(&trace);
    assert_eq!((replay.recorded_ns(), replay.replayed_ns()), (300_000, 300_000));
    assert_eq!(replay.wall_ns(&changes("free operator,launch")), 26_000);
    let path = critical_path(&trace, None);
    let threads: Vec<_> = path.iter().filter_map(|segment| segment.track).map(|track| track.0).collect();
    let turns = threads.windows(2).filter(|two| two[0] != two[1]).count();
    assert_eq!(turns, 2, "{path:?}");
}

/// The worker processes deliver a batch every 10 ms, at 10, 20 and 30 ms. The loop is done with each after 2 ms. A
/// faster loop does not help, faster loading does.
#[test]
fn workers_that_prepare_data_are_not_faster_because_the_loop_is() {
    let batch = |at: i64| {
        [
            span(
                "user_annotation",
                "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                (1, 1),
                (at * 10_000 + 2_000, at * 10_000 + 10_000),
                0,
            ),
            span("cpu_op", "aten::train", (1, 1), (at * 10_000 + 10_000, at * 10_000 + 12_000), 0),
        ]
    };
    let mut events = vec![span("cpu_op", "aten::setup", (1, 1), (0, 2_000), 0)];
    events.extend((0..3).flat_map(batch));
    let trace = made(&json!(events));
    let replay = Replay::new(&trace);
    assert_eq!(replay.wall_ns(&changes("free data_loading")), 8_000_000);
    // Only the operators before the first batch and after the last one.
    assert_eq!(replay.wall_ns(&changes("free operator")), 28_000_000);
    // The same loop with a loader in the same process: its time is work of this thread.
    let text = json!(events).to_string().replace("MultiProcessing", "SingleProcess");
    let trace = Trace::read(text.as_bytes()).expect("a trace");
    assert_eq!(Replay::new(&trace).wall_ns(&changes("free operator")), 24_000_000);
}

/// Four times: an operator of 20, a launch of 3 whose kernel runs from 26 to 36, an operator of 30, a launch whose kernel
/// runs from 59 to 69, and a wait until 73. As one kernel they end at 46; the second launch takes no time, so the wait begins
/// at 53, and ends 5 later: no call shows how long a wait without waiting takes.
#[test]
fn a_fused_sequence_is_launched_once() {
    let turn = [
        Statement::Operator(20),
        Statement::Launch(0, 10),
        Statement::Operator(30),
        Statement::Launch(0, 10),
        Statement::SynchronizeDevice,
    ];
    let trace = made(&json!(run(&turn.repeat(4), RECORDED).0));
    let rows = rows_with(&trace, "what-if", &json!({"fuse": [1]}));
    assert_eq!(rows[0]["change"], "--fuse 1");
    assert_eq!((&rows[0]["replayed_ns"], &rows[0]["wall_ns"]), (&json!(292_000), &json!(232_000)));
    let query = query("what-if").expect("a query");
    for number in [0, 2] {
        let options = Options::from_json(query.options, &json!({"fuse": [number]})).expect("options");
        let error = trace.ask("what-if", &options).expect_err("no such sequence").to_string();
        assert_eq!(error, format!("fuse: sequence {number}: the trace has 1 sequence"));
    }
}

/// A kernel that starts 10 s after its launch for no recorded reason makes the replay useless: the answer is refused.
#[test]
fn an_answer_with_a_large_error_is_refused() {
    let trace = |start: i64| {
        let mut events = usual();
        events.extend([
            span("cuda_runtime", "cudaLaunchKernel", (1, 1), (1000, 1002), 12),
            span("kernel", "second", (0, 7), (start, start + 10), 12),
        ]);
        made(&json!(events))
    };
    let refused = Replay::new(&trace(10_000_000)).check().expect_err("a large error").to_string();
    assert!(refused.contains("second starts 9.999s later"), "{refused}");
    assert_eq!(Replay::new(&trace(1_050)).check(), Ok(()));
}

/// What changes save, in microseconds.
fn saving(events: &Value, options: &Value) -> i64 {
    let rows = rows_with(&made(events), "what-if", options);
    rows[rows.len() - 1]["saving_ns"].as_i64().expect("a time") / 1000
}

/// 10 of an operator, 10 of nothing, 1000 of garbage collection, 10 of nothing, 10 of an operator.
#[test]
fn code_between_operators_can_be_free() {
    let events = json!([
        span("cpu_op", "aten::a", (1, 1), (0, 10), 0),
        span("python_function", "Python GC", (1, 1), (20, 1020), 0),
        span("cpu_op", "aten::b", (1, 1), (1030, 1040), 0),
    ]);
    assert_eq!(saving(&events, &json!({"free": "garbage-collection"})), 1000);
    assert_eq!(saving(&events, &json!({"free": "operator"})), 20);
    assert_eq!(saving(&events, &json!({"free": "lock"})), 0);
}

/// A forward pass of 800 us on one thread, then a backward pass with more operators on another: it cannot begin before.
#[test]
fn the_backward_pass_of_the_busiest_thread_begins_after_the_forward_pass() {
    let mut events = vec![span("cpu_op", "aten::linear", (1, 1), (0, 800), 0)];
    events.extend((0..9).map(|at| {
        let start = 810 + at * 20;
        let name = "autograd::engine::evaluate_function: AddmmBackward0";
        span("cpu_op", name, (1, 2), (start, start + 18), 0)
    }));
    let events = Value::from(events);
    let trace = made(&events);
    assert!(parts(&trace, &json!({})).iter().all(|(part, _)| part != "not_recorded"));
    assert_eq!(saving(&events, &json!({"free": "operator"})), 800);
}

/// The host waits in `run_backward` from 110 to 1100 for a thread that reduces from 110 to 1090, or only to 500.
#[test]
fn collectives_of_other_threads_are_on_the_path() {
    let path = |end: i64| {
        let events = json!([
            span("cpu_op", "aten::mm", (1, 1), (0, 100), 0),
            span("python_function", "run_backward", (1, 1), (100, 1100), 0),
            span("cpu_op", "aten::add_", (1, 1), (1100, 1200), 0),
            span("user_annotation", "gloo:all_reduce", (1, 2), (110, end), 0),
        ]);
        parts(&made(&events), &json!({}))
    };
    let time =
        |path: &[(String, i64)], part: &str| path.iter().find(|entry| entry.0 == part).map(|entry| entry.1);
    let long = path(1090);
    assert_eq!(time(&long, "communication"), Some(980));
    assert_eq!(time(&long, "operator"), Some(200));
    let short = path(500);
    assert_eq!(time(&short, "communication"), None);
    assert_eq!(time(&short, "user_code"), Some(1000));
}

/// On one stream: a product from 20 to 320, a reduction until 371 after a gap of 1, a product from 372 to 672; the host
/// waits until 675. If the reduction overlaps, the second product follows the first one, from 321 to 621, and the wait
/// ends 3 later.
#[test]
fn only_communication_overlaps() {
    let kernels = [("gemm_a", 20, 320), ("ncclDevKernel_AllReduce", 321, 371), ("gemm_b", 372, 672)];
    let events = |last: &str| {
        let mut events = vec![span("cuda_runtime", "cudaDeviceSynchronize", (1, 1), (20, 675), 9)];
        for (at, &(name, start, end)) in (0..).zip(&kernels) {
            let name = if at == 2 { last } else { name };
            events.push(span("cuda_runtime", "cudaLaunchKernel", (1, 1), (at * 6, at * 6 + 5), at + 1));
            events.push(span("kernel", name, (0, 7), (start, end), at + 1));
        }
        json!(events)
    };
    let overlap = json!({"overlapCommunication": true});
    assert_eq!(saving(&events("gemm_b"), &overlap), 51);
    // What communicates waits for all before it.
    assert_eq!(saving(&events("ncclDevKernel_AllGather"), &overlap), 0);
}

/// Three operators of 100 launch kernels of 10 at their ends, each 6 after the call; the host then waits for 4. As a CUDA
/// graph all are launched at 0: the first begins at 6 and the others follow 1 later each, so the last ends at 38.
#[test]
fn a_cuda_graph_leaves_out_the_host() {
    let mut events = vec![span("cuda_runtime", "cudaDeviceSynchronize", (1, 1), (300, 315), 9)];
    for at in 0..3 {
        let end = 100 * (at + 1);
        events.push(span("cpu_op", "aten::mm", (1, 1), (end - 100, end), 0));
        events.push(span("cuda_runtime", "cudaLaunchKernel", (1, 1), (end - 5, end), at + 1));
        events.push(span("kernel", "gemm", (0, 7), (end - 5 + 6, end - 5 + 16), at + 1));
    }
    // The wait ends 4 after the last kernel, as recorded: 315 - 311.
    assert_eq!(saving(&json!(events), &json!({"cudaGraph": true})), 315 - (38 + 4));
}

#[test]
fn changes_of_what_a_trace_does_not_have_are_refused() {
    let trace = made(&json!(usual()));
    for (faster, expected) in [
        ("usual=2", None),
        ("nosuch=2", Some("faster: no work of a device matches nosuch")),
        ("usual=1e-300", Some("faster: ")),
    ] {
        let query = query("what-if").expect("a query");
        let options = Options::from_json(query.options, &json!({"faster": faster}));
        let answer = options.and_then(|options| query.answer(&trace, Request::new(&options)).map(|_| ()));
        let error = answer.err().map(|error| error.to_string());
        assert_eq!(error.is_some(), expected.is_some(), "{faster}: {error:?}");
        assert!(error.unwrap_or_default().starts_with(expected.unwrap_or_default()), "{faster}");
    }
}

/// The trace ends at 616 us.
#[test]
fn a_window_is_cut_at_the_ends_of_the_trace() {
    let trace = made(&json!(usual()));
    let path = |time: &str| {
        let query = query("critical-path").expect("a query");
        let options = Options::from_json(query.options, &json!({"time": time})).expect("options");
        query.answer(&trace, Request::new(&options)).map(|answer| answer.rows.rows.len())
    };
    assert!(path("0us..9s").expect("rows") > 0);
    let error = path("1s..2s").expect_err("an empty window").to_string();
    assert_eq!(error, "time: the trace is 416.000us long");
}

/// Kernels of 60 that each begin 50 after the one before it: programmatic dependent launch lets them begin early, and they end 10
/// after each other. The gap between two of them is not 50, and twice as fast they take half of the time.
#[test]
fn kernels_that_begin_before_the_end_of_the_last_one_follow_it() {
    let events = |overlap: bool| {
        let kernel = |at: i64| {
            let end = 100 + at * 10;
            let start = if overlap { end - 60 } else { end - 9 };
            [
                span("cuda_runtime", "cudaLaunchKernelExC", (1, 1), (at, at + 1), at + 1),
                span("kernel", "gemm", (0, 7), (start, end), at + 1),
            ]
        };
        made(&json!((0..30).flat_map(kernel).collect::<Vec<_>>()))
    };
    let trace = events(true);
    let replay = Replay::new(&trace);
    assert_eq!((replay.recorded_ns(), replay.replayed_ns()), (390_000, 390_000));
    // The first kernel begins at 40 and takes 30 instead of 60, each other one 5 instead of 10.
    assert_eq!(replay.wall_ns(&changes("gemm=2")), (70 + 29 * 5) * 1000);
    let path = critical_path(&trace, None);
    assert!(covers(&path, (0, 390_000)), "{path:?}");
    let gaps = parts(&trace, &json!({})).into_iter().find(|part| part.0 == "kernel_gap");
    assert_eq!(gaps, None);
    // One after the other with gaps of 1.
    assert_eq!(Replay::new(&events(false)).wall_ns(&changes("gemm=3")), (91 + 3 + 29 * 4) * 1000);
}

/// A copy from 5 to 105 whose call, from 0 to 95, returns while the last part is copied: faster copies shorten the call, and the
/// call is no time of its own. A call that returns at once does not wait.
#[test]
fn the_call_of_a_pageable_copy_waits_for_it() {
    let trace = |returns: i64| {
        made(&json!([
            span("cuda_runtime", "cudaMemcpyAsync", (1, 1), (0, returns), 1),
            span("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", (0, 7), (5, 105), 1),
            span("cpu_op", "aten::mm", (1, 1), (returns, returns + 200), 0),
        ]))
    };
    let saving = |returns| Replay::new(&trace(returns)).saving_ns(&changes("memcpy=2"));
    assert_eq!((saving(95), saving(10)), (50_000, 0));
    let memcpy = parts(&trace(95), &json!({})).into_iter().find(|part| part.0 == "memcpy");
    assert_eq!(memcpy, Some(("memcpy".to_owned(), 90)));
}

/// Two kernels without a launch run until 400; a call that begins at 0 waits for them.
#[test]
fn a_call_waits_for_work_whose_launch_was_not_recorded() {
    let trace = made(&json!([
        span("kernel", "gemm", (0, 7), (10, 200), 0),
        span("kernel", "gemm", (0, 7), (201, 400), 0),
        span("cuda_runtime", "cudaDeviceSynchronize", (1, 1), (0, 404), 1),
        span("cpu_op", "aten::mm", (1, 1), (404, 500), 0),
    ]));
    let times = parts(&trace, &json!({}));
    let time = |name: &str| times.iter().find(|part| part.0 == name).map(|part| part.1);
    assert_eq!((time("compute"), time("synchronization_delay")), (Some(389), Some(4)), "{times:?}");
    assert_eq!(Replay::new(&trace).saving_ns(&changes("gemm=2")), 194_500);
}

/// Four launches from 0 to 8; their kernels of 10 begin at 1000, because the stream still did work from before the recording. That
/// delay stays, whatever the host does, and is no usual one.
#[test]
fn a_stream_that_was_busy_before_the_recording_stays_busy() {
    let launch = |at: i64| {
        let start = 1000 + at * 11;
        [
            span("cuda_runtime", "cudaLaunchKernel", (1, 1), (at * 2, at * 2 + 2), at + 1),
            span("kernel", "gemm", (0, 7), (start, start + 10), at + 1),
        ]
    };
    let trace = made(&json!((0..4).flat_map(launch).collect::<Vec<_>>()));
    let replay = Replay::new(&trace);
    assert_eq!((replay.recorded_ns(), replay.replayed_ns()), (1_043_000, 1_043_000));
    assert_eq!(replay.saving_ns(&changes("free operator,launch,unknown")), 0);
    assert_eq!(replay.wall_ns(&changes("free not_recorded")), 43_000);
    let times = parts(&trace, &json!({}));
    assert!(times.contains(&("not_recorded".to_owned(), 1000)), "{times:?}");
}

/// A kernel that starts late right after one of another stream: if it waited for that, a faster copy saves time; if not, nothing.
#[test]
fn bounds_are_those_of_both_assumptions() {
    let mut events = usual();
    events.extend([
        span("cuda_runtime", "cudaMemcpyAsync", (1, 1), (1000, 1002), 11),
        span("gpu_memcpy", "Memcpy DtoD (Device -> Device)", (0, 8), (1010, 1060), 11),
        span("cuda_runtime", "cudaLaunchKernel", (1, 1), (1002, 1004), 12),
        span("kernel", "gemm", (0, 7), (1061, 1111), 12),
    ]);
    let trace = made(&json!(events));
    let row = |options: Value| rows_with(&trace, "what-if", &options).pop().expect("a row");
    let copies = row(json!({"faster": "memcpy=2"}));
    assert_eq!((&copies["saving_low_ns"], &copies["saving_high_ns"]), (&json!(0), &json!(25_000)));
    assert_eq!(copies["saving_ns"], json!(25_000));
    let kernels = row(json!({"faster": "gemm=2"}));
    assert_eq!((&kernels["saving_low_ns"], &kernels["saving_high_ns"]), (&json!(25_000), &json!(25_000)));
    // A copy that takes half of the trace: whether the kernel waited for it decides too much.
    let long = made(&json!(events_of_a_long_copy()));
    let answer = rows_with(&long, "what-if", &json!({"faster": "memcpy=1000"}));
    assert_eq!((&answer[0]["saving_ns"], &answer[0]["wall_ns"]), (&Value::Null, &Value::Null), "{answer:?}");
    assert!(row(json!({"faster": "memcpy=1000"}))["saving_ns"].is_number());
}

/// As above, with a copy of 1000.
fn events_of_a_long_copy() -> Vec<Value> {
    let mut events = usual();
    events.extend([
        span("cuda_runtime", "cudaMemcpyAsync", (1, 1), (1000, 1002), 11),
        span("gpu_memcpy", "Memcpy DtoD (Device -> Device)", (0, 8), (1010, 2010), 11),
        span("cuda_runtime", "cudaLaunchKernel", (1, 1), (1002, 1004), 12),
        span("kernel", "gemm", (0, 7), (2011, 2061), 12),
    ]);
    events
}

/// The delays of what waited for work that was not recorded.
fn unrecorded_ns(replay: &Replay<'_>) -> i64 {
    let points = replay.graph().ids().flat_map(|id| [Point::start(id), Point::end(id)]);
    let edges = points.flat_map(|point| replay.graph().edges(point));
    edges.filter(|edge| edge.why == Dependency::Unrecorded).map(|edge| edge.delay_ns.abs()).sum()
}

/// The causes that a change can free, and everything that is left of a replay in which nothing takes time.
fn identities(trace: &Trace) -> Option<String> {
    let replay = Replay::new(trace);
    let left = replay.wall_ns(&Changes::everything());
    let count = replay.graph().ids().count() as i64;
    // The fastest device takes a millionth of the time, rounded to whole ns.
    if left > count + replay.replayed_ns() / 1_000_000 {
        return Some(format!("{left} ns are left of {}", replay.replayed_ns()));
    }
    let times = replay.times(&Changes::default());
    let removed = |cause: &str| -> i64 {
        let free = changes(&format!("free {cause}"));
        let after = replay.own_durations(&free);
        let nodes = replay.graph().ids();
        nodes
            .map(|id| {
                (times[id.index() * 2 + 1] - times[id.index() * 2])
                    .max(0)
                    .saturating_sub(after[id.index()])
                    .max(0)
            })
            .sum()
    };
    for cause in Cause::ALL.map(Cause::as_str) {
        let delays = if cause == "not_recorded" { unrecorded_ns(&replay) } else { 0 };
        let saving = replay.saving_ns(&changes(&format!("free {cause}")));
        let removed = removed(cause).saturating_add(delays);
        if saving > removed {
            return Some(format!("{cause} saves {saving} ns, and takes {removed}"));
        }
    }
    let own = replay.own_durations(&Changes::default());
    for class in ["compute", "communication", "memcpy", "memset"] {
        let faster = changes(&format!("{class}=1000000"));
        let removed: i64 =
            own.iter().zip(replay.own_durations(&faster)).map(|(before, after)| before - after).sum();
        let saving = replay.saving_ns(&faster);
        if saving > removed {
            return Some(format!("{class} saves {saving} ns, and takes {removed}"));
        }
    }
    None
}

/// No change saves more than the parts that it removes, and nothing is left of a run in which nothing takes time.
#[test]
fn no_change_saves_more_than_it_removes() {
    proptest!(ProptestConfig::with_cases(60), |(statements in proptest::collection::vec(statement(), 1..60))| {
        let (events, _) = run(&[prologue(), statements].concat(), RECORDED);
        prop_assert_eq!(identities(&made(&json!(events))), None);
    });
    let Some(folder) = files::shared("traces", "the corpus of real traces") else { return };
    let mut faults = Vec::new();
    for path in files::below(&folder) {
        let Some(Ok(trace)) = files::read(&path).map(|bytes| Trace::read(&bytes)) else { continue };
        faults.extend(identities(&trace).map(|fault| format!("{}: {fault}", path.display())));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The unchanged replay of real traces is close to what was recorded, and their critical paths cover every window.
#[test]
fn real_traces_are_replayed_with_small_errors() {
    let Some(folder) = files::shared("traces", "the corpus of real traces") else { return };
    let (mut errors, mut refused) = (Vec::new(), Vec::new());
    for path in files::below(&folder) {
        let Some(Ok(trace)) = files::read(&path).map(|bytes| Trace::read(&bytes)) else { continue };
        let replay = Replay::new(&trace);
        let segments = critical_path(&trace, None);
        let Some((first, last)) = segments.first().zip(segments.last()) else { continue };
        let window = (first.time.0, last.time.1);
        assert!(covers(&segments, window), "{}", path.display());
        assert_eq!(window.1 - window.0, replay.recorded_ns(), "{}", path.display());
        let part = ((window.0 * 2 + window.1) / 3, (window.0 + window.1 * 2) / 3);
        assert!(part.0 == part.1 || covers(&critical_path(&trace, Some(part)), part), "{}", path.display());
        if replay.error() <= LARGEST_ERROR {
            errors.push(replay.error());
        } else {
            refused.push(path.file_name().expect("a name").display().to_string());
        }
    }
    assert_eq!(refused, Vec::<String>::new());
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    let most = errors.iter().copied().fold(0.0, f64::max);
    assert!(errors.len() > 70 && mean < 0.005 && most < 0.05, "{} {mean} {most}", errors.len());
    let figures = format!("the mean error is {:.2} %, the largest {:.1} %", mean * 100.0, most * 100.0);
    let guide = include_str!("../../../docs/src/guides/slow-training.md");
    assert!(guide.contains(&figures), "the guide should say: {figures}");
}

/// Training on two devices waits for its data: nothing would save more than faster loading.
#[test]
fn faster_loading_saves_most_of_a_slow_loader() {
    let Some(folder) = files::shared("traces", "the corpus of real traces") else { return };
    let path = folder.join("kineto-gaoteng/resnet50_newAPI_ddp/worker0_span1.pt.trace.json");
    let trace = Trace::read(&files::read(&path).expect("a trace")).expect("a trace");
    let rows = rows_with(&trace, "what-if", &json!({}));
    assert_eq!(rows[0]["change"], "--free data-loading");
    assert!(rows[0]["saving_share"].as_f64() > Some(0.3), "{}", rows[0]);
}
