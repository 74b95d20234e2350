//! The table `counters`.

use super::Schema;
use super::column::{Column, fields, opened};
use crate::analysis::timeline::counters::{Counter, computed, recorded_in_order};
use crate::trace::Trace;
use alloc::vec::Vec;

pub(super) const SCHEMA: Schema = Schema {
    name: "counters",
    about: "A row is a value of a counter, which holds until the next one: of a counter of the file, or of memory, launch \
            queues, activity and bandwidth of devices.",
    sorted_by: &["counter", "ts_ns"],
    fields: || fields(Counters::COLUMNS),
    source: |analysis, _| opened(Counters::new(analysis.trace), |all| all.points.len(), Counters::COLUMNS),
};

struct Counters {
    counters: Vec<Counter>,
    /// The number of counters that are in the file, which come first.
    recorded: usize,
    /// The indexes of a counter and of one of its points.
    points: Vec<(usize, usize)>,
}

impl Counters {
    fn new(trace: &Trace) -> Counters {
        let mut counters = recorded_in_order(trace);
        let recorded = counters.len();
        counters.append(&mut computed(trace));
        let points =
            |(at, counter): (usize, &Counter)| (0..counter.points.len()).map(move |point| (at, point));
        Counters { points: counters.iter().enumerate().flat_map(points).collect(), recorded, counters }
    }

    fn counter(&self, at: usize) -> &Counter {
        &self.counters[self.points[at].0]
    }

    fn point(&self, at: usize) -> (i64, f64) {
        self.counter(at).points[self.points[at].1]
    }
}

/// A column of the table.
type Of = Column<Counters>;

impl Counters {
    const COLUMNS: &'static [Of] = &[
        Of::int("counter", "The number of the counter.", |all, at| i64::try_from(all.points[at].0).ok()),
        Of::label("process", "The process or device that it belongs to.", |all, at| {
            Some(all.counter(at).process.as_str().into())
        }),
        Of::label("name", "The name.", |all, at| Some(all.counter(at).name.as_str().into())),
        Of::label(
            "unit",
            "The unit of the values: `bytes`, `count`, `share` or `bytes_per_second`.",
            |all, at| Some(all.counter(at).unit.as_str().into()),
        ),
        Of::bool("is_recorded", "Whether it is in the file.", |all, at| {
            Some(all.points[at].0 < all.recorded)
        }),
        Of::int("point", "The number of the value among those of the counter.", |all, at| {
            i64::try_from(all.points[at].1).ok()
        }),
        Of::int("ts_ns", "The time.", |all, at| Some(all.point(at).0)),
        Of::float("value", "The value.", |all, at| Some(all.point(at).1)),
    ];
}
