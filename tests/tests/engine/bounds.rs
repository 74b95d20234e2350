//! Out-of-range times and sizes in every kind of file: what they become, and that each is counted.

use kinetoscope_core::base::diagnostics::Code;
use kinetoscope_core::base::time;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::bounds::MOST_NS;
use kinetoscope_core::trace::table::events::{LARGEST, Row};
use kinetoscope_core::trace::table::layout::Key;
use kinetoscope_core::trace::table::metadata::Source;

fn trace(events: &[String]) -> Trace {
    Trace::read(format!("[{}]", events.join(",")).as_bytes()).expect("a trace")
}

fn span(dur: &str) -> String {
    format!(r#"{{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":0,"dur":{dur}}}"#)
}

#[test]
fn durations_within_the_bounds_are_not_changed() {
    let trace = trace(&[span("9e9"), span("1e300"), span("5")]);
    let durations: Vec<i64> = trace.table.rows().map(|row| trace.table.dur(row)).collect();
    assert_eq!(durations, [9_000_000_000_000, time::LONGEST, 5000]);
    assert_eq!(trace.diagnostics.count(Code::TimeOutOfRange), 1);
    assert_eq!(trace.diagnostics.count(Code::DurationShortened), 0);
}

#[test]
fn long_durations_are_clamped_so_that_their_sum_fits() {
    let mut events: Vec<String> = (0..3000).map(|_| span("1e300")).collect();
    events.push(span("5"));
    let trace = trace(&events);
    let share = MOST_NS / 3001;
    let sum: i128 = trace.table.rows().map(|row| i128::from(trace.table.dur(row))).sum();
    assert_eq!(sum, i128::from(share) * 3000 + 5000);
    assert!(sum <= i128::from(MOST_NS));
    assert_eq!(trace.table.dur(Row::new(3000)), 5000);
    assert_eq!(trace.diagnostics.count(Code::TimeOutOfRange), 3000);
    assert_eq!(trace.diagnostics.count(Code::DurationShortened), 3000);
}

#[test]
fn a_size_beyond_a_petabyte_is_counted_once_per_event() {
    let memory = |bytes: &str| {
        format!(
            r#"{{"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":1,"args":{{"Bytes":{bytes},"bytes":{bytes},"Device Type":0}}}}"#
        )
    };
    let trace = trace(&[
        memory("1125899906842624"),
        memory("1125899906842625"),
        memory("\"-9e9\""),
        memory("-9223372036854775808"),
    ]);
    let sizes: Vec<i64> = trace.table.rows().map(|row| trace.table.bytes(row, Key::Bytes)).collect();
    assert_eq!(sizes, [LARGEST, LARGEST, 0, -LARGEST]);
    let found = trace.diagnostics.findings().iter().find(|f| f.code == Code::SizeClamped).expect("a finding");
    assert_eq!(found.count, 2);
    assert_eq!(found.first_offset, Some(1 + memory("1125899906842624").len() as u64 + 1));
    assert!(found.example.starts_with(r#"{"ph":"i","cat":"cpu_instant_event","name":"[memory]""#));
}

#[test]
fn clamped_sizes_of_records_and_results_are_counted() {
    let records = br#"{"threads":[[{"name":"","kind":"memory_alloc","cpu_memory_usage":9223372036854775807,
        "cuda_memory_usage":-9223372036854775807,"cpu_ns":1,"thread_id":1,"node_id":-1}]]}"#;
    let results =
        br#"{"trace_start_ns":0,"events":[{"name":"[memory]","start_ns":1,"end_ns":1,"nbytes":9223372036854775807}]}"#;
    for text in [records.as_slice(), results.as_slice()] {
        let trace = Trace::read(text).expect("a trace");
        assert_ne!(trace.table.metadata.source, Source::Chrome);
        assert_eq!(trace.diagnostics.count(Code::SizeClamped), 1);
    }
}

/// `{"segments": [], "device_traces": [[a free, the free of a segment]]}`, both of −2^63 bytes at 2^62 us.
const LEAST_SIZES: &[u8] =
    b"\x80\x04\x95\xab\x00\x00\x00\x00\x00\x00\x00}(\x8c\x08segments]\x8c\rdevice_traces]](\
    }(\x8c\x06action\x94\x8c\x0efree_completed\x8c\x04size\x94\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80\
    \x8c\x04addr\x94K\x01\x8c\x06stream\x94K\x00\x8c\x07time_us\x94\x8a\x08\x00\x00\x00\x00\x00\x00\x00@u\
    }(h\x00\x8c\x0csegment_freeh\x01\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80h\x02K\x01h\x03K\x00h\x04\
    \x8a\x08\x00\x00\x00\x00\x00\x00\x00@ueau.";

#[test]
fn the_smallest_size_and_late_times_of_a_snapshot_are_counted() {
    let trace = Trace::read(LEAST_SIZES).expect("a snapshot");
    assert_eq!(trace.diagnostics.count(Code::SizeClamped), 1);
    assert_eq!(trace.diagnostics.count(Code::TimeOutOfRange), 2);
    assert!(trace.table.rows().all(|row| trace.table.ts(row) == time::NONE));
}
