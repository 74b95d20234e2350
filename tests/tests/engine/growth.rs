//! Reading takes time that grows with the size of the input, not with its square: each input would take minutes otherwise.

use kinetoscope_core::trace::Trace;
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Far more than an unoptimised build needs on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

fn read(text: &str) -> Trace {
    let start = Instant::now();
    let trace = Trace::read(text.as_bytes()).expect("a trace");
    assert!(start.elapsed() < LIMIT, "{:?} for {} bytes", start.elapsed(), text.len());
    trace
}

fn read_events(events: &[Value]) -> Trace {
    read(&Value::from(events).to_string())
}

fn call(at: usize, correlation: usize, external: usize) -> Value {
    json!({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 10 * at, "dur": 1,
        "args": {"correlation": correlation, "External id": external}})
}

fn kernel(at: usize, correlation: usize) -> Value {
    json!({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 10 * at + 5, "dur": 1,
        "args": {"correlation": correlation}})
}

#[test]
fn equal_ids_are_linked() {
    const COUNT: usize = 100_000;
    let operator = |at: usize| json!({"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 10 * at, "dur": 4, "args": {"External id": 7}});
    let equal: Vec<Value> = (0..COUNT).flat_map(|at| [call(at, 9, 0), kernel(at, 9)]).collect();
    let trace = read_events(&equal);
    assert_eq!(trace.links.launch_of.len(), COUNT);
    let external: Vec<Value> =
        (0..COUNT).flat_map(|at| [operator(at), call(at, at + 100, 7), kernel(at, at + 100)]).collect();
    assert_eq!(read_events(&external).links.op_of.len(), COUNT);
    // All calls are in the outermost operators only.
    let nested = |at: usize| json!({"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": at, "dur": 30 * COUNT - 25 * at, "args": {"External id": 7}});
    let late: Vec<Value> = (0..COUNT)
        .flat_map(|at| [nested(at), call(at + COUNT / 5, at + 100, 7), kernel(at + COUNT / 5, at + 100)])
        .collect();
    assert_eq!(read_events(&late).links.op_of.len(), COUNT);
}

#[test]
fn begins_and_ends_are_paired() {
    const COUNT: usize = 50_000;
    let marks = |ph: &str, name: &str, ts: &dyn Fn(usize) -> usize, tid: i64| -> Vec<Value> {
        let mark = |at: usize| {
            let name = format!("{name}{at}");
            json!({"ph": ph, "cat": "c", "id": 1, "name": name, "pid": 1, "tid": tid, "ts": ts(at)})
        };
        (0..COUNT).map(mark).collect()
    };
    let later = |at: usize| COUNT + at;
    let other = [marks("B", "a", &|at| at, 1), marks("E", "b", &later, 1)].concat();
    assert_eq!(read_events(&other).pairs.spans.len(), COUNT);
    let at_once = [marks("E", "a", &|_| 5, 1), marks("B", "a", &|_| 5, 1)].concat();
    assert_eq!(read_events(&at_once).pairs.spans.len(), COUNT);
    let asynchronous = [marks("b", "a", &|at| at, 1), marks("e", "a", &later, 2)].concat();
    assert_eq!(read_events(&asynchronous).pairs.asyncs.len(), COUNT);
}

#[test]
fn an_event_can_have_many_keys() {
    let members = |order: &mut dyn Iterator<Item = usize>| {
        order.fold(String::new(), |mut text, at| {
            let comma = if text.is_empty() { "" } else { "," };
            write!(text, "{comma}\"v{at}\":{at}").expect("a text");
            text
        })
    };
    let event =
        |members: &str| format!(r#"{{"ph":"i","name":"a","pid":1,"tid":1,"ts":1,"args":{{{members}}}}}"#);
    let (up, down) = (members(&mut (0..50_000)), members(&mut (0..50_000).rev()));
    let trace = read(&format!("[{},{}]", event(&up), event(&down)));
    assert_eq!(trace.table.len(), 2);
}

#[test]
fn texts_without_an_end_hide_many_events() {
    let hidden = r#"{"ph":"X","name":""#.repeat(50_000);
    for end in ["", r#"","cat":"c",@ "#] {
        let text = format!(r#"{{"traceEvents":[{hidden}{end}"#);
        let trace = read(&format!(r#"{text}{{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}}]}}"#));
        assert_eq!(trace.table.len(), 1, "{end}");
    }
}
