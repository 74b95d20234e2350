//! A custom kernel. `cargo run --release -p kinetoscope --features analysis,cuda --example cuda`
//!
//! The kernel is compiled at run time and launched through cudarc. The trace shows each launch on its stream, linked to
//! the span that launched it. The table shows device time next to CPU time.

use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use cudarc::nvrtc;
use kinetoscope::device::probe;
use kinetoscope::{Activity, Profiler};
use kinetoscope::{scope, user_scope};
use std::error::Error;

const SOURCE: &str = r#"
extern "C" __global__ void saxpy(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"#;

const COUNT: usize = 1 << 22;

fn main() -> Result<(), Box<dyn Error>> {
    match probe() {
        Ok(devices) => println!("Recording {} devices, the first is a {}.", devices.len(), devices[0].name),
        Err(reason) => {
            println!("No device can be recorded: {reason}.");
            return Ok(());
        }
    }
    // SAFETY: tries to load the library, whose initialisers are harmless.
    if !unsafe { nvrtc::sys::is_culib_present() } {
        println!("The kernel cannot be compiled: libnvrtc is not available.");
        return Ok(());
    }
    let activities = [Activity::Cpu, Activity::Cuda];
    let profiler = Profiler::builder().activities(&activities).record_shapes(true).start()?;
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let kernel = {
        let _span = scope!("compile");
        context.load_module(nvrtc::compile_ptx(SOURCE)?)?.load_function("saxpy")?
    };
    let (x, mut y) = {
        let _range = user_scope!("inputs");
        (stream.clone_htod(&vec![1f32; COUNT])?, stream.alloc_zeros::<f32>(COUNT)?)
    };
    let work = user_scope!("work");
    for _ in 0..10 {
        let _span = scope!("saxpy", shapes: [[COUNT], [COUNT]], dtype: "float", flops: 2 * COUNT);
        let (a, count) = (2f32, COUNT as i32);
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&a).arg(&x).arg(&mut y).arg(&count);
        // SAFETY: the arguments match the kernel's parameters, and the kernel writes only within `y`.
        unsafe { launch.launch(LaunchConfig::for_num_elems(COUNT as u32)) }?;
    }
    let sum: f64 = stream.clone_dtoh(&y)?.into_iter().map(f64::from).sum();
    drop(work);
    assert!((sum - 20.0 * COUNT as f64).abs() < 1.0);
    let recording = profiler.finish()?;
    println!("{}", recording.table()?);
    let path = std::env::temp_dir().join("cuda.pt.trace.json.gz");
    recording.export_chrome_trace(&path)?;
    println!("The trace is in {}: `kinetoscope view` shows it.", path.display());
    Ok(())
}
