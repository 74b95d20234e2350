//! Devices of one recording: CUPTI switched on, its buffers read, and switched off.

use super::buffers::{buffers, completed, requested};
use super::cupti::{Cupti, code};
use super::decode::{decode, kind};
use super::encode::Encoder;
use super::loader::{Cuda, cuda};
use super::properties::DeviceProperties;
use super::unavailable::Unavailable;
use crate::options::Options;
use serde_json::{Value, json};
use std::ffi::c_void;
use std::ptr::null_mut;

/// What is always recorded.
const KINDS: [u32; 10] = [
    kind::CONCURRENT_KERNEL,
    kind::MEMCPY,
    kind::MEMCPY2,
    kind::MEMSET,
    kind::RUNTIME,
    kind::DRIVER,
    kind::EXTERNAL_CORRELATION,
    kind::SYNCHRONIZATION,
    kind::CUDA_EVENT,
    kind::OVERHEAD,
];

/// How often CUPTI hands over buffers that are not full, in ms.
const FLUSH_PERIOD: u32 = 500;

/// `CUPTI_ACTIVITY_FLAG_FLUSH_FORCED`: also buffers with records that are not finished.
const FORCED: u32 = 1;

/// From this version on CUPTI stands it when it asks for a buffer and gets none.
const ALLOWS_NULL_BUFFER: u32 = 27;

/// Records what devices do.
pub(crate) struct Collector {
    cuda: &'static Cuda,
    subscriber: usize,
    kinds: Vec<u32>,
    encoder: Encoder,
    /// Records that CUPTI itself had no room for.
    dropped: u64,
    failed: u64,
    words: Vec<u64>,
    is_on: bool,
}

extern "C" fn ignore(_: *mut c_void, _: u32, _: u32, _: *const c_void) {}

impl Collector {
    /// Switches CUPTI on: everything from here on is recorded, and what lies before the window is left out by the reader, so
    /// that the first kernel of a window finds CUPTI at work.
    pub(crate) fn start(options: &Options) -> Result<Collector, Unavailable> {
        let cuda = cuda()?;
        let cupti = &cuda.cupti;
        buffers().drain(|_, _| {});
        buffers().prepare(options.device_buffer_bytes, cuda.version >= ALLOWS_NULL_BUFFER);
        let mut subscriber = null_mut();
        // SAFETY: the place is ours; the callback is there for good, and nothing is asked to call it.
        cupti
            .check("cuptiSubscribe", unsafe { (cupti.subscribe)(&raw mut subscriber, ignore, null_mut()) })?;
        let mut collector = Collector {
            cuda,
            subscriber: subscriber as usize,
            kinds: Vec::new(),
            encoder: Encoder::new(cuda.devices.clone()),
            dropped: 0,
            failed: 0,
            words: Vec::new(),
            is_on: true,
        };
        collector.switch_on(options)?;
        Ok(collector)
    }

    fn switch_on(&mut self, options: &Options) -> Result<(), Unavailable> {
        let cupti = &self.cuda.cupti;
        cupti.use_system_ids();
        // SAFETY: the callbacks are there for good, and do what CUPTI asks of such.
        cupti.check("cuptiActivityRegisterCallbacks", unsafe { (cupti.register)(requested, completed) })?;
        if let Some(tell) = cupti.event_times {
            // SAFETY: has no conditions; where it is refused, events are told without times.
            unsafe { tell(1) };
        }
        let memory = options.profile_memory.then_some(kind::MEMORY2);
        let ranges = options.nvtx_ranges.then_some(kind::MARKER);
        for kind in KINDS.into_iter().chain(memory).chain(ranges) {
            // SAFETY: a plain number, which CUPTI checks.
            cupti.check("cuptiActivityEnable", unsafe { (cupti.enable)(kind) })?;
            self.kinds.push(kind);
        }
        // Where CUPTI can, it makes no record of what would be left out.
        for (switch, calls) in [cupti.runtime_call, cupti.driver_call].into_iter().zip(&self.cuda.left_out) {
            for (switch, cbid) in
                switch.iter().flat_map(|switch| calls.iter().map(move |cbid| (switch, cbid)))
            {
                // SAFETY: plain numbers, which CUPTI checks.
                unsafe { switch(*cbid, 0) };
            }
        }
        if let Some(period) = cupti.flush_period {
            // SAFETY: has no conditions; where it is refused, buffers come when they are full.
            unsafe { period(FLUSH_PERIOD) };
        }
        Ok(())
    }

