//! Memory: PyTorch's timelines, snapshots of the CUDA allocator, and the query `memory`.

use kinetoscope_core::analysis::device::memory::Memory;
use kinetoscope_core::analysis::device::memory_rows::{KINDS, memory_rows};
use kinetoscope_core::base::diagnostics::Code;
use kinetoscope_core::base::error::Error;
use kinetoscope_core::base::rows::{Cell, Rows};
use kinetoscope_core::output::write::memory_timeline::MemoryTimeline;
use kinetoscope_core::trace::table::layout::FieldPlace::Args;
use kinetoscope_core::trace::{Trace, TraceReader};
use kinetoscope_tests::files;
use kinetoscope_tests::torch::cases;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

/// What existed before the recordings, in bytes, as the documentation states it.
const EXISTED: [i64; 17] = [0, 0, 0, 0, 0, 0, 0, 0, 640, 640, 840, 840, 1896, 1896, 2536, 46644, 46644];

/// The allocations and releases in PyTorch's raw timeline: time, bytes. Memory that existed before, and changes of a
/// version only, are left out.
fn changes(raw: &Value) -> Vec<(i64, i64)> {
    let int = |entry: &Value, at: usize| entry[at].as_i64().expect("a number");
    let entries = raw.as_array().expect("entries").iter();
    let mut changes: Vec<(i64, i64)> = entries
        .filter(|entry| matches!(int(entry, 1), 2 | 4))
        .map(|entry| (int(entry, 0), int(entry, 2)))
        .collect();
    changes.sort_unstable();
    changes
}

/// torch assigns bytes to categories by the identities of tensors, which are not in a trace. Allocations and releases,
/// and their times, are the same.
#[test]
fn timelines_equal_torchs_except_for_categories() {
    let mut compared = 0;
    for case in cases("kineto") {
        let Some(raw) = case.json("memory_timeline.raw.json") else { continue };
        let memory = Memory::new(&case.trace);
        let timeline = MemoryTimeline::new(&case.trace, &memory, Some("cpu")).expect("a timeline of the CPU");
        let json = |text: String| -> Value { serde_json::from_str(&text).expect("JSON") };
        assert_eq!(changes(&json(timeline.raw())), changes(&raw), "{}", case.name);
        // The same times in microseconds, with PyTorch's rounding.
        let times = |timeline: &Value| -> Vec<i64> {
            let times = timeline[0].as_array().expect("times").iter();
            let mut times: Vec<i64> = times.map(|t| t.as_i64().expect("a time")).collect();
            times.dedup();
            times
        };
        let gold = times(&case.json("memory_timeline.json").expect("a timeline"));
        let ours = times(&json(timeline.json()));
        assert!(ours.iter().all(|time| gold.contains(time)), "{}", case.name);
        compared += ours.len();
    }
    assert!(compared > 300, "{compared} times");
}

/// Torch also counts tensors that existed before the recording and are inputs of its operators. Their sum is the
/// difference of all totals.
#[test]
fn totals_of_timelines_differ_from_torchs_by_what_existed_before() {
    let mut differences = Vec::new();
    for case in cases("kineto").into_iter().chain(cases("2.15/kineto")) {
        let Some(raw) = case.json("memory_timeline.raw.json") else { continue };
        let raw: Vec<Vec<i64>> = serde_json::from_value(raw).expect("numbers");
        let existed: i64 = raw.iter().filter(|entry| entry[0] == -1).map(|entry| entry[2]).sum();
        let memory = Memory::new(&case.trace);
        let timeline = MemoryTimeline::new(&case.trace, &memory, Some("cpu")).expect("a timeline of the CPU");
        let ours: Value = serde_json::from_str(&timeline.json()).expect("JSON");
        // The last total of each time.
        let totals = |timeline: &Value, more: i64| -> BTreeMap<i64, i64> {
            let sum = |sizes: &Value| {
                sizes.as_array().expect("sizes").iter().filter_map(Value::as_i64).sum::<i64>()
            };
            let times = timeline[0].as_array().expect("times").iter().filter_map(Value::as_i64);
            times.zip(timeline[1].as_array().expect("sizes").iter().map(|sizes| sum(sizes) + more)).collect()
        };
        let theirs = totals(&case.json("memory_timeline.json").expect("a timeline"), 0);
        for (time, total) in totals(&ours, existed) {
            assert_eq!(Some(&total), theirs.get(&time), "{} at {time}", case.name);
        }
        differences.push(existed);
    }
    differences.sort_unstable();
    assert_eq!(differences, EXISTED);
}

