//! What the rows of a trace that Kinetoscope wrote have in common.

use super::extension::{header, ids};
use super::wire::{Damaged, Value, fields};
use crate::base::names::NameId;
use crate::trace::read::json_text::JsonTexts;
use crate::trace::table::events::Table;
use crate::trace::table::metadata::Metadata;
use crate::trace::table::tracks::{Track, TrackId};
use alloc::vec::Vec;

/// What the rows of a sequence of packets have in common.
#[derive(Clone, Debug, Default)]
pub(super) struct Common {
    /// What is added to a timestamp to get the ts.
    pub(super) shift: i64,
    /// The number of the trace in the file.
    pub(super) part: u64,
    /// Every track, by its number.
    pub(super) tracks: Vec<TrackId>,
}

impl Common {
    /// Reads the header of a trace.
    pub(super) fn read(message: &[u8], part: u64, metadata: &mut Metadata) -> Result<Common, Damaged> {
        let mut common = Common { part, ..Common::default() };
        for field in fields(message) {
            match field? {
                (header::BASE, base) => metadata.base_ns = base.signed(),
                (header::SHIFT, shift) => common.shift = shift.signed(),
                (header::IS_BARE, flag) => metadata.bare_array = flag.number() != 0,
                (header::TRAILING, count) => metadata.trailing = count.number() as usize,
                _ => {}
            }
        }
        Ok(common)
    }

    /// Reads the ids of a track. Tracks come in the order of the table.
    pub(super) fn track(&mut self, message: &[u8], table: &mut Table) -> Result<(), Damaged> {
        let (mut uuid, mut on_device) = (0, false);
        let mut of = (NameId::EMPTY, NameId::EMPTY);
        for field in fields(message) {
            match field? {
                (ids::UUID, id) => uuid = id.number(),
                (ids::PID, pid) => of.0 = json_or_empty(pid, table),
                (ids::TID, tid) => of.1 = json_or_empty(tid, table),
                (ids::ON_DEVICE, flag) => on_device = flag.number() != 0,
                _ => {}
            }
        }
        if uuid != self.tracks.len() as u64 + 1 {
            return Err(Damaged);
        }
        self.tracks.push(table.tracks.intern(Track { pid: of.0, tid: of.1, on_device }));
        Ok(())
    }
}

fn json_or_empty(value: Value<'_>, table: &mut Table) -> NameId {
    JsonTexts::default().intern(&mut table.names, value.bytes()).unwrap_or_default()
}
