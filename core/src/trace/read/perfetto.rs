//! Reads Perfetto's protobuf traces (`.pftrace`) into a table: track events, and the GPU work and counters that
//! PyTorch's Cuspy writes.
//!
//! A trace is a sequence of packets, each with its length. Packets are read one after the other, whatever the chunks. A
//! damaged packet is counted, and reading continues at the next valid one.

mod arguments;
mod clocks;
mod common;
mod events;
pub(crate) mod extension;
mod gpu;
mod metadata;
mod rows;
mod sequence;
mod slices;
mod tracks;
mod wire;

use super::limits::{Limits, memory_in_the_end};
use super::sniff;
use crate::base::diagnostics::{Code, Diagnostics};
use crate::base::error::Error;
use crate::base::index::{Index, Keyed};
use crate::trace::table::bounds::count_sizes;
use crate::trace::table::events::Table;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use clocks::Clocks;
use events::State;
use extension::packet as extended;
use gpu::Named;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use rows::{Places, RowReader};
use sequence::Sequence;
use slices::Slices;
use tracks::{Descriptor, Tracks};
use wire::{Damaged, Value, fields, varint};

/// The key and wire type of a packet.
const PACKET: u8 = 0x0a;
/// The number of first bytes that identify a trace.
pub(crate) const HEAD: usize = 64;
/// The most bytes of a packet. Longer ones are damage.
const LONGEST: usize = 256 << 20;
/// The same after damage, where a length may be part of something else.
const LONGEST_AFTER_DAMAGE: usize = 64 << 10;
/// The number of packets after which memory is checked.
const CHECKED: u64 = 64;
/// The fields of a packet that describe the trace and not the program: the user, the configuration, statistics, markers,
/// the system, the trace's id, the sequence's first packet.
const ABOUT_THE_TRACE: [u32; 11] = [3, 33, 35, 36, 42, 45, 79, 82, 87, 89, 98];

/// Whether bytes may be the start of a Perfetto trace. JSON can begin with the same byte, a line feed, but has no other
/// control characters.
pub(crate) fn is_perfetto(head: &[u8]) -> bool {
    head.first() == Some(&PACKET)
        && head.get(1) != Some(&0)
        && head[1..].iter().take(HEAD).any(|&byte| byte < 9)
}

/// What follows in the bytes.
enum Found<'a> {
    /// A packet, and the bytes that it takes.
    Packet(&'a [u8], usize),
    /// A valid packet or field needs at least this number of bytes.
    Partial(usize),
    Damage,
}

fn find(bytes: &[u8]) -> Found<'_> {
    if bytes[0] != PACKET {
        return Found::Damage;
    }
    match varint(&bytes[1..]) {
        Ok(Some((length, _))) if length > LONGEST as u64 => Found::Damage,
        Ok(Some((length, taken))) => {
            let end = 1 + taken + length as usize;
            bytes.get(1 + taken..end).map_or(Found::Partial(end), |packet| Found::Packet(packet, end))
        }
        Ok(None) => Found::Partial(bytes.len() + 1),
        Err(Damaged) => Found::Damage,
    }
}

/// The parts of a packet that apply to all others.
#[derive(Default)]
struct Packet<'a> {
    bytes: &'a [u8],
    timestamp: Option<u64>,
    clock: Option<u32>,
    sequence: u32,
    clears_state: bool,
    interned: Option<Value<'a>>,
    defaults: Option<Value<'a>>,
    /// What a row of Kinetoscope has apart from its event.
    row: Option<Value<'a>>,
    event: Option<Value<'a>>,
    /// Whether there are other parts.
    has_more: bool,
}

fn parse(bytes: &[u8]) -> Result<Packet<'_>, Damaged> {
    let mut packet = Packet { bytes, ..Packet::default() };
    for field in fields(bytes) {
        match field? {
            (8, timestamp) => packet.timestamp = Some(timestamp.number()),
            (10, sequence) => packet.sequence = sequence.number() as u32,
            (12, interned) => packet.interned = Some(interned),
            (13, flags) => packet.clears_state |= flags.number() & 1 != 0,
            (41, flag) => packet.clears_state |= flag.number() != 0,
            (58, clock) => packet.clock = Some(clock.number() as u32),
            (59, defaults) => packet.defaults = Some(defaults),
            (extended::ROW, row) => packet.row = Some(row),
            (11 | extended::HIDDEN, event) => packet.event = Some(event),
            _ => packet.has_more = true,
        }
    }
    Ok(packet)
}

/// A trace that is being read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Perfetto {
    table: Table,
    diagnostics: Diagnostics,
    limits: Limits,
    is_full: bool,
    /// The bytes that are not read yet, and how many are needed to continue.
    buffer: Vec<u8>,
    needed: usize,
    offset: u64,
    packets: u64,
    /// The first bytes.
    head: Vec<u8>,
    /// Whether the clocks or a track were described, so that a trace without events is one.
    is_proven: bool,
    in_damage: bool,
    sequences: Keyed<Sequence>,
    clocks: Clocks,
    tracks: Tracks,
    slices: Slices,
    flows: Index,
    named: Named,
    places: Places,
}

