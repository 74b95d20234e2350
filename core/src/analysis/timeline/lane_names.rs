//! Names of lanes: process and thread, with the names that the trace's metadata gives them.

use crate::base::index::Index;
use crate::base::names::NameId;
use crate::trace::Trace;
use crate::trace::table::layout::Key;
use crate::trace::table::merged::{own_id, rank_of};
use crate::trace::table::tracks::Track;
use crate::trace::tree::Lane;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// In place of a thread in an index: the name of the process itself.
pub(crate) const PROCESS: i64 = -1;

/// In place of a thread in an index: the label of the process.
pub(crate) const LABEL: i64 = -2;

/// The names of lanes: process and thread, with the names that the trace's metadata gives them.
pub(crate) struct LaneNames<'a> {
    trace: &'a Trace,
    texts: Vec<&'a str>,
    /// The positions in `texts` of the names and labels of processes and the names of threads.
    index: Index,
}

impl<'a> LaneNames<'a> {
    /// Reads the names from the metadata of a trace.
    pub(crate) fn new(trace: &'a Trace) -> Self {
        let table = &trace.table;
        let mut names = LaneNames { trace, texts: Vec::new(), index: Index::default() };
        for row in table.rows().filter(|&row| table.ph(row) == b'M') {
            let track = table.track(row);
            let text =
                |key| table.field(row, key).and_then(|v| v.as_str()).map(str::trim).filter(|t| !t.is_empty());
            match (table.name(row), text(Key::Name), text(Key::Labels)) {
                ("process_name", Some(name), _) => names.set(track.pid, PROCESS, name),
                ("process_labels", _, Some(label)) => names.set(track.pid, LABEL, label),
                ("thread_name", Some(name), _) => names.set(track.pid, i64::from(track.tid.0), name),
                _ => {}
            }
        }
        names
    }

    fn set(&mut self, process: NameId, thread: i64, text: &'a str) {
        self.index.set((i64::from(process.0), thread), self.texts.len() as u32);
        self.texts.push(text);
    }

    fn recorded(&self, process: NameId, thread: i64) -> Option<&'a str> {
        self.index.get((i64::from(process.0), thread)).map(|at| self.texts[at as usize])
    }

    fn id(&self, id: NameId) -> String {
        own_id(&self.trace.table, id)
    }

    /// Returns the name that the trace gives the process of a host track.
    pub(crate) fn given_process(&self, track: Track) -> Option<&'a str> {
        self.recorded(track.pid, PROCESS)
    }

    /// Returns the name that the trace gives a thread or stream.
    pub(crate) fn given_thread(&self, track: Track) -> Option<&'a str> {
        self.recorded(track.pid, i64::from(track.tid.0))
    }

    /// Returns the name of a track's process or device.
    pub(crate) fn process(&self, track: Track) -> String {
        let name = if track.on_device { self.recorded(track.pid, LABEL) } else { self.given_process(track) };
        process_name(track.on_device, &self.id(track.pid), name)
    }

    /// Returns the name of a track's thread or stream.
    pub(crate) fn thread(&self, track: Track) -> String {
        let name = thread_name(track.on_device, &self.id(track.tid), self.given_thread(track));
        // The threads of ranks can have the same numbers.
        let rank = rank_of(&self.trace.table, track.pid)
            .filter(|_| self.given_thread(track).is_none() && !name.starts_with("rank "));
        rank.map_or_else(|| name.clone(), |rank| format!("rank {rank}: {name}"))
    }

    /// Returns the name of a lane.
    pub(crate) fn get(&self, lane: &Lane) -> String {
        let track = self.trace.table.tracks.get(lane.track);
        let (process, thread) = (self.process(track), self.thread(track));
        let extra = if lane.extra > 0 { format!(" (overlap {})", lane.extra) } else { String::new() };
        format!("{process} · {thread}{extra}")
    }
}

/// Returns the name of a process or device, with the name that a trace gives the process, or the label that it gives the device.
pub(crate) fn process_name(on_device: bool, pid: &str, name: Option<&str>) -> String {
    match name {
        Some(label) if on_device => label.into(),
        // `merge` names processes without a name after their rank and number.
        Some(name) if name.strip_suffix(pid).is_some_and(|rank| rank.is_empty() || rank.ends_with(": ")) => {
            name.into()
        }
        Some(name) => format!("{name} {pid}"),
        None => bare(if on_device { "device" } else { "process" }, pid),
    }
}

/// Returns the name of a thread or stream, which a trace may give.
pub(crate) fn thread_name(on_device: bool, tid: &str, name: Option<&str>) -> String {
    name.map_or_else(|| bare(if on_device { "stream" } else { "thread" }, tid), Into::into)
}

/// Returns a number with what it numbers before it; other text unchanged.
fn bare(what: &str, text: &str) -> String {
    if text.parse::<i64>().is_ok() { format!("{what} {text}") } else { text.into() }
}
