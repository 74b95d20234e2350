//! Encodes decoded records of CUPTI as words of a recording, with the event names of Kineto.

use super::cupti::{Cupti, text_at};
use super::decoded::{Copy, Decoded, DevicePlace, Kernel, Span};
use super::occupancy::occupancy;
use super::properties::DeviceProperties;
use crate::hot::registry::registry;
use kinetoscope_stream::activity::{Activity, MISSING, NO_STREAM, WORDS, head};
use std::collections::HashMap;

/// Calls of the runtime API that are left out, as Kineto does: they submit no work to a device.
const SKIPPED_RUNTIME_CALLS: [&str; 6] = [
    "cudaGetDevice",
    "cudaSetDevice",
    "cudaGetLastError",
    "cudaEventCreate",
    "cudaEventCreateWithFlags",
    "cudaEventDestroy",
];

/// Prefixes of the driver calls that are recorded: those that submit work to a device, wait for it, or change its
/// memory. Kineto records fewer, because PyTorch programs call the runtime API, whereas Rust programs call the driver
/// API.
const RECORDED_DRIVER_CALLS: [&str; 25] = [
    "cuLaunch",
    "cuGraphLaunch",
    "cuGraphInstantiate",
    "cuMemcpy",
    "cuMemset",
    "cuMemAlloc",
    "cuMemFree",
    "cuMemCreate",
    "cuMemRelease",
    "cuMemMap",
    "cuMemUnmap",
    "cuMemExport",
    "cuMemImport",
    "cuMemPrefetch",
    "cuMemHostAlloc",
    "cuMemHostRegister",
    "cuMemHostUnregister",
    "cuGraphUpload",
    "cuEventRecord",
    "cuModuleLoad",
    "cuLibraryLoad",
    "cuStreamSynchronize",
    "cuStreamWaitEvent",
    "cuEventSynchronize",
    "cuCtxSynchronize",
];

/// Returns whether a call with this name is recorded.
pub(crate) fn is_recorded(is_driver: bool, name: &str) -> bool {
    if is_driver {
        RECORDED_DRIVER_CALLS.iter().any(|begin| name.starts_with(begin))
    } else {
        !SKIPPED_RUNTIME_CALLS.contains(&name)
    }
}

const MEMORIES: [&str; 8] =
    ["Unknown", "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"];
