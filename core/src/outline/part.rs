//! The outline of a part of a trace.

use super::Outline;
use super::total::{Total, is_common};
use crate::analysis::timeline::lane_names::{LABEL, PROCESS};
use crate::base::diagnostics::Diagnostics;
use crate::base::names::NameId;
use crate::base::time;
use crate::trace::START_MARKER;
use crate::trace::read::limits::Limits;
use crate::trace::read::segment::Segment;
use crate::trace::samples::edit;
use crate::trace::samples::lines::Lines;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::Key;
use crate::trace::table::tracks::Track;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// The outline of the events in a piece of text, for [`OutlineReader::feed_parsed`](super::OutlineReader::feed_parsed).
#[derive(Clone, Debug)]
pub struct OutlinePart {
    pub(super) outline: Outline,
    pub(super) range: Range<usize>,
    pub(super) diagnostics: Diagnostics,
}

impl OutlinePart {
    /// Parses the well-formed events in a piece of text that may be cut anywhere. Returns `None` if none is found.
    pub fn parse(text: &[u8], limits: Limits) -> Option<OutlinePart> {
        let segment = Segment::parse(text, limits)?;
        let (range, diagnostics) = (segment.range(), segment.diagnostics().clone());
        Some(OutlinePart { outline: Outline::from_table(&segment.into_table()), range, diagnostics })
    }

    /// The part of the text that has the events.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }
}

impl Outline {
    /// The outline of events.
    pub(super) fn from_table(table: &Table) -> Outline {
        let mut outline = Outline::default();
        let mut ids = Ids { table, known: vec![None; table.names.len()] };
        let mut tracks: Vec<Option<usize>> = vec![None; table.tracks.all().len()];
        let marker = table.names.find(START_MARKER);
        let lines = Lines::new(table);
        for row in table.rows() {
            if lines.has(row) {
                outline.add_line(&lines, row);
                continue;
            }
            let total = Total::from_event(table, row);
            outline.all.add(&total);
            outline.has_common |= is_common(table, row);
            let category = table.layout(row).cat.unwrap_or(NameId::EMPTY);
            let group = (
                ids.get_or_insert(&mut outline, category),
                Some(ids.get_or_insert(&mut outline, table.name_id(row))),
            );
            outline.groups.add(group, &total);
            let track = *tracks[table.track_id(row).0 as usize].get_or_insert_with(|| {
                let row_track = table.track(row);
                let [pid, tid] = [row_track.pid, row_track.tid].map(|id| ids.get_or_insert(&mut outline, id));
                outline.track(Track { pid, tid, ..row_track })
            });
            let of_track = &mut outline.by_track[track];
            of_track.total.add(&total);
            of_track.begun += u64::from(table.ph(row) == b'B');
            if let Some(time) = total.time {
                of_track.density.add(time);
            }
            if table.ph(row) == b'M' {
                outline.give_names(table, row, &mut ids);
            }
            let is_marker = table.category(row) == Category::Window || Some(table.name_id(row)) == marker;
            if is_marker && outline.marked.is_none() && table.ts(row) != time::NONE {
                outline.marked = Some(table.ts(row));
            }
        }
        outline.add_samples(edit::start_of(table));
        outline
    }

    /// Adds a line that has samples of every window.
    fn add_line(&mut self, lines: &Lines<'_>, row: Row) {
        self.lines += 1;
        self.has_common = true;
        self.add_samples(lines.members(row).filter_map(|member| edit::start_of_member(&member)));
    }

    /// Takes the name of a process or thread, or the label of a device, from a metadata event.
    fn give_names(&mut self, table: &Table, row: Row, ids: &mut Ids<'_>) {
        let track = table.track(row);
        let (key, thread) = match table.name(row) {
            "process_name" => (Key::Name, PROCESS),
            "process_labels" => (Key::Labels, LABEL),
            "thread_name" => (Key::Name, i64::from(ids.get_or_insert(self, track.tid).0)),
            _ => return,
        };
        let Some(name) = table.field(row, key).and_then(|value| value.as_str()) else { return };
        let name = name.trim();
        if !name.is_empty() {
            let process = i64::from(ids.get_or_insert(self, track.pid).0);
            *self.metadata_names.entry((process, thread)) = self.names.intern(name);
        }
    }
}

/// The ids in an outline of the names of a table.
struct Ids<'a> {
    table: &'a Table,
    known: Vec<Option<NameId>>,
}

impl Ids<'_> {
    fn get_or_insert(&mut self, outline: &mut Outline, id: NameId) -> NameId {
        let table = self.table;
        *self.known[id.0 as usize].get_or_insert_with(|| outline.names.intern(table.names.get(id)))
    }
}
