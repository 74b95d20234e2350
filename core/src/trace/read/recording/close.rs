//! Completes a recording at its end: open spans, flows and times in nanoseconds; and the file at its end: track names.

use super::clock::Clock;
use super::state::{LATEST, Mark, Named, Recording, Tail};
use super::tracks::name_tracks;
use crate::base::diagnostics::Code;
use crate::base::index::Index;
use crate::base::order::sort_by_key;
use crate::base::time;
use crate::trace::table::append::RowBuilder;
use crate::trace::table::layout::FieldPlace::{Args, Top};
use crate::trace::table::tracks::Track;
use alloc::format;
use alloc::string::ToString;

const PROCESS: [&str; 2] = ["process_name", "process_sort_index"];
const THREAD: [&str; 2] = ["thread_name", "thread_sort_index"];

/// The sort indexes of devices and of the profiler's overhead among processes, as in Kineto's traces.
const FIRST_GPU: i64 = 5_000_000;
const OVERHEAD: i64 = 0x0100_000A;

impl Recording {
    /// Whether anything of the present recording was read. The window of a flight recording precedes its metadata.
    pub(super) fn has_begun(&self) -> bool {
        !self.threads.is_empty() || self.table.len() > self.first_row || self.activities.heap_bytes() > 0
    }

    /// Ends the present recording: closes open spans, appends flows and device activities, and converts times to
    /// nanoseconds since 1970. The next recording in the file has its own threads, names and clock.
    pub(super) fn end_recording(&mut self) {
        if self.is_cut_off() {
            self.diagnostics.record(Code::Unclosed, Some(self.offset), b"");
        }
        self.close_spans();
        self.flows();
        let enclosing = self.activities();
        let mut lines = self.clock.lines();
        let mut ns = |ticks: i64| lines.ns(ticks as u64);
        let mut of_tracks = self.tail.of_tracks.iter().peekable();
        for row in self.table.rows().skip(self.first_row) {
            if of_tracks.next_if_eq(&&row).is_some() {
                continue;
            }
            let (start, dur) = (self.table.ts(row), self.table.dur(row));
            let begin = ns(start);
            self.table.place(row, begin, self.table.track_id(row));
            if dur != time::NONE {
                let dur = ns(start.saturating_add(dur)).saturating_sub(begin);
                self.table.set_dur(row, dur.max(0));
            }
        }
        // Kineto extends them by a nanosecond at both ends, so that viewers nest the activities inside them.
        for row in enclosing {
            let (start, dur) = (self.table.ts(row).saturating_sub(1), self.table.dur(row).saturating_add(2));
            self.table.place(row, start, self.table.track_id(row));
            self.table.set_dur(row, dur);
        }
        let start = self.windows.first().map_or(self.tail.first_ticks.unwrap_or(0), |window| window.start);
        self.named.start.get_or_insert(ns(start.min(LATEST) as i64));
        for window in &self.windows {
            let end = if window.end == 0 { self.tail.last_ticks } else { window.end };
            self.named.windows.push(Mark {
                start: ns(window.start.min(LATEST) as i64),
                end: ns(end.min(LATEST) as i64),
                cycle: window.cycle,
                ops: self.tail.ops,
            });
        }
        self.reset();
    }

    /// Closes the spans that are open at the end of the recording.
    #[cold]
    fn close_spans(&mut self) {
        for (number, position, ticks) in core::mem::take(&mut self.tail.ended_elsewhere) {
            let thread = self.thread_at(number);
            if let Some(open) = self.threads[thread].open.get_mut(position) {
                let span = *open;
                open.is_over = true;
                self.end_span(thread, ticks, 0, span);
            }
        }
        let end = self.windows.last().map_or(0, |window| window.end).max(self.tail.last_ticks).min(LATEST);
        for thread in 0..self.threads.len() {
            while let Some(open) = self.threads[thread].open.pop() {
                if open.row.is_some() && !open.is_over && !self.is_cut_off() {
                    self.diagnostics.record(Code::OpenSpan, None, b"");
                }
                self.unfinished(open, end);
            }
        }
    }

    /// Keeps what the tracks are named by, and forgets the rest of the recording's state.
    #[cold]
    fn reset(&mut self) {
        let pid = self.pid;
        let tail = core::mem::take(&mut self.tail);
        let named = &mut self.named;
        if named.processes.iter().all(|process| process.0 != pid) {
            named.processes.push((pid, core::mem::take(&mut self.process_name)));
        }
        named
            .threads
            .extend(self.threads.drain(..).filter(|thread| thread.is_known).map(|thread| (pid, thread)));
        named.streams.extend(tail.streams);
        named.has_overhead |= tail.has_overhead;
        // Ids are unique in the trace.
        self.tail =
            Tail { last_id: tail.last_id, modules: tail.modules, is_json: tail.is_json, ..Tail::default() };
        self.first_row = self.table.len();
        self.windows.clear();
        self.clock = Clock::default();
        for index in [&mut self.names, &mut self.sites, &mut self.same_ids, &mut self.thread_numbers] {
            *index = Index::default();
        }
    }