fn read(name: &str) -> Result<Trace, Error> {
    Trace::read(&fs::read(files::data().join("snapshots").join(name)).expect("a snapshot"))
}

fn lines<'a>(rows: &'a Rows, kind: &str) -> Vec<&'a Vec<Cell>> {
    rows.rows.iter().filter(|row| row[0] == kind.into()).collect()
}

fn cell<'a>(row: &'a [Cell], key: &str) -> &'a Cell {
    &row[KINDS.columns().iter().position(|c| c.key == key).expect("a column")]
}

#[test]
fn snapshots_of_every_pickle_protocol_are_read_alike() {
    for protocol in 2..=5 {
        let trace = read(&format!("small-protocol-{protocol}.pickle")).expect("a snapshot");
        let rows = memory_rows(&trace);
        let [device] = lines(&rows, "device")[..] else { panic!("one device") };
        assert_eq!(cell(device, "device"), &"CUDA 0".into());
        assert_eq!(cell(device, "count"), &Cell::Int(2));
        assert_eq!(cell(device, "peak_bytes"), &Cell::Bytes(6144));
        assert_eq!(cell(device, "reserved_bytes"), &Cell::Bytes(8192));
        assert_eq!(cell(device, "growth_bytes"), &Cell::Bytes(4096));
        let held = lines(&rows, "at_peak");
        assert_eq!(cell(held[0], "name"), &"model.py(12): forward".into());
        assert_eq!(cell(held[0], "allocated_bytes"), &Cell::Bytes(4096));
        assert_eq!(cell(held[1], "name"), &"loss.py(3): cross_entropy".into());
        let kept = lines(&rows, "kept");
        assert_eq!((kept.len(), cell(kept[0], "name")), (1, &"model.py(12): forward".into()));
        let failed = lines(&rows, "out_of_memory");
        assert_eq!(cell(failed[0], "allocated_bytes"), &Cell::Bytes(1 << 40));
        let segments = lines(&rows, "segments");
        assert_eq!(cell(segments[0], "share"), &Cell::Share(0.5));
        // A snapshot can be exported like any other trace.
        assert_eq!(trace.table.base_ns() + trace.start_ns, 1_700_000_000_000_000_000);
    }
}

/// A history that PyTorch 2.11 recorded on an H100: five tensors of which one was freed, one of another stream, and an
/// allocation that failed. The totals are those of `torch.cuda.memory_allocated` and `memory_reserved`.
#[test]
fn a_snapshot_of_a_gpu_has_the_totals_of_the_allocator() {
    let rows = memory_rows(&read("h100.pickle").expect("a snapshot"));
    let [device] = lines(&rows, "device")[..] else { panic!("one device") };
    assert_eq!(cell(device, "count"), &Cell::Int(6));
    assert_eq!(cell(device, "growth_bytes"), &Cell::Bytes(11_272_192));
    assert_eq!(cell(device, "reserved_bytes"), &Cell::Bytes(44_040_192));
    assert_eq!(cell(device, "freed_bytes"), &Cell::Bytes(1 << 20));
    let failed = lines(&rows, "out_of_memory");
    assert_eq!(cell(failed[0], "allocated_bytes"), &Cell::Bytes(4 << 40));
    let places: Vec<_> = lines(&rows, "kept").into_iter().map(|row| cell(row, "name").clone()).collect();
    assert_eq!(places, ["gen_cuda.py(255): snapshot".into(), "gen_cuda.py(258): snapshot".into()]);
}

/// Without the ends of releases, their beginnings count. A history that was longer than its buffer is said to be.
#[test]
fn snapshots_have_host_memory_and_can_lack_actions() {
    let trace = read("host-memory-and-skipped-actions.pickle").expect("a snapshot");
    assert_eq!(trace.diagnostics.count(Code::HistoryOverflowed), 1);
    let rows = memory_rows(&trace);
    let device = |name: &str| {
        let found = lines(&rows, "device").into_iter().find(|row| cell(row, "device") == &name.into());
        let row = found.expect("the device");
        ["count", "peak_bytes", "growth_bytes"].map(|key| cell(row, key).clone())
    };
    assert_eq!(device("CUDA 0"), [Cell::Int(2), Cell::Bytes(6144), Cell::Bytes(4096)]);
    assert_eq!(device("CPU"), [Cell::Int(1), Cell::Bytes(16384), Cell::Bytes(16384)]);
    let segments: Vec<_> =
        lines(&rows, "segments").into_iter().map(|row| cell(row, "device").clone()).collect();
    assert_eq!(segments, ["CUDA 0".into(), "CPU".into()]);
    let contexts =
        trace.table.rows().filter_map(|row| trace.table.field_named(row, Args, "compile_context")?.as_str());
    assert_eq!(contexts.collect::<Vec<_>>(), ["0/0"]);
}

