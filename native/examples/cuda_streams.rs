//! Copies that overlap with work.
//! `cargo run --release -p kinetoscope --features analysis,cuda,nvml --example cuda_streams`
//!
//! One stream copies the next input while another works on the last one. The timeline shows both streams with flow
//! arrows from the calls; the summary shows how much of the copying is exposed. With the feature `nvml` the timeline
//! also shows utilization, clocks and memory of the device.

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DriverError};
use kinetoscope::device::probe;
use kinetoscope::{Activity, Profiler};
use kinetoscope::{scope, user_scope};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

const COUNT: usize = 1 << 24;

/// Some work for the device without a custom kernel: copies within its memory.
fn work(
    stream: &Arc<CudaStream>,
    input: &CudaSlice<f32>,
    output: &mut CudaSlice<f32>,
) -> Result<(), DriverError> {
    let _span = scope!("work", shapes: [[COUNT]], dtype: "float");
    (0..8).try_for_each(|_| stream.memcpy_dtod(input, output))
}

fn main() -> Result<(), Box<dyn Error>> {
    if let Err(reason) = probe() {
        println!("No device can be recorded: {reason}.");
        return Ok(());
    }
    let builder = Profiler::builder().activities(&[Activity::Cpu, Activity::Cuda]).profile_memory(true);
    let profiler = builder.device_metrics(Duration::from_millis(10)).start()?;
    let context = CudaContext::new(0)?;
    let (copying, working) = (context.new_stream()?, context.new_stream()?);
    // Pinned memory, which the device reads directly. Copies from pageable memory block the CPU.
    // SAFETY: the memory is written before it is read.
    let mut host = unsafe { context.alloc_pinned::<f32>(COUNT) }?;
    host.as_mut_slice()?.fill(1.0);
    let mut inputs = [copying.alloc_zeros::<f32>(COUNT)?, copying.alloc_zeros::<f32>(COUNT)?];
    let mut output = working.alloc_zeros::<f32>(COUNT)?;
    for step in 0..16 {
        let _range = user_scope!("step", number = step);
        let (next, last) = (step % 2, (step + 1) % 2);
        {
            let _span = scope!("copy the next input");
            copying.memcpy_htod(&host, &mut inputs[next])?;
        }
        work(&working, &inputs[last], &mut output)?;
        working.join(&copying)?;
        copying.join(&working)?;
    }
    context.synchronize()?;
    let recording = profiler.finish()?;
    let path = std::env::temp_dir().join("cuda_streams.pt.trace.json.gz");
    recording.export_chrome_trace(&path)?;
    println!("The trace is in {}: `kinetoscope summary` shows how much copying is exposed.", path.display());
    Ok(())
}
