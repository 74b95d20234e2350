//! Track descriptors: processes, threads and streams, and further tracks of theirs for spans that overlap, asynchronous
//! spans and counters.

use super::message::{bytes, message, number};
use crate::analysis::timeline::lane_names::LaneNames;
use crate::base::index::Index;
use crate::trace::Trace;
use crate::trace::read::perfetto::extension::{ids, packet};
use crate::trace::table::tracks::{Track, TrackId, plain};
use crate::trace::tree::Lane;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Fields of `TracePacket` and `TrackDescriptor`.
const DESCRIPTOR: u32 = 60;
const UUID: u32 = 1;
const NAME: u32 = 2;
const PROCESS: u32 = 3;
const THREAD: u32 = 4;
const PARENT: u32 = 5;
const COUNTER: u32 = 8;

/// A descriptor that is written before the first use of its track.
#[derive(Debug, Default)]
struct Descriptor {
    uuid: u64,
    fields: Vec<u8>,
    is_written: bool,
}

/// A track of the trace.
#[derive(Debug)]
struct Known {
    descriptor: Descriptor,
    /// The index of its process.
    process: usize,
    /// The name of its further tracks.
    name: String,
}

/// All tracks.
#[derive(Debug, Default)]
pub(super) struct Tracks {
    known: Vec<Known>,
    processes: Vec<Descriptor>,
    /// The number of further tracks.
    others: u64,
    counters: Index,
}

/// A number within a range, given as JSON.
fn numbered(json: &str, largest: i64) -> Option<u64> {
    json.parse().ok().filter(|id| (1..=largest).contains(id)).map(i64::cast_unsigned)
}

impl Tracks {
    pub(super) fn new(trace: &Trace) -> Tracks {
        let names = LaneNames::new(trace);
        let mut tracks = Tracks::default();
        let mut processes = Index::default();
        let all = trace.table.tracks.all();
        for (uuid, &track) in (1..).zip(all) {
            let next = tracks.processes.len() as u32;
            let process =
                processes.get_or_insert((i64::from(track.pid.0), i64::from(track.on_device)), next) as usize;
            if process == next as usize {
                let uuid = (all.len() + process + 1) as u64;
                tracks.processes.push(process_of(trace, &names, track, uuid));
            }
            let parent = tracks.processes[process].uuid;
            tracks.known.push(Known {
                descriptor: thread_of(trace, &names, track, (uuid, parent)),
                process,
                name: names.thread(track),
            });
        }
        tracks
    }

    /// Writes the ids of all tracks in the Chrome trace.
    pub(super) fn write_ids(trace: &Trace, out: &mut Vec<u8>) {
        let names = &trace.table.names;
        for (uuid, track) in (1..).zip(trace.table.tracks.all()) {
            super::packet(out, |out| {
                message(out, packet::IDS, |out| {
                    number(out, ids::UUID, uuid);
                    bytes(out, ids::PID, names.get(track.pid).as_bytes());
                    bytes(out, ids::TID, names.get(track.tid).as_bytes());
                    number(out, ids::ON_DEVICE, u64::from(track.on_device));
                });
            });
        }
    }

    /// The number by which a row names its track.
    pub(super) fn uuid(track: TrackId) -> u64 {
        u64::from(track.0) + 1
    }

    /// The track of a thread or stream, described.
    pub(super) fn described(&mut self, track: TrackId, out: &mut Vec<u8>) -> u64 {
        self.describe_process(track, out);
        let known = &mut self.known[track.0 as usize];
        describe(&mut known.descriptor, out);
        known.descriptor.uuid
    }

    fn describe_process(&mut self, track: TrackId, out: &mut Vec<u8>) -> u64 {
        let process = &mut self.processes[self.known[track.0 as usize].process];
        describe(process, out);
        process.uuid
    }

