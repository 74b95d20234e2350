//! Random traces in the engine and in naive reference implementations, and random damage in the reader.

use crate::random_events::{events, mark, span, text};
use kinetoscope_core::analysis::context::Analysis;
use kinetoscope_core::analysis::query::group_by::GroupBy;
use kinetoscope_core::analysis::timeline::tiles::{Tile, Window, tiles};
use kinetoscope_core::analysis::torch::averages::key_averages;
use kinetoscope_core::analysis::torch::function_events::FunctionEvents;
use kinetoscope_core::base::diagnostics::{Code, Severity};
use kinetoscope_core::base::error::Error;
use kinetoscope_core::output::write::repair::Repairer;
use kinetoscope_core::trace::read::unpack::Unpacker;
use kinetoscope_core::trace::table::events::Row;
use kinetoscope_core::trace::table::layout::FieldPlace;
use kinetoscope_core::trace::table::tracks::TrackId;
use kinetoscope_core::trace::tree::Position;
use kinetoscope_core::trace::{Trace, TraceReader};
use kinetoscope_tests::dump;
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;

fn read(bytes: &[u8]) -> Result<Trace, Error> {
    Trace::read(bytes)
}

fn chunked(bytes: &[u8], sizes: &[usize]) -> Result<Trace, Error> {
    let mut reader = TraceReader::default();
    let mut rest = bytes;
    for &size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (chunk, tail) = rest.split_at(size.clamp(1, rest.len()));
        reader.feed(chunk)?;
        rest = tail;
    }
    reader.finish()
}

fn complete(trace: &Result<Trace, Error>) -> String {
    trace.as_ref().map_or_else(ToString::to_string, dump::complete)
}

/// Whether a value is written as the reference implementation wrote it.
fn is_written_as(ours: &str, theirs: &Value) -> bool {
    match theirs {
        Value::Number(n) => ours == n.to_string(),
        other => serde_json::from_str::<Value>(ours).ok().as_ref() == Some(other),
    }
}

/// Finds the visible spans of a window one by one: level, start, end, row.
fn visible(trace: &Trace, window: Window) -> Vec<(u32, i64, i64, Row)> {
    let (table, tree) = (&trace.table, &trace.tree);
    let origin = trace.start_ns;
    let mut below = 0;
    let mut out = Vec::new();
    for lane in tree.lanes().iter().filter(|lane| lane.track == window.track) {
        for at in lane.positions() {
            let row = tree.row(at);
            let (start, end) = (table.ts(row) - origin, table.end(row) - origin);
            let starts_inside = window.start_ns <= start && start < window.end_ns;
            if starts_inside || (start < window.start_ns && end > window.start_ns) {
                out.push((below + tree.depth(at), start, end, row));
            }
        }
        below += lane.depth;
    }
    out.sort_unstable();
    out
}

