//! The event table: one row per event, in the order of the file.
//!
//! Fixed columns hold the properties of every event. Everything else is packed by [`layout`](super::layout) and
//! [`fields`](super::fields), so that every argument is kept and takes a few bytes.
//!
//! Invariants: a row is never reordered or removed after reading; times are relative to [`Table::base_ns`]; a missing time is
//! [`time::NONE`].

use super::column::Column;
use super::fields::{Fields, Value, read};
use super::layout::{Field, FieldPlace, Key, Layout, LayoutId, Layouts, NodeId, is_begin};
use super::metadata::Metadata;
use super::tracks::{Track, TrackId, Tracks};
use crate::base::handle::{handle, run};
use crate::base::names::{NameId, Names};
use crate::base::time;
use crate::trace::table::category::Category;
use alloc::vec;
use alloc::vec::Vec;

/// The largest size that counts in sums, in bytes: 1 PiB.
pub const LARGEST: i64 = 1 << 50;

handle! {
    /// The index of an event among the objects of `traceEvents`. [`Table::row`] returns only rows that the table has;
    /// methods of a table panic for other rows.
    pub struct Row;
}

/// The fixed columns of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fixed {
    /// Start in ns, relative to the table's base, or [`time::NONE`].
    pub ts: i64,
    /// Duration in ns, or [`time::NONE`].
    pub dur: i64,
    /// The name; empty if there is none.
    pub name: NameId,
    /// The track.
    pub track: TrackId,
    /// The phase, category and fields.
    pub layout: LayoutId,
}

/// All events of a trace, with the strings, tracks and layouts that the rows refer to.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// All strings.
    pub names: Names,
    /// All tracks.
    pub tracks: Tracks,
    /// All phases, categories and sets of fields.
    pub(crate) layouts: Layouts,
    /// The packed fields.
    pub(crate) fields: Fields,
    /// The top-level members other than `traceEvents`.
    pub metadata: Metadata,
    ts: Column<i64>,
    dur: Column<i64>,
    name: Column<NameId>,
    track: Column<TrackId>,
    layout: Column<LayoutId>,
}

/// Returns the row of each key, if the keys are the numbers from 0 to that of the rows in some order.
fn permutation(keys: &[u64]) -> Option<Vec<u32>> {
    let mut order = vec![u32::MAX; keys.len()];
    for (row, &key) in (0..).zip(keys) {
        let place = order.get_mut(usize::try_from(key).ok()?)?;
        if core::mem::replace(place, row) != u32::MAX {
            return None;
        }
    }
    Some(order)
}

impl Table {
    /// Appends an event. Its fields were packed before.
    #[inline]
    pub(crate) fn push(&mut self, fixed: Fixed) -> Row {
        let row = Row::new(self.ts.len());
        self.fields.finish_event();
        self.ts.push(fixed.ts);
        self.dur.push(fixed.dur);
        self.name.push(fixed.name);
        self.track.push(fixed.track);
        self.layout.push(fixed.layout);
        row
    }

    /// Sorts the rows by these keys, one for each row. The sort is stable.
    pub(crate) fn sort_rows(&mut self, keys: &[u64]) {
        if keys.is_sorted() {
            return;
        }
        let order = permutation(keys).unwrap_or_else(|| {
            let mut order: Vec<u32> = (0..keys.len() as u32).collect();
            order.sort_by_key(|&row| keys[row as usize]);
            order
        });
        self.gather(&order);
    }

    /// Keeps these rows, which are in the order of the table.
    pub(crate) fn retain(&mut self, rows: &[Row]) {
        if rows.len() < self.len() {
            let order: Vec<u32> = rows.iter().map(|row| row.index() as u32).collect();
            self.gather(&order);
        }
    }

    /// Makes these rows those of the table.
    fn gather(&mut self, order: &[u32]) {
        let varints = |row: u32| self.layouts.get(self.layout[row as usize]).varints();
        self.fields = self.fields.gather(order.iter().map(|&row| (row as usize, varints(row))));
        self.ts = self.ts.gather(order);
        self.dur = self.dur.gather(order);
        self.name = self.name.gather(order);
        self.track = self.track.gather(order);
        self.layout = self.layout.gather(order);
    }

