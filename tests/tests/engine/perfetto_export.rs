//! Traces exported as Perfetto's protobuf: reading one again gives the same Chrome trace and the same answers, and every
//! span is drawn with its own start and end.

use kinetoscope_core::analysis::query::options::Options;
use kinetoscope_core::base::diagnostics::Code;
use kinetoscope_core::base::time;
use kinetoscope_core::queries::{QUERIES, Request};
use kinetoscope_core::trace::table::events::Row;
use kinetoscope_core::trace::table::metadata::Source;
use kinetoscope_core::trace::{Trace, TraceReader};
use kinetoscope_tests::{exports, files};
use std::collections::BTreeMap;
use std::path::Path;

/// Traces with more bytes than this take too long in a debug build.
const LARGEST: usize = 3 << 20;

fn exported(trace: &Trace, name: &str) -> Vec<u8> {
    exports::exported(trace, name, b"")
}

/// The traces below a folder, up to [`LARGEST`] bytes of Chrome trace. Execution traces have no times to draw.
fn traces(folder: &Path) -> impl Iterator<Item = (String, Trace)> + use<> {
    files::below(folder).into_iter().filter_map(|path| {
        let trace = Trace::read(&files::read(&path)?).ok()?;
        let is_drawn = trace.table.metadata.source != Source::ExecutionTrace;
        (is_drawn && trace.table.len() < LARGEST / 200).then(|| (path.display().to_string(), trace))
    })
}

fn fixtures() -> impl Iterator<Item = (String, Trace)> {
    let data = files::data();
    ["healthy", "malformed", "fuzz", "snapshots", "torch"]
        .into_iter()
        .flat_map(move |name| traces(&data.join(name)))
}

fn same_again(traces: impl Iterator<Item = (String, Trace)>) -> usize {
    let mut count = 0;
    for (name, trace) in traces {
        let again = Trace::read(&exported(&trace, "pftrace")).expect(&name);
        assert!(exported(&again, "chrome") == exported(&trace, "chrome"), "{name}");
        count += 1;
    }
    count
}

#[test]
fn an_exported_trace_is_the_same_chrome_trace_again() {
    let count = same_again(fixtures());
    assert!(count > 150, "{count} traces");
}

/// The records of Kineto have their own starts. Read as starts, these would be nanoseconds since 1970.
#[test]
fn a_member_ts_of_a_record_is_not_its_start() {
    let text = br#"{"use_device": "cuda", "trace_start_ns": 1000000, "events": [
        {"name": "a", "start_ns": 0, "end_ns": 0, "correlation_id": 0, "ts": 1700000000000000000},
        {"name": "step", "ts": 1700000000005000000}]}"#;
    let trace = Trace::read(text).expect("records");
    assert_eq!(same_again([("records".to_owned(), trace)].into_iter()), 1);
}

#[test]
fn exported_traces_of_other_projects_are_the_same_again() {
    let Some(folder) = files::shared("traces", "the corpus of real traces") else { return };
    let count = same_again(traces(&folder));
    assert!(count > 80, "{count} traces");
}

#[test]
fn every_query_gives_the_same_answer() {
    for (name, trace) in traces(&files::data().join("healthy")) {
        let again = Trace::read(&exported(&trace, "pftrace")).expect(&name);
        for query in QUERIES {
            let options = Options::default();
            let answer = |trace: &Trace| {
                let request = Request::new(&options).about("the trace");
                query.answer(trace, request).map(|answer| answer.rows.to_csv()).map_err(|e| e.to_string())
            };
            // What reading repaired is not in the file that was written.
            if query.name != "diagnostics" && query.name != "check" {
                assert_eq!(answer(&again), answer(&trace), "{name}: {}", query.name);
            }
        }
    }
}

/// A field of a message: its number, and a number or bytes.
#[derive(Clone, Copy)]
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    value
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (taken, rest) = bytes.split_at(length);
    *bytes = rest;
    taken
}

fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let field = match key & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 => Field::Number(u64::from_le_bytes(take(&mut bytes, 8).try_into().expect("8 bytes"))),
            2 => {
                let length = varint(&mut bytes) as usize;
                Field::Bytes(take(&mut bytes, length))
            }
            wire => panic!("wire type {wire}"),
        };
        found.push((key >> 3, field));
    }
    found
}

fn number(fields: &[(u64, Field<'_>)], wanted: u64) -> Option<u64> {
    fields.iter().find_map(|field| match field {
        (number, Field::Number(value)) if *number == wanted => Some(*value),
        _ => None,
    })
}

fn message<'a>(fields: &[(u64, Field<'a>)], wanted: u64) -> Option<&'a [u8]> {
    fields.iter().find_map(|field| match field {
        (number, Field::Bytes(bytes)) if *number == wanted => Some(*bytes),
        _ => None,
    })
}

/// What Perfetto draws of a trace.
#[derive(Debug, Default, PartialEq)]
struct Drawn {
    /// Start and length of every slice, sorted.
    slices: Vec<(u64, u64)>,
    instants: usize,
    counters: usize,
    /// The ends of arrows: the number of times that each id occurs, by id.
    arrows: BTreeMap<u64, usize>,
}

const PACKET_TIMESTAMP: u64 = 8;
const TRACK_EVENT: u64 = 11;

/// Reads a trace as Perfetto does: events in the order of time, then of the file, and each end for the innermost open
/// slice of its track.
fn drawn(bytes: &[u8]) -> Drawn {
    let mut drawn = Drawn::default();
    let mut tracks: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
    for (_, packet) in fields(bytes) {
        let Field::Bytes(packet) = packet else { panic!("a packet is a message") };
        let packet = fields(packet);
        let Some(event) = message(&packet, TRACK_EVENT) else { continue };
        let event = fields(event);
        let ts = number(&packet, PACKET_TIMESTAMP).expect("a timestamp");
        let (kind, track) = (number(&event, 9).expect("a type"), number(&event, 11).expect("a track"));
        match kind {
            1 | 2 => tracks.entry(track).or_default().push((ts, kind)),
            3 => drawn.instants += 1,
            4 => drawn.counters += 1,
            other => panic!("type {other}"),
        }
        for (_, id) in event.iter().filter(|field| [47, 48].contains(&field.0)) {
            let Field::Number(id) = id else { panic!("an id is a number") };
            *drawn.arrows.entry(*id).or_default() += 1;
        }
    }
    for mut marks in tracks.into_values() {
        marks.sort_by_key(|mark| mark.0);
        let mut open = Vec::new();
        for (ts, kind) in marks {
            if kind == 1 {
                open.push(ts);
            } else {
                let begin = open.pop().expect("an end follows its begin");
                drawn.slices.push((begin, ts - begin));
            }
        }
        assert!(open.is_empty(), "every slice ends");
    }
    drawn.slices.sort_unstable();
    drawn
}

#[test]
fn every_span_is_drawn_with_its_start_and_length() {
    let mut spans = 0;
    for (name, trace) in fixtures() {
        let drawn = drawn(&exported(&trace, "pftrace"));
        let table = &trace.table;
        let times = table.rows().map(|row| table.ts(row)).filter(|&ts| ts != time::NONE);
        let shift = times.min().unwrap_or(0).min(0);
        // Asynchronous spans are spans in traces that have no others, those without an end too.
        let is_paired =
            |row: Row| matches!(table.ph(row), b'b' | b'S') && !trace.pairs.incomplete.contains(&row);
        let is_span = |&row: &Row| table.is_span(row) && !is_paired(row);
        let mut expected: Vec<(u64, u64)> = (table.rows().filter(is_span))
            .map(|row| ((table.ts(row) - shift) as u64, table.dur(row) as u64))
            .collect();
        let in_order =
            |&&(begin, end): &&_| table.ts(begin) != time::NONE && table.ts(begin) <= table.ts(end);
        expected.extend((trace.pairs.asyncs.iter().filter(in_order)).map(|&(begin, end)| {
            ((table.ts(begin) - shift) as u64, (table.ts(end) - table.ts(begin)) as u64)
        }));
        expected.sort_unstable();
        assert_eq!(drawn.slices, expected, "{name}");
        let is_drawn = |phases: &[u8]| {
            let rows = table.rows().filter(|&row| phases.contains(&table.ph(row)));
            rows.filter(|&row| table.ts(row) != time::NONE).count()
        };
        let is_other = |&row: &Row| !matches!(table.ph(row), b'b' | b'S');
        let others = table.rows().filter(is_span).filter(is_other).count();
        let slices_and_instants = is_drawn(b"iIRnbS") + others;
        assert_eq!(drawn.slices.len() + drawn.instants, slices_and_instants, "{name}");
        assert!(drawn.arrows.values().all(|&ends| ends == 2), "{name}: an arrow has two ends");
        assert!(drawn.arrows.len() <= trace.pairs.flows.len());
        spans += expected.len();
    }
    assert!(spans > 20_000, "{spans} spans");
}

