//! Reads the CUDA allocator's memory snapshot, as `torch.cuda.memory._dump_snapshot` pickles it, into a table.
//!
//! Every entry of `device_traces` becomes an instant event on the track of its device and stream: an allocation becomes
//! `[memory]` with its bytes, a completed release `[memory]` with negative bytes, running out of memory
//! `[OutOfMemory]`. All other actions keep their names. Totals are computed backwards from the segments, which are the
//! state at the end, so that they include memory that was allocated before the history began. Segments and blocks
//! become metadata events.
//!
//! Pinned host memory, which PyTorch records since 2.14 on request, has segments and a history of its own. They are those
//! of a process `pinned host memory`, as memory of the CPU.

use super::limits::{Limits, memory_in_the_end};
use super::pickle::{Fault, Pickle, Value};
use crate::base::diagnostics::{Code, Diagnostics};
use crate::base::error::Error;
use crate::base::index::Index;
use crate::base::names::NameId;
use crate::trace::table::append::RowBuilder;
use crate::trace::table::bounds::count_sizes;
use crate::trace::table::events::Table;
use crate::trace::table::layout::FieldPlace::Args;
use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;

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
pub(crate) fn read(bytes: &[u8], limits: Limits) -> Result<(Table, Diagnostics), Error> {
    let refuse = |Fault { what, at }: Fault| Error::NotATrace {
        looks_like: what,
        hint: "a memory snapshot is what torch.cuda.memory._dump_snapshot writes",
        offset: at as u64,
    };
    let pickle = Pickle::read(bytes, limits.memory_bytes).map_err(refuse)?;
    let root = pickle.root();
    let has = |key: &str| matches!(pickle.field(root, key), Value::List(_));
    if !has("segments") && !has("device_traces") {
        return Err(refuse(Fault { what: "a Python pickle of something else", at: 0 }));
    }
    let expanded_bytes = SMALL.saturating_add(bytes.len().saturating_mul(EXPANSION));
    let (most, text) = (expanded_bytes.min(limits.memory_bytes), limits.text_bytes);
    let mut snapshot = Snapshot {
        pickle: &pickle,
        table: Table::default(),
        stacks: Index::default(),
        most,
        text,
        is_full: false,
    };
    snapshot.table.metadata.entries.push((SOURCE.into(), "true".into()));
    for segment in pickle.list(root, "segments") {
        snapshot.segment(&SnapshotDevice::device(pickle.int(segment, "device")), segment);
    }
    for segment in pickle.list(root, HOST.segments) {
        snapshot.segment(&HOST, segment);
    }
    for (device, entries) in (0i64..).zip(pickle.list(root, "device_traces")) {
        snapshot.history(root, &SnapshotDevice::device(device), &snapshot.entries(entries));
    }
    snapshot.history(root, &HOST, &snapshot.entries(pickle.field(root, "host_traces")));
    let mut diagnostics = Diagnostics::default();
    let settings = pickle.field(root, "allocator_settings");
    if matches!(pickle.field(settings, "trace_alloc_overflowed"), Value::Bool(true)) {
        diagnostics.record(Code::HistoryOverflowed, None, b"");
    }
    if snapshot.is_full {
        let code = if most == limits.memory_bytes { Code::MemoryLimit } else { Code::RepeatedValues };
        diagnostics.record(code, None, b"");
    }
    count_sizes(&snapshot.table, &mut diagnostics);
    Ok((snapshot.table, diagnostics))
}

/// The metadata key that marks a table as read from a snapshot.
pub(crate) const SOURCE: &str = "memory_snapshot";

/// Whose memory it is.
struct SnapshotDevice {
    /// The key of its segments in the snapshot.
    segments: &'static str,
    device: i64,
    /// PyTorch's number of the device type.
    device_type: i64,
    pid: Cow<'static, str>,
}

const HOST: SnapshotDevice = SnapshotDevice {
    segments: "host_segments",
    device: 0,
    device_type: 0,
    pid: Cow::Borrowed("\"pinned host memory\""),
};

impl SnapshotDevice {
    fn device(device: i64) -> SnapshotDevice {
        SnapshotDevice { segments: "segments", device, device_type: 1, pid: Cow::Owned(device.to_string()) }
    }
}

/// A pickle can refer to one value many times. What is made of it takes at most this many bytes, and this many times its size.
const SMALL: usize = 64 << 20;
const EXPANSION: usize = 32;

struct Snapshot<'a> {
    pickle: &'a Pickle,
    table: Table,
    /// The text of each list of frames that was seen, by the number of the list.
    stacks: Index,
    /// What the table may take, and the longest text, in bytes.
    most: usize,
    text: usize,
    /// Whether the table takes as much as it may. What follows is not read.
    is_full: bool,
}

impl<'a> Snapshot<'a> {
    /// Whether there is room for another row.
    fn has_room(&mut self) -> bool {
        self.is_full |= memory_in_the_end(&self.table) > self.most;
        !self.is_full
    }

