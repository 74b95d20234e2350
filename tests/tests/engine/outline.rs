//! An outline has the totals of all events, and a window its events, for every fixture and for cuts anywhere.

use kinetoscope::files::{Source, open, read_outline, read_window};
use kinetoscope_core::base::diagnostics::{Code, Diagnostics, Severity};
use kinetoscope_core::base::error::Error;
use kinetoscope_core::base::rows::Cell;
use kinetoscope_core::base::time;
use kinetoscope_core::outline::{Outline, OutlinePart, OutlineReader, WindowReader};
use kinetoscope_core::trace::read::limits::Limits;
use kinetoscope_core::trace::table::events::{Row, Table};
use kinetoscope_core::trace::table::metadata::Source as Kind;
use kinetoscope_core::trace::table::tracks::TrackId;
use kinetoscope_core::trace::{TextReader, Trace};
use kinetoscope_tests::answers::rows_with;
use kinetoscope_tests::files;
use kinetoscope_tests::generator::generate;
use kinetoscope_tests::segments::{read_at_once, text};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Reads the outline of a text in pieces of this length.
fn outline(text: &[u8], length: usize) -> Result<(Outline, Diagnostics), Error> {
    let mut reader = OutlineReader::default();
    for piece in text.chunks(length) {
        match OutlinePart::parse(piece, Limits::default()) {
            Some(part) if reader.takes_parts() => drop(reader.feed_parsed(piece, &part)?),
            _ => reader.feed(piece)?,
        }
    }
    reader.finish()
}

/// Reads a window of a text in pieces of this length. Also returns how many bytes were not needed.
fn window(text: &[u8], outline: &Outline, times: (i64, i64), length: usize) -> (Table, u64) {
    let mut reader = WindowReader::new(outline, times, Limits::default());
    let (mut at, mut skipped) = (0, 0);
    while at < text.len() {
        let end = text.len().min(at + length);
        reader.feed(&text[at..end]).expect("the text of the outline");
        let skip = reader.skippable().min((text.len() - end) as u64);
        reader.skip(skip);
        skipped += skip;
        at = end + skip as usize;
    }
    (reader.finish().expect("the text of the outline").0, skipped)
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sum {
    events: i64,
    spans: i64,
    ns: i64,
    longest_ns: i64,
}

/// The sums of the events of a table by category and name.
fn sums(table: &Table) -> BTreeMap<(String, String), Sum> {
    let mut sums: BTreeMap<(String, String), Sum> = BTreeMap::new();
    for row in table.rows() {
        let sum = sums.entry((table.cat(row).to_owned(), table.name(row).to_owned())).or_default();
        sum.events += 1;
        if table.ph(row) == b'X' && table.dur(row) != time::NONE {
            sum.spans += 1;
            sum.ns = sum.ns.saturating_add(table.dur(row));
            sum.longest_ns = sum.longest_ns.max(table.dur(row));
        }
    }
    sums
}

fn number(cell: &Cell) -> i64 {
    match cell {
        Cell::Int(n) | Cell::Ns(n) => *n,
        other => panic!("{other:?} is no number"),
    }
}

fn string(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => text.clone(),
        other => panic!("{other:?} is no text"),
    }
}

/// The rows of a kind, by category and name.
fn rows_of(outline: &Outline, kind: &str) -> BTreeMap<(String, String), Sum> {
    let rows = outline.rows(None).rows;
    let rows = rows.iter().filter(|row| row[0] == Cell::from(kind));
    rows.map(|row| {
        let [events, spans, ns, longest_ns] = [3, 4, 5, 6].map(|at| number(&row[at]));
        ((string(&row[2]), string(&row[1])), Sum { events, spans, ns, longest_ns })
    })
    .collect()
}

/// Adds the sums of each category.
fn by_category(sums: &BTreeMap<(String, String), Sum>) -> BTreeMap<(String, String), Sum> {
    let mut categories: BTreeMap<(String, String), Sum> = BTreeMap::new();
    for ((category, _), sum) in sums {
        let all = categories.entry((category.clone(), String::new())).or_default();
        all.events += sum.events;
        all.spans += sum.spans;
        all.ns = all.ns.saturating_add(sum.ns);
        all.longest_ns = all.longest_ns.max(sum.longest_ns);
    }
    categories
}