impl Perfetto {
    pub(crate) fn new(limits: Limits) -> Perfetto {
        Perfetto { limits, ..Perfetto::default() }
    }

    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    pub(crate) fn feed(&mut self, chunk: &[u8]) {
        self.head.extend_from_slice(&chunk[..chunk.len().min(HEAD - self.head.len())]);
        self.buffer.extend_from_slice(chunk);
        if self.buffer.len() >= self.needed {
            self.advance(false);
        }
    }

    /// Reads the complete packets of the buffer.
    fn advance(&mut self, is_end: bool) {
        let buffer = core::mem::take(&mut self.buffer);
        let mut at = 0;
        self.needed = 0;
        while at < buffer.len() && !self.is_full {
            let rest = &buffer[at..];
            let taken = match self.judged(find(rest), rest, is_end) {
                Found::Packet(packet, taken) => {
                    self.in_damage = false;
                    self.read(packet);
                    taken
                }
                Found::Partial(needed) if !is_end => {
                    self.needed = needed;
                    break;
                }
                found => self.skip(&found, rest),
            };
            at += taken;
            self.offset += taken as u64;
        }
        self.buffer = buffer;
        self.buffer.drain(..at);
        if self.is_full {
            self.buffer.clear();
        }
    }

    /// Decides whether what was found is a packet. After damage it must be valid and be followed by another one, since
    /// any byte can look like the start of a packet. Before, one of the two suffices. The result must not depend on the
    /// bytes that have arrived, so that of an end it waits for the next byte.
    fn judged<'a>(&self, found: Found<'a>, rest: &[u8], is_end: bool) -> Found<'a> {
        match found {
            Found::Packet(_, end) | Found::Partial(end) if self.in_damage && end > LONGEST_AFTER_DAMAGE => {
                Found::Damage
            }
            Found::Packet(packet, end) => {
                let is_valid = || !packet.is_empty() && parse(packet).is_ok();
                let is_followed = rest.get(end).map_or(is_end.then_some(true), |&byte| Some(byte == PACKET));
                match is_followed {
                    Some(true) if !self.in_damage || is_valid() => Found::Packet(packet, end),
                    _ if !self.in_damage && is_valid() => Found::Packet(packet, end),
                    None if !self.in_damage || is_valid() => Found::Partial(end + 1),
                    _ => Found::Damage,
                }
            }
            other => other,
        }
    }

    /// Returns the number of bytes to the next possible packet.
    fn skip(&mut self, found: &Found<'_>, rest: &[u8]) -> usize {
        let code = if matches!(found, Found::Partial(_)) { Code::Truncated } else { Code::StrayBytes };
        if !core::mem::replace(&mut self.in_damage, true) {
            self.diagnostics.record(code, Some(self.offset), b"");
        }
        1 + rest[1..].iter().position(|&byte| byte == PACKET).unwrap_or(rest.len() - 1)
    }

    fn read(&mut self, bytes: &[u8]) {
        self.packets += 1;
        if parse(bytes).and_then(|packet| self.packet(&packet)) == Err(Damaged) {
            self.diagnostics.record(Code::DamagedEvent, Some(self.offset), b"");
        }
        if self.packets.is_multiple_of(CHECKED) && self.heap_bytes() > self.limits.memory_bytes {
            self.diagnostics.record(Code::MemoryLimit, Some(self.offset), b"");
            self.is_full = true;
        }
    }

    fn heap_bytes(&self) -> usize {
        memory_in_the_end(&self.table) + self.slices.heap_bytes()
    }

    fn packet(&mut self, packet: &Packet<'_>) -> Result<(), Damaged> {
        let mut sequences = core::mem::take(&mut self.sequences);
        let read = self.packet_of(packet, sequences.entry((i64::from(packet.sequence), 0)));
        self.sequences = sequences;
        read
    }

    fn packet_of(&mut self, packet: &Packet<'_>, sequence: &mut Sequence) -> Result<(), Damaged> {
        if packet.clears_state {
            *sequence = Sequence::default();
        }
        if let Some(interned) = packet.interned {
            sequence.intern(interned.bytes(), &mut self.table.names)?;
        }
        if let Some(defaults) = packet.defaults {
            sequence.set_defaults(defaults.bytes())?;
        }
        if let (Some(event), true) = (packet.event, sequence.common.is_some()) {
            self.row(packet, event.bytes(), sequence)?;
            if !packet.has_more {
                return Ok(());
            }
        }
        let clock = packet.clock.or(sequence.clock).unwrap_or(Clocks::DEFAULT);
        for field in fields(packet.bytes) {
            let (number, value) = field?;
            let message = value.bytes();
            match number {
                8 | 10 | 12 | 13 | 41 | 58 | 59 | extended::ROW => {}
                extended::HEADER => sequence.common = Some(self.places.begin(message, &mut self.table)?),
                extended::IDS => {
                    if let Some(common) = &mut sequence.common {
                        common.track(message, &mut self.table)?;
                    }
                }
                11 | 60 | extended::HIDDEN if sequence.common.is_some() => {}
                5 => metadata::chrome(message, &mut self.table.metadata)?,
                6 => {
                    self.clocks.snapshot(packet.sequence, message)?;
                    self.is_proven |= !message.is_empty();
                }
                50 => self.compressed(message)?,
                60 => {
                    self.describe(message)?;
                    self.is_proven |= !message.is_empty();
                }
                11 | 52 | 53 => {
                    let ts = self.clocks.convert(packet.sequence, clock, packet.timestamp.unwrap_or(0));
                    self.timed(number, message, ts, sequence)?;
                }
                number if ABOUT_THE_TRACE.contains(&number) => {}
                _ => self.diagnostics.record(Code::UnknownKind, Some(self.offset), b""),
            }
        }
        Ok(())
    }

    /// Reads an event of a sequence that Kinetoscope wrote. One without a row ends a slice, or is a value of a counter.
    fn row(&mut self, packet: &Packet<'_>, event: &[u8], sequence: &Sequence) -> Result<(), Damaged> {
        let (Some(common), Some(row)) = (&sequence.common, packet.row) else { return Ok(()) };
        let (places, table) = (&mut self.places, &mut self.table);
        RowReader { sequence, common, places, table }.read((row.bytes(), event), packet.timestamp)
    }

    fn timed(&mut self, number: u32, message: &[u8], ts: i64, sequence: &Sequence) -> Result<(), Damaged> {
        let table = &mut self.table;
        match number {
            52 => gpu::counters(message, ts, sequence, table),
            53 => gpu::stage(message, ts, (sequence, &mut self.named), table),
            _ => {
                let (tracks, slices, flows) = (&mut self.tracks, &mut self.slices, &mut self.flows);
                let mut state = State { table, tracks, slices, flows };
                if !events::event(message, ts, sequence, &mut state)? {
                    self.diagnostics.record(Code::UnknownKind, Some(self.offset), b"");
                }
                Ok(())
            }
        }
    }

    fn describe(&mut self, message: &[u8]) -> Result<(), Damaged> {
        let descriptor = Descriptor::read(message)?;
        let uuid = descriptor.uuid;
        let (process, thread) = (descriptor.process_name.clone(), descriptor.thread_name.clone());
        self.tracks.add(descriptor);
        let (pid, tid) = self.tracks.ids(uuid);
        if let Some(name) = process {
            events::name_row(&mut self.table, "process_name", &name, (&pid, "0"));
        }
        if let Some(name) = thread {
            events::name_row(&mut self.table, "thread_name", &name, (&pid, &tid));
        }
        Ok(())
    }

    /// Reads packets that are compressed in another packet. Their own compressed packets are not read.
    fn compressed(&mut self, bytes: &[u8]) -> Result<(), Damaged> {
        let packets = decompress_to_vec_zlib_with_limit(bytes, LONGEST).map_err(|_| Damaged)?;
        for field in fields(&packets) {
            if let (1, Value::Bytes(bytes)) = field? {
                let packet = parse(bytes)?;
                if fields(bytes).flatten().all(|field| field.0 != 50) {
                    self.packet(&packet)?;
                }
            }
        }
        Ok(())
    }

    /// Ends the input and returns the table and the diagnostics.
    ///
    /// # Errors
    /// Returns [`Error::NotATrace`] if nothing shows that this is a Perfetto trace. Other protobuf formats begin with the same bytes.
    pub(crate) fn finish(mut self) -> Result<(Table, Diagnostics), Error> {
        self.advance(true);
        core::mem::take(&mut self.slices).close(&mut self.table, &mut self.diagnostics);
        if self.places.are_known() {
            self.places.apply(&mut self.table);
        } else if self.table.is_empty() && !self.is_proven {
            return Err(sniff::protobuf(&self.head));
        } else {
            let metadata = &mut self.table.metadata;
            metadata.base_ns = self.clocks.base_ns();
            metadata.entries.push(("baseTimeNanoseconds".to_string(), metadata.base_ns.to_string()));
            metadata.entries.push((SOURCE.to_string(), format!("{{\"packets\":{}}}", self.packets)));
        }
        count_sizes(&self.table, &mut self.diagnostics);
        Ok((self.table, self.diagnostics))
    }
}

/// The metadata key of traces that were read from this format.
pub(crate) const SOURCE: &str = "perfetto";
