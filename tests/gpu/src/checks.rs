//! The checks that need a GPU. Each returns a line with its measurements.

use crate::trace::{call, counts, int, named, rows};
use crate::work::{COUNT, Work};
use cudarc::driver::CudaGraph;
use cudarc::driver::sys::{
    CUevent_flags as EventFlags, CUgraphInstantiate_flags as GraphFlags, CUstreamCaptureMode as CaptureMode,
};
use kinetoscope::Recording;
use kinetoscope::{Activity, Profiler};
use kinetoscope::{scope, user_scope};
use kinetoscope_core::trace::table::events::Table;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

type Outcome = Result<String, Box<dyn Error>>;

/// A check: its name, and a function that takes the folder for its recordings.
pub(crate) type Check = (&'static str, fn(&Work, &Path) -> Outcome);

pub(crate) const CHECKS: [Check; 10] = [
    ("every kind of activity is recorded", kinds),
    ("every launched kernel is recorded, 100 times", every_kernel),
    ("a kernel begins after its call and lies in the window", order),
    ("a kernel of 100 ms lasts as long as CUDA events measure", long_kernel),
    ("kernels of a graph belong to its launch", graph),
    ("kernels of a graph that is captured while recording", graph_within),
    ("kernels of two streams overlap", two_streams),
    ("recording does not change results", results),
    ("the overhead of a launch", overhead),
    ("a recording for comparisons", saxpy_for_comparison),
];

/// Records `work`, and writes the recording to files.
fn record(
    folder: &Path,
    name: &str,
    work: impl FnOnce() -> Result<(), Box<dyn Error>>,
) -> Result<Recording, Box<dyn Error>> {
    let file = folder.join(format!("{name}.ktrace"));
    let _ = fs::remove_file(&file);
    let builder = Profiler::builder().activities(&[Activity::Cpu, Activity::Cuda]);
    let mut profiler =
        builder.profile_memory(true).device_metrics(Duration::from_millis(10)).file(&file).start()?;
    work()?;
    let recording = profiler.stop()?.ok_or("nothing was recorded")?;
    recording.export_chrome_trace(folder.join(format!("{name}.pt.trace.json.gz")))?;
    Ok(recording)
}

/// Returns an error with this message unless the condition holds.
fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), Box<dyn Error>> {
    if holds { Ok(()) } else { Err(otherwise().into()) }
}

fn kinds(work: &Work, folder: &Path) -> Outcome {
    let recording = record(folder, "kinds", || {
        let _step = user_scope!("step");
        let other = work.context.new_stream()?;
        let result = work.rounds(3)?;
        let mut bytes = work.stream.alloc_zeros::<f32>(COUNT)?;
        work.stream.memset_zeros(&mut bytes)?;
        let event = work.stream.record_event(None)?;
        other.wait(&event)?;
        work.spin(&other, 1_000_000)?;
        other.synchronize()?;
        work.context.synchronize()?;
        ensure(result[0] > 1.0, || format!("a wrong result, {}", result[0]))
    })?;
    let table = &recording.trace()?.table;
    let seen = counts(table);
    for category in
        ["kernel", "gpu_memcpy", "gpu_memset", "cuda_driver", "cuda_sync", "gpu_user_annotation", "ac2g"]
    {
        ensure(seen.contains_key(category), || format!("no {category} among {seen:?}"))?;
    }
    let memory = table.rows().filter(|&row| table.name(row) == "[memory]").count();
    let counters = table.rows().filter(|&row| table.name(row).starts_with("GPU 0 ")).count();
    ensure(memory > 0, || "no [memory] events".to_owned())?;
    let findings = recording.trace()?.diagnostics.findings();
    ensure(findings.is_empty(), || format!("diagnostics: {findings:?}"))?;
    Ok(format!("{seen:?}, {memory} [memory], {counters} samples of counters"))
}