/// Compares the outline of a text with its complete table.
fn check(name: &str, text: &[u8], (table, diagnostics): &(Table, Diagnostics), length: usize) -> Outline {
    let (outline, found) = outline(text, length).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(&found, diagnostics, "{name} in pieces of {length}");
    let expected = sums(table);
    assert_eq!(rows_of(&outline, "name"), expected, "{name} in pieces of {length}");
    assert_eq!(rows_of(&outline, "category"), by_category(&expected), "{name}");
    assert_eq!(outline.events(), table.len() as u64, "{name}");
    let spans: i64 = outline.track_rows().rows.iter().map(|row| number(&row[7])).sum();
    let is_span =
        |&row: &Row| table.ph(row) == b'B' || (table.ph(row) == b'X' && table.dur(row) != time::NONE);
    assert_eq!(spans, table.rows().filter(is_span).count() as i64, "{name}");
    let tracks: i64 = rows_of_tracks(&outline).iter().sum();
    assert_eq!(tracks, table.len() as i64, "{name}");
    outline
}

/// At which times each track has events, and how many begin in each third of the time.
fn densities(outline: &Outline) -> (Vec<Vec<f32>>, Vec<u64>) {
    let start = outline.start_ns();
    let (from, to) = outline.all().time.unwrap_or((start, start));
    let time = (from.saturating_sub(start), to.saturating_sub(start));
    let third = time.1.saturating_sub(time.0) / 3;
    let tracks = (0..outline.track_count()).map(|at| outline.density(TrackId(at as u32), time, 97));
    let thirds = (0..3).map(|at| outline.events_within((time.0 + third * at, time.0 + third * (at + 1))));
    (tracks.collect(), thirds.collect())
}

/// The number of events of each track. Several tracks can have one name.
fn rows_of_tracks(outline: &Outline) -> Vec<i64> {
    let rows = outline.rows(None).rows;
    rows.iter().filter(|row| row[0] == Cell::from("track")).map(|row| number(&row[3])).collect()
}

/// What is compared of an event.
fn event(table: &Table, row: Row) -> String {
    let fields: Vec<_> = table.all_fields(row).map(|(f, value)| (table.names.get(f.key), value)).collect();
    let track = table.track(row);
    let [pid, tid] = [track.pid, track.tid].map(|id| table.names.get(id));
    let (ts, dur, ph) = (table.ts(row), table.dur(row), table.ph(row));
    format!("{ph} {} {} {pid} {tid} {ts} {dur} {fields:?}", table.cat(row), table.name(row))
}

/// Checks that a window has its events and no others.
fn check_window(name: &str, text: &[u8], complete: &Table, outline: &Outline, times: (i64, i64)) -> u64 {
    let start = outline.start_ns();
    let (from, to) = (start.saturating_add(times.0), start.saturating_add(times.1));
    let overlaps = |&row: &Row| {
        let ts = complete.ts(row);
        let is_profile = matches!(complete.name(row), "Profile" | "ProfileChunk" | "CpuProfile");
        is_profile || ts == time::NONE || complete.ph(row) == b'M' || (ts <= to && from <= complete.end(row))
    };
    let expected: Vec<String> = complete.rows().filter(overlaps).map(|row| event(complete, row)).collect();
    let mut most = 0;
    for length in [333, 4096, text.len().max(1)] {
        let (table, skipped) = window(text, outline, times, length);
        let found: Vec<String> = table.rows().map(|row| event(&table, row)).collect();
        assert_eq!(found, expected, "{name} within {times:?} in pieces of {length}");
        assert_eq!(table.metadata.origin, Some(start));
        most = most.max(skipped);
    }
    most
}

/// Every fixture that is a Chrome trace, with its table.
fn each_fixture(mut each: impl FnMut(&str, &[u8], &(Table, Diagnostics))) {
    for folder in ["healthy", "malformed", "fuzz", "torch"] {
        for path in files::below(&files::data().join(folder)) {
            let Some(bytes) = files::read(&path) else { continue };
            let text = text(&bytes);
            let Ok(read) = read_at_once(&text, Limits::default()) else { continue };
            if text.len() < 4 << 20 && is_chrome(&path, &text, &read.0) {
                each(&path.display().to_string(), &text, &read);
            }
        }
    }
}

