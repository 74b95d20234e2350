//! The recorder against what torch.profiler's own tests ask of it.

mod recorder;

use kinetoscope::record::error::RecordError;
use kinetoscope::record::handlers::tensorboard_trace_handler;
use kinetoscope::record::profiler::{Activity, Profiler};
use kinetoscope::record::recording::Recording;
use kinetoscope::record::steps;
use kinetoscope::spans::module::Module;
use kinetoscope::spans::named::{data_loader, optimizer_step};
use kinetoscope::spans::sequence::Sequence;
use kinetoscope::spans::{operator, record_function};
use kinetoscope::{async_scope, counter, flow_end, flow_start, instant, scope, user_scope};
use kinetoscope_core::analysis::averages::GroupBy;
use kinetoscope_core::analysis::modules::module_rows;
use kinetoscope_core::analysis::stacks::Metric;
use kinetoscope_core::report::torch_table::TableOptions;
use kinetoscope_core::rows::Cell;
use kinetoscope_core::schedule::{ProfilerAction, Schedule, ScheduleArgs};
use kinetoscope_core::table::fields::Value as Field;
use kinetoscope_core::table::layout::{Key, Place};
use kinetoscope_core::trace::Trace;
use kinetoscope_core::units::TimeUnit;
use recorder::{alone, check, row, rows, thread_id};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;

fn tid() -> u64 {
    let link = std::fs::read_link("/proc/thread-self").expect("Linux");
    link.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse().ok()).expect("an id")
}

fn stop(profiler: &mut Profiler) -> Recording {
    profiler.stop().expect("a recording").expect("something was recorded")
}

fn text<'a>(trace: &'a Trace, name: &str, key: &str) -> Option<Field<'a>> {
    trace.table.field_named(row(trace, name), Place::Args, key)
}

