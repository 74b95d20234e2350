//! Asynchronous tasks: times that were worked out by hand.

use kinetoscope_core::analysis::tasks::task_rows::{self, TasksBy, TasksOptions};
use kinetoscope_core::base::diagnostics::Code;
use kinetoscope_core::trace::Trace;
use kinetoscope_tests::answers::{made, rows};
use kinetoscope_tests::exports::exported;
use kinetoscope_tests::files::data;
use serde_json::{Value, json};
use std::fs;

fn answer(trace: &[u8], by: TasksBy) -> Vec<Value> {
    let trace = Trace::read(trace).expect("a trace");
    let rows = task_rows::tasks(&trace, &TasksOptions { by, row_limit: None });
    (0..rows.rows.len()).map(|at| serde_json::from_str(&rows.json_row(at)).expect("JSON")).collect()
}

fn fixture() -> Vec<u8> {
    fs::read(data().join("healthy/asynchronous_tasks.json")).expect("a fixture")
}

fn pick(row: &Value, keys: &[&str]) -> Vec<Value> {
    keys.iter().map(|key| row[key].clone()).collect()
}

#[test]
fn the_life_of_a_task_is_its_polls_and_its_waits() {
    let rows = answer(&fixture(), TasksBy::Name);
    let keys = [
        "name",
        "waited_for",
        "count",
        "life_ns",
        "busy_ns",
        "waiting_ns",
        "polls",
        "poll_max_ns",
        "blocking",
    ];
    let rows: Vec<_> = rows.iter().map(|row| pick(row, &keys)).collect();
    assert_eq!(
        json!(rows),
        json!([
            ["request", "worker", 1, 10_000_000, 2_500_000, 7_500_000, 3, 1_000_000, 0],
            ["worker", null, 1, 4_400_000, 1_600_000, 2_800_000, 2, 1_500_000, 1],
            ["query", null, 1, 3_800_000, 550_000, 3_250_000, 2, 300_000, 0],
            ["upload", null, 1, 1_000_000, null, null, 0, null, 0],
        ])
    );
}

#[test]
fn a_task_waits_for_the_tasks_that_it_polls_and_for_those_that_it_created() {
    let rows = answer(&fixture(), TasksBy::Wait);
    let rows: Vec<_> = rows
        .iter()
        .map(|row| pick(row, &["name", "waited_for", "count", "waiting_ns", "wait_max_ns"]))
        .collect();
    assert_eq!(
        json!(rows),
        json!([
            ["request", "worker", 1, 4_500_000, 4_500_000],
            ["query", null, 1, 3_150_000, 3_150_000],
            ["request", "query", 1, 3_000_000, 3_000_000],
            ["worker", null, 1, 2_600_000, 2_600_000],
        ])
    );
}

/// A name, a life and polls, in us.
type Timing<'a> = (&'a str, (i64, i64), &'a [(i64, i64)]);

