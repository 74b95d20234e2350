//! The state of reading a recording.

use super::clock::Clock;
use super::kept::Activities;
use crate::base::diagnostics::{Code, Diagnostics};
use crate::base::index::Index;
use crate::base::names::NameId;
use crate::base::time;
use crate::trace::read::limits::Limits;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::NodeId;
use crate::trace::table::tracks::TrackId;
use alloc::string::String;
use alloc::vec::Vec;
use kinetoscope_stream::record::KEYS;

pub(super) const LATEST: u64 = time::LATEST as u64;

/// A position among the open spans of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    /// The row of the span; `None` if its begin was lost.
    pub(super) row: Option<Row>,
    /// Whether the span has ended before the spans inside of it.
    pub(super) is_over: bool,
    pub(super) node: NodeId,
    /// The frames of the enclosing modules, including the span's own, as in `Module Hierarchy`; empty outside of
    /// modules.
    pub(super) hierarchy: NameId,
    /// The number of the innermost module call, which may be the span itself.
    pub(super) module: Option<i64>,
}

/// State that spans the complete recording.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail {
    pub(super) ops: u64,
    /// The last external id that was assigned to a span that has none.
    pub(super) last_id: i64,
    pub(super) modules: i64,
    /// Sequence number, thread of the forward operator (counted from 1), whether it is the backward operator, row.
    pub(super) sequences: Vec<(i64, i64, bool, Row)>,
    /// The device tracks: ordinal and stream, -1 for no stream.
    pub(super) streams: Vec<(i64, i64)>,
    pub(super) has_overhead: bool,
    /// Spans that ended on another thread: the number of their thread, their position among its open spans, the time.
    /// Their begin may be read later.
    pub(super) ended_elsewhere: Vec<(u32, usize, u64)>,
    /// Whether the program recorded device memory itself.
    pub(super) has_device_memory: bool,
    /// The names of user annotations, by their ids.
    pub(super) annotations: Index,
    /// Whether strings are JSON arrays or objects: 1 if so.
    pub(super) is_json: Index,
    /// The spans of tracks, whose times are ns since 1970.
    pub(super) of_tracks: Vec<Row>,
    pub(super) first_ticks: Option<u64>,
    pub(super) last_ticks: u64,
}

/// A thread that recorded.
#[derive(Clone, Debug, Default)]
pub(super) struct Thread {
    pub(super) number: u32,
    /// The id of the operating system.
    pub(super) id: u64,
    /// The id of the track: that of the operating system, and 2^32 more for each earlier thread of the recording with
    /// the same one, which is reused.
    pub(super) tid: u64,
    pub(super) name: String,
    pub(super) track: TrackId,
    pub(super) is_known: bool,
    pub(super) open: Vec<Open>,
}

/// A recording window, in ticks. The end is 0 if the recording was cut off.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) cycle: u64,
}

/// What follows the rows of all recordings in a file: the names of tracks, and the marks of windows.
#[derive(Clone, Debug, Default)]
pub(super) struct Named {
    /// The ids and names of processes.
    pub(super) processes: Vec<(i64, String)>,
    /// The threads, each with the id of its process.
    pub(super) threads: Vec<(i64, Thread)>,
    /// The device tracks: ordinal and stream, -1 for no stream.
    pub(super) streams: Vec<(i64, i64)>,
    pub(super) has_overhead: bool,
    /// The tracks that are not threads, by the id of their process and the JSON of their name.
    pub(super) tracks: Vec<(i64, NameId)>,
    pub(super) known_tracks: Index,
    pub(super) windows: Vec<Mark>,
    /// The start of the first recording, in ns since 1970.
    pub(super) start: Option<i64>,
}

/// A window in ns since 1970, and the number of spans in its recording.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) cycle: u64,
    pub(super) ops: u64,
}

/// Reads a file from chunks. It may contain several recordings: of one process, and of processes that appended to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recording {
    pub(super) limits: Limits,
    pub(super) table: Table,
    pub(super) diagnostics: Diagnostics,
    pub(super) buffer: Vec<u8>,
    pub(super) offset: u64,
    pub(super) needed: usize,
    pub(super) in_damage: bool,
    pub(super) is_full: bool,
    pub(super) members: String,
    /// The time in `members` that the trace's times are relative to, in ns since 1970.
    pub(super) base: Option<i64>,
    pub(super) named: Named,
    /// The first row of the present recording. The fields below are of that recording.
    pub(super) first_row: usize,
    pub(super) pid: i64,
    pub(super) process_name: String,
    pub(super) clock: Clock,
    /// The interned strings, by id.
    pub(super) names: Index,
    /// The name and the kind of call sites.
    pub(super) sites: Index,
    /// The number of threads in a cycle with an id of the operating system, by id and cycle.
    pub(super) same_ids: Index,
    /// The index into `threads`, by thread number.
    pub(super) thread_numbers: Index,
    pub(super) threads: Vec<Thread>,
    pub(super) windows: Vec<Window>,
    pub(super) activities: Activities,
    pub(super) tail: Tail,
}

impl Recording {
    /// The string with this id.
    pub(super) fn name(&mut self, id: u32) -> NameId {
        if let Some(key) = KEYS.get(id as usize) {
            return self.table.names.intern(key);
        }
        if let Some(known) = self.names.get((i64::from(id), 0)) {
            return NameId(known);
        }
        self.diagnostics.record(Code::UnknownName, Some(self.offset), b"");
        self.table.names.intern("unknown")
    }

    /// The index of the thread with this number.
    pub(super) fn thread_at(&mut self, number: u32) -> usize {
        let next = self.threads.len() as u32;
        let at = self.thread_numbers.get_or_insert((i64::from(number), 0), next);
        if at == next {
            self.threads.push(Thread { number, ..Thread::default() });
        }
        at as usize
    }
}
