//! Records of PyTorch's legacy profiler, as `torch.autograd._disable_profiler_legacy` returns them: one list per thread
//! of pushes, pops, marks and allocations.
//!
//! A push becomes a begin, a pop an end, and an allocation a `[memory]` event. [`pair::records`](crate::trace::pair) pairs
//! them by PyTorch's rules. A track is a thread of a node. Times count from the record `__start_profile`.

use super::placing::{NumberedTracks, int, ordered_start};
use crate::base::diagnostics::{Code, Diagnostics};
use crate::base::names::NameId;
use crate::trace::table::bounds::count_size;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::fields::Value;
use crate::trace::table::layout::{Key, LayoutId};
use alloc::vec::Vec;

const START: &str = "__start_profile";

/// The fields of a record and the corresponding keys of Kineto's traces.
const KEYS: &[(&str, Key)] = &[
    ("handle", Key::ExternalId),
    ("fwd_thread_id", Key::FwdThreadId),
    ("sequence_nr", Key::SequenceNumber),
    ("shapes", Key::InputDims),
    ("stack", Key::CallStack),
    ("thread_id", Key::StartThreadId),
    ("cpu_memory_usage", Key::Bytes),
    ("cpu_ns", Key::CpuTime),
    ("cpu_elapsed_us", Key::CpuTime),
];

pub(super) fn apply(table: &mut Table, diagnostics: &mut Diagnostics) {
    let memory = table.names.intern("[memory]");
    let in_us = table.layouts.all().iter().any(|l| {
        let mut keys = l.fields.iter().map(|f| table.names.get(f.key));
        keys.any(|key| key == "cpu_elapsed_us")
    });
    let mut tracks = NumberedTracks::default();
    let mut layouts = Layouts::default();
    let mut node = 0;
    for row in table.rows() {
        let kind = kind(table, row, diagnostics);
        layouts.apply(table, row, kind);
        // Allocations have no node id; they belong to the node of the previous record.
        if kind != ALLOCATION {
            node = int(table, row, Key::NodeId);
        } else if table.name_id(row) == NameId::EMPTY {
            table.rename(row, memory);
        }
        let thread = int(table, row, Key::StartThreadId);
        let track = tracks.get(table, node, thread, false);
        let time = table.field(row, Key::CpuTime).and_then(|v| if in_us { v.us_as_ns() } else { v.as_i64() });
        if time.is_none() {
            diagnostics.record(Code::MissingTime, None, table.name(row).as_bytes());
        }
        table.place(row, ordered_start(time.unwrap_or(0), diagnostics), track);
        count_size(table, row, (None, table.name(row).as_bytes()), diagnostics);
    }
    table.metadata.origin = Some(origin(table, diagnostics));
}

/// The phase and category of each kind of record.
const MEANINGS: [(u8, Category); 6] = [
    (b'B', Category::CpuOp),
    (b'B', Category::UserAnnotation),
    (b'E', Category::Other),
    (b'i', Category::CpuInstant),
    (b'i', Category::Other),
    (b'I', Category::Other),
];

/// The index of allocations in [`MEANINGS`].
const ALLOCATION: usize = 3;

/// The number of PyTorch's record scope `USER_SCOPE`.
const USER_SCOPE: i64 = 7;

/// The index of a record's kind in [`MEANINGS`].
fn kind(table: &Table, row: Row, diagnostics: &mut Diagnostics) -> usize {
    match table.field(row, Key::Kind).and_then(|v| v.as_str()) {
        Some("push") => usize::from(int(table, row, Key::Scope) == USER_SCOPE),
        Some("pop") => 2,
        Some("memory_alloc") => ALLOCATION,
        Some("mark") => 4,
        other => {
            diagnostics.record(Code::UnknownKind, None, other.unwrap_or("").as_bytes());
            5
        }
    }
}

/// For each layout of records, its layout with each of [`MEANINGS`].
#[derive(Default)]
struct Layouts(Vec<[Option<LayoutId>; 6]>);

impl Layouts {
    fn apply(&mut self, table: &mut Table, row: Row, kind: usize) {
        let layout = table.layout_id(row);
        if self.0.len() <= layout.0 as usize {
            self.0.resize(layout.0 as usize + 1, [None; 6]);
        }
        let known = &mut self.0[layout.0 as usize][kind];
        let mapped = *known.get_or_insert_with(|| table.layout_with(layout, MEANINGS[kind], KEYS));
        table.set_layout(row, mapped);
    }
}

/// The time origin: that of the record `__start_profile`, else the earliest time.
fn origin(table: &Table, diagnostics: &mut Diagnostics) -> i64 {
    let name = table.names.find(START);
    let first = table.rows().find(|&row| Some(table.name_id(row)) == name);
    let is_remote = |row: Row| table.field(row, Key::IsRemote) == Some(Value::Bool(true));
    let local = first.filter(|&row| !is_remote(row));
    if local.is_none() {
        diagnostics.record(Code::NoStartRecord, None, b"");
    }
    let earliest = table.rows().map(|row| table.ts(row)).min().unwrap_or(0);
    let origin = local.map_or(earliest, |row| table.ts(row));
    if earliest < origin {
        diagnostics.record(Code::LateStartRecord, None, b"");
    }
    origin
}
