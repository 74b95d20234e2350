//! The table `tracks`.

use super::Schema;
use super::column::{Column, device, fields, opened, stream};
use crate::analysis::timeline::lane_names::LaneNames;
use crate::trace::Trace;
use crate::trace::table::tracks::{Track, plain};

pub(super) const SCHEMA: Schema = Schema {
    name: "tracks",
    about: "A row is a thread or a stream: the pid and the tid that events have in common.",
    sorted_by: &["track"],
    fields: || fields(Tracks::COLUMNS),
    source: |analysis, _| {
        let all = Tracks { trace: analysis.trace, names: LaneNames::new(analysis.trace) };
        opened(all, |all| all.trace.table.tracks.all().len(), Tracks::COLUMNS)
    },
};

struct Tracks<'t> {
    trace: &'t Trace,
    names: LaneNames<'t>,
}

impl Tracks<'_> {
    fn track(&self, at: usize) -> Track {
        self.trace.table.tracks.all()[at]
    }
}

/// A column of the table.
type Of<'t> = Column<Tracks<'t>>;

impl<'t> Tracks<'t> {
    const COLUMNS: &'t [Of<'t>] = &[
        Of::int("track", "The number of the track, as `tiles` and the table `events` have it.", |_, at| {
            i64::try_from(at).ok()
        }),
        Of::label("pid", "The pid in the file: a process, or the number of a device.", |all, at| {
            Some(plain(&all.trace.table.names, all.track(at).pid).into())
        }),
        Of::label("tid", "The tid in the file: a thread, or the number of a stream.", |all, at| {
            Some(plain(&all.trace.table.names, all.track(at).tid).into())
        }),
        Of::label("process", "The name of the process or device.", |all, at| {
            Some(all.names.process(all.track(at)).into())
        }),
        Of::label("thread", "The name of the thread or stream.", |all, at| {
            Some(all.names.thread(all.track(at)).into())
        }),
        Of::int("device", "The device, if the track is a stream.", |all, at| {
            device(&all.trace.table, all.track(at))
        })
        .optional(),
        Of::int("stream", "The stream, if the track is one.", |all, at| {
            stream(&all.trace.table, all.track(at))
        })
        .optional(),
    ];
}