fn every_kernel(work: &Work, folder: &Path) -> Outcome {
    const LAUNCHES: usize = 37;
    for round in 0..100 {
        let recording = record(folder, "every_kernel", || Ok(work.rounds(LAUNCHES).map(|_| ())?))?;
        let found = named(&recording.trace()?.table, "kernel", "saxpy").len();
        ensure(found == LAUNCHES, || format!("round {round}: {found} of {LAUNCHES} kernels"))?;
    }
    Ok(format!("100 rounds of {LAUNCHES} launches, none missing"))
}

fn order(work: &Work, folder: &Path) -> Outcome {
    let recording = record(folder, "order", || {
        for _ in 0..50 {
            let _op = scope!("op");
            work.spin(&work.stream, 20_000)?;
            work.stream.synchronize()?;
        }
        Ok(())
    })?;
    let table = &recording.trace()?.table;
    let window = rows(table, "Trace").next().ok_or("the trace has no window event")?;
    let mut least = i64::MAX;
    for kernel in rows(table, "kernel") {
        let call = call(table, kernel).ok_or("a kernel has no call")?;
        ensure(int(table, kernel, "External id").is_some(), || "a kernel has no span".to_owned())?;
        least = least.min(table.ts(kernel) - table.ts(call));
        let is_inside = table.ts(kernel) >= table.ts(window) && table.end(kernel) <= table.end(window);
        ensure(is_inside, || "a kernel lies outside of the window".to_owned())?;
    }
    ensure(least >= 0, || format!("a kernel begins {} ns before its call", -least))?;
    Ok(format!("the shortest time from a call to its kernel is {least} ns"))
}

fn long_kernel(work: &Work, folder: &Path) -> Outcome {
    let mut timed = 0.0;
    // With device timestamps of events, CUPTI blocked in a later recording of a context.
    for _ in 0..3 {
        record(folder, "long_kernel", || Ok(work.rounds(3).map(|_| ())?))?;
    }
    let recording = record(folder, "long_kernel", || {
        let flags = Some(EventFlags::CU_EVENT_DEFAULT);
        let start = work.stream.record_event(flags)?;
        work.spin(&work.stream, 100_000_000)?;
        let end = work.stream.record_event(flags)?;
        timed = f64::from(start.elapsed_ms(&end)?);
        Ok(())
    })?;
    let table = &recording.trace()?.table;
    let kernel = *named(table, "kernel", "spin").first().ok_or("no kernel")?;
    let ours = table.dur(kernel) as f64 / 1e6;
    ensure((ours / timed - 1.0).abs() < 0.01, || format!("{ours} ms, and {timed} ms by CUDA events"))?;
    Ok(format!("{ours:.3} ms, and {timed:.3} ms by CUDA events"))
}

/// The nodes of the graph of the checks, and how often it is launched.
const NODES: usize = 5;
const LAUNCHES: usize = 4;