fn is_chrome(path: &Path, text: &[u8], table: &Table) -> bool {
    let mut reader = TextReader::new(Limits::default());
    let is_text = reader.feed(text).is_ok() && reader.takes_segments();
    let is_chrome = is_text && table.metadata.source == Kind::Chrome;
    if !is_chrome {
        let refused = outline(text, 1000).map(|(outline, _)| outline.events());
        let expected = table.metadata.source != Kind::Chrome || !text.starts_with(b"{");
        assert!(!expected || refused.is_err() || !is_text, "{}: {refused:?}", path.display());
    }
    is_chrome
}

#[test]
fn outlines_of_fixtures_have_the_totals_of_their_tables() {
    let mut checked = 0;
    each_fixture(|name, text, read| {
        let outline = check(name, text, read, text.len().max(1));
        for length in [100, 1000, 65_536] {
            if text.len() / length < 2000 {
                let other = check(name, text, read, length);
                assert_eq!(other.rows(None), outline.rows(None), "{name} in pieces of {length}");
                assert_eq!(other.track_rows(), outline.track_rows(), "{name} in pieces of {length}");
                assert_eq!(densities(&other), densities(&outline), "{name} in pieces of {length}");
            }
        }
        checked += 1;
    });
    assert!(checked > 40, "only {checked} fixtures");
}

#[test]
fn windows_of_fixtures_have_their_events() {
    let (mut checked, mut skipped) = (0, 0);
    each_fixture(|name, text, read| {
        if text.len() > 400_000 {
            return;
        }
        let (outline, _) = outline(text, 2000).expect("an outline");
        let length = outline.all().time.map_or(0, |(start, end)| end.saturating_sub(start));
        for times in [(0, length / 3), (length / 3, length / 2), (length, i64::MAX), (i64::MIN, i64::MAX)] {
            skipped += check_window(name, text, &read.0, &outline, times);
        }
        // Windows that end or begin with an event.
        let step = read.0.len() / 8 + 1;
        for row in read.0.rows().step_by(step).filter(|&row| read.0.ts(row) != time::NONE) {
            let [start, end] =
                [read.0.ts(row), read.0.end(row)].map(|ns| ns.saturating_sub(outline.start_ns()));
            for times in [(start, start), (start.saturating_sub(1), start), (end, end.saturating_add(1))] {
                skipped += check_window(name, text, &read.0, &outline, times);
            }
        }
        checked += 1;
    });
    assert!(checked > 30 && skipped > 10_000, "{checked} fixtures, {skipped} bytes were skipped");
}

fn generated(events: u64) -> Vec<u8> {
    let mut text = Vec::new();
    generate(&mut text, events, 3).expect("memory");
    text
}

/// Names beyond the first 2^18 are summed by category, so that memory does not grow with them.
#[test]
fn too_many_names_are_summed_by_category() {
    let event = |at: usize| {
        format!("{{\"ph\":\"X\",\"cat\":\"c\",\"name\":\"n{at}\",\"pid\":1,\"tid\":1,\"ts\":{at},\"dur\":1}}")
    };
    let events: Vec<String> = (0..300_000).map(event).collect();
    let text = format!("[{}]", events.join(","));
    for length in [1 << 16, 1 << 20] {
        let (outline, _) = outline(text.as_bytes(), length).expect("an outline");
        let names = rows_of(&outline, "name");
        let merged = names[&("c".to_owned(), String::new())];
        assert_eq!(outline.merged_names(), merged.events as u64);
        assert!((30_000..40_000).contains(&merged.events), "{merged:?}");
        assert_eq!(names.len() as i64 - 1 + merged.events, 300_000);
        let all = rows_of(&outline, "category")[&("c".to_owned(), String::new())];
        assert_eq!((all.events, all.ns), (300_000, 300_000_000));
    }
}

