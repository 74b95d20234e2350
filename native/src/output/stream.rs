//! The stream of a recording: each flush turns what threads and devices recorded since the last flush into blocks.

use crate::activity::unavailable::Unavailable;
use crate::device::collector::Collector;
use crate::hot::chunk::Chunk;
use crate::hot::clock::Clock;
use crate::hot::lock::hold;
use crate::hot::pool::pool;
use crate::hot::registry::registry;
use crate::hot::state::{DROPPED, NEXT_ID};
use crate::output::batch::{Batch, Records, block};
use crate::output::lost::Lost;
use crate::output::sink::Sink;
use kinetoscope_stream::activity;
use kinetoscope_stream::block::BlockKind;
use kinetoscope_stream::record::{FIRST_NAME, Tag, Word, key};
use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::atomic::Ordering;

/// A chunk that a thread writes to, and how much of it was read.
pub(crate) struct Active {
    pub(crate) chunk: &'static Chunk,
    read: usize,
    arguments: usize,
}

/// The approximate maximum number of words in a block of activities: 1 MiB.
const ACTIVITY_WORDS: usize = 1 << 17;

/// The chunks that threads write to, oldest first. They outlast recordings.
pub(crate) static ACTIVE: Mutex<Vec<Active>> = Mutex::new(Vec::new());

/// Adds the chunks that threads took from the pool since the last call.
fn adopt(active: &mut Vec<Active>) {
    while let Some(chunk) = pool().fresh() {
        active.push(Active { chunk, read: 0, arguments: 0 });
    }
}

/// The writer's state of a recording.
pub(crate) struct Stream {
    state: u32,
    clock: Clock,
    sink: Sink,
    /// The number of names and sites that are in the recording already.
    names: usize,
    sites: usize,
    dropped_before: u64,
    /// The spans and events that the sink did not keep.
    lost: Lost,
    devices: Option<Collector>,
    /// The start of the recording, in ticks.
    start: u64,
    /// The external id of the first span whose record has none.
    first_id: u64,
    pub(crate) records: u64,
    pub(crate) dropped: u64,
    pub(crate) bytes: u64,
}

impl Stream {
    pub(crate) fn new(state: u32, clock: Clock, sink: Sink, devices: Option<Collector>) -> Stream {
        let dropped_before = DROPPED.load(Ordering::Relaxed);
        Stream {
            state,
            clock,
            sink,
            names: 0,
            sites: 0,
            dropped_before,
            lost: Lost::default(),
            devices,
            start: 0,
            first_id: 0,
            records: 0,
            dropped: 0,
            bytes: 0,
        }
    }

    /// Appends blocks that are not records.
    pub(crate) fn append(&mut self, definitions: Vec<u8>) {
        self.bytes += definitions.len() as u64;
        self.sink.append(&Batch { definitions, ..Batch::default() });
    }

    /// Writes what was recorded since the last flush.
    pub(crate) fn flush(&mut self) {
        // First: the records of these threads are collected below.
        let mut batch = Batch { ended: registry().take_ended_threads(), ..Batch::default() };
        let done = self.collect(&mut batch);
        let lost_by_devices = self.collect_activities(&mut batch);
        self.define(&mut batch.definitions);
        if !batch.records.is_empty() || !batch.activities.is_empty() {
            self.read_clock(&mut batch.notes);
        }
        batch.ticks = self.clock.ticks();
        let dropped = DROPPED.load(Ordering::Relaxed);
        let lost = dropped - self.dropped_before + lost_by_devices;
        self.dropped_before = dropped;
        self.write_dropped(lost, &mut batch.notes);
        if self.sink.append(&batch) {
            self.records += batch.count + batch.activity_count;
            self.bytes += batch.len() as u64;
        } else {
            self.bytes += (batch.definitions.len() + batch.notes.len()) as u64;
            let of_threads = batch.records.iter().map(|of| self.lost.count(of.thread, &of.payload()));
            let refused = batch.activity_count + of_threads.sum::<u64>();
            let mut note = Vec::new();
            self.write_dropped(refused, &mut note);
            self.append(note);
        }
        for chunk in done {
            pool().give_back(chunk);
        }
    }

