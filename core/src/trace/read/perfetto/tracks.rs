//! Track descriptors: the process and thread of each track.

use super::arguments::quoted;
use super::wire::{Damaged, fields};
use crate::base::index::{Index, Keyed};
use crate::trace::table::events::Table;
use crate::trace::table::tracks::{Track, TrackId};
use alloc::format;
use alloc::string::{String, ToString};

/// The id by which PyTorch writes an id of -1.
const NO_ID: i64 = i32::MAX as i64;
/// The most ancestors of a track that are searched for its process.
const DEEPEST: usize = 32;

/// A track of events.
#[derive(Clone, Debug, Default)]
pub(super) struct Descriptor {
    pub(super) uuid: u64,
    parent: u64,
    pub(super) name: Option<String>,
    pub(super) process: Option<i64>,
    pub(super) process_name: Option<String>,
    /// The process and the thread.
    pub(super) thread: Option<(i64, i64)>,
    pub(super) thread_name: Option<String>,
}

fn id(number: i64) -> i64 {
    if number == NO_ID { -1 } else { number }
}

impl Descriptor {
    pub(super) fn read(message: &[u8]) -> Result<Descriptor, Damaged> {
        let mut read = Descriptor::default();
        for field in fields(message) {
            match field? {
                (1, uuid) => read.uuid = uuid.number(),
                (5, parent) => read.parent = parent.number(),
                (2 | 10 | 13, name) => read.name = Some(name.text().into_owned()),
                (3, process) => {
                    for field in fields(process.bytes()) {
                        match field? {
                            (1, pid) => read.process = Some(id(i64::from(pid.int() as i32))),
                            (6, name) => read.process_name = Some(name.text().into_owned()),
                            _ => {}
                        }
                    }
                }
                (4, thread) => {
                    let (mut pid, mut tid) = (0, 0);
                    for field in fields(thread.bytes()) {
                        match field? {
                            (1, number) => pid = id(i64::from(number.int() as i32)),
                            (2, number) => tid = id(number.int()),
                            (5, name) => read.thread_name = Some(name.text().into_owned()),
                            _ => {}
                        }
                    }
                    read.thread = Some((pid, tid));
                }
                _ => {}
            }
        }
        Ok(read)
    }
}

/// Every track of a trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Tracks {
    known: Keyed<Descriptor>,
    /// The track of the table for each track that has events.
    resolved: Index,
}

fn key(uuid: u64) -> (i64, i64) {
    (uuid as i64, 0)
}

impl Tracks {
    pub(super) fn add(&mut self, descriptor: Descriptor) {
        let key = key(descriptor.uuid);
        self.resolved.remove(key);
        *self.known.entry(key) = descriptor;
    }

    /// The name of a track that is neither a process nor a thread.
    pub(super) fn name(&self, uuid: u64) -> Option<&str> {
        self.known.get(key(uuid))?.name.as_deref()
    }

    /// The `pid` and `tid` of a track, as JSON. A track of its own has its name as `tid`, and the process of its
    /// parent.
    pub(super) fn ids(&self, uuid: u64) -> (String, String) {
        let described = self.known.get(key(uuid));
        let mut ancestor = described;
        for _ in 0..DEEPEST {
            let Some(track) = ancestor else { break };
            let is_own = track.uuid == uuid;
            let tid = |tid: i64| if is_own { tid.to_string() } else { self.label(uuid) };
            if let Some((pid, thread)) = track.thread {
                return (pid.to_string(), tid(thread));
            }
            if let Some(pid) = track.process {
                return (pid.to_string(), tid(0));
            }
            ancestor = self.known.get(key(track.parent));
        }
        (quoted("Tracks"), self.label(uuid))
    }

    fn label(&self, uuid: u64) -> String {
        self.name(uuid).map_or_else(|| quoted(&format!("track {uuid}")), quoted)
    }

    /// The track of the table.
    pub(super) fn resolve(&mut self, uuid: u64, table: &mut Table) -> TrackId {
        if let Some(track) = self.resolved.get(key(uuid)) {
            return TrackId(track);
        }
        let (pid, tid) = self.ids(uuid);
        let track = track(table, &pid, &tid, false);
        self.resolved.set(key(uuid), track.0);
        track
    }
}

/// The track with this `pid` and `tid`, given as JSON.
pub(super) fn track(table: &mut Table, pid: &str, tid: &str, on_device: bool) -> TrackId {
    let (pid, tid) = (table.names.intern(pid), table.names.intern(tid));
    table.tracks.intern(Track { pid, tid, on_device })
}
