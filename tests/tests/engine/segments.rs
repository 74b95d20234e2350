//! A trace that is parsed in segments equals one that is read at once: for every fixture, fuzzed input and trace at hand, for cuts
//! anywhere, and for every number of threads.

use kinetoscope_core::trace::TextReader;
use kinetoscope_core::trace::read::limits::Limits;
use kinetoscope_core::trace::read::segment::Segment;
use kinetoscope_tests::files;
use kinetoscope_tests::generator::generate;
use kinetoscope_tests::segments::{difference, read_at_once, segmented, text};
use proptest::prelude::*;
use std::fs;

/// Compares a text in pieces of these lengths with the text at once. Returns how many segments were used.
fn check(name: &str, text: &[u8], limits: Limits, lengths: &[usize]) -> usize {
    let (read, used) = segmented(text, limits, lengths.iter().copied().cycle());
    let difference = difference(&read, &read_at_once(text, limits));
    assert!(difference.is_none(), "{name} in pieces of {lengths:?}: {}", difference.unwrap_or_default());
    used
}

/// The number of bytes that are read for the cuts of one fixture.
const CUT_BYTES: usize = 1 << 20;

#[test]
fn fixtures_do_not_depend_on_segments() {
    let mut used = 0;
    for folder in ["healthy", "malformed", "refused", "fuzz", "torch"] {
        let paths = files::below(&files::data().join(folder));
        assert!(paths.len() > 5, "{folder}: only {} files", paths.len());
        for path in paths {
            let Some(bytes) = files::read(&path) else { continue };
            let text = text(&bytes);
            let name = path.display().to_string();
            // Large files are cut less often.
            let cuts = (CUT_BYTES / text.len().max(1)).clamp(2, 200);
            for at in (0..text.len()).step_by(text.len() / cuts + 1) {
                used += check(&name, &text, Limits::default(), &[at, text.len()]);
            }
            for length in [100, 333, 1000, 4096, 65_536] {
                if text.len() / length < 200 {
                    used += check(&name, &text, Limits::default(), &[length]);
                }
            }
        }
    }
    assert!(used > 1000, "only {used} segments were used");
}

fn generated(events: u64) -> Vec<u8> {
    let mut text = Vec::new();
    generate(&mut text, events, 3).expect("memory");
    text
}

#[test]
fn nearly_every_event_of_a_usual_trace_is_parsed_in_segments() {
    let text = generated(20_000);
    let pieces = text.len() / 50_000;
    let used = check("generated", &text, Limits::default(), &[50_000]);
    assert!(used >= pieces - 1, "{used} of {pieces} segments");
}

/// Where the limit is near, events are read one by one, so that reading stops at the same event.
#[test]
fn a_memory_limit_cuts_at_the_same_event() {
    let text = generated(60_000);
    for limit in (1..=12).map(|n| n << 20) {
        let limits = Limits::default().with_memory_bytes(limit);
        let used = check("generated", &text, limits, &[200_000]);
        assert!(limit < 8 << 20 || used > 0, "no segment was used with {limit} bytes");
    }
}

