//! The attributes `instrument` and `main`.

use crate::support::{alone, args, check, record, row, rows};
use kinetoscope::instrument;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::events::Row;
use kinetoscope_core::trace::table::layout::FieldPlace;
use serde_json::json;
use std::fmt::Debug;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

#[derive(Clone, Debug)]
struct Request {
    id: u64,
}

#[instrument]
fn plain(number: u8, text: &str, request: &Request, _ignored: [u8; 3], (a, b): (i32, i32)) -> i32 {
    i32::from(number) + text.len() as i32 + request.id as i32 + a + b
}

#[instrument(name = "renamed", skip(request, by), fields(id = request.id, "http.method" = "GET"), annotation)]
fn with_options(request: Request, by: u32) -> u32 {
    let _ = request;
    by
}

#[instrument("short", skip_all, err, ret)]
fn fallible(text: String) -> Result<usize, std::num::ParseIntError> {
    if text.is_empty() {
        return Ok(0);
    }
    let number: usize = text.parse()?;
    Ok(number)
}

#[instrument(ret)]
fn generic<'a, T: Debug + ?Sized>(first: &'a T, second: &'a T, swaps: bool) -> &'a T {
    if swaps { second } else { first }
}

#[instrument(ret(Display))]
fn opaque(count: usize) -> impl std::fmt::Display {
    "x".repeat(count)
}

trait Greets {
    fn greet(&mut self, name: &str) -> usize;
}

impl Greets for Request {
    #[instrument(ret)]
    fn greet(&mut self, name: &str) -> usize {
        self.id += 1;
        name.len()
    }
}

#[instrument]
unsafe fn unsafe_one() {}

#[test]
fn parameters_fields_and_results_are_arguments() {
    let _alone = alone();
    let mut request = Request { id: 7 };
    let recording = record(|| {
        assert_eq!(plain(3, "ab", &request, [0; 3], (1, 2)), 15);
        assert_eq!(with_options(request.clone(), 5), 5);
        assert_eq!(generic("a", "b", true), "b");
        assert_eq!(opaque(3).to_string(), "xxx");
        assert_eq!(request.greet("you"), 3);
        // SAFETY: the function does nothing.
        unsafe { unsafe_one() };
    });
    assert_eq!(request.id, 8);
    let document = check(&recording);
    let of = |name: &str| args(&document, &format!("recorder::instrument::{name}"));
    assert_eq!(of("plain"), json!({"number": 3, "text": "ab", "request": "Request { id: 7 }"}));
    assert_eq!(args(&document, "renamed"), json!({"id": 7, "http.method": "GET"}));
    assert_eq!(of("generic"), json!({"first": "\"a\"", "second": "\"b\"", "swaps": true, "return": "\"b\""}));
    assert_eq!(of("opaque"), json!({"count": 3, "return": "xxx"}));
    assert_eq!(of("greet"), json!({"name": "you", "return": "3"}));
    assert_eq!(of("unsafe_one"), json!({}));
    let trace = recording.trace().expect("a trace");
    assert_eq!(trace.table.cat(row(trace, "renamed")), "user_annotation");
}

#[test]
fn errors_and_early_returns_are_recorded() {
    let _alone = alone();
    for (text, expected) in [
        ("", json!({"return": "0"})),
        ("12", json!({"return": "12"})),
        ("x", json!({"error": "invalid digit found in string"})),
    ] {
        let recording = record(|| drop(fallible(text.to_owned())));
        assert_eq!(args(&check(&recording), "short"), expected, "{text:?}");
    }
}

#[instrument(err, ret)]
async fn fetch(id: u64, polls: usize) -> io::Result<u64> {
    for _ in 0..polls {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let found = find(id).await?;
    Ok(found)
}

#[instrument(skip_all)]
async fn find(id: u64) -> io::Result<u64> {
    if id == 0 { Err(io::Error::other("no such id")) } else { Ok(id * 2) }
}

struct Store {
    offset: u64,
}

impl Store {
    #[instrument(ret)]
    async fn load<T>(&self, key: T) -> u64
    where
        T: Debug + Send + Sync,
    {
        tokio::task::yield_now().await;
        self.offset
    }
}

fn field<'a>(trace: &'a Trace, row: Row, key: &str) -> Option<&'a str> {
    trace.table.field_named(row, FieldPlace::Args, key).and_then(|value| value.as_str())
}

