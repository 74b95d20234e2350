//! Converts the timestamps of packets to ns after the first clock snapshot.

use super::wire::{Damaged, fields};
use crate::base::index::Keyed;
use alloc::vec::Vec;

/// Ids of clocks. Those from 64 on belong to one sequence of packets.
const REALTIME: u32 = 1;
const BOOTTIME: u32 = 6;
const FIRST_OF_SEQUENCE: u32 = 64;
const LAST_OF_SEQUENCE: u32 = 127;

#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    /// What is added to a value in ns to get the boot time.
    to_boot: i64,
    unit_ns: i64,
    /// Whether each timestamp counts from the one before it.
    is_incremental: bool,
    /// The last timestamp, in ns.
    last: i64,
}

/// The clocks of a trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Clocks {
    /// The boot time of ts 0.
    zero: Option<i64>,
    /// The Unix time of ts 0.
    base: Option<i64>,
    known: Keyed<Clock>,
}

#[derive(Clone, Copy, Default)]
struct Reading {
    id: u32,
    timestamp: i64,
    is_incremental: bool,
    unit_ns: i64,
}

impl Clocks {
    /// The Unix time of ts 0, in ns; 0 if no snapshot has it.
    pub(super) fn base_ns(&self) -> i64 {
        self.base.unwrap_or(0)
    }

    /// Reads a snapshot of all clocks.
    pub(super) fn snapshot(&mut self, sequence: u32, message: &[u8]) -> Result<(), Damaged> {
        let mut readings = Vec::new();
        for field in fields(message) {
            if let (1, clock) = field? {
                readings.push(reading(clock.bytes())?);
            }
        }
        let ns = |reading: &Reading| reading.timestamp.saturating_mul(reading.unit_ns);
        let of = |id: u32| readings.iter().find(|reading| reading.id == id).map(ns);
        let Some(boot) = of(BOOTTIME).or_else(|| readings.first().map(ns)) else { return Ok(()) };
        let zero = *self.zero.get_or_insert(boot);
        if let Some(unix) = of(REALTIME) {
            self.base.get_or_insert(unix.saturating_sub(boot.saturating_sub(zero)));
        }
        for reading in &readings {
            let value = ns(reading);
            let clock = Clock {
                to_boot: boot.saturating_sub(value),
                unit_ns: reading.unit_ns,
                is_incremental: reading.is_incremental,
                last: value,
            };
            *self.known.entry(key(sequence, reading.id)) = clock;
        }
        Ok(())
    }

    /// Returns a timestamp of a clock in ns after ts 0. An unknown clock counts as the boot time.
    pub(super) fn convert(&mut self, sequence: u32, id: u32, timestamp: u64) -> i64 {
        let timestamp = i64::try_from(timestamp).unwrap_or(i64::MAX);
        let boot = match self.known.get_mut(key(sequence, id)) {
            Some(clock) if id != BOOTTIME => {
                let ns = timestamp.saturating_mul(clock.unit_ns);
                let value = if clock.is_incremental { clock.last.saturating_add(ns) } else { ns };
                clock.last = value;
                value.saturating_add(clock.to_boot)
            }
            _ => timestamp,
        };
        boot.saturating_sub(*self.zero.get_or_insert(0))
    }

    /// The clock of packets that name none.
    pub(super) const DEFAULT: u32 = BOOTTIME;
}

fn key(sequence: u32, id: u32) -> (i64, i64) {
    let is_own = (FIRST_OF_SEQUENCE..=LAST_OF_SEQUENCE).contains(&id);
    (if is_own { i64::from(sequence) } else { 0 }, i64::from(id))
}

fn reading(message: &[u8]) -> Result<Reading, Damaged> {
    let mut reading = Reading { unit_ns: 1, ..Reading::default() };
    for field in fields(message) {
        match field? {
            (1, id) => reading.id = id.number() as u32,
            (2, value) => reading.timestamp = value.int(),
            (3, value) => reading.is_incremental = value.number() != 0,
            (4, value) => reading.unit_ns = value.int().max(1),
            _ => {}
        }
    }
    Ok(reading)
}