    /// Removes the fields with these keys that are not arguments, from all events.
    pub(crate) fn remove_fields(&mut self, keys: &[&str]) {
        let mut kept = Fields::default();
        let mut layouts: Vec<Option<LayoutId>> = vec![None; self.layouts.all().len()];
        for row in self.rows() {
            let id = self.layout_id(row);
            let layout = self.layouts.get(id).clone();
            let is_kept =
                |field: &&Field| field.place != FieldPlace::Top || !keys.contains(&self.names.get(field.key));
            let fields = layout.fields.iter().filter(is_kept);
            fields.clone().for_each(|field| kept.push_field(&self.fields, row.index(), field));
            kept.finish_event();
            let known = layouts[id.0 as usize].unwrap_or_else(|| {
                let mut node = self.layouts.root(layout.ph, layout.cat);
                for field in fields {
                    node = self.layouts.step(node, field.key, field.place, field.field_type);
                }
                self.layouts.finish(node, &self.names)
            });
            layouts[id.0 as usize] = Some(known);
            self.layout[row.index()] = known;
        }
        self.fields = kept;
    }

    /// Removes all events. Strings, tracks, layouts and metadata stay.
    pub(crate) fn clear_events(&mut self) {
        self.fields = Fields::default();
        self.ts = Column::default();
        self.dur = Column::default();
        self.name = Column::default();
        self.track = Column::default();
        self.layout = Column::default();
    }

    /// The number of events.
    pub fn len(&self) -> usize {
        self.ts.len()
    }