/// Compares the tiles of a window with the spans found one by one.
fn check_tiles(trace: &Trace, window: Window) {
    let spans = visible(trace, window);
    let drawn = tiles(trace, window);
    let pixel = ((window.end_ns - window.start_ns) / i64::from(window.pixels)).max(1);
    assert_eq!(drawn.iter().map(|t| t.count as usize).sum::<usize>(), spans.len());
    let box_of = |t: &Tile| (t.depth, t.start_ns, t.end_ns, t.row);
    let alone: Vec<_> = drawn.iter().filter(|t| t.count == 1).map(box_of).collect();
    assert!(alone.iter().all(|tile_box| spans.binary_search(tile_box).is_ok()));
    for span in spans.iter().filter(|s| s.2 - s.1 >= pixel) {
        assert!(alone.contains(span), "{span:?} has no tile of its own");
    }
    for tile in drawn.iter().filter(|t| t.count > 1) {
        let of_pixel = |ns: i64| (ns - window.start_ns).div_euclid(pixel);
        let inside = spans.iter().filter(|s| {
            s.0 == tile.depth
                && s.2 - s.1 < pixel
                && s.1 >= tile.start_ns
                && of_pixel(s.1) == of_pixel(tile.start_ns)
        });
        let longest = inside.map(|s| s.2 - s.1).max();
        assert_eq!(longest, Some(trace.table.dur(tile.row)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, max_shrink_iters: 4000, ..ProptestConfig::default() })]

    /// Reference implementation: `serde_json` reads the complete document.
    #[test]
    fn events_equal_those_that_serde_json_reads(events in events()) {
        let trace = read(text(&events).as_bytes()).expect("a trace");
        let table = &trace.table;
        prop_assert_eq!(table.len(), events.len());
        for (row, event) in trace.table.rows().zip(&events) {
            prop_assert_eq!(Some(table.name(row)), event["name"].as_str());
            prop_assert_eq!(Some(table.cat(row)), event["cat"].as_str());
            prop_assert_eq!(table.ts(row), event["ts"].as_i64().expect("ts") * 1000);
            if event["ph"] == "X" {
                prop_assert_eq!(table.dur(row), event["dur"].as_i64().expect("dur") * 1000);
            }
            let args = event["args"].as_object().cloned().unwrap_or_default();
            let ours: Vec<_> = table.all_fields(row).filter(|f| f.0.place == FieldPlace::Args).collect();
            prop_assert_eq!(ours.len(), args.len());
            for ((field, value), (key, theirs)) in ours.into_iter().zip(&args) {
                prop_assert_eq!(table.names.get(field.key), key);
                let ours = value.to_json();
                prop_assert!(is_written_as(&ours, theirs), "{} differs from {}", ours, theirs);
            }
        }
    }

    /// Reference implementation of the tree: on a lane, every child lies within its parent and after all that ended
    /// before.
    #[test]
    fn spans_of_a_lane_nest_and_every_span_has_one(events in events()) {
        let trace = read(text(&events).as_bytes()).expect("a trace");
        let (table, tree) = (&trace.table, &trace.tree);
        let mut rows = tree.rows().to_vec();
        rows.sort_unstable();
        let spans: Vec<Row> = table.rows().filter(|&row| table.is_span(row)).collect();
        prop_assert_eq!(rows, spans);
        for lane in tree.lanes() {
            for at in lane.positions() {
                let row = tree.row(at);
                let earlier = lane.positions().take_while(|&other| other < at);
                // The innermost earlier span of the lane that contains this one, found by a linear search.
                let contains = |&other: &Position| {
                    let above = tree.row(other);
                    table.ts(above) <= table.ts(row) && table.end(row) <= table.end(above) && table.end(above) > table.ts(row)
                };
                let naive = earlier.clone().filter(contains).last();
                prop_assert_eq!(tree.parent(at), naive);
                let overlaps = earlier.map(|other| tree.row(other)).any(|other| {
                    table.end(other) > table.ts(row) && table.end(other) < table.end(row)
                });
                prop_assert!(!overlaps);
            }
        }
    }

    /// Reference implementation of the links: the latest runtime call with the same correlation id that begins before the work and has
    /// its external id, if one has, else the earliest. `definition` has several processes and calls within others.
    #[test]
    fn launches_are_found_by_correlation_id(events in events()) {
        let trace = read(text(&events).as_bytes()).expect("a trace");
        for (row, event) in trace.table.rows().zip(&events) {
            let is_device = event["cat"] == "kernel" || event["cat"] == "gpu_memcpy";
            let id = |event: &Value, key: &str| event["args"][key].as_i64().filter(|&id| id != 0);
            let correlation = id(event, "correlation");
            let is_call = |call: &Value| {
                is_device && call["cat"] == "cuda_runtime" && correlation.is_some()
                    && id(call, "correlation") == correlation
            };
            let calls: Vec<usize> = (0..events.len()).filter(|&at| is_call(&events[at])).collect();
            let ours = trace.links.launch(row).map(Row::index);
            prop_assert_eq!(ours.is_some(), !calls.is_empty());
            let external = id(event, "External id");
            let named: Vec<usize> =
                calls.iter().copied().filter(|&at| external.is_some() && id(&events[at], "External id") == external).collect();
            let is_inside = |inner: usize| {
                let time = |at: usize| (events[at]["ts"].as_i64(), events[at]["dur"].as_i64());
                let within = |outer: usize| {
                    let ((begin, dur), (from, length)) = (time(inner), time(outer));
                    events[outer]["tid"] == events[inner]["tid"] && from <= begin
                        && begin.zip(dur).map(|(a, b)| a + b) <= from.zip(length).map(|(a, b)| a + b)
                };
                calls.iter().any(|&outer| outer != inner && within(outer))
            };
            // Calls within others are left out, which changes which of them have the external id.
            if !calls.iter().any(|&at| is_inside(at)) {
                let of = if named.is_empty() { &calls } else { &named };
                let begin = |at: &usize| (events[*at]["ts"].as_i64(), *at);
                let before = of.iter().filter(|at| events[**at]["ts"].as_i64() <= event["ts"].as_i64());
                let naive = before.max_by_key(|at| begin(at)).or_else(|| of.iter().min_by_key(|at| begin(at)));
                prop_assert_eq!(ours, naive.copied());
            }
        }
    }

    /// Reference implementation of the averages: counts and sums by name, in a map.
    #[test]
    fn averages_equal_the_sums_by_name(events in events()) {
        let trace = read(text(&events).as_bytes()).expect("a trace");
        let all = FunctionEvents::new(&trace);
        let groups = key_averages(&all, &trace.table, GroupBy::default());
        let mut naive: BTreeMap<(String, bool, bool), (u64, i64)> = BTreeMap::new();
        for event in all.events() {
            let key = (
                all.name(event).to_owned(),
                all.kind(event) == kinetoscope_core::analysis::torch::function_events::EventKind::Device,
                all.is_user_annotation(&trace.table, event),
            );
            let group = naive.entry(key).or_default();
            group.0 += 1;
            group.1 += all.cpu_time_total_ns(&trace.table, event);
        }
        let ours: BTreeMap<(String, bool, bool), (u64, i64)> = groups
            .iter()
            .map(|g| ((g.key.clone(), g.device_type != kinetoscope_core::analysis::torch::device_type::DeviceType::Cpu, g.is_user_annotation), (g.count, g.cpu_time_total_ns)))
            .collect();
        prop_assert_eq!(groups.len(), ours.len());
        prop_assert_eq!(ours, naive);
    }

    #[test]
    fn identities_hold_for_random_traces(events in events()) {
        let trace = read(text(&events).as_bytes()).expect("a trace");
        for check in Analysis::new(&trace).identities() {
            prop_assert!(check.holds, "{:?}", check);
        }
    }

    /// Changes, removes and duplicates bytes: nothing panics, the result does not depend on chunks, and the repaired
    /// file is valid JSON with the same events.
    #[test]
    fn damaged_files_are_read_and_repaired(
        events in prop::collection::vec(prop_oneof![span(), mark()], 1..6),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..8),
        sizes in prop::collection::vec(1..200usize, 1..6),
    ) {
        let mut bytes = text(&events).into_bytes();
        for (at, byte, kind) in edits {
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes[at] = b"\"{}[],:\\\n"[usize::from(byte) % 9],
                2 => drop(bytes.remove(at)),
                _ => bytes.truncate(at.max(1)),
            }
        }
        let once = read(&bytes);
        prop_assert_eq!(complete(&once), complete(&chunked(&bytes, &sizes)));
        let Ok(trace) = once else { return Ok(()) };
        Analysis::new(&trace).summary();
        let mut repairer = Repairer::new(Unpacker::default(), String::new());
        for chunk in bytes.chunks(sizes[0]) {
            repairer.feed(chunk).expect("a trace");
        }
        let (clean, repaired) = repairer.finish().expect("a trace");
        prop_assert_eq!(repaired.events as usize, trace.table.len());
        let parsed = serde_json::from_str::<Value>(&clean);
        prop_assert!(parsed.is_ok(), "{:?}: {}", parsed.err(), clean);
        let again = read(clean.as_bytes());
        if trace.table.is_empty() {
            return Ok(());
        }
        let again = again.expect("a trace");
        // What an event lacks is not in the repaired text either.
        let is_lacking = |code: Code| matches!(code, Code::MissingTime | Code::MissingDuration);
        let is_lost = |code: Code| code.severity() == Severity::Lost && !is_lacking(code);
        prop_assert!(!again.diagnostics.findings().iter().any(|finding| is_lost(finding.code)), "{:?}", again.diagnostics);
        prop_assert_eq!(dump::events(&again).lines().count(), dump::events(&trace).lines().count());
    }

    #[test]
    fn tiles_show_every_visible_span(events in events(), start in -50..500i64, length in 1..500i64, pixels in 1..40u32) {
        if let Ok(trace) = read(text(&events).as_bytes()) {
            for track in 0..trace.table.tracks.all().len() as u32 {
                let (start_ns, end_ns) = (start * 1000, (start + length) * 1000);
                check_tiles(&trace, Window { track: TrackId(track), start_ns, end_ns, pixels });
            }
        }
    }
}