/// A total of 0 after the first release is a total: all that existed before was released.
#[test]
fn memory_that_is_released_first_existed_before() {
    let rows = memory_rows(&read("release-of-older-memory.pickle").expect("a snapshot"));
    let [device] = lines(&rows, "device")[..] else { panic!("one device") };
    assert_eq!(cell(device, "peak_bytes"), &Cell::Bytes(777));
    assert_eq!(cell(device, "growth_bytes"), &Cell::Bytes(300 - 777));
}

#[test]
fn a_snapshot_does_not_depend_on_chunks() {
    let bytes = fs::read(files::data().join("snapshots/small-protocol-4.pickle")).expect("a snapshot");
    let expected = memory_rows(&Trace::read(&bytes).expect("a snapshot"));
    for size in [1, 2, 7, 100] {
        let mut reader = TraceReader::default();
        bytes.chunks(size).for_each(|chunk| reader.feed(chunk).expect("a chunk"));
        assert_eq!(memory_rows(&reader.finish().expect("a snapshot")), expected, "chunks of {size}");
    }
    for cut in 1..bytes.len() {
        assert!(Trace::read(&bytes[..cut]).is_err(), "cut at {cut}");
    }
}

#[test]
fn pickles_that_run_code_or_are_not_snapshots_are_refused() {
    let why = |name: &str| read(name).expect_err("refused").to_string();
    assert!(why("runs-code.pickle").contains("runs code"), "{}", why("runs-code.pickle"));
    assert!(why("something-else.pickle").contains("something else"));
}

/// Sixty nested lists, each of which contains the next one twice, stay small because shared values are stored once.
#[test]
fn shared_pickle_values_are_stored_once() {
    let trace = read("shared-many-times.pickle").expect("a snapshot");
    assert_eq!(lines(&memory_rows(&trace), "device").len(), 1);
}

#[test]
fn the_sums_of_a_real_snapshot_are_consistent() {
    let Some(folder) = files::shared("traces/cs336-magma27", "a real memory snapshot") else { return };
    let bytes = fs::read(folder.join("memory_snapshot.pickle")).expect("a snapshot");
    let trace = Trace::read(&bytes).expect("a snapshot");
    let memory = Memory::new(&trace);
    let device = &memory.devices[0];
    assert_eq!((device.allocations, memory.records.len()), (1721, 3442));
    assert_eq!(device.allocated - device.freed, device.after - device.before);
    let live: i64 = memory.at_peaks()[0].iter().map(|record| record.bytes).sum();
    assert!(live <= device.peak && device.peak <= device.reserved.expect("reserved"));
    // The memory in use at the end equals the allocated bytes of the segments.
    let rows = memory_rows(&trace);
    assert_eq!(cell(lines(&rows, "segments")[0], "allocated_bytes"), &Cell::Bytes(device.after));
}

#[test]
fn errors_for_a_missing_device_list_the_devices_with_memory() {
    let trace = read("small-protocol-4.pickle").expect("a snapshot");
    let memory = Memory::new(&trace);
    let error = MemoryTimeline::new(&trace, &memory, Some("cuda:7")).err().expect("no such device");
    assert!(error.to_string().contains("CUDA 0"), "{error}");
    let timeline = MemoryTimeline::new(&trace, &memory, Some("cuda:0")).expect("a device");
    let raw: Value = serde_json::from_str(&timeline.raw()).expect("JSON");
    assert_eq!(raw.as_array().map(Vec::len), Some(3));
    assert!(timeline.html().contains("peak 6.00 KB"));
    let empty = Trace::read(b"[]").expect("a trace");
    assert!(MemoryTimeline::new(&empty, &Memory::new(&empty), None).is_err());
}
