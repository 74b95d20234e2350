//! What can be done with bytes and traces other than queries and exports: comparisons, budgets, histories, summaries, merging,
//! outlines, repair, and reading the small files of these. The fuzz targets include this file, and use nothing but the engine.

use kinetoscope_core::analysis::device::memory::Memory;
use kinetoscope_core::outline::{OutlinePart, OutlineReader, WindowReader};
use kinetoscope_core::output::write::merge::Merger;
use kinetoscope_core::output::write::repair::Repairer;
use kinetoscope_core::runs::budget::starting_point::starting_point;
use kinetoscope_core::runs::budget::subject::Subject;
use kinetoscope_core::runs::budget::{Budgets, formats, rows};
use kinetoscope_core::runs::compare::Comparison;
use kinetoscope_core::runs::compare::profile::Profile;
use kinetoscope_core::runs::compare::query::DiffOptions;
use kinetoscope_core::runs::history::record::{Origin, line};
use kinetoscope_core::runs::history::trend::Trend;
use kinetoscope_core::runs::ranks::file::Summaries;
use kinetoscope_core::runs::ranks::run::Run;
use kinetoscope_core::runs::ranks::summary::Summary;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::kernel_rules::KernelRules;
use kinetoscope_core::trace::read::limits::Limits;
use kinetoscope_core::trace::read::unpack::Unpacker;
use serde_json::{Value, from_slice, json};

/// An operation on a trace. An error names what does not hold.
type Operation = fn(&Trace) -> Result<(), String>;

/// The operations on a trace, with their names.
pub const OPERATIONS: [(&str, Operation); 5] = [
    ("compare", compare),
    ("budgets", budgets),
    ("history", history),
    ("summary", summary),
    ("merge", merge),
];

/// The longest time and the most memory that the file of a profile distinguishes, in ns and in bytes.
const LONGEST: i64 = 1 << 47;
const MOST_BYTES: i64 = 1 << 60;

