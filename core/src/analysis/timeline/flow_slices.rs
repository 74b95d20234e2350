//! The slices that flows connect.

use crate::trace::Trace;
use crate::trace::table::events::Row;
use crate::trace::table::layout::FieldPlace;
use crate::trace::tree::Position;

/// The slice of a flow event: the event itself if it is a span; of an end without `"bp": "e"` the next slice on its track, as in
/// Chrome's format; else the innermost slice that is open at its time. Device work has a track of its own with the same ids.
pub(crate) fn slice_of(trace: &Trace, event: Row) -> Option<Position> {
    let (table, tree) = (&trace.table, &trace.tree);
    let (track, instant) = (table.track_id(event), table.ts(event));
    if table.is_span(event) {
        let open = tree.open_at(table, track, instant)?;
        let mut above = core::iter::once(open).chain(tree.ancestors(open));
        return above.find(|&at| tree.row(at) == event).or(Some(open));
    }
    let is_enclosed =
        || table.field_named(event, FieldPlace::Top, "bp").and_then(|value| value.as_str()) == Some("e");
    let is_next = table.ph(event) == b'f' && !is_enclosed();
    let on = |track| {
        if is_next { tree.next_at(table, track, instant) } else { tree.open_at(table, track, instant) }
    };
    table.tracks.find_on_device(track).and_then(on).or_else(|| on(track))
}