    /// Waits for the devices to finish what they were asked for.
    pub(crate) fn synchronize(&self) {
        self.cuda.driver.synchronize(&self.cuda.devices);
    }

    /// Asks CUPTI for what it has so far: records that are finished.
    pub(crate) fn flush(&self) {
        // SAFETY: CUPTI hands its buffers to callbacks that stay.
        unsafe { (self.cuda.cupti.flush)(0) };
    }

    /// Switches CUPTI off; what it still had is in buffers then.
    pub(crate) fn stop(&mut self) {
        if !std::mem::replace(&mut self.is_on, false) {
            return;
        }
        let cupti = &self.cuda.cupti;
        // SAFETY: numbers that were taken before; CUPTI hands its buffers to callbacks that stay.
        unsafe {
            (cupti.flush)(FORCED);
            for kind in &self.kinds {
                (cupti.disable)(*kind);
            }
            (cupti.flush)(FORCED);
            if let Some(period) = cupti.flush_period {
                period(0);
            }
            (cupti.unsubscribe)(self.subscriber as *mut c_void);
        }
    }

    /// The words of what was recorded since the last time, and how many records were lost meanwhile.
    pub(crate) fn take(&mut self) -> (&[u64], u64) {
        self.words.clear();
        let Collector { cuda, encoder, words, failed, .. } = self;
        buffers().drain(|buffer, used| {
            // SAFETY: CUPTI filled so many bytes of the buffer, and is done with it.
            *failed += u64::from(!unsafe { read(cuda, buffer, used, encoder, words) });
        });
        let mut dropped = 0;
        // SAFETY: the place is ours; no context stands for all.
        let is_told = unsafe { (cuda.cupti.dropped)(null_mut(), 0, &raw mut dropped) } == code::SUCCESS;
        let dropped = if is_told { dropped as u64 } else { 0 };
        self.dropped += dropped;
        (&self.words, dropped)
    }

    /// The time on CUPTI's clock, in ns.
    pub(crate) fn time(&self) -> Option<u64> {
        self.cuda.cupti.time()
    }

    /// What a trace tells of the devices.
    pub(crate) fn members(&self) -> [(&'static str, Value); 3] {
        [
            ("deviceProperties", self.cuda.devices.iter().map(DeviceProperties::to_json).collect()),
            ("cupti_version", json!(self.cuda.version)),
            ("cuda_driver_version", json!(self.cuda.cuda_version)),
        ]
    }

    /// What was recorded and what was not, in records, for the trace's own statistics.
    pub(crate) fn told(&self) -> Value {
        let lost = self.encoder.lost;
        json!({
            "records": self.encoder.records,
            "dropped": self.dropped,
            "unknown": lost.unknown,
            "short": lost.short,
            "untimed": lost.untimed,
        })
    }

    /// What a person should know.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let lost = self.encoder.lost;
        let (short_of_room, failed) = (buffers().take_short(), self.failed);
        [
            (self.dropped, "activity records were dropped by CUPTI for want of buffers"),
            (short_of_room, "times CUPTI asked for more buffers than `device_buffer_bytes` allows"),
            (lost.unknown, "activity records are of kinds that are not read"),
            (lost.short, "activity records were shorter than their kind"),
            (lost.untimed, "activity records had no times"),
            (failed, "buffers of CUPTI could not be read to their end"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect()
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Reads the records of a buffer; false where CUPTI does not know how it goes on.
///
/// # Safety
/// CUPTI filled the first `used` bytes of the buffer, and is done with it.
unsafe fn read(cuda: &Cuda, buffer: *mut u8, used: usize, encoder: &mut Encoder, out: &mut Vec<u64>) -> bool {
    let Cupti { next, .. } = cuda.cupti;
    let mut record = null_mut();
    loop {
        // SAFETY: the caller's promise; the place is ours.
        match unsafe { next(buffer, used, &raw mut record) } {
            code::SUCCESS => {}
            code => return code == code::END,
        }
        // SAFETY: CUPTI's records lie within the buffer, and texts that they name stay.
        unsafe {
            let Some(at) = usize::try_from(record.offset_from(buffer)).ok().filter(|at| *at < used) else {
                return false;
            };
            let bytes = std::slice::from_raw_parts(buffer.add(at), used - at);
            encoder.encode(&decode(bytes, cuda.version), &cuda.cupti, out);
        }
    }
}
