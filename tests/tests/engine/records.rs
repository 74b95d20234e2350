//! Random lists of legacy records: nothing panics, nothing is lost, and a naive reference implementation finds the same
//! events.

use kinetoscope_core::analysis::torch::event_rows::event_rows;
use kinetoscope_core::analysis::torch::function_events::{FunctionEvent, FunctionEvents};
use kinetoscope_core::base::diagnostics::Code;
use kinetoscope_core::internals::HIDDEN;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::records::{Record, RecordKind, Records};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

/// A record, as the reference implementation uses it.
#[derive(Clone, Debug)]
struct Plain {
    kind: RecordKind,
    name: &'static str,
    handle: i64,
    node: i64,
    thread: i64,
    time: i64,
    bytes: i64,
    is_async: bool,
    is_remote: bool,
}

prop_compose! {
    fn record()(
        kind in prop::sample::select(vec![RecordKind::Push, RecordKind::Push, RecordKind::Push, RecordKind::Pop, RecordKind::Pop, RecordKind::MemoryAlloc, RecordKind::Mark]),
        name in prop::sample::select(vec!["a", "b", "c", "aten::_version", "aten::is_leaf"]),
        handle in 1..7i64,
        node in -1..1i64,
        thread in 1..3i64,
        time in 0..50i64,
        bytes in -100..100i64,
        is_async in prop::bool::weighted(0.1),
        is_remote in prop::bool::weighted(0.1),
    ) -> Plain {
        let is_named = matches!(kind, RecordKind::Push | RecordKind::Mark);
        let handle = if kind == RecordKind::MemoryAlloc { 0 } else { handle };
        let node = if kind == RecordKind::MemoryAlloc { -1 } else { node };
        let is_async = is_async && kind == RecordKind::Push;
        Plain { kind, name: if is_named { name } else { "" }, handle, node, thread, time, bytes, is_async, is_remote }
    }
}

/// Returns lists whose times increase from record to record; the first list begins with the start mark.
fn lists() -> impl Strategy<Value = Vec<Vec<Plain>>> {
    prop::collection::vec(prop::collection::vec(record(), 0..60), 1..4).prop_map(|mut lists| {
        let start = Plain {
            kind: RecordKind::Mark,
            name: "__start_profile",
            handle: 0,
            node: -2,
            thread: 1,
            time: 0,
            bytes: 0,
            is_async: false,
            is_remote: false,
        };
        lists[0].insert(0, start);
        for list in &mut lists {
            let mut now = 1000;
            for record in list {
                now += record.time;
                record.time = now;
            }
        }
        lists
    })
}

/// An event: name, thread, node, start, end, bytes, asynchronous, remote.
type Event = (String, i64, i64, i64, i64, i64, bool, bool);

/// Reference implementation of PyTorch's pairing, written for simplicity.
fn reference(lists: &[Vec<Plain>]) -> Vec<Event> {
    let origin = lists[0][0].time;
    let mut events = Vec::new();
    for list in lists {
        let mut open: HashMap<(i64, i64), (&Plain, i64)> = HashMap::new();
        let mut left_out: HashSet<(i64, i64)> = HashSet::new();
        let mut last: Option<&Plain> = None;
        for record in list {
            let key = (record.handle, record.node);
            if HIDDEN.contains(&record.name) || left_out.contains(&key) {
                left_out.insert(key);
                continue;
            }
            match record.kind {
                RecordKind::Push => {
                    let repeats = last.is_some_and(|last| {
                        last.kind == RecordKind::Push && last.name == record.name && last.node == record.node
                    });
                    if repeats {
                        left_out.insert(key);
                        continue;
                    }
                    open.insert(key, (record, 0));
                }
                RecordKind::Pop => {
                    if let Some((push, bytes)) = open.remove(&key) {
                        events.push((
                            push.name.to_owned(),
                            push.thread,
                            push.node,
                            push.time - origin,
                            record.time - origin,
                            bytes,
                            push.is_async || push.thread != record.thread,
                            record.is_remote,
                        ));
                    }
                }
                RecordKind::MemoryAlloc if open.is_empty() => {
                    events.push(("[memory]".to_owned(), 0, -1, 0, 0, record.bytes, false, false));
                }
                RecordKind::MemoryAlloc => open.values_mut().for_each(|range| range.1 += record.bytes),
                RecordKind::Mark => {}
            }
            last = Some(record);
        }
    }
    events.sort();
    events
}

/// Returns the events, and how many PyTorch's tree merged. Merged events cannot be compared one by one.
fn events(trace: &Trace) -> (Vec<Event>, usize) {
    let all = FunctionEvents::new(trace);
    let table = &trace.table;
    let rows = event_rows(trace, &all);
    let thread = rows.columns.iter().position(|c| c.key == "thread").expect("a column");
    let mut events: Vec<Event> = all
        .events()
        .map(|event| {
            let kinetoscope_core::base::rows::Cell::Text(thread) = &rows.rows[event.index()][thread] else {
                panic!("a thread")
            };
            let start = all.start_ns(table, event);
            (
                all.name(event).to_owned(),
                thread.parse().expect("a number"),
                all.node_id(table, event).unwrap_or(-1),
                start,
                start + all.duration_ns(table, event),
                all.memory(event).cpu,
                all.is_async(event),
                all.is_remote(event),
            )
        })
        .collect();
    events.sort();
    (events, all.removed)
}