    /// Writes the number of spans and events that were lost, if there are any.
    fn write_dropped(&mut self, lost: u64, out: &mut Vec<u8>) {
        if lost > 0 {
            self.dropped += lost;
            let word = Word::pack(Tag::Dropped, 0, 0, u32::try_from(lost).unwrap_or(u32::MAX));
            block(out, BlockKind::Records, 0, |out| {
                let ticks = self.clock.ticks();
                for word in [ticks, word, ticks] {
                    out.extend_from_slice(&word.to_le_bytes());
                }
            });
        }
    }

    /// Writes that an activity was not recorded between two times, in ticks.
    pub(crate) fn write_pause(&mut self, activity: &'static str, (start, end): (u64, u64)) {
        let name = registry().name(activity);
        let mut out = Vec::new();
        self.define(&mut out);
        block(&mut out, BlockKind::Records, 0, |out| {
            let words =
                [Word::pack(Tag::Paused, 1, 0, name), end, Word::pack(Tag::Int, 0, 0, key::VALUE), start];
            for word in [start].into_iter().chain(words) {
                out.extend_from_slice(&word.to_le_bytes());
            }
        });
        self.append(out);
    }

    /// Starts or stops the recording of devices while the recording goes on. Work that was submitted is completed
    /// first.
    pub(crate) fn toggle_devices(&mut self, is_on: bool) -> Result<(), Unavailable> {
        self.devices.iter_mut().try_for_each(|devices| devices.toggle(is_on))
    }

