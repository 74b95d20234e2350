//! Iterations of inference engines: generated traces with known phases, and an oracle that counts single microseconds.

mod energy;
mod generated;
mod real;
mod repeating;

use generated::{Engine, Program, Worked};
use kinetoscope_core::runs::compare::Comparison;
use kinetoscope_core::runs::compare::profile::Profile;
use kinetoscope_core::runs::compare::query::DiffOptions;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::step_rules::{StepName, StepRules};
use kinetoscope_tests::answers::{made, rows};
use repeating::Server;
use serde_json::{Value, json};

const PARTS: [&str; 15] = [
    "attention",
    "kv_cache",
    "gemm",
    "moe_gemm",
    "moe_routing",
    "moe_finalize",
    "sampling",
    "other_kernels",
    "communication",
    "moe_dispatch",
    "copies",
    "queued",
    "launch",
    "host",
    "between",
];

fn of_events(events: Vec<Value>) -> Trace {
    made(&Value::Array(events))
}

fn parts_of(row: &Value) -> Vec<i64> {
    PARTS.iter().map(|part| row[format!("{part}_ns")].as_i64().expect("a part")).collect()
}

fn of_kind<'a>(rows: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    rows.iter().filter(move |row| row["kind"] == kind)
}

/// What the oracle expects of one iteration, in microseconds.
fn expected(program: &Program, at: usize) -> Vec<i64> {
    let (from, to) = program.times()[at];
    let mut parts = vec![0; PARTS.len()];
    for instant in from..to {
        let runs = |work: &&Worked| work.time.0 <= instant && instant < work.time.1;
        let part = program.work.iter().filter(runs).map(|work| work.part).min();
        let is_queued = || program.work.iter().any(|work| work.launch.1 <= instant && instant < work.time.0);
        let is_in = |times: &[(i64, i64)]| times.iter().any(|time| time.0 <= instant && instant < time.1);
        let idle = || match () {
            () if is_queued() => "queued",
            () if is_in(&program.calls) => "launch",
            () if is_in(&program.ranges) => "host",
            () => "between",
        };
        let part = part.unwrap_or_else(|| PARTS.iter().position(|part| *part == idle()).expect("a part"));
        parts[part] += 1;
    }
    parts
}

#[test]
fn parts_equal_those_of_an_oracle_on_generated_programs() {
    for seed in 0..60 {
        let program = Program::new(seed, Engine::ALL[seed as usize % Engine::ALL.len()]);
        let trace = made(&program.events().into());
        let all = rows(&trace, "serving");
        let found: Vec<&Value> = of_kind(&all, "iteration").collect();
        assert_eq!(found.len(), program.iterations.len(), "seed {seed}");
        for (at, (row, iteration)) in found.iter().zip(&program.iterations).enumerate() {
            let place = format!("seed {seed}, iteration {at}: {}", row["name"]);
            let stated = |key: &str| row[key].as_i64();
            assert_eq!(row["phase"], iteration.phase, "{place}");
            assert_eq!(stated("batch"), iteration.batch, "{place}");
            assert_eq!(stated("tokens"), iteration.tokens, "{place}");
            assert_eq!(stated("generated"), iteration.generated, "{place}");
            let time = program.times()[at];
            assert_eq!(stated("wall_ns"), Some((time.1 - time.0) * 1000), "{place}");
            let expected: Vec<i64> = expected(&program, at).iter().map(|us| us * 1000).collect();
            assert_eq!(parts_of(row), expected, "{place}");
            assert_eq!(stated("graphs"), Some(i64::from(iteration.is_graph)), "{place}");
        }
    }
}

/// The sums of groups equal those of their iterations, and the times add up to that from the first range to the last work.
#[test]
fn groups_add_up_to_the_wall_time() {
    for seed in 0..40 {
        let program = Program::new(seed, Engine::ALL[seed as usize % Engine::ALL.len()]);
        let all = rows(&made(&program.events().into()), "serving");
        let total = of_kind(&all, "total").next().expect("a total");
        let iterations: Vec<&Value> = of_kind(&all, "iteration").collect();
        let times = program.times();
        let wall = times.last().expect("an iteration").1 - times[0].0;
        let sum = |key: &str, of: &dyn Fn(&Value) -> bool| -> i64 {
            iterations.iter().filter(|row| of(row)).map(|row| row[key].as_i64().expect(key)).sum()
        };
        assert_eq!(sum("wall_ns", &|_| true), wall * 1000, "seed {seed}");
        for group in of_kind(&all, "phase").chain([total]) {
            let is_of = |row: &Value| {
                (group["phase"].is_null() || row["phase"] == group["phase"])
                    && (row["is_warm_up"] == false || group["warm_up"] == group["count"])
            };
            assert_eq!(group["wall_ns"], sum("wall_ns", &is_of), "seed {seed}: {group}");
            assert_eq!(parts_of(group).iter().sum::<i64>(), sum("wall_ns", &is_of), "seed {seed}: {group}");
            let parts: i64 = parts_of(group)[..11].iter().sum();
            assert_eq!(group["busy_ns"], parts, "seed {seed}: {group}");
        }
        let counts =
            |kind| of_kind(&all, kind).map(|row| row["count"].as_u64().expect("a count")).sum::<u64>();
        assert_eq!(counts("phase"), iterations.len() as u64);
        assert_eq!(counts("batch"), iterations.len() as u64);
    }
}