fn expect(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

/// Whether the file of a profile clamps times or memory of a trace.
fn is_clamped(trace: &Trace) -> bool {
    let times = || trace.table.rows().flat_map(|row| [trace.table.ts(row), trace.table.end(row)]);
    let (first, last) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
    let memory = Memory::new(trace);
    let mut peaks = memory.devices.iter().map(|device| device.peak);
    last.saturating_sub(first) >= LONGEST || peaks.any(|peak| !(0..MOST_BYTES).contains(&peak))
}

fn compare(trace: &Trace) -> Result<(), String> {
    let profile = Profile::from_trace(trace, "one");
    let again = Profile::from_bytes(&profile.to_bytes()).map_err(|error| format!("a profile: {error}"))?;
    for options in [DiffOptions::default(), DiffOptions { row_limit: Some(3) }] {
        let [direct, restored] = [&profile, &again].map(|new| Comparison::new(&profile, new));
        if is_clamped(trace) {
            continue;
        }
        for (left, right) in
            direct.rows(&options).to_text().lines().zip(restored.rows(&options).to_text().lines())
        {
            expect(
                left == right,
                &format!("a profile differs from what was written of it: {left}, {right}"),
            )?;
        }
        expect(
            direct.page(&options) == restored.page(&options),
            "a page differs from that of what was written",
        )?;
    }
    let _ = Comparison::new(&again, &profile).tree(0.01).to_text();
    Ok(())
}

fn budgets(trace: &Trace) -> Result<(), String> {
    let subject = Subject::from_trace(trace, "one");
    let _ = starting_point(core::slice::from_ref(&subject));
    let limits = json!({
        "step": {"max": "1 us", "max_increase": "3 %"}, "idle": {"queued": {"max": "1 us"}}, "memory": {"*": {"max": "1 KiB"}},
        "kernel": {"*": {"max": "1 us"}}, "launches": {"max": 0}, "findings": {"forbid": ["uneven_steps"]},
    });
    for (metric, limit) in limits.as_object().into_iter().flatten() {
        let mut object = serde_json::Map::new();
        object.insert(metric.clone(), limit.clone());
        let budgets = Budgets::from_json(&Value::Object(object)).map_err(|wrong| format!("{wrong:?}"))?;
        let Ok(checked) = budgets.check(&subject, core::slice::from_ref(&subject)) else { continue };
        let all = [checked];
        let _ = (rows(&all).to_text(), formats::junit(&all), formats::markdown(&all));
        let sarif = formats::sarif(&all, "budgets.toml", &|_| 1);
        expect(from_slice::<Value>(sarif.as_bytes()).is_ok(), "SARIF is no JSON")?;
    }
    Ok(())
}

fn history(trace: &Trace) -> Result<(), String> {
    let (subject, origin) = (Subject::from_trace(trace, "one"), Origin::default());
    let lines = line(&subject, &origin).repeat(12);
    let trend = Trend::read(&lines).map_err(|error| format!("a history: {error}"))?;
    let _ = (trend.rows().to_text(), trend.runs().to_text(), trend.page());
    Ok(())
}

fn summary(trace: &Trace) -> Result<(), String> {
    let mut written = Summaries::default();
    written.push(&Summary::from_trace(trace, "one"));
    let mut read = Summaries::default();
    read.read(&written.to_file()).map_err(|error| format!("a summary: {error}"))?;
    expect(read.len() == written.len(), "a summary is lost")
}

fn merge(trace: &Trace) -> Result<(), String> {
    let run = Run::new([Summary::from_trace(trace, "one")], Vec::new());
    let (mut merger, mut text) = (Merger::default(), Vec::new());
    let mut push = |piece: &[u8]| {
        text.extend_from_slice(piece);
        true
    };
    for alignment in run.alignments() {
        // Only Chrome traces can be merged.
        if merger.add(trace, &alignment, &mut push).is_err() {
            return Ok(());
        }
    }
    let Ok(events) = merger.finish(&mut push) else { return Ok(()) };
    let merged = Trace::read(&text).map_err(|error| format!("a merged trace: {error}"))?;
    expect(merged.table.len() as u64 == events, "events of a merged trace are lost")
}

/// Reads bytes as every other kind of file, as an outline, and as something to repair.
///
/// # Errors
/// Returns what does not hold.
pub fn parse(bytes: &[u8]) -> Result<(), String> {
    let _ = (Summaries::default().read(bytes), Profile::from_bytes(bytes), OutlinePart::decode(bytes));
    if let Ok(text) = core::str::from_utf8(bytes) {
        let _ = KernelRules::parse(text);
        let _ = Trend::read(text).map(|trend| (trend.rows().to_text(), trend.page()));
        let _ = from_slice::<Value>(bytes).map(|value| Budgets::from_json(&value).is_ok());
    }
    outline(bytes);
    let mut repairer = Repairer::new(Unpacker::default(), String::new());
    let fed = bytes.chunks(97).try_for_each(|chunk| repairer.feed(chunk));
    let Ok((text, _)) = fed.and_then(|()| repairer.finish()) else { return Ok(()) };
    Trace::read(text.as_bytes()).map_err(|error| format!("a repaired trace: {error}"))?;
    Ok(())
}

fn outline(bytes: &[u8]) {
    let mut reader = OutlineReader::new(Limits::default());
    if bytes.chunks(89).try_for_each(|chunk| reader.feed(chunk)).is_err() {
        return;
    }
    let Ok((outline, _)) = reader.finish() else { return };
    let _ = (outline.rows(Some(5)).to_text(), outline.track_rows().to_text());
    let start = outline.start_ns();
    let window = (start, start.saturating_add(1_000_000));
    let mut reader = WindowReader::new(&outline, window, Limits::default());
    if bytes.chunks(83).try_for_each(|chunk| reader.feed(chunk)).is_ok() {
        let _ = reader.finish();
    }
}