#[test]
fn a_call_of_an_async_function_is_one_asynchronous_span_with_its_polls() {
    let _alone = alone();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .expect("a runtime");
    let recording = record(|| {
        runtime.block_on(async {
            // Futures of tasks must be `Send`.
            let tasks: Vec<_> = (0..4u64).map(|id| tokio::spawn(fetch(id, id as usize))).collect();
            let mut results = Vec::new();
            for task in tasks {
                results.push(task.await.expect("the task should not panic").ok());
            }
            assert_eq!(results, [None, Some(2), Some(4), Some(6)]);
            assert_eq!(
                tokio::spawn(async { Store { offset: 3 }.load("key").await }).await.expect("a task"),
                3
            );
        });
    });
    runtime.shutdown_timeout(Duration::from_secs(10));
    check(&recording);
    let trace = recording.trace().expect("a trace");
    let table = &trace.table;
    let name = "recorder::instrument::fetch";
    let calls: Vec<(Row, Row)> =
        trace.pairs.asyncs.iter().copied().filter(|&(begin, _)| table.name(begin) == name).collect();
    assert_eq!(calls.len(), 4);
    for (begin, end) in calls {
        let id = table.field_named(begin, FieldPlace::Args, "id").and_then(|v| v.as_i64()).expect("an id");
        assert!(table.ts(end) - table.ts(begin) >= id * 5_000_000);
    }
    let polls: Vec<Row> = rows(trace, name).into_iter().filter(|&row| table.ph(row) == b'X').collect();
    assert_eq!(polls.len(), 1 + 2 + 3 + 4);
    let results: Vec<&str> = polls.iter().filter_map(|&poll| field(trace, poll, "return")).collect();
    assert_eq!(results.len(), 3);
    let errors: Vec<&str> = polls.iter().filter_map(|&poll| field(trace, poll, "error")).collect();
    assert_eq!(errors, ["no such id"]);
    // A flow from each poll to the next one.
    let flows = trace.pairs.flows.iter().filter(|(from, _)| table.name(*from) == name).count();
    assert_eq!(flows, 1 + 2 + 3);
    assert_eq!(
        rows(trace, "recorder::instrument::load").iter().filter(|&&row| table.ph(row) == b'X').count(),
        2
    );
}

fn child(variable: &str, mode: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recording-child"));
    command.args(["worked", mode]).env("KINETOSCOPE", variable).output().expect("the child should run")
}

#[test]
fn the_environment_records_a_program_without_a_change() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let spans = |path: &Path| rows(&kinetoscope::open(path).expect("a trace"), "work of the program").len();
    let output = child(&format!("{},shapes", path("run.ktrace")), "ends");
    assert_eq!((output.status.success(), output.stderr.as_slice()), (true, &b""[..]));
    assert_eq!(spans(Path::new(&path("run.ktrace"))), 1);
    // A file with content is refused, and the program runs.
    let output = child(&path("run.ktrace"), "ends");
    assert!(output.status.success());
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.starts_with("kinetoscope: KINETOSCOPE: ") && error.contains("not empty"), "{error}");
    assert!(child(&format!("{},append", path("run.ktrace")), "ends").stderr.is_empty());
    assert_eq!(spans(Path::new(&path("run.ktrace"))), 2);
    for (value, text) in [
        (format!("{},stakcs", path("x")), "`stakcs` is not an option; these are: overwrite, append"),
        (",stacks".to_owned(), "the value begins with a path"),
        (format!("{},flight=soon", path("x")), "`flight=soon` has no number of seconds"),
    ] {
        let output = child(&value, "ends");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && error.contains(text), "{value}: {error}");
    }
    assert!(child("", "ends").stderr.is_empty());
    let flights = path("flights-%p");
    assert!(child(&format!("{flights},flight=5"), "panics").status.success());
    let folders: Vec<_> = fs::read_dir(folder.path())
        .expect("a folder")
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("flights-"))
        .collect();
    assert_eq!(folders.len(), 1);
    let files: Vec<_> = fs::read_dir(folders[0].path()).expect("a folder").flatten().collect();
    assert_eq!(files.len(), 1);
    assert_eq!(spans(&files[0].path()), 1);
}
