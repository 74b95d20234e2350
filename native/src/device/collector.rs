//! The collector of device activities for one recording: enables CUPTI, reads its buffers, and disables it.

use super::buffers::{buffers, completed, requested};
use super::cupti::{Cupti, code};
use super::decode::{decode, kind};
use super::encode::Encoder;
use super::loader::{Cuda, cuda};
use super::properties::DeviceProperties;
use crate::activity::unavailable::Unavailable;
use crate::json::{Members, append_list};
use crate::options::Options;
use std::ffi::c_void;
use std::ptr::null_mut;

/// The activity kinds that are always recorded.
///
/// CUDA events are recorded without device timestamps. With them, CUPTI 13.0 blocked in `cuEventRecord` for ever, for an
/// event with timing, in the second or a later recording of a process (driver 580.159, H100).
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

/// The period at which CUPTI returns buffers that are not full, in ms.
const FLUSH_PERIOD: u32 = 500;

/// `CUPTI_ACTIVITY_FLAG_FLUSH_FORCED`: also flushes buffers with records that are not complete.
const FORCED: u32 = 1;

/// The first version of CUPTI that tolerates a null buffer in reply to a request.
const ALLOWS_NULL_BUFFER: u32 = 27;

/// Records device activities through CUPTI.
pub(crate) struct Collector {
    cuda: &'static Cuda,
    subscriber: usize,
    kinds: Vec<u32>,
    encoder: Encoder,
    /// Records that CUPTI dropped because it had no buffer.
    dropped: u64,
    unreadable_buffers: u64,
    words: Vec<u64>,
    is_on: bool,
}

extern "C" fn ignore(_: *mut c_void, _: u32, _: u32, _: *const c_void) {}

impl Collector {
    /// Enables CUPTI. This happens before the window of the recording starts, so that CUPTI is running when the first
    /// kernel of the window is launched. The reader leaves out what is before the window.
    pub(crate) fn start(options: &Options) -> Result<Collector, Unavailable> {
        let cuda = cuda()?;
        let cupti = &cuda.cupti;
        buffers().drain(|_, _| {});
        buffers().prepare(options.device_buffer_bytes, cuda.version >= ALLOWS_NULL_BUFFER);
        let mut subscriber = null_mut();
        // SAFETY: the out parameter is a local variable; the callback is a static function, and no event is enabled for
        // it.
        cupti
            .check("cuptiSubscribe", unsafe { (cupti.subscribe)(&raw mut subscriber, ignore, null_mut()) })?;
        let mut collector = Collector {
            cuda,
            subscriber: subscriber as usize,
            kinds: Vec::new(),
            encoder: Encoder::new(cuda.devices.clone()),
            dropped: 0,
            unreadable_buffers: 0,
            words: Vec::new(),
            is_on: true,
        };
        collector.enable_activities(options)?;
        Ok(collector)
    }

    fn enable_activities(&mut self, options: &Options) -> Result<(), Unavailable> {
        let cupti = &self.cuda.cupti;
        cupti.use_system_ids();
        // SAFETY: the callbacks are static functions, and do what CUPTI requires of them.
        cupti.check("cuptiActivityRegisterCallbacks", unsafe { (cupti.register)(requested, completed) })?;
        let memory = options.profile_memory.then_some(kind::MEMORY2);
        let ranges = options.nvtx_ranges.then_some(kind::MARKER);
        self.kinds = KINDS.into_iter().chain(memory).chain(ranges).collect();
        self.enable_kinds()?;
        if let Some(period) = cupti.flush_period {
            // SAFETY: the function has no preconditions. If it fails, buffers are returned when they are full.
            unsafe { period(FLUSH_PERIOD) };
        }
        Ok(())
    }

    fn enable_kinds(&self) -> Result<(), Unavailable> {
        let cupti = &self.cuda.cupti;
        for kind in &self.kinds {
            // SAFETY: the argument is a plain number, which CUPTI validates.
            cupti.check("cuptiActivityEnable", unsafe { (cupti.enable)(*kind) })?;
        }
        // If CUPTI supports it, calls that would be left out are not recorded at all.
        for (switch, calls) in
            [cupti.runtime_call, cupti.driver_call].into_iter().zip(&self.cuda.skipped_calls)
        {
            for (switch, cbid) in
                switch.iter().flat_map(|switch| calls.iter().map(move |cbid| (switch, cbid)))
            {
                // SAFETY: the arguments are plain numbers, which CUPTI validates.
                unsafe { switch(*cbid, 0) };
            }
        }
        Ok(())
    }

    fn disable_kinds(&self) {
        for kind in &self.kinds {
            // SAFETY: the kind is valid.
            unsafe { (self.cuda.cupti.disable)(*kind) };
        }
    }