/// What is between two events is counted, also where one of them is the last or the first of a segment.
#[test]
fn separators_are_counted_between_segments() {
    let event = |at: usize| {
        format!(r#"{{"ph":"X","cat":"c","name":"n{}","pid":1,"tid":1,"ts":{at},"dur":1}}"#, at % 7)
    };
    for separator in [" ", ",,", ", x,", ""] {
        let separated = |at: usize| event(at) + if at % 9 == 8 { separator } else { ",\n" };
        let text = format!("[{}]", (0..2000).map(separated).collect::<String>());
        let used = |length| check(separator, text.as_bytes(), Limits::default(), &[length]);
        let used: usize = [500, 777, 1000, 2001].map(used).iter().sum();
        assert!(used > 100, "{separator:?}: only {used} segments were used");
    }
}

/// Lists of objects inside of events look like events.
#[test]
fn objects_inside_of_events_are_no_segments_of_their_own() {
    let list = r#"{"name": "a", "id": 1}, {"name": "b", "id": 2}, {"name": "c", "ph": "X"}"#;
    let event =
        format!(r#"{{"ph": "X", "name": "x [{{\"ph", "ts": 1.5, "dur": 2, "args": {{"list": [{list}]}}}}"#);
    let text = format!(r#"{{"traceEvents": [{}], "a": [{list}]}}"#, vec![event; 40].join(","));
    for at in 0..text.len() {
        check("lists", text.as_bytes(), Limits::default(), &[at, text.len()]);
    }
    assert!(check("lists", text.as_bytes(), Limits::default(), &[700]) > 3);
}

#[test]
fn traces_at_hand_do_not_depend_on_segments() {
    let Some(folder) = files::shared("traces", "traces of other tools") else { return };
    let (mut traces, mut used) = (0, 0);
    for path in files::below(&folder) {
        let Some(bytes) = files::read(&path).filter(|bytes| bytes.len() < 1 << 20) else { continue };
        let text = text(&bytes);
        let length = (text.len() / 23).max(3000);
        used += check(&path.display().to_string(), &text, Limits::default(), &[length]);
        traces += 1;
    }
    assert!(traces > 20 && used > traces, "{traces} traces, {used} segments");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn damaged_texts_do_not_depend_on_segments(
        events in crate::random_events::events(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 0..8),
        lengths in prop::collection::vec(1..600usize, 1..6),
    ) {
        let mut bytes = crate::random_events::text(&events).into_bytes();
        for (at, byte, kind) in edits {
            let at = at.index(bytes.len().max(1));
            match kind {
                _ if bytes.is_empty() => break,
                0 => bytes[at] = byte,
                1 => bytes[at] = b"\"{}[],:\\\n"[usize::from(byte) % 9],
                2 => drop(bytes.remove(at)),
                _ => bytes.truncate(at.max(1)),
            }
        }
        check("damaged", &bytes, Limits::default(), &lengths);
    }
}

/// A decoder of damaged bytes refuses them or gives events; it does not panic.
#[test]
fn damaged_segments_are_refused_or_spliced() {
    let text = generated(40);
    let array = b"\"traceEvents\": [";
    let at = text.windows(array.len()).position(|part| part == array).expect("an array of events");
    let (before, piece) = text.split_at(at + array.len());
    let encoded = Segment::parse(piece, Limits::default()).expect("a segment").encode();
    let (mut refused, mut spliced) = (0, 0);
    for at in 0..encoded.len() {
        for byte in [0, 0x7f, 0x80, 0xff, encoded[at] ^ 1] {
            let mut damaged = encoded.clone();
            damaged[at] = byte;
            match Segment::decode(damaged) {
                None => refused += 1,
                Some(segment) => {
                    let mut reader = TextReader::new(Limits::default());
                    reader.feed(before).expect("the beginning of a trace");
                    spliced += usize::from(reader.splice(&segment));
                    let (table, _) = reader.finish().expect("a trace");
                    for value in table.rows().flat_map(|row| table.all_fields(row)).map(|field| field.1) {
                        let _ = value.as_i64();
                    }
                }
            }
        }
        assert!(Segment::decode(encoded[..at].to_vec()).is_none_or(|segment| !segment.is_empty()));
    }
    assert!(refused > 100 && spliced > 100, "{refused} refused, {spliced} spliced");
}

/// The threads of the file reader.
#[test]
fn a_file_does_not_depend_on_the_number_of_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.json");
    let text = generated(60_000);
    fs::write(&path, &text).expect("a file");
    let expected = read_at_once(&text, Limits::default());
    for threads in [1, 2, 3, 8] {
        let trace = kinetoscope::files::open_on(&path, threads).expect("a trace");
        let single = kinetoscope::files::open_on(&path, 1).expect("a trace");
        assert_eq!(trace.table.len(), expected.as_ref().expect("a trace").0.len());
        let pair = [trace, single].map(|trace| Ok((trace.table, trace.diagnostics)));
        assert_eq!(difference(&pair[0], &pair[1]), None, "{threads} threads");
    }
}