fn pushed(lists: &[Vec<Plain>]) -> Trace {
    let mut records = Records::default();
    for list in lists {
        records.begin_list();
        for plain in list {
            let name = records.name(plain.name);
            let bytes = if plain.kind == RecordKind::MemoryAlloc { plain.bytes } else { 0 };
            records.push(&Record {
                name,
                handle: plain.handle,
                node_id: plain.node,
                thread_id: plain.thread,
                cpu_ns: plain.time,
                cpu_memory_usage: bytes,
                is_async: plain.is_async,
                is_remote: plain.is_remote,
                ..Record::new(plain.kind)
            });
        }
    }
    records.finish()
}

fn written(lists: &[Vec<Plain>]) -> Trace {
    let kind = |kind: RecordKind| match kind {
        RecordKind::Push => "push",
        RecordKind::Pop => "pop",
        RecordKind::Mark => "mark",
        RecordKind::MemoryAlloc => "memory_alloc",
    };
    let record = |r: &Plain| {
        let bytes = if r.kind == RecordKind::MemoryAlloc { r.bytes } else { 0 };
        json!({"name": r.name, "kind": kind(r.kind), "handle": r.handle, "node_id": r.node, "thread_id": r.thread,
            "cpu_ns": r.time, "cpu_memory_usage": bytes, "is_async": r.is_async, "is_remote": r.is_remote})
    };
    let lists: Vec<Value> = lists.iter().map(|list| list.iter().map(record).collect()).collect();
    Trace::read(json!({"threads": lists}).to_string().as_bytes()).expect("records")
}

/// Device events around a range give it device time, which includes that of inner ranges.
#[test]
fn pushed_records_have_device_times() {
    let mut records = Records::default();
    let (start, outer, inner) =
        (records.name("__start_profile"), records.name("aten::linear"), records.name("aten::addmm"));
    records.push(&Record { name: start, thread_id: 1, ..Record::new(RecordKind::Mark) });
    let at = |kind, name, handle, cpu_ns, us| Record {
        name,
        handle,
        thread_id: 1,
        cpu_ns,
        cuda_us: Some(us),
        ..Record::new(kind)
    };
    let none = kinetoscope_core::base::names::NameId::EMPTY;
    records.push(&at(RecordKind::Push, outer, 1, 1000, 1.0));
    records.push(&at(RecordKind::Push, inner, 2, 2000, 2.5));
    records.push(&at(RecordKind::Pop, none, 2, 8000, 12.75));
    records.push(&at(RecordKind::Pop, none, 1, 9000, 14.0));
    let events = FunctionEvents::new(&records.finish());
    assert_eq!(events.use_device, Some("cuda"));
    assert_eq!(events.device_totals_ns(), [13_000, 10_250]);
    assert_eq!(events.self_device_time_total_ns(FunctionEvent::new(0)), 2_750);
}

proptest! {
    #[test]
    fn pairs_equal_those_of_the_reference(lists in lists()) {
        let expected = reference(&lists);
        for trace in [pushed(&lists), written(&lists)] {
            let (found, merged) = events(&trace);
            prop_assert_eq!(found.len() + merged, expected.len());
            if merged == 0 {
                prop_assert_eq!(&found, &expected);
            }
        }
    }

    #[test]
    fn no_record_is_lost(lists in lists()) {
        let trace = pushed(&lists);
        let all = FunctionEvents::new(&trace);
        let count = |kind: RecordKind| lists.iter().flatten().filter(|r| r.kind == kind).count() as u64;
        prop_assert_eq!(trace.table.len(), lists.iter().map(Vec::len).sum::<usize>());
        let pairs = trace.pairs.spans.len() as u64;
        let diagnostics = |code| trace.diagnostics.count(code);
        let left_out = diagnostics(Code::HiddenRecord) + diagnostics(Code::RepeatedPush);
        let unmatched = diagnostics(Code::UnmatchedPush) + diagnostics(Code::UnmatchedPop);
        // Each push and pop is in a pair or has a diagnostic; so do other records that were left out.
        let others = count(RecordKind::Mark) + count(RecordKind::MemoryAlloc);
        let accounted = 2 * pairs + unmatched + left_out;
        let records = trace.table.len() as u64;
        prop_assert!(accounted <= records && records <= accounted + others);
        let memory = all.events().filter(|&event| all.name(event) == "[memory]").count();
        prop_assert_eq!(all.len() + all.removed, trace.pairs.spans.len() + memory);
    }

    #[test]
    fn damaged_record_files_do_not_panic(lists in lists(), at in 0..4000usize, byte in any::<u8>()) {
        let _ = pushed(&lists);
        let text = json!({"threads": [[{"kind": "push", "name": "a", "handle": 1, "cpu_ns": 5}, {"kind": 3}, {"handle": "x"}], []]});
        let mut bytes = text.to_string().into_bytes();
        let place = at % bytes.len();
        bytes[place] = byte;
        if let Ok(trace) = Trace::read(&bytes) {
            let _ = FunctionEvents::new(&trace);
        }
    }
}