/// One graph that is launched in each decode: 3 kernels of 10 us with gaps of 1 us.
fn decodes(starts: &[(i64, i64)]) -> Vec<Value> {
    let mut events = Vec::new();
    for (id, &(start, wait)) in starts.iter().enumerate() {
        let id = id as i64 + 1;
        let work = start + 10 + wait;
        events.push(
            json!({"ph": "X", "cat": "user_annotation", "name": "step[DECODE bs=8]", "pid": 1, "tid": 1,
            "ts": start, "dur": 30}),
        );
        events.push(json!({"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 1, "tid": 1,
            "ts": start + 5, "dur": 5, "args": {"correlation": id}}));
        for (at, name) in ["sgemm", "paged_attention_v1", "sgemm"].iter().enumerate() {
            events.push(json!({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7,
                "ts": work + at as i64 * 11, "dur": 10, "args": {"correlation": id}}));
        }
    }
    events
}

#[test]
fn replays_of_a_graph_are_counted_and_measured() {
    let all = rows(&of_events(decodes(&[(0, 0), (50, 4), (100, 0), (150, 0)])), "serving");
    let graphs: Vec<&Value> = of_kind(&all, "graph").collect();
    let [graph] = graphs[..] else { panic!("{graphs:?}") };
    let of = |key: &str| graph[key].as_i64().expect(key);
    assert_eq!((of("launches"), of("activities")), (4, 3));
    assert_eq!((of("mean_ns"), of("mean_gap_ns"), of("mean_call_ns")), (32_000, 2_000, 5_000));
    assert_eq!(of("mean_wait_ns"), 6_000, "5 us for each call, and 4 us once");
}

#[test]
fn slow_first_iterations_are_a_warm_up() {
    let all = rows(
        &of_events(decodes(&[(0, 120), (200, 120), (400, 0), (450, 0), (500, 0), (550, 90)])),
        "serving",
    );
    let warm: Vec<bool> = of_kind(&all, "iteration").map(|row| row["is_warm_up"] == true).collect();
    assert_eq!(warm, [true, true, false, false, false, false], "a slow one later is none");
    let phase = of_kind(&all, "phase").next().expect("a phase");
    assert_eq!((&phase["count"], &phase["warm_up"]), (&json!(6), &json!(2)));
    assert_eq!(phase["tokens"], 4 * 8);
}

#[test]
fn what_takes_most_of_the_time_is_the_bound() {
    let bound = |events: &[Value]| {
        let all = rows(&of_events(events.to_vec()), "serving");
        of_kind(&all, "total").next().expect("a total")["bound"].clone()
    };
    assert_eq!(bound(&decodes(&[(0, 0), (50, 0)])), "kernels");
    assert_eq!(bound(&decodes(&[(0, 0), (500, 0)])), "between");
    assert_eq!(bound(&decodes(&[(0, 400), (500, 400)])), "queued");
    let mut events = decodes(&[(0, 0), (50, 0)]);
    events[0]["dur"] = json!(49);
    events[6]["ts"] = json!(250);
    events[6]["dur"] = json!(5);
    events[5]["dur"] = json!(300);
    events[5]["ts"] = json!(50);
    assert_eq!(bound(&events[..6]), "host");
}

/// A comparison of servers is one of the same work: another mix of batches is no change.
#[test]
fn comparisons_align_iterations_by_phase_and_batch() {
    let server = |batches: &[(i64, i64)]| {
        let mut events = Vec::new();
        let mut now = 0;
        for (id, (batch, dur)) in batches.iter().enumerate() {
            let dur = dur + (id as i64 * 7) % 3;
            events.push(json!({"ph": "X", "cat": "user_annotation", "name": format!("step[DECODE bs={batch}]"), "pid": 1, "tid": 1,
                "ts": now, "dur": dur + 20}));
            events.push(json!({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": now + 2,
                "dur": 5, "args": {"correlation": id + 1}}));
            events.push(json!({"ph": "X", "cat": "kernel", "name": "sgemm", "pid": 0, "tid": 7, "ts": now + 10, "dur": dur,
                "args": {"correlation": id + 1}}));
            now += dur + 40;
        }
        Profile::from_trace(&of_events(events), "trace")
    };
    let small = |count: usize| vec![(8, 100); count];
    let large = |count: usize| vec![(64, 400); count];
    let compared =
        |a: &Profile, b: &Profile| Comparison::new(a, b).page(&DiffOptions::default()).to_text(None);
    let (a, b) = (server(&small(12)), server(&[small(12), large(12)].concat()));
    let text = compared(&a, &b);
    assert!(text.contains("compared: 12 of 12 and of 24 iterations"), "{text}");
    let wall = text.lines().find(|line| line.starts_with("wall")).expect("the wall time");
    assert!(wall.contains("+0.000us") && wall.trim_end().ends_with("no"), "{text}");
    let text = compared(&a, &server(&large(12)));
    assert!(text.contains("differences can be due to that"), "{text}");
    let text = compared(&b, &server(&[large(12), small(12)].concat()));
    assert!(!text.contains("compared:"), "all are compared: {text}");
    // A profile that is written and read again is compared in the same way.
    let again = Profile::from_bytes(&b.to_bytes()).expect("a profile");
    assert_eq!(compared(&a, &again), compared(&a, &b));
}