    /// Disables or enables the recording of activities, for a pause.
    pub(crate) fn toggle(&mut self, is_on: bool) -> Result<(), Unavailable> {
        if is_on {
            return self.enable_kinds().inspect_err(|_| self.disable_kinds());
        }
        self.synchronize();
        // SAFETY: CUPTI passes its buffers to callbacks that are static functions.
        unsafe { (self.cuda.cupti.flush)(FORCED) };
        self.disable_kinds();
        Ok(())
    }

    /// Waits until the devices have finished the work submitted to them.
    pub(crate) fn synchronize(&self) {
        self.cuda.driver.synchronize(&self.cuda.devices);
    }

    /// Requests the buffers with complete records from CUPTI.
    pub(crate) fn flush(&self) {
        // SAFETY: CUPTI passes its buffers to callbacks that are static functions.
        unsafe { (self.cuda.cupti.flush)(0) };
    }

    /// Disables CUPTI. The remaining records are then in the buffers.
    pub(crate) fn stop(&mut self) {
        if !std::mem::replace(&mut self.is_on, false) {
            return;
        }
        let cupti = &self.cuda.cupti;
        // SAFETY: the subscriber is valid; CUPTI passes its buffers to callbacks that are static functions.
        unsafe {
            (cupti.flush)(FORCED);
            self.disable_kinds();
            (cupti.flush)(FORCED);
            if let Some(period) = cupti.flush_period {
                period(0);
            }
            (cupti.unsubscribe)(self.subscriber as *mut c_void);
        }
    }

    /// Returns the words of the records since the last call, and how many records CUPTI dropped meanwhile.
    pub(crate) fn take(&mut self) -> (&[u64], u64) {
        self.words.clear();
        let Collector { cuda, encoder, words, unreadable_buffers, .. } = self;
        buffers().drain(|buffer, used| {
            // SAFETY: CUPTI wrote `used` bytes to the buffer and has returned it.
            *unreadable_buffers += u64::from(!unsafe { read(cuda, buffer, used, encoder, words) });
        });
        let mut dropped = 0;
        // SAFETY: the out parameter is a local variable; a null context means all contexts.
        let is_known = unsafe { (cuda.cupti.dropped)(null_mut(), 0, &raw mut dropped) } == code::SUCCESS;
        let dropped = if is_known { dropped as u64 } else { 0 };
        self.dropped += dropped;
        (&self.words, dropped)
    }

    /// Returns the time of CUPTI's clock, in ns.
    pub(crate) fn time(&self) -> Option<u64> {
        self.cuda.cupti.time()
    }

    /// Returns the metadata about devices, CUPTI and the driver.
    pub(crate) fn members(&self) -> Members {
        let mut members = Members::default();
        let append = |json: &mut String, device: &DeviceProperties| json.push_str(&device.members().object());
        members.value("deviceProperties", |json| append_list(json, &self.cuda.devices, append));
        members.number("cupti_version", self.cuda.version);
        members.number("cuda_driver_version", self.cuda.cuda_version);
        members
    }

    /// Returns the numbers of recorded and lost records, for the statistics in the trace.
    pub(crate) fn statistics(&self) -> Members {
        let (mut members, lost) = (Members::default(), self.encoder.lost);
        members.number("records", self.encoder.records);
        members.number("dropped", self.dropped);
        members.number("unknown", lost.unknown);
        members.number("short", lost.short);
        members.number("untimed", lost.untimed);
        members
    }

    /// Returns warnings about lost records.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let lost = self.encoder.lost;
        let (over_limit, unreadable) = (buffers().take_over_limit(), self.unreadable_buffers);
        [
            (self.dropped, "activity records were dropped by CUPTI because it had no buffer"),
            (over_limit, "times CUPTI requested more buffers than `device_buffer_bytes` allows"),
            (lost.unknown, "activity records are of unsupported kinds"),
            (lost.short, "activity records were shorter than the size of their kind"),
            (lost.untimed, "activity records had no timestamps"),
            (unreadable, "buffers of CUPTI could not be read completely"),
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

/// Reads the records of a buffer. Returns false if CUPTI cannot find the next record.
///
/// # Safety
/// CUPTI wrote the first `used` bytes of the buffer and has returned it.
unsafe fn read(cuda: &Cuda, buffer: *mut u8, used: usize, encoder: &mut Encoder, out: &mut Vec<u64>) -> bool {
    let Cupti { next, .. } = cuda.cupti;
    let mut record = null_mut();
    loop {
        // SAFETY: guaranteed by the caller; the out parameter is a local variable.
        match unsafe { next(buffer, used, &raw mut record) } {
            code::SUCCESS => {}
            code => return code == code::END,
        }
        // SAFETY: CUPTI's records are within the buffer, and the strings that they point to stay valid.
        unsafe {
            let Some(at) = usize::try_from(record.offset_from(buffer)).ok().filter(|at| *at < used) else {
                return false;
            };
            let bytes = std::slice::from_raw_parts(buffer.add(at), used - at);
            encoder.encode(&decode(bytes, cuda.version), &cuda.cupti, out);
        }
    }
}