    /// Whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.ts.len() == 0
    }

    /// The memory allocated for events and strings, in bytes.
    pub fn heap_bytes(&self) -> usize {
        let columns = self.ts.heap_bytes()
            + self.dur.heap_bytes()
            + self.name.heap_bytes()
            + self.track.heap_bytes()
            + self.layout.heap_bytes();
        columns + self.fields.heap_bytes() + self.names.heap_bytes()
    }

    /// Every row, in the order of the file.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = Row> + ExactSizeIterator + Clone + use<> {
        run(0..self.ts.len())
    }

    /// The rows of a category, in the order of the file.
    pub(crate) fn rows_of(&self, category: Category) -> impl Iterator<Item = Row> {
        let searched = if self.layouts.has(category) { self.ts.len() } else { 0 };
        run(0..searched).filter(move |&row| self.category(row) == category)
    }

    /// The row with this index, if there is one.
    pub fn row(&self, number: usize) -> Option<Row> {
        (number < self.ts.len()).then_some(Row::new(number))
    }

    /// The Unix time of a `ts` of 0, in ns; 0 if the file has absolute times.
    pub fn base_ns(&self) -> i64 {
        self.metadata.base_ns
    }

    /// Start of the event in ns, relative to the base, or [`time::NONE`].
    #[inline(always)]
    pub fn ts(&self, row: Row) -> i64 {
        self.ts[row.index()]
    }

    /// Duration of the event in ns: from the file for complete events, from pairing for begin events, otherwise
    /// [`time::NONE`].
    #[inline(always)]
    pub fn dur(&self, row: Row) -> i64 {
        self.dur[row.index()]
    }

    /// Sets the duration of an event.
    pub(crate) fn set_dur(&mut self, row: Row, ns: i64) {
        self.dur[row.index()] = ns;
    }

    /// Reclassifies an event: sets its phase and category, and maps its fields to known keys. The strings of the event
    /// stay as they are.
    pub(crate) fn set_meaning(&mut self, row: Row, meaning: (u8, Category), keys: &[(&str, Key)]) {
        let at = row.index();
        self.layout[at] = self.layout_with(self.layout[at], meaning, keys);
        let track = self.tracks.get(self.track[at]);
        let on_device = meaning.1.is_on_device();
        if track.on_device != on_device {
            self.track[at] = self.tracks.intern(Track { on_device, ..track });
        }
    }

    /// Returns the layout that [`Table::set_meaning`] gives to events of `layout`.
    pub(crate) fn layout_with(
        &mut self,
        layout: LayoutId,
        meaning: (u8, Category),
        keys: &[(&str, Key)],
    ) -> LayoutId {
        self.layouts.with_meaning(layout, meaning, keys, &self.names)
    }

    /// Sets the layout of an event to one from [`Table::layout_with`].
    pub(crate) fn set_layout(&mut self, row: Row, layout: LayoutId) {
        self.layout[row.index()] = layout;
    }

    /// Adds the fields on the path from the layout of an event to `node`, whose values were packed last.
    pub(crate) fn amend(&mut self, row: Row, node: NodeId) {
        let at = row.index();
        let varints = self.layouts.get(self.layout[at]).varints();
        self.fields.amend(at, varints);
        self.layout[at] = self.layouts.finish(node, &self.names);
    }

    /// Sets the name of an event.
    pub(crate) fn rename(&mut self, row: Row, name: NameId) {
        self.name[row.index()] = name;
    }

    /// Sets the time of an event, in ns after the base, and its track.
    pub(crate) fn place(&mut self, row: Row, ts: i64, track: TrackId) {
        self.ts[row.index()] = ts;
        self.track[row.index()] = track;
    }

    /// End of the event in ns; its start if it has no duration.
    #[inline(always)]
    pub fn end(&self, row: Row) -> i64 {
        self.ts(row).saturating_add(self.dur(row).max(0))
    }

    /// Whether the event is a complete or begin event with a start and a duration. The begins of asynchronous spans have durations in
    /// traces that have no other spans.
    #[inline]
    pub fn is_span(&self, row: Row) -> bool {
        self.dur(row) != time::NONE
            && self.ts(row) != time::NONE
            && (self.ph(row) == b'X' || is_begin(self.ph(row)))
    }

    /// Sorts events by start and then by descending end. The sort is stable.
    pub(crate) fn sort_by_start(&self, rows: &mut [Row]) {
        // Few events start together, so few ends are read.
        let order =
            |&a: &Row, &b: &Row| self.ts(a).cmp(&self.ts(b)).then_with(|| self.end(b).cmp(&self.end(a)));
        if !rows.is_sorted_by(|a, b| order(a, b).is_le()) {
            rows.sort_by(order);
        }
    }

    /// The id of the name.
    #[inline]
    pub fn name_id(&self, row: Row) -> NameId {
        self.name[row.index()]
    }

    /// The fixed columns.
    #[inline]
    pub(super) fn fixed(&self, row: Row) -> Fixed {
        Fixed {
            ts: self.ts(row),
            dur: self.dur(row),
            name: self.name_id(row),
            track: self.track_id(row),
            layout: self.layout_id(row),
        }
    }

    /// The packed fields.
    pub(super) fn packed_fields(&self, row: Row) -> &[u8] {
        self.fields.packed(row.index(), self.layout(row).varints())
    }

    /// The name.
    pub fn name(&self, row: Row) -> &str {
        self.names.get(self.name_id(row))
    }

    /// The id of the track.
    #[inline]
    pub fn track_id(&self, row: Row) -> TrackId {
        self.track[row.index()]
    }

    /// The track.
    pub fn track(&self, row: Row) -> Track {
        self.tracks.get(self.track_id(row))
    }

    /// The layout.
    #[inline(always)]
    pub fn layout(&self, row: Row) -> &Layout {
        self.layouts.get(self.layout[row.index()])
    }

    /// The id of the layout.
    #[inline]
    pub(crate) fn layout_id(&self, row: Row) -> LayoutId {
        self.layout[row.index()]
    }

    /// The phase; 0 if the event has none.
    #[inline(always)]
    pub fn ph(&self, row: Row) -> u8 {
        self.layout(row).ph
    }

    /// The category.
    #[inline(always)]
    pub fn category(&self, row: Row) -> Category {
        self.layout(row).category
    }

    /// The text of `cat`; empty if there is none.
    pub fn cat(&self, row: Row) -> &str {
        self.layout(row).cat.map_or("", |cat| self.names.get(cat))
    }

    /// The value of a known field.
    #[inline]
    pub fn field(&self, row: Row, key: Key) -> Option<Value<'_>> {
        let field = self.layout(row).find(key)?;
        Some(self.fields.value(row.index(), field, &self.names))
    }

    /// The value of a known field, as an integer.
    #[inline]
    pub fn int(&self, row: Row, key: Key) -> Option<i64> {
        self.field(row, key)?.as_i64()
    }

    /// The value of a known field as a size, limited to ±[`LARGEST`]; 0 if there is none.
    pub fn bytes(&self, row: Row, key: Key) -> i64 {
        self.int(row, key).unwrap_or(0).clamp(-LARGEST, LARGEST)
    }

    /// The value of a field by its key. If a key occurs twice, the last value is returned.
    pub fn field_named(&self, row: Row, place: FieldPlace, key: &str) -> Option<Value<'_>> {
        self.field_with(row, place, self.names.find(key)?)
    }

    /// The same by the id of the key.
    pub(crate) fn field_with(&self, row: Row, place: FieldPlace, key: NameId) -> Option<Value<'_>> {
        let field = self.layout(row).fields.iter().rev().find(|f| f.key == key && f.place == place)?;
        Some(self.fields.value(row.index(), field, &self.names))
    }

    /// Every field of an event with its value, in the order of the text.
    pub fn all_fields(&self, row: Row) -> impl Iterator<Item = (&Field, Value<'_>)> {
        let mut bytes = self.fields.at(row.index());
        self.layout(row).fields.iter().map(move |f| (f, read(&mut bytes, f.field_type, &self.names)))
    }
}