    /// Adds a track for the spans of another lane of a thread or stream, which overlap those of its main lane.
    pub(super) fn overlap(&mut self, lane: &Lane, out: &mut Vec<u8>) -> u64 {
        let parent = self.described(lane.track, out);
        let name = &self.known[lane.track.0 as usize].name;
        let name = format!("{name} (overlap {})", lane.extra);
        self.add(parent, &name, false, out)
    }

    /// Adds a track of a process for asynchronous spans.
    pub(super) fn asynchronous(&mut self, track: TrackId, name: &str, out: &mut Vec<u8>) -> u64 {
        let parent = self.describe_process(track, out);
        self.add(parent, name, false, out)
    }

    /// The track of a counter, described. `series` are the ids of its name and its key.
    pub(super) fn counter(
        &mut self,
        track: TrackId,
        (name, series): (&str, (u32, u32)),
        out: &mut Vec<u8>,
    ) -> u64 {
        let process = self.known[track.0 as usize].process;
        let key = (process as i64, i64::from(series.0) << 32 | i64::from(series.1));
        let next = self.next_uuid();
        let uuid = u64::from(self.counters.get_or_insert(key, next as u32));
        if uuid == next {
            let parent = self.describe_process(track, out);
            self.add(parent, name, true, out);
        }
        uuid
    }

    fn next_uuid(&self) -> u64 {
        (self.known.len() + self.processes.len()) as u64 + self.others + 1
    }

    fn add(&mut self, parent: u64, name: &str, is_counter: bool, out: &mut Vec<u8>) -> u64 {
        let uuid = self.next_uuid();
        self.others += 1;
        let mut fields = Vec::new();
        number(&mut fields, PARENT, parent);
        bytes(&mut fields, NAME, name.as_bytes());
        if is_counter {
            bytes(&mut fields, COUNTER, &[]);
        }
        describe(&mut Descriptor { uuid, fields, is_written: false }, out);
        uuid
    }
}

fn describe(descriptor: &mut Descriptor, out: &mut Vec<u8>) {
    if !core::mem::replace(&mut descriptor.is_written, true) {
        super::packet(out, |out| {
            message(out, DESCRIPTOR, |out| {
                number(out, UUID, descriptor.uuid);
                out.extend_from_slice(&descriptor.fields);
            });
        });
    }
}

/// A name, or another text if it is empty.
fn or(name: String, other: &str) -> String {
    if name.is_empty() { other.into() } else { name }
}

/// The number of a host process; `None` for a device, and for an id that is not a positive number.
fn pid_of(trace: &Trace, track: Track) -> Option<u64> {
    let json = trace.table.names.get(track.pid);
    numbered(json, i32::MAX.into()).filter(|_| !track.on_device)
}

fn process_of(trace: &Trace, names: &LaneNames<'_>, track: Track, uuid: u64) -> Descriptor {
    let mut fields = Vec::new();
    match pid_of(trace, track) {
        Some(pid) => message(&mut fields, PROCESS, |out| {
            number(out, 1, pid);
            if let Some(name) = names.given_process(track) {
                bytes(out, 6, name.as_bytes());
            }
        }),
        None => bytes(&mut fields, NAME, or(names.process(track), "no process").as_bytes()),
    }
    Descriptor { uuid, fields, is_written: false }
}

fn thread_of(trace: &Trace, names: &LaneNames<'_>, track: Track, (uuid, parent): (u64, u64)) -> Descriptor {
    let mut fields = Vec::new();
    let tid = numbered(plain(&trace.table.names, track.tid), i64::MAX);
    if let Some((pid, tid)) = pid_of(trace, track).zip(tid) {
        message(&mut fields, THREAD, |out| {
            number(out, 1, pid);
            number(out, 2, tid);
            if let Some(name) = names.given_thread(track) {
                bytes(out, 5, name.as_bytes());
            }
        });
    } else {
        number(&mut fields, PARENT, parent);
        bytes(&mut fields, NAME, or(names.thread(track), "no thread").as_bytes());
    }
    Descriptor { uuid, fields, is_written: false }
}
