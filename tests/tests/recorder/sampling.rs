//! Samples of call stacks. Each test needs the CPU for itself.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use crate::support::{alone, check, row};
use kinetoscope::{Profiler, Recording, name_thread, scope};
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::events::Row;
use kinetoscope_core::trace::table::layout::{FieldPlace, Key};
use std::hint::black_box;
use std::time::{Duration, Instant};

const FREQUENCY: u32 = 200;

/// The CPU time of the calling thread.
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is valid for the call.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) }, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Computes for this much CPU time, however busy the machine is.
fn spin(time: Duration) -> u64 {
    let (start, mut sum) = (cpu_time(), 0u64);
    while cpu_time().saturating_sub(start) < time {
        (0..1000u64).for_each(|number| sum = black_box(sum.wrapping_mul(31) ^ number));
    }
    sum
}

#[inline(never)]
fn outside_of_spans() -> u64 {
    black_box(spin(Duration::from_millis(300)))
}

#[inline(never)]
fn inside_of_a_span() -> u64 {
    let _span = scope!("work");
    black_box(spin(Duration::from_millis(600)))
}

#[inline(never)]
fn on_another_thread() -> u64 {
    black_box(spin(Duration::from_millis(300)))
}

/// Computes on a thread that begins no span.
fn spin_on_a_thread(run: impl FnOnce(&dyn Fn()) + Send + 'static) {
    let run = || run(&|| assert!(black_box(spin(Duration::from_millis(100))) > 0));
    std::thread::spawn(run).join().expect("the thread should not panic");
}

#[inline(never)]
fn deep(level: u32) -> u64 {
    if level == 0 { spin(Duration::from_millis(300)) } else { black_box(deep(level - 1)) + 1 }
}

fn record(run: impl FnOnce()) -> Recording {
    let mut profiler = Profiler::builder().sample_stacks(FREQUENCY).start().expect("recording should start");
    run();
    let recording = profiler.stop().expect("a recording").expect("a recording");
    check(&recording);
    recording
}

/// The samples with their stacks.
fn samples(trace: &Trace) -> Vec<(Row, String)> {
    let table = &trace.table;
    let stack = |row| table.field_named(row, FieldPlace::Args, "Call stack").and_then(|stack| stack.as_str());
    let rows = table.rows().filter(|&row| table.cat(row) == "cpu_sample");
    rows.map(|row| (row, stack(row).expect("a stack").to_owned())).collect()
}

#[test]
fn the_cpu_time_of_functions_is_that_which_they_took() {
    let _alone = alone();
    let recording = record(|| {
        outside_of_spans();
        inside_of_a_span();
        std::thread::sleep(Duration::from_millis(200));
        std::thread::Builder::new()
            .name("other".into())
            .spawn(on_another_thread)
            .expect("a thread")
            .join()
            .expect("a sum");
    });
    let trace = recording.trace().expect("a trace");
    let (table, all) = (&trace.table, samples(trace));
    let within = |function: &str| -> Vec<Row> {
        all.iter().filter(|(_, stack)| stack.contains(function)).map(|(row, _)| *row).collect()
    };
    let [outside, inside, other] = ["outside_of_spans", "inside_of_a_span", "on_another_thread"].map(within);
    let known = outside.len() + inside.len() + other.len();
    assert!(known * 100 >= all.len() * 95, "{known} of {} samples", all.len());
    // A system clock of 100 Hz gives half of the samples.
    assert!((outside.len() >= 20) && (outside.len() <= 70), "{}", outside.len());
    let ratio = inside.len() as f64 / outside.len() as f64;
    assert!((1.6..2.5).contains(&ratio), "{ratio}");
    let ratio = other.len() as f64 / outside.len() as f64;
    assert!((0.6..1.6).contains(&ratio), "{ratio}");

    let span = row(trace, "work");
    let in_span = |row: &Row| (table.ts(span)..=table.end(span)).contains(&table.ts(*row));
    assert!(inside.iter().all(in_span) && !outside.iter().any(in_span));
    assert!(inside.iter().chain(&outside).all(|&row| table.track_id(row) == table.track_id(span)));
    let track = table.track_id(other[0]);
    assert!(track != table.track_id(span) && other.iter().all(|&row| table.track_id(row) == track));
}

#[test]
fn threads_without_spans_have_the_names_that_the_program_gave() {
    let _alone = alone();
    let recording = record(|| {
        spin_on_a_thread(|spin| {
            name_thread("named before its first sample");
            spin();
        });
        spin_on_a_thread(|spin| {
            spin();
            name_thread("named after its first sample");
        });
        spin_on_a_thread(|spin| spin());
    });
    let table = &recording.trace().expect("a trace").table;
    let names = table.rows().filter_map(|row| table.field(row, Key::Name)?.as_str());
    let named: Vec<&str> = names.filter(|name| name.contains("first sample")).collect();
    assert_eq!(named.len(), 2, "{named:?}");
    assert!(named[0].ends_with("(named before its first sample)"), "{named:?}");
    assert!(named[1].ends_with("(named after its first sample)"), "{named:?}");
}

#[test]
fn stacks_reach_from_the_innermost_function_to_the_thread() {
    let _alone = alone();
    let recording = record(|| {
        deep(40);
    });
    let all = samples(recording.trace().expect("a trace"));
    let complete = all.iter().filter(|(_, stack)| {
        let calls = stack.matches("::deep;").count();
        calls == 41 && stack.contains("stacks_reach_from") && stack.contains("thread_start")
    });
    let complete = complete.count();
    assert!(
        complete * 10 >= all.len() * 9 && complete > 20,
        "{complete} of {}: {:?}",
        all.len(),
        all.first()
    );
}

#[test]
fn a_recording_without_samples_has_none_and_a_second_one_has_them() {
    let _alone = alone();
    let plain = {
        let mut profiler = Profiler::builder().start().expect("recording should start");
        inside_of_a_span();
        profiler.stop().expect("a recording").expect("a recording")
    };
    assert!(samples(plain.trace().expect("a trace")).is_empty());
    for _ in 0..2 {
        let recording = record(|| {
            inside_of_a_span();
        });
        assert!(samples(recording.trace().expect("a trace")).len() > 40);
    }
}

#[test]
fn system_calls_are_not_interrupted() {
    let _alone = alone();
    record(|| {
        let busy = std::thread::spawn(on_another_thread);
        let start = Instant::now();
        std::thread::sleep(Duration::from_millis(250));
        assert!(start.elapsed() >= Duration::from_millis(250));
        busy.join().expect("a sum");
        drop(scope!("end"));
    });
}