/// Events outside of the window do not stay in memory, even if no segment can be passed over.
#[test]
fn a_window_needs_memory_for_its_events_only() {
    let text = generated(60_000);
    let read = read_at_once(&text, Limits::default()).expect("a trace");
    let (outline, _) = outline(&text, text.len()).expect("an outline");
    let limits = Limits::default().with_memory_bytes(read.0.heap_bytes());
    let mut reader = WindowReader::new(&outline, (0, 1_000_000), limits);
    for piece in text.chunks(10_000) {
        reader.feed(piece).expect("the text of the outline");
        assert!(!reader.is_full());
    }
    let (table, diagnostics) = reader.finish().expect("the text of the outline");
    assert_eq!(diagnostics.count(Code::OutsideWindow), (read.0.len() - table.len()) as u64);
}

/// The start is that of the first marker, as in a trace.
#[test]
fn the_first_of_several_markers_is_the_start() {
    let marker = |ts: u32| {
        format!(r#"{{"ph":"i","name":"Iteration Start: PyTorch Profiler","pid":1,"tid":1,"ts":{ts}}},"#)
    };
    let event = |at: u32| format!(r#"{{"ph":"X","cat":"c","name":"n","pid":1,"tid":1,"ts":{at},"dur":1}},"#);
    let events: String = (0..500).map(event).collect();
    let text = format!("[{}{}{events}{}{events}]", event(1), marker(40), marker(20));
    let trace = Trace::read(text.as_bytes()).expect("a trace");
    let (outline, _) = outline(text.as_bytes(), 1000).expect("an outline");
    assert_eq!((outline.start_ns(), trace.start_ns), (40_000, 40_000));
}

/// A window of a twentieth needs about a twentieth of the text.
#[test]
fn a_window_of_a_usual_trace_needs_a_small_part_of_the_text() {
    let text = generated(40_000);
    let read = read_at_once(&text, Limits::default()).expect("a trace");
    let outline = check("generated", &text, &read, 20_000);
    let (start, end) = outline.all().time.expect("events with times");
    let twentieth = (end - start) / 20;
    let skipped = check_window("generated", &text, &read.0, &outline, (twentieth * 7, twentieth * 8));
    assert!(skipped as usize > text.len() * 8 / 10, "{skipped} of {} bytes were skipped", text.len());
}

#[test]
fn other_formats_have_no_outline() {
    for name in ["recording.ktrace", "every_phase.pftrace", "execution_trace.json"] {
        let bytes = files::read(&files::data().join("healthy").join(name)).expect(name);
        let error = outline(&bytes, 1000).expect_err(name);
        assert!(matches!(error, Error::Unfit(_)), "{name}: {error}");
    }
    assert!(matches!(outline(b"", 10), Err(Error::Empty)));
    assert!(matches!(outline(b"<html>", 10), Err(Error::NotATrace { .. })));
}

/// Writes a trace of several pieces as plain text and with gzip.
fn files_of(text: &[u8], folder: &Path) -> [PathBuf; 2] {
    let [plain, packed] = ["trace.json", "trace.json.gz"].map(|name| folder.join(name));
    fs::write(&plain, text).expect("a file");
    let mut gzip = flate2::write::GzEncoder::new(
        fs::File::create(&packed).expect("a file"),
        flate2::Compression::fast(),
    );
    gzip.write_all(text).and_then(|()| gzip.finish().map(drop)).expect("a file");
    [plain, packed]
}

#[test]
fn files_have_outlines_and_windows() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = generated(60_000);
    let complete = read_at_once(&text, Limits::default()).expect("a trace");
    let names = sums(&complete.0);
    for path in files_of(&text, folder.path()) {
        let source = Source::File(path.clone());
        let known = read_outline(&source, |_| {}).expect("an outline");
        let (outline, diagnostics) = &known;
        assert_eq!((rows_of(outline, "name"), diagnostics), (names.clone(), &complete.1));
        let start = open(&path).expect("a trace").start_ns;
        assert_eq!(outline.start_ns(), start);
        let (first, last) = outline.all().time.expect("events with times");
        let middle = (last - first) / 2;
        let window = (middle, middle + 2_000_000);
        let trace = read_window(&source, &known, window, Limits::default(), |_| {}).expect("a window");
        assert_eq!(trace.start_ns, start);
        let within = |&row: &Row| {
            let (ts, table) = (complete.0.ts(row), &complete.0);
            table.ph(row) == b'M' || (ts <= start + window.1 && start + window.0 <= table.end(row))
        };
        assert_eq!(trace.table.len(), complete.0.rows().filter(within).count());
        assert!(trace.table.len() > 100 && trace.table.len() < complete.0.len() / 10);
        let outside = complete.0.len() - trace.table.len();
        assert_eq!(trace.diagnostics.count(Code::OutsideWindow), outside as u64);
        // Nothing is wrong with the text between the parts that are read.
        let findings = trace.diagnostics.findings().iter();
        let defects: Vec<_> = findings.filter(|finding| finding.code.severity() != Severity::Note).collect();
        assert!(defects.is_empty(), "{defects:?}");
        let unbounded =
            read_window(&source, &known, (0, i64::MAX), Limits::default(), |_| {}).expect("a window");
        assert_eq!(unbounded.table.len(), complete.0.len());
    }
    let error = read_window(&Source::Stdin, &Default::default(), (0, 1), Limits::default(), |_| {}).map(drop);
    assert!(error.expect_err("standard input").to_string().contains("a window needs a file"));
}

/// What is wrong with the text of a file is counted once, in its outline and in every window.
#[test]
fn defects_are_counted_in_outlines_and_windows() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut text = generated(60_000);
    let at = text.windows(3).rposition(|part| part == b"\"ts").expect("an event");
    text[at + 1] = b'x';
    let [_, path] = files_of(&text, folder.path());
    let packed = fs::read(&path).expect("the file");
    fs::write(&path, &packed[..packed.len() - 20]).expect("a file");
    let source = Source::File(path.clone());
    let known = read_outline(&source, |_| {}).expect("an outline");
    for code in [Code::CompressedCut, Code::MissingTime] {
        assert_eq!(open(&path).expect("a trace").diagnostics.count(code), 1, "{code:?}");
        assert_eq!(known.1.count(code), 1, "{code:?}");
        for window in [(0, 1_000_000), (0, i64::MAX)] {
            let trace = read_window(&source, &known, window, Limits::default(), |_| {}).expect("a window");
            assert_eq!(trace.diagnostics.count(code), 1, "{code:?} in {window:?}");
        }
    }
}

