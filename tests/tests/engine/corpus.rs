//! Real traces from other projects: every event is read, every identity holds, exported traces read back equal, and
//! files that are not traces are refused. If the corpus is absent, the tests are skipped.

use kinetoscope_core::analysis::context::Analysis;
use kinetoscope_core::analysis::overview::summary_text;
use kinetoscope_core::base::diagnostics::{Code, Severity};
use kinetoscope_core::output::write::chrome;
use kinetoscope_core::trace::{Trace, TraceReader};
use kinetoscope_tests::{dump, files};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The number of files in the corpus when this was written.
const FILES: usize = 139;

/// Traces with more bytes of text than this are not exported and read again.
const ROUND_TRIP: u64 = 12 << 20;

fn corpus() -> Option<(PathBuf, Vec<Value>)> {
    let folder = files::shared("traces", &format!("the corpus of {FILES} real traces"))?;
    let manifest = fs::read(folder.join("MANIFEST.json")).expect("a manifest");
    let rows: Vec<Value> = serde_json::from_slice(&manifest).expect("a manifest");
    assert!(rows.len() >= FILES);
    Some((folder, rows))
}

#[test]
fn every_event_is_read_and_every_identity_holds() {
    let Some((folder, rows)) = corpus() else { return };
    let mut faults = Vec::new();
    let mut read = 0;
    for row in rows.iter().filter(|r| r["kind"] == "chrome-trace") {
        let name = row["file"].as_str().expect("a file");
        let trace = match kinetoscope::files::open(folder.join(name)) {
            Ok(trace) => trace,
            Err(error) => {
                faults.push(format!("{name}: {error}"));
                continue;
            }
        };
        read += 1;
        if Some(trace.table.len() as u64) != row["events"].as_u64() {
            faults.push(format!("{name}: {} events, not {}", trace.table.len(), row["events"]));
        }
        // Some complete events have a `tdur` only, and a V8 profile lacks the chunk with its first nodes.
        let lost =
            trace.diagnostics.findings().iter().filter(|finding| finding.code.severity() == Severity::Lost);
        let is_known = |code: Code| matches!(code, Code::MissingDuration | Code::SampleStack);
        if lost.map(|finding| finding.code).any(|code| !is_known(code)) {
            faults.push(format!("{name}: {:?}", trace.diagnostics.findings()));
        }
        let analysis = Analysis::new(&trace);
        for check in analysis.identities() {
            if !check.holds {
                faults.push(format!("{name}: {check:?}"));
            }
        }
        let text = summary_text::render(name, &analysis).to_text(None);
        assert!(text.contains("Data quality"), "{name}");
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_eq!(read, rows.iter().filter(|r| r["kind"] == "chrome-trace").count());
}

/// The number of nodes of an execution trace.
fn nodes(path: &Path) -> usize {
    let text = files::read(&path.with_extension("")).expect("a file");
    let file: Value = serde_json::from_slice(&text).expect("JSON");
    file["nodes"].as_array().expect("nodes").len()
}

#[test]
fn files_of_other_kinds_are_read_or_refused_with_their_kind() {
    let Some((folder, rows)) = corpus() else { return };
    for row in rows.iter().filter(|r| r["kind"] != "chrome-trace") {
        let name = row["file"].as_str().expect("a file");
        let read = kinetoscope::files::open(folder.join(name)).map(|trace| trace.table.len());
        let kind = row["kind"].as_str().expect("a kind");
        let refused = |word| {
            let refusal = read.as_ref().expect_err(name).to_string();
            assert!(refusal.contains(word), "{name} ({kind}): {refusal}");
        };
        match kind.split([':', '(', ' ', '.']).next() {
            Some("memory-snapshot") => assert!(read.is_ok_and(|events| events > 4000), "{name}"),
            Some("execution-trace") => assert_eq!(read.expect(name), nodes(&folder.join(name)), "{name}"),
            Some("memory-timeline") => refused("memory timeline"),
            Some("tar") => refused("tar archive"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn exported_traces_read_back_equal() {
    let Some((folder, rows)) = corpus() else { return };
    let small = |r: &&Value| r["kind"] == "chrome-trace" && r["uncompressed"].as_u64() < Some(ROUND_TRIP);
    for row in rows.iter().filter(small) {
        let name = row["file"].as_str().expect("a file");
        let trace = kinetoscope::files::open(folder.join(name)).expect(name);
        let text = chrome::write(&trace.table, String::new(), |_| true).expect("memory");
        let again = Trace::read(text.as_bytes()).expect(name);
        assert!(dump::structure(&again) == dump::structure(&trace), "{name}");
    }
}

/// Chunk lengths are pseudorandom and depend only on the file's name.
#[test]
fn the_result_does_not_depend_on_random_chunks() {
    let Some((folder, rows)) = corpus() else { return };
    let small = |r: &&Value| r["kind"] == "chrome-trace" && r["uncompressed"].as_u64() < Some(ROUND_TRIP / 3);
    for row in rows.iter().filter(small) {
        let name = row["file"].as_str().expect("a file");
        let bytes = fs::read(folder.join(name)).expect(name);
        let mut seed = name.bytes().fold(11u64, |n, b| n.wrapping_mul(31).wrapping_add(u64::from(b)));
        let mut reader = TraceReader::default();
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let length = ((seed >> 33) as usize % 40_000 + 1).min(rest.len());
            reader.feed(&rest[..length]).expect(name);
            rest = &rest[length..];
        }
        let cut = reader.finish().expect(name);
        let complete = Trace::read(&bytes).expect(name);
        assert!(dump::complete(&cut) == dump::complete(&complete), "{name}");
    }
}
