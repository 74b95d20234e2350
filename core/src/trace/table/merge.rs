//! Appends the events of another table, as if they had been read into this one.

use super::events::{Fixed, Table};
use super::layout::{FieldPlace, FieldType, LayoutId};
use super::tracks::{Track, TrackId};
use crate::base::names::NameId;
use alloc::vec::Vec;

/// The phase, category and fields of a layout.
pub(super) struct Shape {
    pub(super) ph: u8,
    pub(super) cat: Option<NameId>,
    pub(super) fields: Vec<(NameId, FieldPlace, FieldType)>,
}

/// What the events of a table refer to by ids, in the order of these ids.
pub(super) struct References<'a> {
    pub(super) names: Vec<&'a str>,
    pub(super) tracks: Vec<Track>,
    pub(super) shapes: Vec<Shape>,
}

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
        self.append_events(&other.references(), other.events());
    }

    /// Appends events with their packed fields. Ids without a reference become those of the first one.
    pub(super) fn append_events<'a>(
        &mut self,
        references: &References<'_>,
        events: impl Iterator<Item = (Fixed, &'a [u8])>,
    ) {
        let names: Vec<NameId> = references.names.iter().map(|text| self.names.intern(text)).collect();
        let tracks: Vec<TrackId> =
            references.tracks.iter().map(|&track| self.tracks.intern(track.among(&names))).collect();
        let layouts: Vec<Mapped> = references.shapes.iter().map(|shape| self.map(shape, &names)).collect();
        for (fixed, bytes) in events {
            let (Some(mapped), Some(&track)) =
                (layouts.get(fixed.layout.0 as usize), tracks.get(fixed.track.0 as usize))
            else {
                continue;
            };
            if mapped.has_names {
                self.fields.push_mapped(bytes, &mapped.names, &names);
            } else {
                self.fields.push_varints(bytes, mapped.names.len());
            }
            self.push(Fixed { name: fixed.name.among(&names), track, layout: mapped.layout, ..fixed });
        }
    }

    fn references(&self) -> References<'_> {
        References {
            names: self.names.iter().map(|(_, text)| text).collect(),
            tracks: self.tracks.all().to_vec(),
            shapes: self.shapes().collect(),
        }
    }

    /// The shape of every layout.
    pub(super) fn shapes(&self) -> impl Iterator<Item = Shape> {
        self.layouts.all().iter().map(|layout| Shape {
            ph: layout.ph,
            cat: layout.cat,
            fields: layout.fields.iter().map(|f| (f.key, f.place, f.field_type)).collect(),
        })
    }

    /// Every event with its packed fields and what follows them.
    fn events(&self) -> impl Iterator<Item = (Fixed, &[u8])> {
        self.rows().map(|row| (self.fixed(row), self.fields.at(row.index())))
    }

    fn map(&mut self, other: &Shape, names: &[NameId]) -> Mapped {
        let mut node = self.layouts.root(other.ph, other.cat.map(|cat| cat.among(names)));
        let mut are_names = Vec::new();
        for &(key, place, field_type) in &other.fields {
            node = self.layouts.step(node, key.among(names), place, field_type);
            let is_name = matches!(field_type, FieldType::Number | FieldType::Text | FieldType::Json);
            are_names.extend((0..field_type.varints()).map(|_| is_name));
        }
        Mapped {
            layout: self.layouts.finish(node, &self.names),
            has_names: are_names.contains(&true),
            names: are_names,
        }
    }
}
