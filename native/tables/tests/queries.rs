//! The queries of the library, compared with the commands whose answers they have, on every trace.

mod common;

use arrow_array::RecordBatch;
use common::{corpus, data, files_below, read, rows_of, rows_of_engine, skip};
use kinetoscope_core::analysis::query::options::Options;
use kinetoscope_core::base::rows::Rows;
use kinetoscope_core::queries;
use kinetoscope_core::trace::Trace;
use kinetoscope_tables::arrow::RankTrace;
use kinetoscope_tables::sql::{QUERIES, Session};
use std::path::{Path, PathBuf};

/// Runs a command such as `kernels --by category`.
fn command(trace: &Trace, command: &str) -> Rows {
    let mut words = command.split(' ');
    let name = words.next().expect("a name");
    let query = queries::query(name).expect("a query");
    let mut options = Options::default();
    while let Some(name) = words.next() {
        let name = name.trim_start_matches('-');
        let option = query.options.iter().find(|option| option.name == name).expect("an option");
        options.set(option, option.parse(words.next().expect("a value")).expect("a value"));
    }
    trace.ask(name, &options).expect("an answer")
}

/// Compares all queries on one trace. Returns the number of rows that were compared, by query.
fn compare(path: &Path, of: RankTrace, compared: &mut [usize]) {
    let expected: Vec<Option<Rows>> =
        QUERIES.iter().map(|query| query.equals().map(|equals| command(&of.trace, equals))).collect();
    let session = Session::from_traces(vec![of], None).expect("a session");
    for ((query, expected), compared) in QUERIES.iter().zip(expected).zip(compared) {
        let what = format!("{} of {}", query.name, path.display());
        let answer = session.run(query.sql).unwrap_or_else(|error| panic!("{what}: {error}"));
        let Some(expected) = expected else {
            *compared += answer.batches.iter().map(RecordBatch::num_rows).sum::<usize>();
            continue;
        };
        let columns: Vec<&str> = answer.schema.fields().iter().map(|field| field.name().as_str()).collect();
        let columns = &columns[2..];
        let only = query.selected_rows().map(|rows| rows.split_once('=').expect("a column and a value"));
        let ours = rows_of(&answer, columns);
        let theirs = rows_of_engine(&expected, columns, only);
        assert_eq!(ours.len(), theirs.len(), "{what}");
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(ours, theirs, "{what}: {columns:?}");
        }
        *compared += ours.len();
    }
}

#[test]
fn queries_equal_the_commands() {
    let folders = ["torch/cuda", "gpu", "healthy", "runs/two_groups"];
    let files = folders.iter().flat_map(|folder| files_below(&data().join(folder)));
    let is_chosen = |path: &PathBuf| {
        let is_of_torch = path.components().any(|part| part.as_os_str() == "torch");
        !is_of_torch || path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("trace.json"))
    };
    let mut compared = vec![0; QUERIES.len()];
    for path in files.filter(is_chosen) {
        if let Some(of) = read(&path) {
            compare(&path, of, &mut compared);
        }
    }
    for (query, count) in QUERIES.iter().zip(&compared).filter(|(query, _)| query.name != "late_ranks") {
        assert!(*count > 0, "{} had no rows", query.name);
    }
}

#[test]
#[ignore = "takes minutes; `cargo xtask test engines` runs it"]
fn queries_equal_the_commands_on_real_traces() {
    let Some(folder) = corpus() else {
        skip("there is no corpus");
        return;
    };
    let mut compared = vec![0; QUERIES.len()];
    for path in files_below(&folder) {
        if let Some(of) = read(&path) {
            compare(&path, of, &mut compared);
        }
    }
    assert!(compared.iter().sum::<usize>() > 50_000, "{compared:?}");
}
