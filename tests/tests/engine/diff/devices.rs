//! What changes about the work of devices: whether it is launched, its stream, and the clock.

use super::ranks::{committed, compared, ranks};
use super::{diff, profile};
use kinetoscope_core::queries::query;
use kinetoscope_core::runs::compare::profile::Profile;
use kinetoscope_tests::pairs::{self, Changed};
use serde_json::Value;
use std::collections::BTreeSet;

/// What an operator launches: a category, which is empty if it launches nothing, a name and a stream.
type Launched = (&'static str, String, i64);

/// The operators of a step.
const LETTERS: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];

fn kernel(at: usize, stream: i64) -> Launched {
    ("kernel", format!("kernel_{}", LETTERS[at]), stream)
}

fn on_seven(at: usize) -> Launched {
    kernel(at, 7)
}

fn span(cat: &str, name: &str, track: (i64, i64), (start, end): (i64, i64), args: &str) -> String {
    let ((pid, tid), dur) = (track, end - start);
    format!(
        "{{\"ph\": \"X\", \"cat\": \"{cat}\", \"name\": \"{name}\", \"pid\": {pid}, \"tid\": {tid}, \"ts\": {start}, \"dur\": {dur}, \"args\": {{{args}}}}}"
    )
}

/// A trace of 6 steps with what each operator launches, which takes so long, and what else is in a step.
fn trace(us: i64, more: impl Fn(i64) -> Vec<String>, launched: impl Fn(usize) -> Launched) -> Profile {
    const HOST: (i64, i64) = (1, 1);
    let mut events: Vec<String> = Vec::new();
    for step in 0..6 {
        let start = step * 10_000;
        let name = format!("ProfilerStep#{step}");
        events.push(span("user_annotation", &name, HOST, (start, start + 10_000), ""));
        for (at, letter) in LETTERS.iter().enumerate() {
            let (begin, id) = (start + 100 + 900 * at as i64, step * 10 + at as i64 + 1);
            events.push(span("cpu_op", &format!("aten::op{letter}"), HOST, (begin, begin + 50), ""));
            let (category, name, stream) = launched(at);
            if category.is_empty() {
                continue;
            }
            let args = format!("\"correlation\": {id}, \"stream\": {stream}, \"device\": 0");
            events.push(span("cuda_runtime", "cudaLaunchKernel", HOST, (begin + 10, begin + 20), &args));
            let time = (begin + 30, begin + 30 + us + at as i64);
            events.push(span(category, &name, (0, stream), time, &args));
        }
        events.extend(more(start));
    }
    profile(format!("[{}]", events.join(",")).as_bytes())
}

fn plain(us: i64, launched: impl Fn(usize) -> Launched) -> Profile {
    trace(us, |_| Vec::new(), launched)
}

fn moved(rows: &[Value]) -> Vec<&Value> {
    rows.iter().filter(|row| row["change"] == "moved").collect()
}

#[test]
fn an_operator_that_launches_nothing_has_moved() {
    let without = |at| if at == 3 { ("", String::new(), 0) } else { on_seven(at) };
    let rows = diff(&plain(400, on_seven), &plain(400, without));
    let moved = moved(&rows);
    assert_eq!(moved.len(), 1, "{moved:?}");
    assert_eq!((&moved[0]["name"], &moved[0]["cause"]), (&"aten::opd".into(), &"device".into()));
    assert_eq!(moved[0]["significant"], true);
    let gone = rows.iter().find(|row| row["name"] == "kernel_d").expect("its kernel");
    assert_eq!(gone["change"], "gone");
}

/// A copy is work of a device as well.
#[test]
fn an_operator_that_copies_instead_has_not_moved() {
    let copy = |at: usize| {
        if at == 3 { ("gpu_memcpy", "Memcpy DtoD (Device -> Device)".into(), 7) } else { on_seven(at) }
    };
    let rows = diff(&plain(400, on_seven), &plain(400, copy));
    assert_eq!(moved(&rows), Vec::<&Value>::new());
}

/// Streams have other numbers in another process.
#[test]
fn work_has_moved_if_it_left_the_other_work_of_its_stream() {
    let rows = diff(&plain(400, on_seven), &plain(400, |at| kernel(at, 13)));
    assert_eq!(moved(&rows), Vec::<&Value>::new());
    let left = |at: usize| kernel(at, if at == 3 { 20 } else { 13 });
    let rows = diff(&plain(400, on_seven), &plain(400, left));
    let found = moved(&rows);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&found[0]["name"], &found[0]["cause"]), (&"kernel_d".into(), &"stream".into()));
    assert_eq!(
        (&found[0]["message"], &found[0]["significant"]),
        (&"stream 7 became 20".into(), &true.into())
    );
    let back = diff(&plain(400, left), &plain(400, on_seven));
    assert_eq!(moved(&back)[0]["message"], "stream 20 became 7");
}

