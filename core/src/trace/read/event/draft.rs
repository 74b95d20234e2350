//! The draft of an event: what was parsed of it until it becomes a row.

use super::EventReader;
use super::gap::Gap;
use crate::base::diagnostics::{Code, Diagnostics};
use crate::base::names::NameId;
use crate::base::time;
use crate::trace::read::number::Time;
use crate::trace::table::bounds::{count_size, is_start};
use crate::trace::table::events::{Fixed, Table};
use crate::trace::table::layout::NodeId;
use crate::trace::table::metadata::Source;
use crate::trace::table::tracks::{Track, TrackId};

/// An event that was parsed and not yet appended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draft {
    pub(super) ph: u8,
    pub(super) cat: Option<NameId>,
    pub(super) name: NameId,
    pub(super) pid: NameId,
    pub(super) tid: NameId,
    pub(super) ts: i64,
    pub(super) dur: i64,
    pub(super) node: Option<NodeId>,
    pub(super) mark: usize,
    /// Whether the time that was read last is out of range.
    pub(super) keeps_text: bool,
    /// The keys of columns so far, and whether one of them occurred twice.
    keys: u8,
    has_key_twice: bool,
    time_rounded: bool,
    has_far_start: bool,
    has_far_duration: bool,
}

impl Draft {
    pub(super) fn new(mark: usize) -> Draft {
        Draft {
            ph: 0,
            cat: None,
            name: NameId::EMPTY,
            pid: NameId::EMPTY,
            tid: NameId::EMPTY,
            ts: time::NONE,
            dur: time::NONE,
            node: None,
            mark,
            keeps_text: false,
            keys: 0,
            has_key_twice: false,
            time_rounded: false,
            has_far_start: false,
            has_far_duration: false,
        }
    }
}

impl Draft {
    /// Sets what the text of a gap contains.
    #[inline]
    pub(super) fn fill(&mut self, gap: &Gap) {
        self.ph = gap.ph.unwrap_or(self.ph);
        self.cat = gap.cat.or(self.cat);
        self.pid = gap.pid.unwrap_or(self.pid);
        self.tid = gap.tid.unwrap_or(self.tid);
    }

    /// Adds the keys of a gap.
    #[inline]
    pub(super) fn add_keys(&mut self, gap: &Gap) {
        self.has_key_twice |= gap.has_key_twice || self.keys & gap.keys != 0;
        self.keys |= gap.keys;
    }

    /// Sets the start. One that is out of range is left out.
    #[inline]
    pub(super) fn set_start(&mut self, time: &Time) {
        let is_far = !is_start(time.ns);
        self.ts = if is_far { time::NONE } else { time.ns };
        self.has_far_start |= is_far;
        self.keeps_text = is_far;
        self.time_rounded |= time.rounded;
    }

    /// Sets the duration. A longer one than the longest is shortened.
    #[inline]
    pub(super) fn set_duration(&mut self, time: &Time) {
        let is_far = time.ns > time::LONGEST;
        self.dur = time.ns.min(time::LONGEST);
        self.has_far_duration |= is_far;
        self.keeps_text = is_far;
        self.time_rounded |= time.rounded;
    }
}

impl EventReader {
    /// Appends the draft to the table and records its diagnostics.
    pub(in crate::trace::read) fn commit(
        &mut self,
        table: &mut Table,
        diagnostics: &mut Diagnostics,
        offset: u64,
        text: &[u8],
    ) {
        let mut draft = self.draft;
        let root = self.root(table, draft.ph, draft.cat);
        // Fields before `cat` or `ph` may be attached to the root of another kind of event.
        let node = draft.node.map_or(root, |node| table.layouts.rebase(node, root));
        if let Some(slot) = self.roots.get_mut(draft.ph as usize) {
            *slot = Some(root);
        }
        let layout = table.layouts.finish(node, &table.names);
        let on_device = table.layouts.get(layout).category.is_on_device();
        let track = Track { pid: draft.pid, tid: draft.tid, on_device };
        if self.last_track.0 != track || self.last_track.1 == TrackId(u32::MAX) {
            self.last_track = (track, table.tracks.intern(track));
        }
        let mut note = |code| diagnostics.record(code, Some(offset), text);
        if draft.has_key_twice || table.layouts.repeats(node) {
            note(Code::DuplicateKey);
        }
        let is_record = table.metadata.source != Source::Chrome;
        if draft.ph == 0 {
            if !is_record {
                note(Code::MissingPhase);
            }
        } else if draft.ts == time::NONE && draft.ph != b'M' && !draft.has_far_start {
            note(Code::MissingTime);
        }
        if draft.ph == b'X' && draft.dur < 0 {
            note(if draft.dur == time::NONE { Code::MissingDuration } else { Code::NegativeDuration });
            draft.dur = 0;
        }
        if draft.time_rounded {
            note(Code::TimeRounded);
        }
        if draft.has_far_start || draft.has_far_duration {
            note(Code::TimeOutOfRange);
        }
        let fixed =
            Fixed { ts: draft.ts, dur: draft.dur, name: draft.name, track: self.last_track.1, layout };
        let row = table.push(fixed);
        // The sizes of records are checked by their dialect.
        if !is_record && table.layouts.get(layout).has_size() {
            count_size(table, row, (Some(offset), text), diagnostics);
        }
    }

    /// Removes the packed fields of the draft, which is not appended.
    pub(in crate::trace::read) fn discard(&self, table: &mut Table) {
        table.fields.rewind(self.draft.mark);
    }
}
