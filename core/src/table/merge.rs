//! Appends the events of another table, as if they had been read into this one.

use super::events::{Fixed, Table};
use super::layout::{FieldType, LayoutId, Layouts};
use super::tracks::{Track, TrackId};
use crate::names::NameId;
use alloc::vec::Vec;

/// What a layout of the other table is in this one.
struct Mapped {
    layout: LayoutId,
    /// Whether each varint of an event is the id of a name.
    names: Vec<bool>,
    has_names: bool,
}

impl Table {
    /// Appends the events of `other`, whose times count from the same base. Names, tracks and layouts get the ids that reading the
    /// events into this table would give them.
    pub(crate) fn append(&mut self, other: &Table) {
        let names: Vec<NameId> = other.names.iter().map(|(_, text)| self.names.intern(text)).collect();
        let tracks: Vec<TrackId> =
            other.tracks.all().iter().map(|&track| self.tracks.intern(mapped_track(track, &names))).collect();
        let layouts = self.map_layouts(&other.layouts, &names);
        for row in other.rows() {
            let Mapped { layout, names: are_names, has_names } = &layouts[other.layout_id(row).0 as usize];
            let bytes = other.fields.at(row.index());
            if *has_names {
                self.fields.push_mapped(bytes, are_names, &names);
            } else {
                self.fields.push_varints(bytes, are_names.len());
            }
            self.push(Fixed {
                ts: other.ts(row),
                dur: other.dur(row),
                name: names[other.name_id(row).0 as usize],
                track: tracks[other.track_id(row).0 as usize],
                layout: *layout,
            });
        }
    }

    fn map_layouts(&mut self, others: &Layouts, names: &[NameId]) -> Vec<Mapped> {
        let mut mapped = Vec::with_capacity(others.all().len());
        for other in others.all() {
            let mut node = self.layouts.root(other.ph, other.cat.map(|cat| names[cat.0 as usize]));
            let mut are_names = Vec::new();
            for field in &other.fields {
                node = self.layouts.step(node, names[field.key.0 as usize], field.place, field.field_type);
                let is_name =
                    matches!(field.field_type, FieldType::Number | FieldType::Text | FieldType::Json);
                are_names.extend((0..field.field_type.varints()).map(|_| is_name));
            }
            mapped.push(Mapped {
                layout: self.layouts.finish(node, &self.names),
                has_names: are_names.contains(&true),
                names: are_names,
            });
        }
        mapped
    }
}

fn mapped_track(track: Track, names: &[NameId]) -> Track {
    let [pid, tid] = [track.pid, track.tid].map(|id| names[id.0 as usize]);
    Track { pid, tid, ..track }
}
