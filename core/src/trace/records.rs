//! Records of PyTorch's legacy profiler, added one at a time, into the same table as a file of records.
//!
//! A list holds the records of one thread in order. A record names its range by handle and node. [`Records::finish`]
//! pairs, nests and links the records and returns an ordinary [`Trace`].

use crate::base::diagnostics::Diagnostics;
use crate::base::names::NameId;
use crate::trace::Trace;
use crate::trace::table::append::RowBuilder;
use crate::trace::table::events::Table;
use crate::trace::table::layout::FieldPlace::Top;
use crate::trace::table::metadata::Source;

/// The kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// Begin of a range.
    Push,
    /// End of a range.
    Pop,
    /// An instant, such as `__start_profile`.
    Mark,
    /// An allocation, or a release if the number of bytes is negative.
    MemoryAlloc,
}

impl RecordKind {
    fn as_str(self) -> &'static str {
        match self {
            RecordKind::Push => "push",
            RecordKind::Pop => "pop",
            RecordKind::Mark => "mark",
            RecordKind::MemoryAlloc => "memory_alloc",
        }
    }
}

/// One record. Fields that do not apply keep the defaults of [`Record::new`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record<'a> {
    /// The kind.
    pub kind: RecordKind,
    /// The name, from [`Records::name`]; [`NameId::EMPTY`] for pops and allocations.
    pub name: NameId,
    /// The handle of the range.
    pub handle: i64,
    /// The RPC node id of the process; -1 for none.
    pub node_id: i64,
    /// The profiler's thread id.
    pub thread_id: i64,
    /// The thread id of the forward operator; 0 for none.
    pub fwd_thread_id: i64,
    /// The autograd sequence number; -1 for none.
    pub sequence_nr: i64,
    /// PyTorch's record scope.
    pub scope: i64,
    /// Whether the range may end on another thread.
    pub is_async: bool,
    /// Whether the record came from another process.
    pub is_remote: bool,
    /// Floating point operations.
    pub flops: i64,
    /// Time in ns.
    pub cpu_ns: i64,
    /// For a push and its pop, the time of the recorded device event on the device's clock in us, if there is one. It
    /// is kept with a precision of one picosecond.
    pub cuda_us: Option<f64>,
    /// The host memory usage, in bytes.
    pub cpu_memory_usage: i64,
    /// The device memory usage, in bytes.
    pub cuda_memory_usage: i64,
    /// Shapes of the inputs as JSON; empty for none.
    pub shapes: &'a str,
    /// The Python stack as a JSON list, innermost frame first; empty for none.
    pub stack: &'a str,
}

impl Record<'_> {
    /// A record of this kind with default values.
    pub fn new(kind: RecordKind) -> Self {
        Record {
            kind,
            name: NameId::EMPTY,
            handle: 0,
            node_id: -1,
            thread_id: 0,
            fwd_thread_id: 0,
            sequence_nr: -1,
            scope: 0,
            is_async: false,
            is_remote: false,
            flops: 0,
            cpu_ns: 0,
            cuda_us: None,
            cpu_memory_usage: 0,
            cuda_memory_usage: 0,
            shapes: "",
            stack: "",
        }
    }
}

/// Collects records for a trace.
#[derive(Clone, Debug)]
pub struct Records(Table);

impl Default for Records {
    fn default() -> Self {
        let mut table = Table::default();
        table.metadata.source = Source::LegacyRecords;
        Records(table)
    }
}

impl Records {
    /// Begins the list of the next thread.
    pub fn begin_list(&mut self) {
        self.0.metadata.lists.push(self.0.len());
    }

    /// Interns a name and returns its id.
    pub fn name(&mut self, name: &str) -> NameId {
        self.0.names.intern(name)
    }

    /// Appends a record to the last list. Begins a list if there is none.
    pub fn push(&mut self, record: &Record<'_>) {
        if self.0.metadata.lists.is_empty() {
            self.begin_list();
        }
        let mut row = RowBuilder::new(&mut self.0, 0, "")
            .text(Top, "kind", record.kind.as_str())
            .int(Top, "handle", record.handle)
            .int(Top, "node_id", record.node_id)
            .int(Top, "thread_id", record.thread_id)
            .int(Top, "cpu_ns", record.cpu_ns);
        let others = [
            ("fwd_thread_id", record.fwd_thread_id, 0),
            ("sequence_nr", record.sequence_nr, -1),
            ("scope", record.scope, 0),
            ("flops", record.flops, 0),
            ("cpu_memory_usage", record.cpu_memory_usage, 0),
            ("cuda_memory_usage", record.cuda_memory_usage, 0),
        ];
        for (key, value, _) in others.into_iter().filter(|o| o.1 != o.2) {
            row = row.int(Top, key, value);
        }
        for (key, _) in
            [("is_async", record.is_async), ("is_remote", record.is_remote)].iter().filter(|f| f.1)
        {
            row = row.bool(Top, key, true);
        }
        if let Some(us) = record.cuda_us {
            row = row.bool(Top, "has_cuda", true).micro(Top, "cuda_us", us);
        }
        for (key, json) in [("shapes", record.shapes), ("stack", record.stack)] {
            if !json.is_empty() {
                row = row.json(Top, key, json);
            }
        }
        row.finish_record(record.name);
    }

    /// The number of records.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Pairs, nests and links the records, and returns the trace.
    pub fn finish(self) -> Trace {
        Trace::new(self.0, Diagnostics::default())
    }
}