/// A counter of a clock and one of the power, at the start of each step.
fn clock(name: &'static str, mhz: i64) -> impl Fn(i64) -> Vec<String> {
    move |start| {
        let counter = |name: &str, args: &str| {
            let ts = start + 1;
            format!(
                "{{\"ph\": \"C\", \"name\": \"{name}\", \"pid\": 1, \"tid\": 1, \"ts\": {ts}, \"args\": {{{args}}}}}"
            )
        };
        vec![
            counter(name, &format!("\"multiprocessors\": {mhz}, \"memory\": 1593")),
            counter("GPU 0 power (mW)", "\"power\": 250000"),
        ]
    }
}

#[test]
fn a_slower_clock_is_the_cause_of_slower_devices() {
    let compare = |name, a: (i64, i64), b: (i64, i64)| {
        diff(&trace(a.0, clock(name, a.1), on_seven), &trace(b.0, clock(name, b.1), on_seven))
    };
    let cause = |rows: &[Value], what: &str| {
        let speed = rows.iter().find(|row| row["kind"] == "speed" && row["name"] == what);
        speed.map(|speed| (speed["cause"].clone(), speed["message"].clone()))
    };
    for name in ["GPU 0 clocks (MHz)", "SM clock"] {
        let rows = compare(name, (400, 1400), (500, 1120));
        let text = format!("{name} multiprocessors: 1400 became 1120");
        assert_eq!(cause(&rows, "devices"), Some(("clock".into(), text.as_str().into())));
        assert_ne!(cause(&rows, "host").map(|cause| cause.0), Some("clock".into()));
        let notes: Vec<&Value> =
            rows.iter().filter(|row| row["kind"] == "note").map(|row| &row["message"]).collect();
        assert!(notes.iter().any(|note| **note == text), "{notes:?}");
        let is_equal =
            |note: &Value| note.to_string().contains("power") || note.to_string().contains("memory");
        assert!(!notes.iter().any(|note| is_equal(note)), "{notes:?}");
        // A clock that is as fast, or faster, is not the cause.
        for mhz in [(1400, 1400), (1120, 1400)] {
            let rows = compare(name, (400, mhz.0), (500, mhz.1));
            assert_eq!(cause(&rows, "devices").map(|cause| cause.0), Some("machine".into()));
        }
    }
}

/// Every comparison of the tests checks the keys of its rows by their kind.
#[test]
fn rows_of_every_kind_occur() {
    let allocation = |bytes: i64| {
        let step = |at: i64| {
            format!(
                r#"{{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{at}","pid":1,"tid":1,"ts":{},"dur":90}},
                {{"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":{},"s":"t",
                "args":{{"Device Type":0,"Device Id":-1,"Addr":1,"Bytes":{bytes},"Total Allocated":{bytes}}}}}"#,
                at * 100,
                at * 100 + 10
            )
        };
        profile(format!("[{}]", (0..5).map(step).collect::<Vec<_>>().join(",")).as_bytes())
    };
    let steps = |delay| {
        profile(pairs::generate(&pairs::Plan { changed: delay, steps: 1, noise: 0, seed: 1 }).as_bytes())
    };
    let rows = [
        compared(&ranks(&committed("plain")), &ranks(&committed("slow_forward"))),
        diff(&allocation(1 << 20), &allocation(1 << 21)),
        diff(&steps(Changed::Nothing), &steps(Changed::HostDelay)),
        diff(&trace(400, clock("SM clock", 1400), on_seven), &trace(500, clock("SM clock", 1120), on_seven)),
    ];
    let found: BTreeSet<&str> = rows.iter().flatten().filter_map(|row| row["kind"].as_str()).collect();
    let kinds = query("diff").expect("a query").kinds.expect("kinds");
    let missing =
        kinds.variants.iter().filter(|variant| !variant.kinds.iter().any(|kind| found.contains(kind)));
    assert_eq!(missing.map(|variant| variant.name).collect::<Vec<_>>(), Vec::<&str>::new(), "{found:?}");
}
