//! Samples CUDA devices through NVML: memory, utilization, clocks, power and temperature, recorded as counters.

use crate::hot::local;
use crate::hot::registry::{Name, Site};
use crate::spans::args::Args;
use crate::worker::Worker;
use kinetoscope_stream::record::SpanKind;
use nvml_wrapper::Nvml;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

/// Returns NVML, or `None` if there is no driver. The library is loaded once.
pub(crate) fn nvml() -> Option<&'static Nvml> {
    static NVML: OnceLock<Option<Nvml>> = OnceLock::new();
    NVML.get_or_init(|| Nvml::init().ok()).as_ref()
}

/// A sample of a device. A field is `None` if the driver does not report it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Memory used by all processes, and free memory, in bytes.
    pub memory: Option<(u64, u64)>,
    /// The share of the driver's last sampling period in which a kernel ran, and in which memory was read or written,
    /// in percent.
    pub utilization: Option<(u32, u32)>,
    /// The graphics clock and the memory clock, in MHz.
    pub clocks: Option<(u32, u32)>,
    /// The power draw, in mW.
    pub power: Option<u32>,
    /// The temperature, in degrees Celsius.
    pub temperature: Option<u32>,
}

/// Samples a CUDA device. Returns `None` if there is no driver or no such device.
pub fn sample(ordinal: u32) -> Option<Sample> {
    let device = nvml()?.device_by_index(ordinal).ok()?;
    let clocks = [Clock::Graphics, Clock::Memory].map(|clock| device.clock_info(clock).ok());
    Some(Sample {
        memory: device.memory_info().ok().map(|memory| (memory.used, memory.free)),
        utilization: device.utilization_rates().ok().map(|rates| (rates.gpu, rates.memory)),
        clocks: clocks[0].zip(clocks[1]),
        power: device.power_usage().ok(),
        temperature: device.temperature(TemperatureSensor::Gpu).ok(),
    })
}

impl Sample {
    /// Records the fields that are present as counters of the device.
    pub fn record(&self, ordinal: u32) {
        let counter = |what: &str, series: &[(&'static Name, u64)]| {
            if let state @ 1.. = crate::spans::state() {
                let mut args = Args::new(state);
                args.name(format!("GPU {ordinal} {what}"));
                for (name, value) in series {
                    args.value(name, value);
                }
                args.counter(&SITE);
            }
        };
        if let Some((used, free)) = self.memory {
            counter("memory (bytes)", &[(&USED, used), (&FREE, free)]);
        }
        if let Some((kernels, memory)) = self.utilization {
            counter("utilization (%)", &[(&KERNELS, kernels.into()), (&MEMORY, memory.into())]);
        }
        if let Some((multiprocessors, memory)) = self.clocks {
            counter("clocks (MHz)", &[(&MULTIPROCESSORS, multiprocessors.into()), (&MEMORY, memory.into())]);
        }
        if let Some(power) = self.power {
            counter("power (mW)", &[(&POWER, power.into())]);
        }
        if let Some(temperature) = self.temperature {
            counter("temperature (C)", &[(&TEMPERATURE, temperature.into())]);
        }
    }
}

static SITE: Site = Site::new("GPU", SpanKind::Other, file!(), line!());
static USED: Name = Name::new("used");
static FREE: Name = Name::new("free");
static KERNELS: Name = Name::new("kernels");
static MEMORY: Name = Name::new("memory");
static MULTIPROCESSORS: Name = Name::new("multiprocessors");
static POWER: Name = Name::new("power");
static TEMPERATURE: Name = Name::new("temperature");

/// A thread that samples all devices until this guard is dropped.
#[derive(Debug)]
#[must_use = "sampling ends when this is dropped"]
pub struct Sampler {
    is_over: Arc<AtomicBool>,
    thread: Worker,
}

impl Sampler {
    /// Starts to sample at this interval while a profiler records. Returns `None` if there is no driver.
    pub fn start(every: Duration) -> Option<Sampler> {
        let devices = nvml()?.device_count().ok()?;
        let read =
            move || (0..devices).for_each(|ordinal| sample(ordinal).iter().for_each(|s| s.record(ordinal)));
        Sampler::with(every, read)
    }

    /// Starts a thread that calls `read` at this interval while a profiler records.
    fn with(every: Duration, read: impl Fn() + Send + 'static) -> Option<Sampler> {
        let is_over = Arc::new(AtomicBool::new(false));
        let its_end = Arc::clone(&is_over);
        let run = move || {
            local::always_record();
            while !its_end.load(Ordering::Acquire) {
                if crate::spans::is_recording() {
                    read();
                }
                thread::park_timeout(every);
            }
        };
        let thread = Worker::start("kinetoscope-gpu", run).ok()?;
        Some(Sampler { is_over, thread })
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        self.thread.join();
    }
}

#[cfg(all(test, feature = "analysis"))]
mod tests {
    use super::*;
    use crate::hot::lock::hold;

    #[test]
    fn samples_are_recorded_if_only_one_thread_is() {
        let _alone = hold(&crate::hot::lock::RECORDING);
        let mut profiler =
            crate::Profiler::builder().profile_all_threads(false).start().expect("recording should start");
        let (sender, receiver) = std::sync::mpsc::channel();
        let sample =
            Sample { memory: None, utilization: None, clocks: None, power: Some(7), temperature: None };
        let read = move || {
            sample.record(3);
            let _ = sender.send(());
        };
        let sampler = Sampler::with(Duration::from_millis(1), read).expect("a thread");
        receiver.recv().expect("a sample");
        drop(sampler);
        let recording = profiler.stop().expect("a recording").expect("a recording");
        let table = &recording.trace().expect("a trace").table;
        assert!(table.rows().any(|row| table.name(row) == "GPU 3 power (mW)"));
    }
}
