//! What the lanes of a timeline are called: their process and thread, by the names that the trace's metadata gives them.

use crate::index::Index;
use crate::names::NameId;
use crate::table::layout::Key;
use crate::table::tracks::{self, Track};
use crate::trace::Trace;
use crate::tree::Lane;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Stands for a thread: the name of the process itself.
const PROCESS: i64 = -1;

/// Stands for a thread: the label of the process.
const LABEL: i64 = -2;

/// What lanes are called: their process and thread, by the names that the trace's metadata gives them.
pub(crate) struct LaneNames<'a> {
    trace: &'a Trace,
    texts: Vec<&'a str>,
    /// Which of the texts names a process, labels it, or names a thread of it.
    index: Index,
}

impl<'a> LaneNames<'a> {
    /// The names in a trace.
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

    fn set(&mut self, process: NameId, of: i64, text: &'a str) {
        self.index.set((i64::from(process.0), of), self.texts.len() as u32);
        self.texts.push(text);
    }

    fn given(&self, process: NameId, of: i64) -> Option<&'a str> {
        self.index.get((i64::from(process.0), of)).map(|at| self.texts[at as usize])
    }

    fn plain(&self, id: NameId) -> &str {
        tracks::plain(&self.trace.table.names, id)
    }

    /// The name of a track's process or device.
    pub(crate) fn process(&self, track: Track) -> String {
        match (self.given(track.pid, LABEL), self.given(track.pid, PROCESS)) {
            (Some(label), _) if track.on_device => label.into(),
            (_, Some(name)) if !track.on_device => format!("{name} {}", self.plain(track.pid)),
            _ => bare(if track.on_device { "device" } else { "process" }, self.plain(track.pid)),
        }
    }

    /// The name of a track's thread or stream.
    pub(crate) fn thread(&self, track: Track) -> String {
        self.given(track.pid, i64::from(track.tid.0)).map_or_else(
            || bare(if track.on_device { "stream" } else { "thread" }, self.plain(track.tid)),
            Into::into,
        )
    }

    /// The name of a lane.
    pub(crate) fn get(&self, lane: &Lane) -> String {
        let track = self.trace.table.tracks.get(lane.track);
        let (process, thread) = (self.process(track), self.thread(track));
        let extra = if lane.extra > 0 { format!(" (overlap {})", lane.extra) } else { String::new() };
        format!("{process} · {thread}{extra}")
    }
}

/// A bare number with what it numbers.
fn bare(what: &str, text: &str) -> String {
    if text.parse::<i64>().is_ok() { format!("{what} {text}") } else { text.into() }
}
