//! Reads the CUDA allocator's memory snapshot, as `torch.cuda.memory._dump_snapshot` pickles it, into a table.
//!
//! Every entry of `device_traces` becomes an instant event on the track of its device and stream: an allocation becomes
//! `[memory]` with its bytes, a completed release `[memory]` with negative bytes, running out of memory
//! `[OutOfMemory]`. All other actions keep their names. Totals are computed backwards from the segments, which are the
//! state at the end, so that they include memory that was allocated before the history began. Segments and blocks
//! become metadata events.

use super::pickle::{Fault, Pickle, Value};
use crate::diagnostics::Diagnostics;
use crate::error::Error;
use crate::table::append::RowBuilder;
use crate::table::bounds::count_sizes;
use crate::table::events::Table;
use crate::table::layout::Place::Args;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The name of the metadata events of segments.
pub(crate) const SEGMENT: &str = "segment";

/// The name of the metadata events of blocks.
pub(crate) const BLOCK: &str = "block";

/// Whether bytes are the start of a pickle of protocol 2 to 5.
pub(crate) fn is_pickle(head: &[u8]) -> bool {
    matches!(head, [0x80, 2..=5, ..])
}

/// Reads a snapshot.
///
/// # Errors
/// Returns [`Error::NotATrace`] if the bytes are not a pickle of plain data, or not a snapshot.
pub(crate) fn read(bytes: &[u8]) -> Result<(Table, Diagnostics), Error> {
    let refuse = |Fault { what, at }: Fault| Error::NotATrace {
        looks_like: what,
        hint: "a memory snapshot is what torch.cuda.memory._dump_snapshot writes",
        offset: at as u64,
    };
    let pickle = Pickle::read(bytes).map_err(refuse)?;
    let root = pickle.root();
    let has = |key: &str| matches!(pickle.field(root, key), Value::List(_));
    if !has("segments") && !has("device_traces") {
        return Err(refuse(Fault { what: "a Python pickle of something else", at: 0 }));
    }
    let mut snapshot = Snapshot { pickle: &pickle, table: Table::default() };
    snapshot.table.metadata.entries.push((SOURCE.into(), "true".into()));
    snapshot.segments(root);
    for (device, entries) in (0i64..).zip(pickle.list(root, "device_traces")) {
        snapshot.history(root, device, entries);
    }
    let mut diagnostics = Diagnostics::default();
    count_sizes(&snapshot.table, &mut diagnostics);
    Ok((snapshot.table, diagnostics))
}

/// The metadata key that marks a table as read from a snapshot.
pub(crate) const SOURCE: &str = "memory_snapshot";

struct Snapshot<'a> {
    pickle: &'a Pickle,
    table: Table,
}

impl Snapshot<'_> {
    fn segments(&mut self, root: &Value) {
        let pickle = self.pickle;
        for segment in pickle.list(root, "segments") {
            let int = |key: &str| pickle.int(segment, key);
            let (device, stream) = (int("device").to_string(), int("stream").to_string());
            RowBuilder::new(&mut self.table, b'M', "")
                .int(Args, "Addr", int("address"))
                .int(Args, "Bytes", int("total_size"))
                .int(Args, "allocated_size", int("allocated_size"))
                .int(Args, "active_size", int("active_size"))
                .int(Args, "Device Id", int("device"))
                .text(Args, "segment_type", pickle.text(segment, "segment_type"))
                .finish(SEGMENT, 0, (&device, &stream));
            for block in pickle.list(segment, "blocks") {
                let frames = self.frames(block);
                RowBuilder::new(&mut self.table, b'M', "")
                    .int(Args, "Addr", pickle.int(block, "address"))
                    .int(Args, "Bytes", pickle.int(block, "size"))
                    .int(Args, "requested_size", pickle.int(block, "requested_size"))
                    .text(Args, "state", pickle.text(block, "state"))
                    .text(Args, "Call stack", &frames)
                    .finish(BLOCK, 0, (&device, &stream));
            }
        }
    }

    /// The frames of an entry in the format of a trace's `Call stack`: innermost first, each followed by `;`.
    fn frames(&self, of: &Value) -> String {
        let pickle = self.pickle;
        let frame = |frame: &Value| {
            let file = pickle.text(frame, "filename").replace(';', ":");
            format!(
                "{file}({}): {};",
                pickle.int(frame, "line"),
                pickle.text(frame, "name").replace(';', ":")
            )
        };
        pickle.list(of, "frames").map(frame).collect()
    }

    fn history(&mut self, root: &Value, device: i64, entries: &Value) {
        let pickle = self.pickle;
        let entries: Vec<&Value> = match entries {
            Value::List(ids) => ids.iter().map(|&id| pickle.get(id)).collect(),
            _ => return,
        };
        let mut totals = self.totals_before(root, device, &entries);
        for entry in entries {
            let int = |key: &str| pickle.int(entry, key);
            let action = pickle.text(entry, "action");
            let (allocated, reserved) = change(action, int("size"));
            totals = (totals.0.saturating_add(allocated), totals.1.saturating_add(reserved));
            let name = match action {
                "alloc" | "free_completed" => "[memory]",
                "oom" => "[OutOfMemory]",
                other => other,
            };
            let frames = self.frames(entry);
            let ts = int("time_us").saturating_mul(1000).max(-i64::MAX);
            let (pid, tid) = (device.to_string(), int("stream").to_string());
            RowBuilder::new(&mut self.table, b'i', "cpu_instant_event")
                .int(Args, "Total Reserved", totals.1)
                .int(Args, "Total Allocated", totals.0)
                .int(Args, "Device Id", device)
                .int(Args, "Device Type", 1)
                .int(Args, "Bytes", if action == "oom" { int("size") } else { allocated })
                .int(Args, "Addr", int("addr"))
                .text(Args, "Call stack", &frames)
                .finish(name, ts, (&pid, &tid));
        }
    }

    /// The bytes allocated and reserved before the history: the state at the end minus the changes of the history.
    fn totals_before(&self, root: &Value, device: i64, entries: &[&Value]) -> (i64, i64) {
        let pickle = self.pickle;
        let mut totals = (0i64, 0i64);
        for segment in pickle.list(root, "segments").filter(|s| pickle.int(s, "device") == device) {
            totals.0 = totals.0.saturating_add(pickle.int(segment, "allocated_size"));
            totals.1 = totals.1.saturating_add(pickle.int(segment, "total_size"));
        }
        for entry in entries {
            let (allocated, reserved) = change(pickle.text(entry, "action"), pickle.int(entry, "size"));
            totals = (totals.0.saturating_sub(allocated), totals.1.saturating_sub(reserved));
        }
        totals
    }
}

/// The change of allocated and of reserved bytes by an action.
fn change(action: &str, size: i64) -> (i64, i64) {
    match action {
        "alloc" => (size, 0),
        "free_completed" => (size.saturating_neg(), 0),
        "segment_alloc" | "segment_map" => (0, size),
        "segment_free" | "segment_unmap" => (0, size.saturating_neg()),
        _ => (0, 0),
    }
}
