//! The table `gaps`: the idle time of devices and streams.

use super::Schema;
use super::column::{Column, fields, number, opened, since};
use crate::analysis::device::idle::Part;
use crate::analysis::device::idle_rows::{Idle, IdleBy, idle};
use crate::table::tracks::plain;
use crate::trace::Trace;
use alloc::borrow::ToOwned;
use alloc::vec;
use alloc::vec::Vec;

pub(super) const SCHEMA: Schema = Schema {
    name: "gaps",
    about: "A row is a period with one cause in which a device or a stream was idle, between its first activity and its last. \
            The periods of a device add up to its idle time.",
    sorted_by: &["level", "device", "stream", "ts_ns"],
    fields: || fields(&columns()),
    source: |trace, _| {
        let all = Gaps::new(trace);
        let len = all.gaps.len();
        opened(all, len, columns())
    },
};

struct Gaps<'t> {
    trace: &'t Trace,
    places: Vec<Idle>,
    /// The indexes of a place and of one of its parts.
    gaps: Vec<(usize, usize)>,
}

impl<'t> Gaps<'t> {
    fn new(trace: &'t Trace) -> Gaps<'t> {
        let places: Vec<Idle> =
            [false, true].into_iter().flat_map(|by_stream| idle(trace, by_stream)).collect();
        let parts = |(at, place): (usize, &Idle)| (0..place.parts.len()).map(move |part| (at, part));
        Gaps { trace, gaps: places.iter().enumerate().flat_map(parts).collect(), places }
    }

    fn place(&self, at: usize) -> &Idle {
        &self.places[self.gaps[at].0]
    }

    fn part(&self, at: usize) -> &Part {
        &self.place(at).parts[self.gaps[at].1]
    }
}

/// A column of the table.
type Of<'t> = Column<Gaps<'t>>;

fn columns<'t>() -> Vec<Of<'t>> {
    vec![
        Of::word(
            "level",
            "`device` or `stream`: the idle time of a device is also that of its streams.",
            |all, at| {
                let is_stream = all.place(at).stream.is_some();
                Some(if is_stream { IdleBy::Stream } else { IdleBy::Device }.as_str())
            },
        ),
        Of::label("device", "The device: its number, or the `pid` of its track.", |all, at| {
            Some(all.place(at).device.clone())
        }),
        Of::label("stream", "The stream: the `tid` of its track.", |all, at| {
            let table = &all.trace.table;
            all.place(at).stream.map(|track| plain(&table.names, table.tracks.get(track).tid).to_owned())
        })
        .optional(),
        Of::int("track", "The track of the stream: its number in `tracks`.", |all, at| {
            all.place(at).stream.map(|track| i64::from(track.0))
        })
        .optional(),
        Of::int("ts_ns", "The start.", |all, at| since(all.trace.start_ns, all.part(at).time.0)),
        Of::int("dur_ns", "The duration.", |all, at| Some(all.part(at).time.1 - all.part(at).time.0)),
        Of::word("cause", "The cause.", |all, at| Some(all.part(at).cause.as_str())),
        Of::int("behind", "The event that stood behind it: its number in `events`.", |all, at| {
            all.part(at).behind.map(number)
        })
        .optional(),
    ]
}