/// Captures a graph of [`NODES`] kernels.
fn capture(work: &Work) -> Result<CudaGraph, Box<dyn Error>> {
    work.stream.begin_capture(CaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
    (0..NODES).try_for_each(|_| work.spin(&work.stream, 10_000))?;
    let flags = GraphFlags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    Ok(work.stream.end_capture(flags)?.ok_or("nothing was captured")?)
}

/// Launches a graph and waits for it.
fn launch(work: &Work, graph: &CudaGraph) -> Result<(), Box<dyn Error>> {
    (0..LAUNCHES).try_for_each(|_| graph.launch())?;
    Ok(work.stream.synchronize()?)
}

/// Checks that the kernels of all launches were recorded, and belong to as many launches.
fn ensure_kernels_of_graph(table: &Table) -> Outcome {
    let kernels: Vec<_> =
        rows(table, "kernel").filter(|&row| int(table, row, "graph id").unwrap_or(0) != 0).collect();
    ensure(kernels.len() == NODES * LAUNCHES, || {
        format!("{} kernels of graphs among {:?}", kernels.len(), counts(table))
    })?;
    let mut launches: Vec<_> = kernels.iter().map(|&row| int(table, row, "correlation")).collect();
    launches.sort_unstable();
    launches.dedup();
    ensure(launches.len() == LAUNCHES, || format!("{} launches", launches.len()))?;
    Ok(format!("{LAUNCHES} launches of {NODES} nodes, {} kernels", kernels.len()))
}

fn graph(work: &Work, folder: &Path) -> Outcome {
    let graph = capture(work)?;
    let recording = record(folder, "graph", || launch(work, &graph))?;
    ensure_kernels_of_graph(&recording.trace()?.table)
}

fn graph_within(work: &Work, folder: &Path) -> Outcome {
    let recording = record(folder, "graph_within", || launch(work, &capture(work)?))?;
    ensure_kernels_of_graph(&recording.trace()?.table)
}

fn two_streams(work: &Work, folder: &Path) -> Outcome {
    let other = work.context.new_stream()?;
    let recording = record(folder, "two_streams", || {
        work.spin(&work.stream, 20_000_000)?;
        work.spin(&other, 20_000_000)?;
        Ok(work.context.synchronize()?)
    })?;
    let table = &recording.trace()?.table;
    let kernels = named(table, "kernel", "spin");
    let [a, b] = kernels[..] else { return Err(format!("{} kernels", kernels.len()).into()) };
    let common = table.end(a).min(table.end(b)) - table.ts(a).max(table.ts(b));
    ensure(table.track_id(a) != table.track_id(b), || "both kernels are on one stream".to_owned())?;
    ensure(common > 10_000_000, || format!("the kernels overlap for {common} ns of 20 ms"))?;
    Ok(format!("the kernels overlap for {:.1} of 20 ms", common as f64 / 1e6))
}

fn results(work: &Work, folder: &Path) -> Outcome {
    let without = work.rounds(10)?;
    let mut with = Vec::new();
    record(folder, "results", || {
        with = work.rounds(10)?;
        Ok(())
    })?;
    ensure(with == without, || "recording changes the results".to_owned())?;
    Ok(format!("{} numbers are equal", with.len()))
}

/// Measures the host time of a launch, in ns: the median of several rounds.
fn launch_ns(work: &Work) -> Result<f64, Box<dyn Error>> {
    const LAUNCHES: u32 = 2000;
    let mut rounds = Vec::new();
    for _ in 0..15 {
        work.stream.synchronize()?;
        let start = Instant::now();
        (0..LAUNCHES).try_for_each(|_| work.spin(&work.stream, 0))?;
        rounds.push(start.elapsed().as_nanos() as f64 / f64::from(LAUNCHES));
    }
    work.stream.synchronize()?;
    rounds.sort_by(f64::total_cmp);
    Ok(rounds[rounds.len() / 2])
}

fn overhead(work: &Work, folder: &Path) -> Outcome {
    let before = launch_ns(work)?;
    let mut during = 0.0;
    record(folder, "overhead", || {
        during = launch_ns(work)?;
        Ok(())
    })?;
    let after = launch_ns(work)?;
    // These recordings are large, and no test uses them.
    for end in ["ktrace", "pt.trace.json.gz"] {
        fs::remove_file(folder.join(format!("overhead.{end}")))?;
    }
    let mut text = String::new();
    write!(text, "{during:.0} ns recorded, {before:.0} ns before and {after:.0} ns after")?;
    Ok(text)
}

fn saxpy_for_comparison(work: &Work, folder: &Path) -> Outcome {
    let recording = record(folder, "saxpy", || Ok(work.rounds(200).map(|_| ())?))?;
    let table = &recording.trace()?.table;
    let mut durations: Vec<i64> = named(table, "kernel", "saxpy").iter().map(|&row| table.dur(row)).collect();
    durations.sort_unstable();
    Ok(format!("{} kernels, median {} ns", durations.len(), durations[durations.len() / 2]))
}