#[test]
fn work_between_ranges_belongs_to_the_nearer_one() {
    let range = |ts: i64| json!({"ph": "X", "cat": "user_annotation", "name": "step[DECODE bs=1]", "pid": 1, "tid": 1, "ts": ts, "dur": 100});
    let launch = |id: i64, ts: i64| {
        [
            json!({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": ts, "dur": 1, "args": {"correlation": id}}),
            json!({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": ts + 2, "dur": 3, "args": {"correlation": id}}),
        ]
    };
    let mut events = vec![range(100), range(300)];
    for (id, ts) in [(1, 50), (2, 150), (3, 240), (4, 260), (5, 350), (6, 420)] {
        events.extend(launch(id, ts));
    }
    let all = rows(&of_events(events), "serving");
    let launched: Vec<&Value> = of_kind(&all, "iteration").map(|row| &row["launched"]).collect();
    assert_eq!(
        launched,
        [2, 3],
        "work after the last range belongs to it, work before the first one to none"
    );
    let walls: Vec<&Value> = of_kind(&all, "iteration").map(|row| &row["wall_ns"]).collect();
    assert_eq!(walls, [145_000, 180_000]);
}

/// Without ranges, iterations are those that launches repeat: at least 95 of 100 generated servers have exactly their own.
#[test]
fn iterations_are_inferred_from_launches_that_repeat() {
    let mut wrong = Vec::new();
    for seed in 0..100 {
        let server = Server::new(seed);
        let all = rows(&of_events(server.events()), "serving");
        let found: Vec<i64> =
            of_kind(&all, "iteration").map(|row| row["start_ns"].as_i64().expect("a time")).collect();
        let first = server.starts[0];
        let truth: Vec<i64> = server.starts.iter().map(|start| (start - first) * 1000).collect();
        // The first and the last iteration can be left out, because nothing shows that they are complete.
        let count = truth.len();
        let is_right =
            [&truth[..], &truth[1..], &truth[..count - 1], &truth[1..count - 1]].contains(&&found[..]);
        if !is_right {
            wrong.push((seed, found.len(), truth.len()));
        }
        if let Some(total) = of_kind(&all, "total").next() {
            assert!(total["confidence"].as_f64().expect("a confidence") > 0.4, "seed {seed}");
        }
    }
    assert!(wrong.len() <= 5, "{} wrong: seed, found, truth: {wrong:?}", wrong.len());
}

/// Launches of random work have no iterations.
#[test]
fn launches_that_do_not_repeat_have_no_iterations() {
    for seed in 0..20 {
        let events = Server::random(seed).events();
        assert!(rows(&of_events(events), "serving").is_empty(), "seed {seed}");
    }
}

#[test]
fn ranges_of_the_user_are_steps() {
    let events: Vec<Value> = (0..3)
        .flat_map(|at| {
            [
                json!({"ph": "X", "cat": "user_annotation", "name": format!("ProfilerStep#{at}"), "pid": 1, "tid": 1, "ts": at * 100, "dur": 90}),
                json!({"ph": "X", "cat": "user_annotation", "name": format!("turn {at} of 4"), "pid": 1, "tid": 1, "ts": at * 100 + 10, "dur": 50}),
            ]
        })
        .collect();
    let mut trace = of_events(events);
    let names = |trace: &Trace| -> Vec<String> {
        rows(trace, "steps").iter().map(|row| row["name"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(names(&trace), ["ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2"]);
    assert!(of_kind(&rows(&trace, "serving"), "iteration").all(|row| row["phase"] == "step"));
    trace.step_rules = StepRules::parse("decode,turn {number} of {batch}").expect("rules");
    assert_eq!(
        names(&trace),
        ["ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2"],
        "profiler steps come first"
    );
    let all = rows(&trace, "serving");
    assert_eq!(of_kind(&all, "iteration").map(|row| &row["step"]).collect::<Vec<_>>(), [0, 1, 2]);
    let found = trace
        .choose_steps(|name| name.starts_with("turn ").then(|| StepName::new(None, Some(4), None, None)));
    assert_eq!(found, 3);
    assert_eq!(names(&trace), ["turn 0 of 4", "turn 1 of 4", "turn 2 of 4"]);
}