    fn segment(&mut self, place: &SnapshotDevice, segment: &Value) {
        if !self.has_room() {
            return;
        }
        let pickle = self.pickle;
        let int = |key: &str| pickle.int(segment, key);
        let stream = int("stream").to_string();
        RowBuilder::new(&mut self.table, b'M', "")
            .int(Args, "Addr", int("address"))
            .int(Args, "Bytes", int("total_size"))
            .int(Args, "allocated_size", int("allocated_size"))
            .int(Args, "active_size", int("active_size"))
            .int(Args, "Device Id", place.device)
            .int(Args, "Device Type", place.device_type)
            .text(Args, "segment_type", pickle.text(segment, "segment_type"))
            .finish(SEGMENT, 0, (&place.pid, &stream));
        for block in pickle.list(segment, "blocks") {
            if !self.has_room() {
                return;
            }
            let frames = self.frames(block);
            RowBuilder::new(&mut self.table, b'M', "")
                .int(Args, "Addr", pickle.int(block, "address"))
                .int(Args, "Bytes", pickle.int(block, "size"))
                .int(Args, "requested_size", pickle.int(block, "requested_size"))
                .text(Args, "state", pickle.text(block, "state"))
                .text_id(Args, "Call stack", frames)
                .finish(BLOCK, 0, (&place.pid, &stream));
        }
    }

    /// The frames of an entry in the format of a trace's `Call stack`: innermost first, each followed by `;`. A longer text than
    /// allowed is cut.
    fn frames(&mut self, of: &Value) -> NameId {
        let pickle = self.pickle;
        let list = pickle.id(of, "frames").map(|list| (i64::from(list), 0));
        if let Some(known) = list.and_then(|list| self.stacks.get(list)) {
            return NameId(known);
        }
        let mut text = String::new();
        for frame in pickle.list(of, "frames") {
            if text.len() >= self.text {
                break;
            }
            let file = pickle.text(frame, "filename").replace(';', ":");
            let name = pickle.text(frame, "name").replace(';', ":");
            let _ = write!(text, "{file}({}): {name};", pickle.int(frame, "line"));
        }
        let id = self.table.names.intern(&text);
        if let Some(list) = list {
            self.stacks.set(list, id.0);
        }
        id
    }

    /// The entries of a history. That of the host can be a list for each device.
    fn entries(&self, list: &Value) -> Vec<&'a Value> {
        let elements = |list: &Value| -> Vec<&'a Value> {
            let Value::List(ids) = list else { return Vec::new() };
            ids.iter().map(|&id| self.pickle.get(id)).collect()
        };
        let is_list = |value: &&Value| matches!(value, Value::List(_));
        let (lists, mut entries): (Vec<_>, Vec<_>) = elements(list).into_iter().partition(is_list);
        entries.extend(lists.into_iter().flat_map(elements));
        entries
    }

    fn history(&mut self, root: &Value, place: &SnapshotDevice, entries: &[&Value]) {
        let pickle = self.pickle;
        // PyTorch can leave out the ends of releases. Then their beginnings count.
        let is = |wanted: &str| entries.iter().any(|entry| pickle.text(entry, "action") == wanted);
        let release = if is("free_completed") { "free_completed" } else { "free_requested" };
        let mut totals = self.totals_before(root, place, (entries, release));
        for entry in entries {
            if !self.has_room() {
                return;
            }
            let int = |key: &str| pickle.int(entry, key);
            let action = pickle.text(entry, "action");
            let (allocated, reserved) = change((action, release), int("size"));
            totals = (totals.0.saturating_add(allocated), totals.1.saturating_add(reserved));
            let name = match action {
                "oom" => "[OutOfMemory]",
                other if other == "alloc" || other == release => "[memory]",
                other => other,
            };
            let frames = self.frames(entry);
            let ts = int("time_us").saturating_mul(1000).max(-i64::MAX);
            let mut row = RowBuilder::new(&mut self.table, b'i', "cpu_instant_event")
                .int(Args, "Total Reserved", totals.1)
                .int(Args, "Total Allocated", totals.0)
                .int(Args, "Device Id", place.device)
                .int(Args, "Device Type", place.device_type)
                .int(Args, "Bytes", if action == "oom" { int("size") } else { allocated })
                .int(Args, "Addr", int("addr"))
                .text_id(Args, "Call stack", frames);
            for key in ["compile_context", "user_metadata"] {
                let text = pickle.text(entry, key);
                if !text.is_empty() {
                    row = row.text(Args, key, text);
                }
            }
            row.finish(name, ts, (&place.pid, &int("stream").to_string()));
        }
    }

    /// The bytes allocated and reserved before the history: the state at the end minus the changes of the history.
    fn totals_before(
        &self,
        root: &Value,
        place: &SnapshotDevice,
        (entries, release): (&[&Value], &str),
    ) -> (i64, i64) {
        let pickle = self.pickle;
        let mut totals = (0i64, 0i64);
        let is_own =
            |segment: &&Value| place.device_type == 0 || pickle.int(segment, "device") == place.device;
        for segment in pickle.list(root, place.segments).filter(is_own) {
            // A block whose release has begun is active until the release ends.
            let active = if release == "free_completed" { pickle.int(segment, "active_size") } else { 0 };
            totals.0 = totals.0.saturating_add(pickle.int(segment, "allocated_size").max(active));
            totals.1 = totals.1.saturating_add(pickle.int(segment, "total_size"));
        }
        for entry in entries {
            let (allocated, reserved) =
                change((pickle.text(entry, "action"), release), pickle.int(entry, "size"));
            totals = (totals.0.saturating_sub(allocated), totals.1.saturating_sub(reserved));
        }
        totals
    }
}

/// The change of allocated and of reserved bytes by an action.
fn change((action, release): (&str, &str), size: i64) -> (i64, i64) {
    match action {
        "alloc" => (size, 0),
        "segment_alloc" | "segment_map" => (0, size),
        "segment_free" | "segment_unmap" => (0, size.saturating_neg()),
        _ if action == release => (size.saturating_neg(), 0),
        _ => (0, 0),
    }
}
