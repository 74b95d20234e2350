//! Random programs: spans on several threads that end in any order, panics, forgotten guards, forks, and buffers that are
//! too small. A second reader of the format compares each recording with what the program did.
//!
//! `KINETOSCOPE_PROGRAMS` sets the number of programs, `KINETOSCOPE_SEED` the first seed.

use crate::support::alone;
use kinetoscope::{Profiler, ProfilerBuilder};
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::layout::FieldPlace;
use kinetoscope_tests::ktrace::{self, Recording};
use kinetoscope_tests::programs::{Random, judge, run, use_clock_of};
use std::collections::BTreeMap;
use std::time::Duration;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Returns a profiler for a program: with small buffers, with a memory limit, or with neither. With both, a span can count
/// twice: its begin beyond the limit, and its end for lack of a buffer.
fn builder(random: &mut Random) -> ProfilerBuilder {
    let builder = Profiler::builder().record_shapes(random.below(2) == 0).with_stack(random.below(40) == 0);
    let builder = match random.below(5) {
        0 => builder.buffer_bytes(1 << 20),
        1 => builder.buffer_bytes(1),
        2 => builder.memory_bytes(random.below(200_000) as usize),
        _ => builder,
    };
    builder.flush_interval(Duration::from_millis([1, 5, 1000][random.below(3) as usize]))
}

/// The engine reads the same spans as the second reader: names, and durations up to the rounding of the clock.
fn compare_readers(recording: &Recording, trace: &Trace, seed: u64) {
    let table = &trace.table;
    let Some([(first_ticks, first_ns), (last_ticks, last_ns)]) = recording.clock else { return };
    let scale = (last_ns - first_ns) as f64 / last_ticks.saturating_sub(first_ticks).max(1) as f64;
    let mut ours: BTreeMap<(u64, &str), Vec<f64>> = BTreeMap::new();
    for span in recording.spans.iter().filter(|span| span.end.is_some()) {
        let took = (span.end.unwrap_or(span.begin) - span.begin) as f64 * scale;
        ours.entry((recording.threads[&span.thread].id, &span.name)).or_default().push(took);
    }
    let mut theirs: BTreeMap<(u64, &str), Vec<f64>> = BTreeMap::new();
    for row in table
        .rows()
        .filter(|&row| matches!(table.cat(row), "cpu_op" | "user_annotation") && table.ph(row) == b'X')
    {
        if table.field_named(row, FieldPlace::Args, "finished").is_none() {
            let tid =
                table.names.get(table.track(row).tid).parse::<u64>().expect("a thread") & u64::from(u32::MAX);
            theirs.entry((tid, table.name(row))).or_default().push(table.dur(row) as f64);
        }
    }
    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>(), "program {seed}");
    for (key, took) in &mut ours {
        let other = theirs.get_mut(key).expect("the same keys");
        took.sort_by(f64::total_cmp);
        other.sort_by(f64::total_cmp);
        assert_eq!(took.len(), other.len(), "program {seed}: {key:?}");
        for (a, b) in took.iter().zip(other) {
            // The engine interpolates between all readings, this test between the first and the last.
            assert!((a - *b).abs() <= 1000.0 + a * 0.02, "program {seed}: {key:?} took {a} or {b} ns");
        }
    }
}

#[test]
fn random_programs_are_recorded_exactly_and_every_loss_is_counted() {
    let _alone = alone();
    let (programs, first) = (number("KINETOSCOPE_PROGRAMS", 300), number("KINETOSCOPE_SEED", 1));
    let mut profiler = Profiler::builder().start().expect("recording should start");
    let empty = profiler.stop().expect("a recording").expect("a recording");
    use_clock_of(&ktrace::read(&empty.bytes().expect("bytes")));
    let (mut spans, mut lost) = (0, 0);
    for seed in first..first + programs {
        let mut random = Random(seed);
        let mut profiler = builder(&mut random).start().expect("recording should start");
        let log = run(seed, true);
        let finished = profiler.stop().expect("a recording").expect("a recording");
        let recording = ktrace::read(&finished.bytes().expect("bytes"));
        spans += judge(&recording, &log, finished.statistics.dropped, seed);
        lost += finished.statistics.dropped;
        if seed % 8 == 0 {
            compare_readers(&recording, finished.trace().expect("a trace"), seed);
        }
    }
    println!("{programs} programs: {spans} spans are right, {lost} spans and events are counted as lost");
    assert!(spans > 0 && (lost > 0 || programs < 100));
}
