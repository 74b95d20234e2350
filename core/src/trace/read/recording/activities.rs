//! Converts device activities to rows after all of them were read, because buffers arrive in any order and the records
//! that link activities are separate.

mod links;

use super::state::{LATEST, Recording, Thread};
use crate::base::demangle::demangle;
use crate::base::names::NameId;
use crate::base::time;
use crate::trace::table::append::RowBuilder;
use crate::trace::table::events::Row;
use crate::trace::table::layout::FieldPlace::{Args, Top};
use crate::trace::table::layout::{FieldType, NodeId};
use crate::trace::table::tracks::{Track, TrackId};
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use kinetoscope_stream::activity::{Activity, Form, MISSING, NO_STREAM, Record, span_kind};
use links::Links;

impl Recording {
    /// Appends rows for all activities, with times in ticks. Returns the rows of user annotations on streams.
    pub(super) fn activities(&mut self) -> Vec<Row> {
        let activities = core::mem::take(&mut self.activities);
        let mut lines = activities.clock.lines();
        let mut links = Links::new(&activities);
        for record in activities.records() {
            let mut ticks = |time: u64| lines.ns(time).clamp(0, LATEST as i64);
            let begin = ticks(record.begin);
            let end = ticks(record.end).max(begin);
            if self.is_in_a_window(begin, end) {
                match record.activity {
                    Activity::External => {}
                    Activity::Memory => links.add_change(begin, &record),
                    Activity::Range => self.range(&record, (begin, end), &mut links),
                    _ => self.activity(&record, (begin, end), &mut links),
                }
            }
        }
        self.launches(&links);
        // A framework's allocator records its own allocations, which include those from the driver.
        if !self.tail.has_device_memory {
            self.device_memory(&mut links);
        }
        self.ranges_on_streams(&links)
    }

    /// Whether an activity is inside a window. Like Kineto, this leaves out activities that cross its bounds.
    fn is_in_a_window(&self, begin: i64, end: i64) -> bool {
        let holds = |start: u64, stop: u64| begin >= start as i64 && (stop == 0 || end <= stop as i64);
        self.windows.is_empty() || self.windows.iter().any(|window| holds(window.start, window.end))
    }

    /// Returns the track of a thread or stream, and whether it was known before.
    fn track_of(&mut self, links: &mut Links, (pid, tid): (i64, i64), on_device: bool) -> (TrackId, bool) {
        let key = (pid << 1 | i64::from(on_device), tid);
        if let Some(known) = links.tracks.get(key) {
            return (TrackId(known), true);
        }
        let names = &mut self.table.names;
        let (pid, tid) = (names.intern(&pid.to_string()), names.intern(&tid.to_string()));
        let track = self.table.tracks.intern(Track { pid, tid, on_device });
        links.tracks.set(key, track.0);
        (track, false)
    }

    /// The track of a thread of this process.
    fn thread_track(&mut self, links: &mut Links, thread: u32) -> TrackId {
        let (track, is_known) = self.track_of(links, (self.pid, i64::from(thread)), false);
        if !is_known && !self.threads.iter().any(|known| known.is_known && known.track == track) {
            let id = u64::from(thread);
            self.threads.push(Thread { id, tid: id, track, is_known: true, ..Thread::default() });
        }
        track
    }

    /// The track of a stream.
    fn stream_track(&mut self, links: &mut Links, stream: (i64, i64)) -> TrackId {
        let (track, is_known) = self.track_of(links, stream, true);
        if !is_known && !self.tail.streams.contains(&stream) {
            self.tail.streams.push(stream);
        }
        track
    }

    /// Appends the row of an activity of a device or its runtime.
    fn activity(&mut self, record: &Record<'_>, (begin, end): (i64, i64), links: &mut Links) {
        let device = links.device(record);
        let stream = if record.stream == NO_STREAM { -1 } else { i64::from(record.stream) };
        let category = record.activity.category();
        let track = match record.activity {
            Activity::Runtime | Activity::Driver => self.thread_track(links, record.lane),
            Activity::Overhead => {
                self.tail.has_overhead = true;
                self.track_of(links, (-1, 0), false).0
            }
            _ => self.stream_track(links, (device, stream)),
        };
        let mut append = RowBuilder::new(&mut self.table, b'X', category);
        let span = links.span(record.correlation, span_kind::OP);
        if let Some(id) = span {
            append = append.int(Args, "External id", i64::from(id));
        }
        if matches!(record.activity, Activity::Sync | Activity::Event) {
            append = append.int(Args, "device", device);
        }
        if let Some((stream, correlation)) = links.awaited(record) {
            append = append
                .int(Args, "wait_on_stream", stream)
                .int(Args, "wait_on_cuda_event_record_corr_id", correlation)
                .int(Args, "wait_on_cuda_event_id", record.value(2) as i64);
        }
        let node = append.node();
        let node = self.values(node, record, stream);
        let name = match record.activity {
            Activity::Kernel => self.kernel_name(record.name, links),
            _ => self.name(record.name),
        };
        let row = RowBuilder::at(&mut self.table, node).finish_on(name, (begin, end - begin), track);
        links.add_row(record, row, track, (begin, end));
    }

