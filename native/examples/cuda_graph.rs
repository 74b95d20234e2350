//! A CUDA graph. `cargo run --release -p kinetoscope --features analysis,cuda --example cuda_graph`
//!
//! The work of a stream is captured once and launched several times, with one call each. The trace has a flow from each
//! launch to all its activities, and the node id of each activity. On an H100, the driver runs the copies of a graph as
//! kernels.

use cudarc::driver::CudaContext;
use cudarc::driver::sys::{CUgraphInstantiate_flags as Flags, CUstreamCaptureMode as Mode};
use kinetoscope::device::probe;
use kinetoscope::scope;
use kinetoscope::{Activity, Profiler};
use kinetoscope_core::trace::table::events::Row;
use kinetoscope_core::trace::table::layout::FieldPlace;
use std::error::Error;

const COUNT: usize = 1 << 20;
const NODES: usize = 8;
const LAUNCHES: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    if let Err(reason) = probe() {
        println!("No device can be recorded: {reason}.");
        return Ok(());
    }
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let source = stream.alloc_zeros::<f32>(COUNT)?;
    let mut target = stream.alloc_zeros::<f32>(COUNT)?;
    stream.synchronize()?;
    // The events that cudarc records for synchronization between streams cannot be captured. There is only one stream.
    // SAFETY: no memory is used on another stream.
    unsafe { context.disable_event_tracking() };
    stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
    for _ in 0..NODES {
        stream.memcpy_dtod(&source, &mut target)?;
    }
    let graph = stream.end_capture(Flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH)?;
    let graph = graph.ok_or("nothing was captured")?;
    let profiler = Profiler::builder().activities(&[Activity::Cpu, Activity::Cuda]).start()?;
    for number in 0..LAUNCHES {
        let _span = scope!("launch", number = number);
        graph.launch()?;
    }
    stream.synchronize()?;
    let recording = profiler.finish()?;
    let table = &recording.trace()?.table;
    let of_graph = |row: &Row| table.field_named(*row, FieldPlace::Args, "graph node id").is_some();
    println!("{LAUNCHES} launches, {} activities", table.rows().filter(of_graph).count());
    let path = std::env::temp_dir().join("cuda_graph.pt.trace.json.gz");
    recording.export_chrome_trace(&path)?;
    println!("The trace is in {}: `kinetoscope view` shows it.", path.display());
    Ok(())
}
