//! The table `memory`: allocations and releases.

use super::Schema;
use super::column::{Column, fields, number, opened, since};
use crate::analysis::context::Analysis;
use crate::analysis::device::memory::{Memory, MemoryDevice, Record};
use crate::analysis::device::owners::Owners;
use crate::analysis::device::ranges::StepFinder;
use crate::trace::Trace;
use crate::trace::table::events::Row;
use crate::trace::table::layout::Key;
use alloc::borrow::Cow;

pub(super) const SCHEMA: Schema = Schema {
    name: "memory",
    about: "A row is an allocation or a release of memory, or an allocation that failed; those that failed come last.",
    sorted_by: &["ts_ns"],
    fields: || fields(All::COLUMNS),
    source: |analysis, _| opened(All::new(analysis), All::len, All::COLUMNS),
};

struct All<'t> {
    trace: &'t Trace,
    memory: Memory,
    owners: Owners<'t>,
    steps: &'t StepFinder,
}

impl<'t> All<'t> {
    fn new(analysis: &'t Analysis<'t>) -> All<'t> {
        let (trace, steps) = (analysis.trace, analysis.step_finder());
        All { trace, memory: Memory::new(trace), owners: Owners::new(trace), steps }
    }

    fn len(&self) -> usize {
        self.memory.records.len() + self.memory.failures.len()
    }

    /// Returns the allocation or release of a row; failures follow them.
    fn record(&self, at: usize) -> Option<&Record> {
        self.memory.records.get(at)
    }

    fn row(&self, at: usize) -> Row {
        let records = self.memory.records.len();
        self.record(at).map_or_else(|| self.memory.failures[at - records], |record| record.row)
    }

    fn int(&self, at: usize, key: Key) -> Option<i64> {
        self.trace.table.int(self.row(at), key)
    }
}

/// A column of the table.
type Of<'t> = Column<All<'t>>;

impl<'t> All<'t> {
    const COLUMNS: &'t [Of<'t>] = &[
        Of::int("record", "The number of the row, in the order of time.", |_, at| i64::try_from(at).ok()),
        Of::label("kind", "`allocation`, `release` or `out_of_memory`.", |all, at| {
            Some(match all.record(at) {
                None => "out_of_memory".into(),
                Some(record) if record.bytes < 0 => "release".into(),
                Some(_) => "allocation".into(),
            })
        }),
        Of::int("event", "Its number in `events`.", |all, at| Some(number(all.row(at)))),
        Of::int("ts_ns", "The time.", |all, at| since(all.trace.start_ns, all.trace.table.ts(all.row(at)))),
        Of::label("device", "The memory: `CPU`, `CUDA 0`, ….", |all, at| {
            Some(match all.record(at) {
                Some(record) => all.memory.devices[record.device as usize].name.as_str().into(),
                None => MemoryDevice::from_event(&all.trace.table, all.row(at)).name().into(),
            })
        }),
        Of::int("bytes", "The size; negative for a release.", |all, at| {
            Some(match all.record(at) {
                Some(record) => record.bytes,
                None => all.trace.table.bytes(all.row(at), Key::Bytes).max(0),
            })
        }),
        Of::int("allocated_bytes", "What is allocated on the device after it.", |all, at| {
            all.record(at).map(|record| record.total)
        })
        .optional(),
        Of::int("reserved_bytes", "What the allocator has reserved after it.", |all, at| {
            all.int(at, Key::TotalReserved)
        })
        .optional(),
        Of::int("address", "The address.", |all, at| all.int(at, Key::Addr)).optional(),
        Of::int("released", "Of an allocation, its release: its number in `events`.", |all, at| {
            let release = all.record(at)?.freed?;
            Some(number(all.memory.records[release as usize].row))
        })
        .optional(),
        Of::label("owner", "The operator around it, else a function of its stack.", |all, at| {
            all.owners.name(all.row(at)).map(Cow::Borrowed)
        })
        .optional(),
        Of::int("step", "The profiler step in which it happened.", |all, at| {
            all.steps.number(all.trace, all.row(at))
        })
        .optional(),
    ];
}