/// A task, and the name of each other one with its life and its polls inside of those of the task.
fn with_children(polls: &[(i64, i64)], children: &[Timing<'_>]) -> Vec<u8> {
    let end = polls.last().expect("a poll").1;
    let mut all: Vec<Timing<'_>> = vec![("outer", (0, end), polls)];
    all.extend(children);
    let mut events = Vec::new();
    for (id, (name, life, polls)) in all.into_iter().enumerate() {
        let event = |ph: &str, cat: &str, ts: i64| json!({"ph": ph, "cat": cat, "name": name, "id": format!("0x{id:x}"), "pid": 1, "tid": 1, "ts": ts});
        events.push(event("b", "async", life.0));
        for (at, &(start, end)) in polls.iter().enumerate() {
            let span = json!({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": end - start});
            events.extend([span, event(if at == 0 { "s" } else { "t" }, "async_poll", end)]);
        }
        events.push(event("e", "async", life.1));
    }
    json!(events).to_string().into_bytes()
}

fn waited_for(trace: &[u8]) -> Value {
    let rows = answer(trace, TasksBy::Task);
    rows.iter().find(|row| row["name"] == "outer").expect("a row")["waited_for"].clone()
}

#[test]
fn of_several_tasks_the_one_that_ends_first_is_waited_for() {
    let polls = [(0, 100), (500, 600), (800, 900)];
    let slow = ("slow", (10, 850), &[(10, 20), (510, 520), (810, 850)][..]);
    let fast = ("fast", (30, 560), &[(30, 40), (530, 560)][..]);
    assert_eq!(waited_for(&with_children(&polls, &[slow, fast])), json!("fast"));
}

#[test]
fn a_wait_is_that_of_the_innermost_task() {
    let polls = [(0, 100), (500, 600)];
    let middle = ("middle", (10, 590), &[(10, 90), (505, 590)][..]);
    let inner = ("inner", (20, 550), &[(20, 80), (510, 550)][..]);
    assert_eq!(waited_for(&with_children(&polls, &[middle, inner])), json!("inner"));
}

#[test]
fn the_task_that_is_polled_next_is_waited_for_if_none_was_polled_before() {
    // A set of futures polls only those that were woken.
    let polls = [(0, 100), (200, 300), (500, 600)];
    let early = ("early", (10, 560), &[(10, 20), (510, 560)][..]);
    let other = ("other", (205, 250), &[(205, 250)][..]);
    let trace = with_children(&polls, &[early, other]);
    assert_eq!(waited_for(&trace), json!("early"));
    let waits = answer(&trace, TasksBy::Wait);
    let sum: i64 =
        waits.iter().filter(|row| row["name"] == "outer").filter_map(|row| row["waiting_ns"].as_i64()).sum();
    assert_eq!(sum, 300_000);
    assert!(waits.iter().filter(|row| row["name"] == "outer").all(|row| row["waited_for"] == "early"));
}

#[test]
fn an_id_that_is_used_again_is_another_task() {
    let task_events = |start: i64| {
        let polls = [(start, start + 10), (start + 50, start + 60)];
        let trace = with_children(&polls.map(|(a, b)| (a - start, b - start)), &[]);
        let mut events: Vec<Value> = serde_json::from_slice(&trace).expect("JSON");
        for event in &mut events {
            event["ts"] = json!(event["ts"].as_i64().expect("a time") + start);
        }
        events
    };
    let events = json!([task_events(0), task_events(100)].concat()).to_string();
    let rows = answer(events.as_bytes(), TasksBy::Task);
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert_eq!(pick(&row, &["life_ns", "busy_ns", "polls"]), [json!(60_000), json!(20_000), json!(2)]);
    }
}

/// A recording that was cut: `a` is open at its end, at 15 µs.
#[test]
fn begins_without_an_end_last_to_the_end_of_the_recording() {
    let event = |ph: &str, name: &str, id: i64, ts: i64| json!({"ph": ph, "cat": "q", "name": name, "id": id, "pid": 1, "tid": 1, "ts": ts});
    let events =
        json!([event("b", "a", 1, 0), event("b", "x", 2, 5), event("e", "x", 2, 15), event("b", "y", 3, 15)]);
    let trace = made(&events);
    assert_eq!(trace.diagnostics.count(Code::UnmatchedAsync), 2);
    let names: Vec<_> =
        rows(&trace, "names").iter().map(|row| pick(row, &["name", "count", "total_ns"])).collect();
    assert_eq!(json!(names), json!([["a", 1, 15_000], ["x", 1, 10_000], ["y", 1, 0]]));
    let folded = String::from_utf8(exported(&trace, "folded", b"")).expect("UTF-8");
    assert_eq!(folded, "process_1_·_thread_1;a 15\nprocess_1_·_thread_1_(overlap_1);x 10\n");
    let mut without_id = event("b", "a", 1, 0);
    without_id.as_object_mut().expect("an object").remove("id");
    let trace = made(&json!([without_id, event("n", "a", 1, 7)]));
    assert_eq!(pick(&rows(&trace, "names")[0], &["name", "total_ns"]), [json!("a"), json!(7_000)]);
    assert!(rows(&trace, "check").iter().all(|row| row["holds"] != false));
    let only_open = made(&json!([event("b", "a", 1, 0), event("n", "a", 1, 7)]));
    assert_eq!(pick(&rows(&only_open, "names")[0], &["name", "total_ns"]), [json!("a"), json!(7_000)]);
}