const DIRECTIONS: [&str; 11] =
    ["<unknown>", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"];
const SYNCHRONIZATIONS: [&str; 5] =
    ["Unknown Sync", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"];
const OVERHEADS: [&str; 8] = [
    "Driver Compiler",
    "Buffer Flush",
    "Instrumentation",
    "Resource",
    "Runtime Triggered Module Loading",
    "Lazy Function Loading",
    "Command Buffer Full",
    "Activity Buffer Request",
];

fn name_in(names: &[&'static str], number: u32, unknown: &'static str) -> &'static str {
    names.get(number as usize).copied().unwrap_or(unknown)
}

/// Returns whether CUPTI's kind of memory is memory of a device: device, managed, or one of their static kinds.
fn is_device_memory(memory: u32) -> bool {
    matches!(memory, 3 | 5 | 6 | 7)
}

/// The numbers of records that could not be recorded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lost {
    /// Records of kinds that are not read.
    pub(crate) unknown: u64,
    /// Records with fewer bytes than their kind has.
    pub(crate) short: u64,
    /// Records without timestamps.
    pub(crate) untimed: u64,
}

/// Encodes records as words.
pub(crate) struct Encoder {
    devices: Vec<DeviceProperties>,
    /// The numbers of kernel names in the registry, by mangled name.
    kernels: HashMap<String, u32>,
    /// The numbers of call names in the registry, by API (driver or not) and function number; `None` for calls that are
    /// left out.
    calls: HashMap<(bool, u32), Option<u32>>,
    /// Open NVTX ranges, by id: start, name and domain.
    ranges: HashMap<u32, (u64, [u32; 2])>,
    pub(crate) lost: Lost,
    pub(crate) records: u64,
}

/// Returns the number of a name in the registry.
fn id(name: &str) -> u32 {
    registry().add_name(name)
}

/// Returns the bandwidth in GB/s, as the bits of an `f64`; [`MISSING`] if the duration is 0.
fn bandwidth(bytes: u64, span: Span) -> u64 {
    match span.end.saturating_sub(span.start) {
        0 => MISSING,
        ns => (bytes as f64 / ns as f64).to_bits(),
    }
}

/// The fields that all records have, before their values.
#[derive(Clone, Copy)]
struct Head {
    activity: Activity,
    name: u32,
    span: Span,
    /// The track: device or thread, and stream.
    track: [u32; 2],
    correlation: u32,
}

fn put(out: &mut Vec<u64>, of: Head, values: &[u64]) {
    out.push(head(of.activity, (WORDS - 1 + values.len()) as u16, of.name));
    let track = u64::from(of.track[0]) | u64::from(of.track[1]) << 32;
    out.extend([of.span.start, of.span.end, track, u64::from(of.correlation)]);
    out.extend_from_slice(values);
}

impl Encoder {
    pub(crate) fn new(devices: Vec<DeviceProperties>) -> Encoder {
        Encoder {
            devices,
            kernels: HashMap::new(),
            calls: HashMap::new(),
            ranges: HashMap::new(),
            lost: Lost::default(),
            records: 0,
        }
    }

    /// Appends the words of a record, unless it is left out.
    ///
    /// # Safety
    /// Addresses of strings in the record are those of valid C strings, as in CUPTI's records.
    pub(crate) unsafe fn encode(&mut self, decoded: &Decoded, cupti: &Cupti, out: &mut Vec<u64>) {
        let before = out.len();
        match *decoded {
            Decoded::Kernel(ref kernel) => {
                // SAFETY: guaranteed by the caller.
                let name = unsafe { text_at(kernel.name) };
                self.kernel(kernel, name.as_deref().unwrap_or("unknown"), out);
            }
            Decoded::Copy(ref copy) => self.copy(copy, out),
            Decoded::Fill { span, ref place, memory, bytes } => {
                let name = id(&format!("Memset ({})", name_in(&MEMORIES, u32::from(memory), "Unknown")));
                self.on_device(Activity::Memset, name, span, place, &[bytes, bandwidth(bytes, span)], out);
            }
            Decoded::Call { is_driver, span, cbid, thread, correlation, result } => {
                let Some(name) = self.call(is_driver, cbid, cupti) else { return };
                let activity = if is_driver { Activity::Driver } else { Activity::Runtime };
                let values: &[u64] = &[u64::from(cbid), u64::from(result)];
                let values = if result == 0 { &values[..1] } else { values };
                let track = [thread, NO_STREAM];
                self.timed(out, Head { activity, name, span, track, correlation }, values);
            }
            Decoded::Sync { span, what, context, stream, correlation, event } => {
                let name = id(name_in(&SYNCHRONIZATIONS, what, SYNCHRONIZATIONS[0]));
                let event = if event == u32::MAX { MISSING } else { u64::from(event) };
                let values = [u64::from(context), u64::from(name), event];
                let track = [0, stream];
                self.timed(out, Head { activity: Activity::Sync, name, span, track, correlation }, &values);
            }
            Decoded::External { kind, id, correlation } => {
                let (activity, track) = (Activity::External, [kind, NO_STREAM]);
                put(out, Head { activity, name: 0, span: Span::default(), track, correlation }, &[id]);
            }
            Decoded::Event { time, context, stream, event, correlation } => {
                // A duration of 1 ns, as in Kineto, so that viewers show the event.
                let end = if time == 0 { 0 } else { time + 1 };
                let (activity, span) = (Activity::Event, Span { start: time, end });
                let values = [u64::from(context), u64::from(event)];
                put(
                    out,
                    Head { activity, name: id("cudaEvent"), span, track: [0, stream], correlation },
                    &values,
                );
            }
            Decoded::Overhead { span, what } => {
                let (activity, name, track) = (Activity::Overhead, id(overhead(what)), [0, NO_STREAM]);
                self.timed(out, Head { activity, name, span, track, correlation: 0 }, &[]);
            }
            Decoded::Memory { time, is_release, memory, address, bytes, device, correlation } => {
                if is_device_memory(memory) {
                    let (activity, span) = (Activity::Memory, Span { start: time, end: time });
                    let bytes = if is_release { bytes.wrapping_neg() } else { bytes };
                    let track = [device, NO_STREAM];
                    put(out, Head { activity, name: 0, span, track, correlation }, &[address, bytes]);
                }
            }
            Decoded::Marker { time, flags, id: of, thread, texts } => {
                // SAFETY: guaranteed by the caller.
                let texts = texts.map(|address| unsafe { text_at(address) }.map_or(0, |text| id(&text)));
                if let Some((start, [name, domain])) = self.range(of, flags, time, texts) {
                    let domain = if domain == 0 { id("default") } else { domain };
                    let (activity, span) = (Activity::Range, Span { start, end: time });
                    let track = [thread, NO_STREAM];
                    put(out, Head { activity, name, span, track, correlation: 0 }, &[u64::from(domain)]);
                }
            }
            Decoded::Unknown(_) => self.lost.unknown += 1,
            Decoded::Short(_) => self.lost.short += 1,
        }
        self.records += u64::from(out.len() > before);
    }

    fn timed(&mut self, out: &mut Vec<u64>, head: Head, values: &[u64]) {
        if head.span == Span::default() {
            self.lost.untimed += 1;
        } else {
            put(out, head, values);
        }
    }

    /// Appends a device activity: the values that all kinds have, around the kind's own values.
    fn on_device(
        &mut self,
        activity: Activity,
        name: u32,
        span: Span,
        place: &DevicePlace,
        details: &[u64],
        out: &mut Vec<u64>,
    ) {
        let mut values = vec![u64::from(place.context)];
        values.extend_from_slice(details);
        values.extend([u64::from(place.graph), place.node]);
        values.extend([u64::from(place.channel.0), u64::from(place.channel.1)]);
        let (track, correlation) = ([place.device, place.stream], place.correlation);
        self.timed(out, Head { activity, name, span, track, correlation }, &values);
    }

    fn kernel(&mut self, kernel: &Kernel, mangled: &str, out: &mut Vec<u64>) {
        let name = self.kernel_name(mangled);
        let device = self.devices.iter().find(|device| device.ordinal == kernel.place.device);
        let usage = occupancy(kernel, device.unwrap_or(&DeviceProperties::default()));
        let place = &kernel.place;
        let mut values = vec![
            u64::from(place.context),
            kernel.queued,
            u64::from(kernel.registers),
            kernel.shared.iter().map(|bytes| u64::from(*bytes)).sum(),
            f64::from(usage.blocks_per_sm).to_bits(),
            f64::from(usage.warps_per_sm).to_bits(),
        ];
        values.extend(kernel.grid.into_iter().chain(kernel.block).map(u64::from));
        values.extend([usage.percent as u64, u64::from(place.graph), place.node]);
        values.extend([u64::from(place.channel.0), u64::from(place.channel.1)]);
        values.extend(kernel.cluster.map(u64::from));
        values.push(kernel.priority.map_or(MISSING, |priority| i64::from(priority) as u64));
        let (track, correlation) = ([place.device, place.stream], place.correlation);
        let head = Head { activity: Activity::Kernel, name, span: kernel.span, track, correlation };
        self.timed(out, head, &values);
    }

    fn kernel_name(&mut self, mangled: &str) -> u32 {
        if let Some(known) = self.kernels.get(mangled) {
            return *known;
        }
        let name = id(mangled);
        self.kernels.insert(mangled.to_owned(), name);
        name
    }

    fn copy(&mut self, copy: &Copy, out: &mut Vec<u64>) {
        let [from, to] = copy.memories.map(|memory| name_in(&MEMORIES, u32::from(memory), "Unknown"));
        let direction = name_in(&DIRECTIONS, u32::from(copy.direction), DIRECTIONS[0]);
        let name = id(&format!("Memcpy {direction} ({from} -> {to})"));
        let details = [copy.bytes, bandwidth(copy.bytes, copy.span)];
        let Some([from, to]) = copy.peers else {
            return self.on_device(Activity::Memcpy, name, copy.span, &copy.place, &details, out);
        };
        let before = out.len();
        self.on_device(Activity::PeerCopy, name, copy.span, &copy.place, &details, out);
        if out.len() > before {
            out.extend([from.0, from.1, to.0, to.1].map(u64::from));
            out[before] = head(Activity::PeerCopy, (out.len() - before - 1) as u16, name);
        }
    }

    /// Returns the number of a call's name; `None` if the call is left out.
    fn call(&mut self, is_driver: bool, cbid: u32, cupti: &Cupti) -> Option<u32> {
        *self.calls.entry((is_driver, cbid)).or_insert_with(|| {
            let name = cupti.name_of(is_driver, cbid);
            is_recorded(is_driver, &name).then(|| id(&name))
        })
    }

    /// Processes the start or the end of an NVTX range. Returns start, name and domain once the range is complete. An
    /// instant event is complete at once.
    fn range(&mut self, id: u32, flags: u32, time: u64, texts: [u32; 2]) -> Option<(u64, [u32; 2])> {
        const INSTANT: u32 = 1;
        const BEGIN: u32 = 2;
        const END: u32 = 4;
        if flags & INSTANT != 0 {
            return Some((time, texts));
        }
        if flags & BEGIN != 0 {
            self.ranges.insert(id, (time, texts));
        }
        if flags & END != 0 { self.ranges.remove(&id) } else { None }
    }
}

/// Returns the name of a kind of overhead. CUPTI's numbers are 1, followed by multiples of 0x10000.
fn overhead(what: u32) -> &'static str {
    match what {
        0 => "Unknown",
        1..0x1_0000 => OVERHEADS[0],
        _ => name_in(&OVERHEADS, what >> 16, "Unrecognized"),
    }
}
