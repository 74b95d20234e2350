//! The types and columns of the npm package are those of every analysis and export of the engine, and real answers
//! conform to these types.

use crate::kinds::check_kinds;
use kinetoscope_core::analysis::overview::preview::Preview;
use kinetoscope_core::analysis::query::options::Options;
use kinetoscope_core::base::error::Error;
use kinetoscope_core::base::rows::{Column, Rows};
use kinetoscope_core::queries::{COMPARISONS, QUERIES, Request, query};
use kinetoscope_core::runs::ranks::run::Run;
use kinetoscope_core::runs::ranks::summary::Summary;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::provenance::ProvenanceFile;
use kinetoscope_tests::files;
use kinetoscope_tests::runs::{Injected, Plan, generate};
use kinetoscope_tests::tables_ts::tables_ts;
use kinetoscope_tests::typescript::{columns_ts, queries_ts};
use kinetoscope_tests::words_ts::words_ts;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn committed_types_match_the_engine() {
    let texts = [
        ("queries.ts", queries_ts()),
        ("columns.ts", columns_ts()),
        ("tables.ts", tables_ts()),
        ("words.ts", words_ts()),
    ];
    for (name, text) in texts {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wasm/js/src/generated").join(name);
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, &text).expect(name);
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(committed, text, "BLESS=1 writes {name}");
    }
}

/// Collects the files of the fixtures; of PyTorch's, only those that are traces.
fn traces(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_torchs =
            path.components().any(|part| part.as_os_str() == "torch") && !folder.ends_with("made_up");
        let is_trace = ["trace.json", "trace.pftrace", "events.json", "kineto_events.json", "records.json"]
            .iter()
            .any(|stem| name.strip_suffix(".gz").unwrap_or(name) == *stem);
        if path.is_dir() {
            traces(&path, found);
        } else if !is_torchs || is_trace {
            found.push(path);
        }
    }
}

/// Columns with one key are one column: only whether they can be null differs.
#[test]
fn a_key_has_one_meaning_in_all_kinds() {
    for query in QUERIES.iter().chain(COMPARISONS) {
        let all = query.columns();
        for variant in query.kinds.iter().flat_map(|kinds| kinds.variants) {
            for column in variant.columns {
                let known = all.iter().find(|known| known.key == column.key).expect("a column of all kinds");
                assert_eq!(Column { optional: known.optional, ..*column }, *known, "{}", query.name);
            }
        }
    }
}

#[test]
fn answers_conform_to_their_types() {
    let mut paths = Vec::new();
    for folder in ["healthy", "malformed", "snapshots", "torch", "torch/2.15/validator/made_up"] {
        traces(&files::data().join(folder), &mut paths);
    }
    let mut read = 0;
    let mut kinds = BTreeSet::new();
    for path in paths {
        let bytes = fs::read(&path).expect("a fixture");
        let Ok(trace) = Trace::read(&bytes) else { continue };
        read += 1;
        let mut preview = Preview::default();
        preview.update(&trace.table);
        check_cells(&preview.rows(&trace.table), "the preview");
        for query in QUERIES {
            let what = format!("{} of {}", query.name, path.display());
            let rows = match trace.ask(query.name, &Options::default()) {
                // Traces of tests have times that no program has.
                Err(Error::Unfit(_)) => continue,
                rows => rows.expect(&what),
            };
            check_cells(&rows, &what);
            assert!(rows.columns == *query.columns(), "{what}");
            if let Some(known) = query.kinds {
                check_kinds(&rows, known, &mut kinds, &what);
            }
        }
    }
    assert!(read > 150, "{read} traces");
    let ranks = query("ranks").expect("the query");
    for run in runs_of_several_ranks() {
        let rows = run.answer(Request::new(&Options::default())).expect("an answer").rows;
        check_cells(&rows, "a run");
        check_kinds(&rows, ranks.kinds.expect("kinds"), &mut kinds, "a run");
    }
    let rows = compiled().ask("compiled", &Options::default()).expect("an answer");
    check_kinds(
        &rows,
        query("compiled").expect("the query").kinds.expect("kinds"),
        &mut kinds,
        "a compiled program",
    );
    let expected: BTreeSet<String> = QUERIES
        .iter()
        .filter_map(|query| query.kinds)
        .flat_map(|kinds| kinds.variants)
        .flat_map(|variant| variant.kinds)
        .map(|&kind| kind.to_owned())
        .collect();
    assert_eq!(kinds, expected, "every kind should occur in a fixture");
}

/// A program with a graph break, with the log of its compilation.
fn compiled() -> Trace {
    let file = |name: &str| files::read(&files::data().join("inductor/c").join(name)).expect("a file");
    let mut trace = Trace::read(&file("trace.json.gz")).expect("a trace");
    let log = ProvenanceFile { path: "run.log", bytes: &file("torch_trace.log.gz") };
    trace.join_provenance(&[log]).expect("the log of the trace");
    trace
}

/// Runs with a late rank, a slow node and a slow link.
fn runs_of_several_ranks() -> impl Iterator<Item = Run> {
    let plan = Plan { ranks: 8, per_node: 4, pairs: true, ..Plan::from_seed(1) };
    let injected = [(2, Injected::Forward), (4, Injected::Node), (2, Injected::SlowLink)];
    injected.into_iter().map(move |injected| {
        let generated = generate(&Plan { injected: Some(injected), ..plan });
        let traces = generated.traces.iter().map(|text| Trace::read(text.as_bytes()).expect("a trace"));
        Run::new(traces.map(|trace| Summary::from_trace(&trace, "a rank")), Vec::new())
    })
}

fn check_cells(rows: &Rows, what: &str) {
    for row in &rows.rows {
        for (column, cell) in rows.columns.iter().zip(row) {
            assert!(column.fits(cell), "{what}: {}: {cell:?}", column.key);
        }
    }
}