    /// Appends the names of tracks and the marks of windows, and makes times relative to the base of the trace.
    pub(super) fn close(&mut self) {
        let named = core::mem::take(&mut self.named);
        self.track_names(&named);
        self.mark_windows(&named.windows);
        let base = self.table.metadata.base_ns;
        for row in self.table.rows() {
            // Times out of range are clamped and counted after all times are converted.
            let ts = self.table.ts(row).saturating_sub(base).max(-i64::MAX);
            self.table.place(row, ts, self.table.track_id(row));
        }
    }

    /// Appends `fwdbwd` flows from the last forward operator with a sequence number to the first backward operator with
    /// it.
    fn flows(&mut self) {
        let mut sequences = core::mem::take(&mut self.tail.sequences);
        let table = &self.table;
        sort_by_key(&mut sequences, |s| (table.ts(s.3), 0));
        sort_by_key(&mut sequences, |s| (s.0, s.1 << 1 | i64::from(s.2)));
        let mut id = 0;
        for group in sequences.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let forward = group.iter().rev().find(|entry| !entry.2);
            let backward = group.iter().find(|entry| entry.2);
            let (Some(forward), Some(backward)) = (forward, backward) else { continue };
            id += 1;
            for (ph, row) in [(b's', forward.3), (b'f', backward.3)] {
                self.flow("fwdbwd", ph, id, row);
            }
        }
    }

    /// Appends metadata events with the names of processes and tracks.
    #[cold]
    fn track_names(&mut self, of: &Named) {
        let ts = of.start.unwrap_or(0);
        let table = &mut self.table;
        let mut named =
            |(pid, tid): (i64, i64), of: [&str; 2], name: &str, label: Option<&str>, order: i64| {
                let track = (&*pid.to_string(), &*tid.to_string());
                RowBuilder::new(table, b'M', "").text(Args, "name", name).finish(of[0], ts, track);
                if let Some(label) = label {
                    RowBuilder::new(table, b'M', "").text(Args, "labels", label).finish(
                        "process_labels",
                        ts,
                        track,
                    );
                }
                RowBuilder::new(table, b'M', "").int(Args, "sort_index", order).finish(of[1], ts, track);
            };
        for (pid, process) in &of.processes {
            named((*pid, 0), PROCESS, process, Some("CPU"), *pid);
        }
        // A thread has a number in each recording, and one track in the process, with its last name.
        let (mut tracks, mut last) = (Index::default(), Index::default());
        for (at, (_, thread)) in of.threads.iter().enumerate() {
            last.set((i64::from(thread.track.0), 0), at as u32);
        }
        for (pid, thread) in &of.threads {
            let track = (i64::from(thread.track.0), 0);
            if !tracks.insert(track) {
                continue;
            }
            let latest = last.get(track).and_then(|at| of.threads.get(at as usize));
            let thread = latest.map_or(thread, |(_, latest)| latest);
            let name = format!("thread {} ({})", thread.id, thread.name);
            named((*pid, thread.tid as i64), THREAD, &name, None, thread.id as i64);
        }
        let mut streams = of.streams.clone();
        sort_by_key(&mut streams, |stream| *stream);
        streams.dedup();
        let process = of.processes.first().map_or("", |process| &*process.1);
        for on_device in streams.chunk_by(|a, b| a.0 == b.0) {
            let device = on_device[0].0;
            named((device, 0), PROCESS, process, Some(&format!("GPU {device}")), FIRST_GPU + device);
            for &(_, stream) in on_device {
                let name = if stream < 0 { format!("Device {device}") } else { format!("stream {stream} ") };
                named((device, stream), THREAD, &name, None, stream);
            }
        }
        if of.has_overhead {
            named((-1, 0), PROCESS, "CUPTI Overhead", None, OVERHEAD);
            named((-1, 0), THREAD, "CUPTI Overhead", None, 0);
        }
        name_tracks(table, of, THREAD);
    }

    /// Appends the span and the instant events that mark each window, as in Kineto's traces.
    #[cold]
    fn mark_windows(&mut self, windows: &[Mark]) {
        for &Mark { start, end, cycle, ops } in windows {
            let table = &mut self.table;
            let mut append = RowBuilder::new(table, b'X', "Trace").int(Args, "Op count", ops as i64);
            let names = append.names();
            let (pid, tid) = (names.intern("\"Spans\""), names.intern("\"Kinetoscope\""));
            let name = names.intern(&format!("Kinetoscope ({cycle})"));
            let node = append.node();
            let track = table.tracks.intern(Track { pid, tid, on_device: false });
            RowBuilder::at(table, node).finish_on(name, (start, end.saturating_sub(start).max(0)), track);
            let traces = ("\"Traces\"", "\"Trace Kinetoscope\"");
            let marks = [
                ("Iteration Start: Kinetoscope", start, traces),
                ("Record Window End", end, ("\"\"", "\"\"")),
            ];
            for (name, ts, track) in marks {
                RowBuilder::new(table, b'i', "").text(Top, "s", "g").finish(name, ts, track);
            }
        }
    }
}