    /// Collects the words that were published since the last flush. Returns the chunks that are sealed and read to
    /// their end.
    fn collect(&self, batch: &mut Batch) -> Vec<&'static Chunk> {
        let mut done = Vec::new();
        let mut active = hold(&ACTIVE);
        adopt(&mut active);
        active.retain_mut(|Active { chunk, read, arguments }| {
            // The seal is loaded first: the length of a sealed chunk is final.
            let is_sealed = chunk.is_sealed();
            let length = chunk.published();
            if chunk.recording.load(Ordering::Relaxed) == self.state && length > *read {
                let thread = chunk.thread.load(Ordering::Relaxed);
                batch.records.push(Records { thread, chunk, words: *read..length });
                let counted = chunk.arguments();
                batch.count += (length - *read).saturating_sub(counted - *arguments) as u64;
                *arguments = counted;
            }
            *read = length;
            if is_sealed {
                done.push(*chunk);
            }
            !is_sealed
        });
        done
    }

    /// Collects the device activities since the last flush. Returns how many were lost.
    fn collect_activities(&mut self, batch: &mut Batch) -> u64 {
        let Some(devices) = &mut self.devices else { return 0 };
        let (mut words, lost) = devices.take();
        while !words.is_empty() {
            let mut end = 0;
            while end < words.len().min(ACTIVITY_WORDS) {
                end += activity::Record::length(words[end]);
                batch.activity_count += 1;
            }
            let (piece, rest) = words.split_at(end);
            block(&mut batch.activities, BlockKind::Activities, 0, |out| {
                out.extend(piece.iter().flat_map(|word| word.to_le_bytes()));
            });
            words = rest;
        }
        lost
    }

    /// Waits until the devices have finished the work submitted to them.
    pub(crate) fn synchronize_devices(&self) {
        self.devices.iter().for_each(Collector::synchronize);
    }

    /// Stops the recording of devices.
    pub(crate) fn stop_devices(&mut self) {
        self.append_clock();
        self.devices.iter_mut().for_each(Collector::stop);
    }

    pub(crate) fn devices(&self) -> Option<&Collector> {
        self.devices.as_ref()
    }

    /// Writes the names, sites and threads that were registered since the last flush, which records refer to.
    fn define(&mut self, out: &mut Vec<u8>) {
        let mut registry = registry();
        let threads = registry.take_threads();
        let names = registry.names_from(self.names);
        block(out, BlockKind::Names, 0, |out| {
            for (number, name) in (self.names..).zip(names) {
                out.extend_from_slice(&(FIRST_NAME + number as u32).to_le_bytes());
                out.extend_from_slice(&(name.len() as u32).to_le_bytes());
                out.extend_from_slice(name.as_bytes());
                out.resize(out.len() + name.len().next_multiple_of(8) - name.len(), 0);
            }
        });
        let sites = registry.sites_from(self.sites);
        block(out, BlockKind::Sites, 0, |out| {
            for (number, site) in (self.sites + 1..).zip(sites) {
                let last = site.line << 8 | site.kind as u32;
                for word in [number as u32, site.name, site.file, last] {
                    out.extend_from_slice(&word.to_le_bytes());
                }
            }
        });
        for (number, thread) in threads {
            block(out, BlockKind::Thread, number, |out| {
                out.extend_from_slice(&thread.id.to_le_bytes());
                out.extend_from_slice(thread.name.as_bytes());
            });
        }
        (self.names, self.sites) = (self.names + names.len(), self.sites + sites.len());
    }

    /// Appends a clock reading.
    pub(crate) fn append_clock(&mut self) {
        let mut notes = Vec::new();
        self.read_clock(&mut notes);
        self.bytes += notes.len() as u64;
        self.sink.append(&Batch { notes, ..Batch::default() });
    }

    /// Writes the start and the end of the recording, in ticks. The end is 0 while the recording runs.
    pub(crate) fn write_window(&mut self, (start, end): (u64, u64), cycle: u64) {
        if self.start != start {
            self.start = start;
            self.first_id = NEXT_ID.load(Ordering::Relaxed);
        }
        // The window of a ring buffer moves; it is written when the buffer is dumped.
        if !matches!(self.sink, Sink::Ring(..)) {
            let mut out = Vec::new();
            window(&mut out, [start, end, cycle, self.first_id]);
            self.append(out);
        }
    }

    /// Writes the content of a ring buffer as a complete recording; nothing for any other sink.
    pub(crate) fn write_so_far(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.devices.iter().for_each(Collector::flush);
        self.flush();
        self.append_clock();
        let Sink::Ring(ring, _) = &self.sink else { return Ok(()) };
        // Each dump has ids of its own. No more spans have one than there are records.
        let first_id = NEXT_ID.fetch_add(self.records, Ordering::Relaxed);
        let mut head = Vec::new();
        window(&mut head, [ring.start().unwrap_or(self.start), self.clock.ticks(), 0, first_id]);
        out.write_all(&head)?;
        ring.write(|bytes| out.write_all(bytes))
    }

    fn read_clock(&self, out: &mut Vec<u8>) {
        let (ticks, ns) = self.clock.reading();
        block(out, BlockKind::Clock, 0, |out| {
            out.extend_from_slice(&ticks.to_le_bytes());
            out.extend_from_slice(&ns.to_le_bytes());
        });
        if let Some((time, ticks)) = self.devices.as_ref().and_then(|devices| self.device_reading(devices)) {
            block(out, BlockKind::DeviceClock, 0, |out| {
                out.extend_from_slice(&time.to_le_bytes());
                out.extend_from_slice(&ticks.to_le_bytes());
            });
        }
    }

    /// Returns the time of the devices' clock and ticks at the same time: the most precise of eight readings, which is
    /// the one with the fewest ticks between its begin and its end.
    fn device_reading(&self, devices: &Collector) -> Option<(u64, u64)> {
        let once = || {
            let (before, time, after) = (self.clock.ticks(), devices.time()?, self.clock.ticks());
            let took = after.saturating_sub(before);
            Some((took, time, before + took / 2))
        };
        (0..8).filter_map(|_| once()).min().map(|(_, time, ticks)| (time, ticks))
    }

    pub(crate) fn into_sink(self) -> Sink {
        self.sink
    }
}

fn window(out: &mut Vec<u8>, numbers: [u64; 4]) {
    block(out, BlockKind::Window, 0, |out| {
        for number in numbers {
            out.extend_from_slice(&number.to_le_bytes());
        }
    });
}