#[test]
fn spans_nest_and_count_as_torchs_do() {
    let _alone = alone();
    let mut profiler = Profiler::builder().start().expect("a start");
    {
        let _outer = user_scope!("outer");
        for _ in 0..3 {
            let _op = scope!("op");
            let _inner = operator("inner");
        }
        let _dynamic = record_function(&format!("range {}", 7));
    }
    let recording = stop(&mut profiler);
    check(&recording);
    let averages = recording.key_averages(GroupBy::default());
    let count = |name: &str| averages.iter().find(|row| row.key == name).map(|row| row.count);
    assert_eq!(["outer", "op", "inner", "range 7"].map(count), [Some(1), Some(3), Some(3), Some(1)]);
    let table = recording.table(GroupBy::default(), &TableOptions::default()).expect("a table");
    assert!(table.contains("Self CPU time total"), "{table}");
    for (unit, suffix) in [(TimeUnit::S, "s"), (TimeUnit::Ms, "ms"), (TimeUnit::Us, "us")] {
        let options = TableOptions { time_unit: Some(unit), ..TableOptions::default() };
        let table = recording.table(GroupBy::default(), &options).expect("a table");
        let total =
            table.lines().find_map(|line| line.strip_prefix("Self CPU time total: ")).expect("the total");
        assert_eq!(total.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.'), suffix);
    }
    let trace = &recording.trace;
    let outer = row(trace, "outer");
    assert_eq!(trace.table.cat(outer), "user_annotation");
    for op in rows(trace, "op") {
        assert_eq!(trace.table.cat(op), "cpu_op");
        assert!(trace.table.ts(op) >= trace.table.ts(outer) && trace.table.end(op) <= trace.table.end(outer));
    }
    let window = row(trace, "Kinetoscope (0)");
    assert!(
        trace.table.ts(window) <= trace.table.ts(outer) && trace.table.end(outer) <= trace.table.end(window)
    );
    assert_eq!(recording.statistics.records, 16);
}

#[test]
fn times_are_the_systems() {
    let _alone = alone();
    let mut profiler = Profiler::builder().start().expect("a start");
    let before = std::time::SystemTime::now();
    let started = std::time::Instant::now();
    {
        let _span = scope!("sleep");
        thread::sleep(std::time::Duration::from_millis(30));
    }
    let took = started.elapsed().as_nanos() as i64;
    let recording = stop(&mut profiler);
    let table = &recording.trace.table;
    let row = row(&recording.trace, "sleep");
    assert!(
        table.dur(row) >= 30_000_000 && table.dur(row) <= took + took / 1000,
        "{} of {took}",
        table.dur(row)
    );
    let unix = table.base_ns() + table.ts(row);
    let expected = before.duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_nanos() as i64;
    assert!((unix - expected).abs() < 50_000_000, "{unix} is not near {expected}");
}

#[test]
fn every_thread_has_its_own_lane_whenever_it_began_and_ends() {
    let _alone = alone();
    let (started, go, end) =
        (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let (barriers, (tell, told)) = ([&started, &go, &end].map(Arc::clone), mpsc::channel());
    let before = thread::Builder::new().name("before".into()).spawn(move || {
        let [started, go, end] = barriers;
        let _too_early = scope!("too early");
        started.wait();
        go.wait();
        {
            let _span = scope!("in a thread from before");
        }
        let outliving = scope!("outlives the profile");
        tell.send(tid()).expect("somebody listens");
        end.wait();
        drop(outliving);
        let _late = scope!("too late");
    });
    started.wait();
    let mut profiler = Profiler::builder().start().expect("a start");
    go.wait();
    let before_id = told.recv().expect("the id");
    let inside = thread::spawn(|| {
        let _span = scope!("in a thread from inside");
        tid()
    });
    let inside_id = inside.join().expect("no panic");
    {
        let _span = scope!("in the main thread");
    }
    let recording = stop(&mut profiler);
    end.wait();
    before.expect("a thread").join().expect("no panic");
    check(&recording);
    let trace = &recording.trace;
    let of = |name: &str| thread_id(&trace.table, row(trace, name));
    assert_eq!(of("in a thread from before"), before_id);
    assert_eq!(of("in a thread from inside"), inside_id);
    assert_eq!(of("in the main thread"), tid());
    assert!(rows(trace, "too early").is_empty());
    assert!(rows(trace, "too late").is_empty());
    // What had not ended lasts to the end of the window and says so.
    let open = row(trace, "outlives the profile");
    assert_eq!(trace.table.field_named(open, Place::Args, "finished"), Some(Field::Bool(false)));
    let window = row(trace, "Kinetoscope (0)");
    assert!((trace.table.end(open) - trace.table.end(window)).abs() <= 1);
    let names: Vec<String> = trace
        .table
        .rows()
        .filter(|&row| trace.table.name(row) == "thread_name")
        .filter_map(|row| trace.table.field(row, Key::Name).and_then(|v| v.as_str()).map(str::to_owned))
        .collect();
    assert!(names.contains(&format!("thread {before_id} (before)")), "{names:?}");
}

#[test]
fn many_threads_lose_nothing() {
    let _alone = alone();
    let mut profiler = Profiler::builder().start().expect("a start");
    let threads: Vec<_> = (0..8)
        .map(|number| {
            thread::spawn(move || {
                for at in 0..20_000 {
                    let _span = scope!("span", thread = number, at = at);
                    let _inner = scope!("inner");
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("no panic");
    }
    let recording = stop(&mut profiler);
    assert_eq!(recording.statistics.dropped, 0);
    assert_eq!(recording.statistics.records, 8 * 20_000 * 4);
    assert_eq!(recording.trace.diagnostics.findings(), []);
    let trace = &recording.trace;
    assert_eq!(rows(trace, "inner").len(), 160_000);
    let at = |row| trace.table.field_named(row, Place::Args, "at").and_then(|v| v.as_i64());
    for spans in rows(trace, "span").chunk_by(|&a, &b| trace.table.track_id(a) == trace.table.track_id(b)) {
        assert!(spans.windows(2).all(|pair| at(pair[0]) != at(pair[1])));
    }
    let mut all: Vec<i64> = rows(trace, "span").into_iter().filter_map(at).collect();
    all.sort_unstable();
    assert!(all.chunks(8).enumerate().all(|(number, same)| same.iter().all(|&at| at == number as i64)));
}

#[test]
fn what_finds_no_room_is_counted() {
    let _alone = alone();
    let mut profiler = Profiler::builder().memory_bytes(200_000).start().expect("a start");
    for _ in 0..50_000 {
        let _span = scope!("span");
    }
    let recording = stop(&mut profiler);
    let told = recording.trace.diagnostics.findings();
    let dropped = told.iter().find(|finding| finding.code.as_str() == "dropped_record").expect("a finding");
    assert_eq!(dropped.count, recording.statistics.dropped);
    assert_eq!(recording.statistics.dropped + recording.statistics.records, 100_000);
    assert!(recording.statistics.dropped > 50_000);
}

#[test]
fn arguments_are_kept_under_torchs_names() {
    let _alone = alone();
    let mut profiler = Profiler::builder().record_shapes(true).start().expect("a start");
    {
        let (a, b) = (vec![2, 3], [3, 4]);
        let _span = scope!(
            "aten::mm",
            shapes: [a.as_slice(), &b[..], &[]],
            strides: [[3, 1], [4, 1]],
            dtypes: ["float", "float", "Scalar"],
            concrete: ["", "", 0.5],
            who = "me",
            count = 3u64,
            negative = -4,
            ratio = 0.25,
            yes = true,
            path = ?std::path::Path::new("a\"b"),
            shown = %7,
            none = None::<i32>,
        );
    }
    let recording = stop(&mut profiler);
    let document = check(&recording);
    let events = document["traceEvents"].as_array().expect("events");
    let mm = events.iter().find(|event| event["name"] == "aten::mm").expect("the span");
    let mut args = mm["args"].clone();
    args.as_object_mut().expect("args").remove("External id");
    let expected = json!({
        "Input Dims": [[2, 3], [3, 4], []], "Input Strides": [[3, 1], [4, 1]], "Input type": ["float", "float", "Scalar"],
        "Concrete Inputs": ["", "", "0.5"], "who": "me", "count": 3, "negative": -4, "ratio": 0.25, "yes": true,
        "path": "\"a\\\"b\"", "shown": "7",
    });
    assert_eq!(args, expected);
    assert_eq!(document["record_shapes"], 1);
}

#[test]
fn shapes_are_looked_at_only_where_they_are_recorded() {
    let _alone = alone();
    let asked = AtomicUsize::new(0);
    let shapes = || {
        asked.fetch_add(1, Ordering::Relaxed);
        [[1, 2]]
    };
    drop(scope!("off", shapes: shapes()));
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    let mut profiler = Profiler::builder().start().expect("a start");
    drop(scope!("on", shapes: shapes()));
    let recording = stop(&mut profiler);
    assert_eq!(text(&recording.trace, "on", "Input Dims"), None);
}

#[test]
fn flops_are_those_that_are_told_or_torchs_own() {
    let _alone = alone();
    let mut profiler = Profiler::builder().with_flops(true).start().expect("a start");
    drop(scope!("told", flops: 4000));
    drop(scope!("aten::mm", shapes: [[2, 3], [3, 4]], dtype: "float", concrete: ["", ""]));
    let recording = stop(&mut profiler);
    let document = check(&recording);
    assert_eq!((&document["with_flops"], &document["record_shapes"]), (&json!(1), &json!(1)));
    let averages = recording.key_averages(GroupBy::default());
    let flops = |name: &str| averages.iter().find(|row| row.key == name).map(|row| row.flops);
    assert_eq!([flops("told"), flops("aten::mm")], [Some(4000), Some(2 * 2 * 3 * 4)]);
    let table = recording.table(GroupBy::default(), &TableOptions::default()).expect("a table");
    assert!(table.contains("FLOPs"), "{table}");
}

#[test]
fn modules_make_a_hierarchy() {
    let _alone = alone();
    let (model, layer, act) =
        (Module::new("Net", "net"), Module::new("Block", "A0"), Module::new("Act", "B0"));
    let run = || {
        let _net = model.scope();
        drop(scope!("aten::sub"));
        let _layer = layer.scope();
        let _act = act.scope();
        drop(scope!("aten::add"));
    };
    let mut profiler = Profiler::builder().with_modules(true).start().expect("a start");
    run();
    let recording = stop(&mut profiler);
    check(&recording);
    let trace = &recording.trace;
    let hierarchy = |name: &str| text(trace, name, "Module Hierarchy").and_then(|v| v.as_str());
    assert_eq!(hierarchy("aten::sub"), Some("TOP(Net)::forward."));
    assert_eq!(hierarchy("aten::add"), Some("TOP(Net)::forward.A0(Block)::forward.B0(Act)::forward."));
    let modules = module_rows(trace);
    let paths: Vec<&Cell> = modules.rows.iter().map(|row| &row[2]).collect();
    assert_eq!(paths.len(), 3, "{paths:?}");
    let mut profiler = Profiler::builder().start().expect("a start");
    run();
    let recording = stop(&mut profiler);
    assert!(rows(&recording.trace, "nn.Module: Net_0").is_empty());
    assert_eq!(text(&recording.trace, "aten::add", "Module Hierarchy"), None);
}

#[test]
fn backward_is_linked_to_its_forward_on_another_thread() {
    let _alone = alone();
    let mut profiler = Profiler::builder().start().expect("a start");
    let sequence = Sequence::next();
    drop(scope!("aten::mul", sequence: sequence));
    let other = thread::spawn(move || drop(scope!("MulBackward0", backward: sequence)));
    other.join().expect("no panic");
    let recording = stop(&mut profiler);
    check(&recording);
    let trace = &recording.trace;
    let (forward, backward) = (row(trace, "aten::mul"), row(trace, "MulBackward0"));
    assert_eq!(trace.table.int(forward, Key::SequenceNumber), Some(sequence.number));
    assert_eq!(trace.table.int(backward, Key::SequenceNumber), Some(sequence.number));
    assert_eq!(trace.table.int(forward, Key::FwdThreadId), Some(0));
    assert!(trace.table.int(backward, Key::FwdThreadId) > Some(0));
    let arrows = rows(trace, "fwdbwd");
    assert_eq!(arrows.len(), 2);
    assert_eq!(trace.pairs.flows, [(arrows[0], arrows[1])]);
    assert_eq!(trace.table.track_id(arrows[1]), trace.table.track_id(backward));
}

#[test]
fn moments_counters_arrows_and_asynchronous_spans() {
    let _alone = alone();
    let mut profiler = Profiler::builder().start().expect("a start");
    {
        let _span = scope!("producer");
        instant!("here", reason = "cold");
        counter!("queue", 3);
        counter!("memory", used = 1.5, free = 2);
        flow_start!("item", 7);
    }
    let request = async_scope!("request", path = "/a");
    thread::spawn(move || {
        let _span = scope!("consumer");
        flow_end!("item", 7);
        drop(request);
    })
    .join()
    .expect("no panic");
    let recording = stop(&mut profiler);
    check(&recording);
    let trace = &recording.trace;
    assert_eq!(text(trace, "here", "reason").and_then(|v| v.as_str()), Some("cold"));
    assert_eq!(text(trace, "queue", "value").and_then(|v| v.as_i64()), Some(3));
    assert_eq!(text(trace, "memory", "used").and_then(|v| v.as_f64()), Some(1.5));
    assert_eq!(trace.pairs.flows.len(), 1);
    assert_eq!(trace.pairs.asyncs.len(), 1);
    let (begin, end) = trace.pairs.asyncs[0];
    assert_ne!(trace.table.track_id(begin), trace.table.track_id(end));
}

#[test]
fn ranges_have_the_names_that_findings_look_for() {
    let _alone = alone();
    let mut profiler = Profiler::builder().start().expect("a start");
    assert_eq!(data_loader("Batches", [1, 2]).sum::<i32>(), 3);
    drop(optimizer_step("SGD"));
    let recording = stop(&mut profiler);
    // Two batches, and the call that finds no more.
    assert_eq!(rows(&recording.trace, "enumerate(DataLoader)#Batches.__next__").len(), 3);
    assert_eq!(rows(&recording.trace, "Optimizer.step#SGD.step").len(), 1);
}

fn schedule(wait: i64, warmup: i64, active: i64, repeat: i64) -> Schedule {
    Schedule::new(ScheduleArgs { wait, warmup, active, repeat, ..ScheduleArgs::default() })
        .expect("a schedule")
}

#[test]
fn a_schedule_records_its_steps_and_hands_each_cycle_over() {
    let _alone = alone();
    let (asked, handed) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (its_asked, its_handed) = (Arc::clone(&asked), Arc::clone(&handed));
    let plan = schedule(1, 1, 2, 2);
    let mut profiler = Profiler::builder()
        .schedule_fn(move |step| {
            its_asked.fetch_add(1, Ordering::Relaxed);
            plan.action(step)
        })
        .on_trace_ready(Box::new(move |recording| {
            its_handed.fetch_add(1, Ordering::Relaxed);
            let steps = |n: u64| rows(&recording.trace, &format!("ProfilerStep#{n}")).len();
            let first = recording.step - 2;
            assert_eq!([steps(first), steps(first + 1)], [1, 1], "after step {}", recording.step);
            assert_eq!(rows(&recording.trace, "work").len(), 2);
            assert_eq!(recording.trace.diagnostics.findings(), []);
            Ok(())
        }))
        .build();
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    profiler.start().expect("a start");
    for step in 0..10 {
        assert_eq!(profiler.action(), Some(plan.action(step)));
        assert_eq!(profiler.step_number(), step);
        {
            let _work = scope!("work");
        }
        profiler.step().expect("a step");
    }
    profiler.stop().expect("a stop");
    assert_eq!((asked.load(Ordering::Relaxed), handed.load(Ordering::Relaxed)), (11, 2));
}

#[test]
fn cycles_can_be_accumulated() {
    let _alone = alone();
    for (accumulates, expected) in [(false, 2), (true, 4)] {
        let mut profiler = Profiler::builder()
            .schedule(schedule(0, 1, 2, 2))
            .accumulate(accumulates)
            .start()
            .expect("a start");
        for _ in 0..6 {
            drop(scope!("work"));
            profiler.step().expect("a step");
        }
        let recording = stop(&mut profiler);
        check(&recording);
        assert_eq!(rows(&recording.trace, "work").len(), expected);
    }
}

#[test]
fn threads_of_accumulated_cycles_keep_their_lanes() {
    let _alone = alone();
    let mut profiler =
        Profiler::builder().schedule(schedule(0, 1, 1, 2)).accumulate(true).start().expect("a start");
    let mut ids = Vec::new();
    for number in 0..4 {
        let work = thread::spawn(move || {
            let _span = operator(&format!("work {number}"));
            tid()
        });
        ids.push(work.join().expect("no panic"));
        profiler.step().expect("a step");
    }
    let recording = stop(&mut profiler);
    check(&recording);
    for number in [1, 3] {
        let row = row(&recording.trace, &format!("work {number}"));
        assert_eq!(thread_id(&recording.trace.table, row), ids[number]);
    }
}

#[test]
fn several_steppers_count_as_one() {
    let _alone = alone();
    let before = steps::current_step();
    ["Optimizer", "Loader", "ProfilerStep"].into_iter().for_each(steps::init_steps);
    steps::mark_step("Optimizer");
    steps::mark_step("Loader");
    assert_eq!(steps::current_step(), before + 1);
    let mut profiler = Profiler::builder().start().expect("a start");
    profiler.step().expect("a step");
    profiler.step().expect("a step");
    assert_eq!(steps::current_step(), before + 2);
    assert!(steps::erase_steps("Loader") && !steps::erase_steps("Loader"));
    profiler.stop().expect("a stop");
}

#[test]
fn stacks_end_in_a_positive_number() {
    let _alone = alone();
    #[inline(never)]
    fn busy() {
        let _span = scope!("busy");
        thread::sleep(std::time::Duration::from_millis(1));
    }
    let mut profiler = Profiler::builder().with_stack(true).start().expect("a start");
    busy();
    let recording = stop(&mut profiler);
    check(&recording);
    let stack = text(&recording.trace, "busy", "Call stack").and_then(|v| v.as_str()).expect("a stack");
    let first = stack.split(';').next().expect("a frame");
    assert!(first.contains("recording.rs(") && first.ends_with(": busy"), "{stack}");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("stacks.txt");
    recording.export_stacks(&path, Metric::SelfCpuTime).expect("a file");
    let lines = std::fs::read_to_string(&path).expect("a file");
    assert!(lines.lines().count() > 0);
    for line in lines.lines() {
        let number: i64 = line.rsplit(' ').next().and_then(|n| n.parse().ok()).expect("a number");
        assert!(number > 0, "{line}");
    }
}

#[test]
fn tensorboard_finds_its_files() {
    let _alone = alone();
    for gzip in [false, true] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut profiler = Profiler::builder()
            .schedule(schedule(1, 1, 2, 2))
            .on_trace_ready(tensorboard_trace_handler(folder.path().join("logs"), Some("worker"), gzip))
            .start()
            .expect("a start");
        for _ in 0..10 {
            drop(scope!("work"));
            profiler.step().expect("a step");
        }
        profiler.stop().expect("a stop");
        let files: Vec<_> = std::fs::read_dir(folder.path().join("logs")).expect("a folder").collect();
        assert_eq!(files.len(), 2);
        for file in files {
            let path = file.expect("an entry").path();
            let name = path.file_name().and_then(|n| n.to_str()).expect("a name");
            let parts: Vec<&str> = name.split('.').collect();
            let expected: &[&str] =
                if gzip { &["pt", "trace", "json", "gz"] } else { &["pt", "trace", "json"] };
            assert_eq!((parts[0], &parts[2..]), ("worker", expected), "{name}");
            assert!(parts[1].bytes().all(|b| b.is_ascii_digit()), "{name}");
            let trace = kinetoscope::input::open(&path).expect("a trace");
            assert_eq!(rows(&trace, "work").len(), 2);
        }
    }
}

#[test]
fn metadata_is_in_the_file() {
    let _alone = alone();
    let mut profiler = Profiler::builder().metadata("run", 7).start().expect("a start");
    profiler.add_metadata("test_key1", "value \"quoted\"");
    profiler.add_metadata_json("test_key2", "[1, 2, {\"a\": null}]").expect("JSON");
    let error = profiler.add_metadata_json("bad", "[1,").expect_err("no JSON");
    assert!(matches!(&error, RecordError::BadMetadata { key, .. } if key == "bad"), "{error}");
    drop(scope!("work"));
    let document = check(&stop(&mut profiler));
    assert_eq!(document["run"], 7);
    assert_eq!(document["test_key1"], "value \"quoted\"");
    assert_eq!(document["test_key2"], json!([1, 2, {"a": null}]));
    assert_eq!(document["kinetoscope"]["dropped"], 0);
    for key in
        ["window_ns", "prepare_ns", "enable_ns", "disable_ns", "bytes", "records", "overhead_ns_per_span"]
    {
        assert!(document["kinetoscope"][key].as_f64().is_some_and(|n| n > 0.0), "{key}");
    }
}

#[test]
fn an_empty_recording_is_a_file_with_a_warning() {
    let _alone = alone();
    let mut profiler =
        Profiler::builder().activities(&[Activity::Cpu, Activity::Cuda]).start().expect("a start");
    let recording = stop(&mut profiler);
    let document = check(&recording);
    let warnings: Vec<&str> =
        document["WARNING"].as_array().expect("texts").iter().filter_map(Value::as_str).collect();
    assert!(warnings.iter().any(|w| w.contains("nothing was recorded")), "{warnings:?}");
    assert!(warnings.iter().any(|w| w.contains("CUDA")), "{warnings:?}");
    assert_eq!(recording.events().len(), 0);
    assert!(recording.key_averages(GroupBy::default()).is_empty());
}

#[test]
fn wrong_use_is_an_error_and_no_panic() {
    let _alone = alone();
    let mut profiler = Profiler::builder().build();
    assert!(matches!(profiler.step(), Err(RecordError::NotStarted)));
    assert!(matches!(profiler.stop(), Err(RecordError::NotStarted)));
    profiler.start().expect("a start");
    assert!(matches!(profiler.start(), Err(RecordError::AlreadyStarted)));
    assert!(matches!(Profiler::builder().start(), Err(RecordError::AlreadyRecording)));
    stop(&mut profiler);
    assert!(matches!(profiler.stop(), Err(RecordError::NotStarted)));
    // It can be used again, and one that is dropped makes room for the next.
    profiler.start().expect("a start");
    drop(profiler);
    let mut disabled = Profiler::builder().enabled(false).start().expect("a start");
    assert!(!kinetoscope::spans::is_recording());
    disabled.step().expect("a step");
    assert!(disabled.stop().expect("a stop").is_none());
    let mut other = Profiler::builder().file("/nowhere/at/all").build();
    assert!(matches!(other.start(), Err(RecordError::Io(_))));
    Profiler::builder().start().expect("a start");
}

#[test]
fn a_handler_that_fails_is_told_of() {
    let _alone = alone();
    let fails = |_: &Recording| Err(RecordError::Handler("no more room".into()));
    let mut profiler = Profiler::builder().on_trace_ready(Box::new(fails)).start().expect("a start");
    let error = profiler.stop().expect_err("it fails");
    assert!(error.to_string().contains("no more room"));
    assert_eq!(ProfilerAction::Record.as_str(), "RECORD");
    assert_eq!(profiler.action(), None);
}

#[test]
fn a_panic_ends_the_spans_that_it_leaves() {
    let _alone = alone();
    let mut profiler = Profiler::builder().start().expect("a start");
    {
        let _outer = scope!("outer");
        let caught = std::panic::catch_unwind(|| {
            let _inner = scope!("inner");
            std::panic::resume_unwind(Box::new("no message"));
        });
        assert!(caught.is_err());
    }
    let recording = stop(&mut profiler);
    check(&recording);
    for name in ["outer", "inner"] {
        assert_eq!(text(&recording.trace, name, "finished"), None);
    }
}

#[test]
fn threads_can_record_while_their_own_values_are_destroyed() {
    let _alone = alone();
    struct Last;
    impl Drop for Last {
        fn drop(&mut self) {
            let _span = scope!("destroyed");
        }
    }
    thread_local! { static LAST: Last = const { Last }; }
    let mut profiler = Profiler::builder().start().expect("a start");
    for records_first in [true, false] {
        thread::spawn(move || {
            if records_first {
                drop(scope!("first"));
            }
            LAST.with(|_| {});
            drop(scope!("second"));
        })
        .join()
        .expect("no panic");
    }
    let recording = stop(&mut profiler);
    check(&recording);
    assert_eq!(rows(&recording.trace, "second").len(), 2);
    assert_eq!(rows(&recording.trace, "destroyed").len(), 2);
    for row in rows(&recording.trace, "destroyed") {
        assert_eq!(recording.trace.table.field_named(row, Place::Args, "finished"), None);
    }
}

#[test]
fn deep_stacks_and_long_texts_are_kept() {
    let _alone = alone();
    fn down(depth: usize) {
        let _span = scope!("down");
        if depth > 1 {
            down(depth - 1);
        }
    }
    let long = "ü".repeat(5000);
    let mut profiler = Profiler::builder().start().expect("a start");
    down(700);
    drop(scope!("long", text = long));
    drop(record_function(""));
    let recording = stop(&mut profiler);
    check(&recording);
    assert_eq!(rows(&recording.trace, "down").len(), 700);
    let deepest = recording.trace.tree.parents.iter().filter(|&&parent| parent != u32::MAX).count();
    assert_eq!(deepest, 699);
    let kept = text(&recording.trace, "long", "text").and_then(|v| v.as_str()).expect("a text");
    assert!(kept.len() >= 8000 && long.starts_with(kept), "{} bytes", kept.len());
}

#[test]
fn repeated_profiles_take_no_more_memory() {
    let _alone = alone();
    let resident = || -> u64 {
        let text = std::fs::read_to_string("/proc/self/statm").expect("Linux");
        text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).expect("pages") * 4096
    };
    let round = || {
        let mut profiler = Profiler::builder().record_shapes(true).start().expect("a start");
        for at in 0..2000 {
            let _span = scope!("span", shapes: [[1, 2]], at = at);
        }
        stop(&mut profiler);
    };
    (0..10).for_each(|_| round());
    let before = resident();
    (0..50).for_each(|_| round());
    let after = resident();
    assert!(after < before + (4 << 20), "{before} bytes became {after}");
}

/// `native/examples/lesson_3_candle.rs` wrote it; the page shows it as its sample.
#[test]
fn the_training_of_a_candle_model_is_whole() {
    let bytes = kinetoscope_tests::files::read(
        &kinetoscope_tests::files::data().join("candle/training.pt.trace.json"),
    )
    .expect("a trace");
    let trace = Trace::read(&bytes).expect("a trace");
    assert_eq!(trace.diagnostics.findings(), []);
    recorder::check_schema(&serde_json::from_slice(&bytes).expect("JSON"));
    recorder::check_nesting(&trace.table);
    assert_eq!([rows(&trace, "ProfilerStep#3").len(), rows(&trace, "ProfilerStep#4").len()], [1, 1]);
    assert_eq!(rows(&trace, "matmul").len(), 14);
    // Spans of the model itself, by `tracing`; modules in modules; what the allocator told.
    assert_eq!([rows(&trace, "attend").len(), rows(&trace, "train").len()], [2, 2]);
    let hierarchy = trace.table.field_named(rows(&trace, "softmax")[0], Place::Args, "Module Hierarchy");
    assert_eq!(hierarchy.and_then(|v| v.as_str()), Some("TOP(Net)::forward.attention(Attention)::forward."));
    assert!(rows(&trace, "[memory]").len() > 1000);
    let flops: i64 = rows(&trace, "matmul").iter().filter_map(|&row| trace.table.int(row, Key::Flops)).sum();
    assert!(flops > 1_000_000);
}