/// A span reaches beyond the window on both sides. What counts is the part in the window.
#[test]
fn a_replay_of_a_window_is_as_long_as_the_window() {
    let folder = tempfile::tempdir().expect("a folder");
    let span = |category: &str, name: &str, place: (i64, i64), time: (i64, i64), id: i64| {
        json!({"ph": "X", "cat": category, "name": name, "pid": place.0, "tid": place.1, "ts": time.0, "dur": time.1,
            "args": {"correlation": id, "External id": id}})
    };
    let mut events = vec![span("user_annotation", "training", (1, 1), (0, 10_000), 0)];
    for id in 1..100 {
        let start = id * 100;
        events.push(span("cpu_op", "aten::mm", (1, 1), (start, 60), id));
        events.push(span("cuda_runtime", "cudaLaunchKernel", (1, 1), (start + 10, 10), id));
        events.push(span("kernel", "gemm", (0, 7), (start + 30, 20), id));
    }
    let path = folder.path().join("run.json");
    fs::write(&path, json!(events).to_string()).expect("a file");
    let source = Source::File(path);
    let known = read_outline(&source, |_| {}).expect("an outline");
    let trace =
        read_window(&source, &known, (2_000_000, 4_000_000), Limits::default(), |_| {}).expect("a window");
    let rows = rows_with(&trace, "what-if", &json!({"free": ["operator"]}));
    let ns = |key: &str| rows[0][key].as_i64().expect("a time");
    assert_eq!((ns("recorded_ns"), ns("replayed_ns")), (2_000_000, 2_000_000));
    assert!(ns("saving_ns") > 0 && ns("saving_ns") < 2_000_000, "{}", rows[0]);
}
