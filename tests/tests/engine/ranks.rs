//! Runs of several ranks: recorded ones with a known truth, generated ones, and those of others.

mod advice;
mod generated;
mod late;
mod others;
mod recorded;

use kinetoscope_core::analysis::query::options::Options;
use kinetoscope_core::queries::{Request, query};
use kinetoscope_core::runs::ranks::run::Run;
use kinetoscope_core::runs::ranks::summary::Summary;
use kinetoscope_core::trace::Trace;
use serde_json::Value;

/// Returns the run of these traces, named after their ranks.
fn run_of(traces: impl IntoIterator<Item = (String, Vec<u8>)>) -> Run {
    let summary =
        |(name, bytes): (String, Vec<u8>)| Summary::from_trace(&Trace::read(&bytes).expect("a trace"), &name);
    Run::new(traces.into_iter().map(summary), Vec::new())
}

/// Returns the rows of `ranks`, as JSON.
fn rows(run: &Run) -> Vec<Value> {
    let options = Options::from_texts(query("ranks").expect("the query").options, &[]).expect("options");
    let rows = run.answer(Request::new(&options)).expect("an answer").rows;
    (0..rows.rows.len()).map(|at| serde_json::from_str(&rows.json_row(at)).expect("JSON")).collect()
}

/// Returns the rows of one kind.
fn of_kind<'a>(rows: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    rows.iter().filter(move |row| row["kind"] == kind)
}

/// A kernel whose arguments name the collective but no process group belongs to the group of its stream.
#[test]
fn a_message_without_a_group_has_its_peer() {
    let trace = |rank: i64, name: &str, args: &str| {
        let text = format!(
            r#"{{"distributedInfo": {{"rank": {rank}, "world_size": 2}}, "traceEvents": [
            {{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "pid": 0,
            "tid": 7, "ts": 10.0, "dur": 5.0, "args": {{"stream": 7, "Collective name": "{name}", {args}}}}}]}}"#
        );
        (format!("rank{rank}.json"), text.into_bytes())
    };
    let run = run_of([trace(0, "send", r#""Dst Rank": 1"#), trace(1, "recv", r#""Src Rank": 0"#)]);
    let rows = rows(&run);
    let all: Vec<&Value> = of_kind(&rows, "collective").collect();
    assert_eq!(all.len(), 1);
    assert_eq!((&all[0]["ranks"], &all[0]["group"]), (&serde_json::json!([0, 1]), &"stream 7".into()));
}