    /// The demangled name of a kernel, as Kineto writes it. CUPTI records the mangled name.
    fn kernel_name(&mut self, id: u32, links: &mut Links) -> NameId {
        let key = (i64::from(id), 0);
        if let Some(known) = links.kernels.get(key) {
            return NameId(known);
        }
        let mangled = self.name(id);
        let plain = demangle(self.table.names.get(mangled));
        let name = plain.map_or(mangled, |plain| self.table.names.intern(&plain));
        links.kernels.set(key, name.0);
        name
    }

    /// Adds the values of a record as fields after a node.
    fn values(&mut self, mut node: NodeId, record: &Record<'_>, stream: i64) -> NodeId {
        let mut values = record.values;
        for &(key, form) in record.activity.fields() {
            let Some((words, behind)) = values.split_at_checked(form.words()) else { break };
            values = behind;
            let text = (form == Form::Text).then(|| self.name(words[0] as u32));
            let append = RowBuilder::at(&mut self.table, node);
            node = match form {
                Form::Lane => append.int(Args, key, i64::from(record.lane)),
                Form::Stream => append.int(Args, key, stream),
                Form::Correlation => append.int(Args, key, record.correlation as i64),
                Form::Int if words[0] != MISSING => append.int(Args, key, words[0] as i64),
                Form::Float if words[0] != MISSING => float(append, key, f64::from_bits(words[0])),
                Form::Triple if words[0] != 0 => {
                    append.json(Args, key, &format!("[{},{},{}]", words[0], words[1], words[2]))
                }
                Form::Text => {
                    let mut append = append;
                    let key = append.names().intern(key);
                    append.packed(key, FieldType::Text, u64::from(text.unwrap_or(NameId::EMPTY).0))
                }
                _ => append,
            }
            .node();
        }
        node
    }

    /// Appends an NVTX range or mark.
    fn range(&mut self, record: &Record<'_>, (begin, end): (i64, i64), links: &mut Links) {
        let track = self.thread_track(links, record.lane);
        let is_mark = record.begin == record.end;
        let (ph, category) =
            if is_mark { (b'i', "cpu_instant_event") } else { (b'X', record.activity.category()) };
        let mut append = RowBuilder::new(&mut self.table, ph, category);
        if is_mark {
            append = append.text(Top, "s", "t");
        }
        let node = append.node();
        let node = self.values(node, record, -1);
        let name = self.name(record.name);
        let dur = if is_mark { time::NONE } else { end - begin };
        RowBuilder::at(&mut self.table, node).finish_on(name, (begin, dur), track);
    }

    /// Appends `ac2g` flows from calls to the activities that they caused.
    fn launches(&mut self, links: &Links) {
        let mut last = None;
        for (call, correlation, row) in links.launched() {
            let mut ends = [(b's', call), (b'f', row)].into_iter();
            if last.replace(correlation) == Some(correlation) {
                ends.next();
            }
            for (ph, row) in ends {
                self.flow("ac2g", ph, correlation, row);
            }
        }
    }

    /// Appends `[memory]` events on the track of the calling thread.
    fn device_memory(&mut self, links: &mut Links) {
        for change in links.changes() {
            let track = match links.call(change.correlation) {
                Some(call) => self.table.track_id(call),
                None => self.thread_track(links, 0),
            };
            let numbers = [change.address as i64, change.bytes, change.total, change.total];
            self.memory_on("[memory]", track, change.ticks, (1, i64::from(change.device)), numbers);
        }
    }

    /// Appends `gpu_user_annotation`s: from the first to the last activity of a user annotation on a stream.
    fn ranges_on_streams(&mut self, links: &Links) -> Vec<Row> {
        let mut rows = Vec::new();
        for seen in &links.observed {
            let name = self.tail.annotations.get((i64::from(seen.id), 0));
            let Some(name) = name.map(NameId) else { continue };
            let append = RowBuilder::new(&mut self.table, b'X', "gpu_user_annotation");
            let append = append.int(Args, "External id", i64::from(seen.id));
            rows.push(append.finish_on(name, (seen.begin, seen.end - seen.begin), seen.track));
        }
        rows
    }
}

/// JSON has no infinity.
fn float<'a>(append: RowBuilder<'a>, key: &str, value: f64) -> RowBuilder<'a> {
    match serde_json::Number::from_f64(value) {
        Some(number) => append.number(Args, key, &number.to_string()),
        None => append.text(Args, key, "inf"),
    }
}