#[test]
fn arrows_connect_launches_with_kernels() {
    let path = files::data().join("healthy/small_gpu_trace.json");
    let trace = Trace::read(&files::read(&path).expect("a trace")).expect("a trace");
    assert!(!trace.pairs.flows.is_empty());
    assert_eq!(drawn(&exported(&trace, "pftrace")).arrows.len(), trace.pairs.flows.len());
}

/// The trace of every phase, by chunks, cut and damaged.
#[test]
fn damage_to_an_exported_trace_is_counted_and_the_rest_is_read() {
    let path = files::data().join("healthy/every_phase.json");
    let trace = Trace::read(&files::read(&path).expect("a trace")).expect("a trace");
    let bytes = exported(&trace, "pftrace");
    let mut reader = TraceReader::default();
    bytes.chunks(7).for_each(|chunk| reader.feed(chunk).expect("a chunk"));
    let by_chunks = reader.finish().expect("a trace");
    assert!(exported(&by_chunks, "chrome") == exported(&trace, "chrome"));
    let mut most = 0;
    for end in (100..bytes.len()).step_by(5) {
        let Ok(cut) = Trace::read(&bytes[..end]) else { continue };
        assert!(cut.table.len() >= most && cut.table.len() <= trace.table.len(), "cut at {end}");
        most = cut.table.len();
    }
    assert!(most + 2 >= trace.table.len(), "{most} of {} events", trace.table.len());
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0xff;
        if let Ok(changed) = Trace::read(&changed) {
            let written = exported(&changed, "pftrace");
            assert_eq!(Trace::read(&written).expect("a trace").table.len(), changed.table.len());
        }
    }
}

/// Perfetto's traces can be concatenated.
/// A flow step whose phase was changed to that of a complete event. Those always have a duration.
#[test]
fn a_complete_event_without_a_duration_is_damaged() {
    let path = files::data().join("healthy/every_phase.json");
    let trace = Trace::read(&files::read(&path).expect("a trace")).expect("a trace");
    let mut bytes = exported(&trace, "pftrace");
    let phases: Vec<usize> = (1..bytes.len()).filter(|&at| bytes[at - 1..=at] == [0x18, b't']).collect();
    let [phase] = phases[..] else { panic!("{} flow steps", phases.len()) };
    bytes[phase] = b'X';
    let changed = Trace::read(&bytes).expect("a trace");
    assert_eq!(changed.table.len() + 1, trace.table.len());
    assert_eq!(changed.diagnostics.count(Code::DamagedEvent), 1);
    let again = Trace::read(&exported(&changed, "pftrace")).expect("a trace");
    assert!(exported(&again, "chrome") == exported(&changed, "chrome"));
}

#[test]
fn the_events_of_concatenated_traces_stay_in_order() {
    let path = files::data().join("healthy/small_gpu_trace.json");
    let trace = Trace::read(&files::read(&path).expect("a trace")).expect("a trace");
    let bytes = exported(&trace, "pftrace");
    let twice = Trace::read(&[bytes.clone(), bytes].concat()).expect("a trace");
    let names = |trace: &Trace| -> Vec<String> {
        trace.table.rows().map(|row| trace.table.name(row).to_owned()).collect()
    };
    assert_eq!(names(&twice), [names(&trace), names(&trace)].concat());
}
