//! Devices over time, as their driver tells through NVML: counters of memory, load and clocks.

use crate::hot::registry::{Name, Site};
use crate::spans::args::Args;
use kinetoscope_stream::record::Kind;
use nvml_wrapper::Nvml;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// NVML, where there is a driver.
pub(crate) fn nvml() -> Option<&'static Nvml> {
    static NVML: OnceLock<Option<Nvml>> = OnceLock::new();
    NVML.get_or_init(|| Nvml::init().ok()).as_ref()
}

/// What a device is at, at one moment. What its driver does not tell is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Memory in use, by anyone, and free, in bytes.
    pub memory: Option<(u64, u64)>,
    /// Time in which a kernel ran, and in which memory was read or written, in percent of the driver's last period.
    pub utilization: Option<(u32, u32)>,
    /// The clocks of the multiprocessors and of memory, in MHz.
    pub clocks: Option<(u32, u32)>,
    /// The power it takes, in mW.
    pub power: Option<u32>,
    /// Its temperature, in degrees Celsius.
    pub temperature: Option<u32>,
}

/// What a CUDA device is at; nothing where there is no driver or no such device.
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
    /// Records what it has as counters of the device.
    pub fn record(&self, ordinal: u32) {
        let counter = |what: &str, series: &[(&'static Name, u64)]| {
            if let state @ 1.. = crate::spans::state() {
                let mut args = Args::new(state);
                args.name(&format!("GPU {ordinal} {what}"));
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

static SITE: Site = Site::new("GPU", Kind::Other, file!(), line!());
static USED: Name = Name::new("used");
static FREE: Name = Name::new("free");
static KERNELS: Name = Name::new("kernels");
static MEMORY: Name = Name::new("memory");
static MULTIPROCESSORS: Name = Name::new("multiprocessors");
static POWER: Name = Name::new("power");
static TEMPERATURE: Name = Name::new("temperature");

/// Records samples of every device until it is dropped.
#[derive(Debug)]
#[must_use = "sampling ends when this is dropped"]
pub struct Sampler {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Sampler {
    /// Samples every so often, while something is recorded; nothing where there is no driver.
    pub fn start(every: Duration) -> Option<Sampler> {
        let devices = nvml()?.device_count().ok()?;
        let read =
            move || (0..devices).for_each(|ordinal| sample(ordinal).iter().for_each(|s| s.record(ordinal)));
        Sampler::with(every, read)
    }

    /// The same of another source.
    fn with(every: Duration, read: impl Fn() + Send + 'static) -> Option<Sampler> {
        let is_over = Arc::new(AtomicBool::new(false));
        let its_end = Arc::clone(&is_over);
        let run = move || {
            while !its_end.load(Ordering::Acquire) {
                if crate::spans::is_recording() {
                    read();
                }
                thread::park_timeout(every);
            }
        };
        let thread = thread::Builder::new().name("kinetoscope-gpu".into()).spawn(run).ok()?;
        Some(Sampler { is_over, thread: Some(thread) })
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}
