//! The timers of a GPU, through wgpu and wgpu-profiler, on a track of the recording. `cargo run --release` in this folder.
//!
//! wgpu-profiler measures passes with timestamps of the device, and returns the times when the device has finished. A
//! `Track` has them as spans next to the spans of the threads that submitted the work. `DeviceClock` converts the times: it
//! is set by a submission whose begin and end are known on both clocks.

use kinetoscope::{DeviceClock, Profiler, Track, now_ns, scope};
use std::error::Error;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use wgpu_profiler::{GpuProfiler, GpuProfilerSettings, GpuTimerQueryResult};

const COUNT: u32 = 1 << 16;
const FRAMES: u64 = 8;
/// The number of submissions of which the shortest sets the clock.
const READINGS: usize = 5;

/// Each value is the number of steps of a Collatz sequence.
const SHADER: &str = "
@group(0) @binding(0) var<storage, read_write> values: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var value = id.x + 1u;
    var steps = 0u;
    while (value > 1u && steps < 500u) {
        value = select(value / 2u, 3u * value + 1u, value % 2u == 1u);
        steps += 1u;
    }
    values[id.x] = steps;
}
";

/// The device, its timers and the work.
struct Gpu {
    device: wgpu::Device,
    queue: wgpu::Queue,
    timers: GpuProfiler,
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
    values: wgpu::Buffer,
    copy: wgpu::Buffer,
}

/// Waits for a future of wgpu, which is ready at once except in a browser.
fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return result;
        }
        std::thread::yield_now();
    }
}

impl Gpu {
    /// Returns the first device, or the reason why its work cannot be timed.
    fn open() -> Result<Gpu, Box<dyn Error>> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let adapter = wait(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))?;
        let timers = GpuProfiler::ALL_WGPU_TIMER_FEATURES & adapter.features();
        if !timers.contains(wgpu::Features::TIMESTAMP_QUERY) {
            return Err(format!("{} has no timestamps", adapter.get_info().name).into());
        }
        let descriptor = wgpu::DeviceDescriptor { required_features: timers, ..Default::default() };
        let (device, queue) = wait(adapter.request_device(&descriptor))?;
        println!("Recording {}.", adapter.get_info().name);

        let shader = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(SHADER.into()),
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("collatz"),
            layout: None,
            module: &shader,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let buffer = |usage| {
            let size = u64::from(COUNT) * 4;
            device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage,
                mapped_at_creation: false,
            })
        };
        let values = buffer(wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC);
        let copy = buffer(wgpu::BufferUsages::COPY_DST);
        let bindings = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: values.as_entire_binding() }],
        });
        let timers = GpuProfiler::new(&device, GpuProfilerSettings::default())?;
        Ok(Gpu { device, queue, timers, pipeline, bindings, values, copy })
    }

    /// Submits commands, waits for the device and returns the times of their scopes.
    fn run(
        &mut self,
        record: impl FnOnce(&Gpu, &mut wgpu::CommandEncoder),
    ) -> Result<Vec<GpuTimerQueryResult>, Box<dyn Error>> {
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        {
            let _span = scope!("record commands");
            record(self, &mut encoder);
            self.timers.resolve_queries(&mut encoder);
        }
        {
            let _span = scope!("submit");
            self.queue.submit([encoder.finish()]);
        }
        self.timers.end_frame()?;
        let _span = scope!("wait");
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        let period = self.queue.get_timestamp_period();
        self.timers.process_finished_frame(period).ok_or_else(|| "the timers have no result".into())
    }

    /// Compares the clocks: the middle of a submission on the device is the middle of its time on the host. The error is at
    /// most half of the difference of the two, so the shortest of several submissions is used.
    fn clock(&mut self) -> Result<(DeviceClock, i64), Box<dyn Error>> {
        let mut best: Option<(DeviceClock, i64)> = None;
        for _ in 0..READINGS {
            let before = now_ns();
            let results = self.run(|gpu, encoder| drop(gpu.timers.scope("clock", encoder)))?;
            let after = now_ns();
            let (begin, end) = results.first().and_then(times).ok_or("the device wrote no timestamps")?;
            let error = ((after - before) - (end - begin)) / 2;
            if best.is_none_or(|(_, least)| error < least) {
                best = Some((DeviceClock::at(begin.midpoint(end), before.midpoint(after)), error));
            }
        }
        best.ok_or_else(|| "the clocks were not compared".into())
    }

    /// A frame: a pass that computes, and a copy.
    fn frame(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut frame = self.timers.scope("frame", encoder);
        {
            let mut pass = frame.scoped_compute_pass("collatz");
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, &self.bindings, &[]);
            pass.dispatch_workgroups(COUNT / 64, 1, 1);
        }
        let mut copy = frame.scope("copy");
        copy.copy_buffer_to_buffer(&self.values, 0, &self.copy, 0, None);
    }
}

/// The begin and the end of a scope, in ns on the clock of the device.
fn times(result: &GpuTimerQueryResult) -> Option<(i64, i64)> {
    let ns = |seconds: f64| (seconds * 1e9) as i64;
    result.time.as_ref().map(|time| (ns(time.start), ns(time.end)))
}

/// Records scopes, and the scopes inside of them. Returns how many have times.
fn record(track: &Track, clock: DeviceClock, results: &[GpuTimerQueryResult], frame: u64) -> usize {
    let mut count = 0;
    for result in results {
        if let Some((begin, end)) = times(result) {
            let times = clock.ns(begin)..clock.ns(end);
            track.span_with(&result.label, times, |args| args.value("frame", frame));
            count += 1;
        }
        count += record(track, clock, &result.nested_queries, frame);
    }
    count
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut gpu = match Gpu::open() {
        Ok(gpu) => gpu,
        Err(reason) => {
            println!("No device can be recorded: {reason}.");
            return Ok(());
        }
    };
    let (clock, error) = gpu.clock()?;
    println!("The times of the device are exact to {:.1} us.", error as f64 / 1e3);
    let profiler = Profiler::builder().start()?;
    let (track, mut count) = (Track::new("wgpu queue"), 0);
    for number in 0..FRAMES {
        let _span = scope!("frame", number);
        let results = gpu.run(|gpu, encoder| gpu.frame(encoder))?;
        count += record(&track, clock, &results, number);
    }
    let recording = profiler.finish()?;
    println!("{FRAMES} frames, {count} spans of the device");

    let table = &recording.trace()?.table;
    let rows = table.rows().filter(|&row| table.cat(row) == "track_span");
    assert_eq!(rows.count(), count, "spans in the recording");
    let path = std::env::temp_dir().join("wgpu.ktrace");
    recording.save(&path)?;
    println!("The recording is in {}: `kinetoscope view` shows it.", path.display());
    Ok(())
}
