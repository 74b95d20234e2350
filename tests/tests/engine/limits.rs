//! An event beyond a limit is skipped and counted, and its neighbours are read. Extreme numbers are read.

use kinetoscope_core::base::diagnostics::Code;
use kinetoscope_core::output::write::perfetto::PerfettoWriter;
use kinetoscope_core::trace::read::limits::Limits;
use kinetoscope_core::trace::{TextReader, Trace};
use kinetoscope_stream::block::{self, BlockKind};
use kinetoscope_stream::record::{Tag, Word, key};

fn small() -> Limits {
    Limits::default().with_depth(5).with_text_bytes(64).with_event_bytes(600).with_metadata_bytes(700)
}

fn event(name: &str, extra: &str) -> String {
    format!(r#"{{"ph":"X","name":"{name}","pid":1,"tid":1,"ts":1,"dur":1,"args":{{"x":{extra}}}}}"#)
}

/// Returns the names that are read and the codes that are counted; they must not depend on the chunks.
fn read(text: &str) -> (Vec<String>, Vec<(Code, u64)>) {
    let once = |size: usize| {
        let mut reader = TextReader::new(small());
        for chunk in text.as_bytes().chunks(size) {
            reader.feed(chunk).expect("a trace");
        }
        let (table, diagnostics) = reader.finish().expect("a trace");
        let names = table.rows().map(|row| table.name(row).to_owned()).collect::<Vec<_>>();
        let codes = diagnostics.findings().iter().map(|f| (f.code, f.count)).collect::<Vec<_>>();
        (names, codes)
    };
    let complete = once(text.len());
    assert_eq!(once(16), complete);
    complete
}

fn between(middle: &str) -> (Vec<String>, Vec<(Code, u64)>) {
    read(&format!("[{},{middle},{}]", event("before", "1"), event("after", "2")))
}

fn survivors() -> Vec<String> {
    vec!["before".to_owned(), "after".to_owned()]
}

#[test]
fn events_nested_too_deeply_are_skipped() {
    let deep = format!("{}1{}", "[".repeat(9), "]".repeat(9));
    assert_eq!(between(&event("deep", &deep)), (survivors(), vec![(Code::NestingTooDeep, 1)]));
    let fine = format!("{}1{}", "[".repeat(5), "]".repeat(5));
    assert_eq!(between(&event("fine", &fine)).0.len(), 3);
}

#[test]
fn events_with_too_long_strings_are_skipped() {
    assert_eq!(between(&event(&"n".repeat(65), "1")), (survivors(), vec![(Code::NameTooLong, 1)]));
    assert_eq!(between(&event(&"n".repeat(64), "1")).0.len(), 3);
    let long = format!("\"{}\"", "v".repeat(80));
    assert_eq!(between(&event("value", &long)), (survivors(), vec![(Code::NameTooLong, 1)]));
}

#[test]
fn too_large_events_are_skipped() {
    let many: Vec<String> = (0..120).map(|i| format!("\"k{i}\":\"}}{i}\"")).collect();
    let large = format!(r#"{{"ph":"X","name":"large","ts":1,"dur":1,"args":{{{}}}}}"#, many.join(","));
    assert!(large.len() > 2 * small().event_bytes);
    assert_eq!(between(&large), (survivors(), vec![(Code::EventTooLarge, 1)]));
}

#[test]
fn too_large_metadata_is_skipped() {
    let text =
        format!(r#"{{"big":[{}1],"traceEvents":[{}],"after":2}}"#, "1,".repeat(500), event("kept", "1"));
    let mut reader = TextReader::new(small());
    for chunk in text.as_bytes().chunks(16) {
        reader.feed(chunk).expect("a trace");
    }
    let (table, diagnostics) = reader.finish().expect("a trace");
    assert_eq!(table.len(), 1);
    assert_eq!(diagnostics.count(Code::DamagedMetadata), 1);
    assert_eq!(table.metadata.text("after"), Some("2"));
    assert_eq!(table.metadata.text("big"), None);
}

#[test]
fn reading_stops_at_the_memory_limit() {
    let text = format!("[{}", format!("{},", event("again", "123456")).repeat(60_000));
    let limits = Limits::default().with_memory_bytes(2_000_000);
    let once = |size: usize| {
        let mut reader = TextReader::new(limits);
        for chunk in text.as_bytes().chunks(size) {
            reader.feed(chunk).expect("a trace");
        }
        assert!(reader.is_full());
        assert!(reader.table().heap_bytes() < limits.memory_bytes);
        let (table, diagnostics) = reader.finish().expect("a trace");
        (table.len(), diagnostics)
    };
    let (length, diagnostics) = once(text.len());
    assert!((4_000..40_000).contains(&length), "{length}");
    let codes: Vec<Code> = diagnostics.findings().iter().map(|f| f.code).collect();
    assert_eq!(codes, [Code::MemoryLimit]);
    let per_event = text.len() as u64 / 60_000;
    assert_eq!(diagnostics.findings()[0].first_offset.map(|at| at / per_event), Some(length as u64));
    assert_eq!(once(1000), (length, diagnostics));
}

/// What the analyses need later counts in all formats.
#[test]
fn the_memory_limit_holds_for_perfetto_traces() {
    let text = format!("[{}", format!("{},", event("again", "123456")).repeat(5_000));
    let trace = Trace::read(text.as_bytes()).expect("a trace");
    let (mut writer, mut packets) = (PerfettoWriter::new(&trace), Vec::new());
    while writer.next(&trace, &mut packets, usize::MAX) {}
    let all = Trace::read(&packets).expect("a trace").table;
    let mut reader = TextReader::new(Limits::default().with_memory_bytes(all.heap_bytes() + all.len() * 50));
    reader.feed(&packets).expect("a trace");
    let (table, diagnostics) = reader.finish().expect("a trace");
    assert_eq!(diagnostics.count(Code::MemoryLimit), 1);
    assert!(table.len() < all.len());
}

/// Appends a block of numbers.
fn put(bytes: &mut Vec<u8>, kind: BlockKind, numbers: &[u64]) {
    let payload: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    block::write(bytes, kind, 0, &payload);
}

#[test]
fn extreme_numbers_of_a_recording_are_read() {
    let span =
        |tag, ticks, extra| [Word::pack(tag, 1, 0, 1), ticks, Word::pack(Tag::Int, 0, 0, key::VALUE), extra];
    for extreme in [0, 1, i64::MAX as u64, u64::MAX] {
        let mut bytes = Vec::new();
        put(&mut bytes, BlockKind::Window, &[0, 0, 0, extreme]);
        let mut records = vec![0];
        for tag in [Tag::Open, Tag::Open, Tag::Paused] {
            records.extend(span(tag, extreme, 5));
            records.extend(span(tag, 5, extreme));
        }
        put(&mut bytes, BlockKind::Records, &records);
        let trace = Trace::read(&bytes).expect("a trace");
        let spans = |cat| trace.table.rows().filter(|&row| trace.table.cat(row) == cat).count();
        assert_eq!([spans("cpu_op"), spans("not_recorded")], [4, 2], "{extreme}");
        assert!(
            trace.table.rows().filter(|&row| trace.table.is_span(row)).all(|row| trace.table.dur(row) >= 0)
        );
    }
}
