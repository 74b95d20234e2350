//! Findings about waiting: synchronizing calls, the data loader, pageable copies, garbage collection.

use super::{Finding, FindingCode, percent, share, threshold};
use crate::analysis::device::attributes::copy_name;
use crate::analysis::device::idle::Cause;
use crate::analysis::device::names::is_sync_name;
use crate::analysis::device::ranges::Ranges;
use crate::analysis::intervals::Collector;
use crate::base::index::Index;
use crate::base::units::{bytes, counted, time_ns};
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::Key;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Adds the findings. Threads wait in parallel and calls nest, so the cost is the time of the busiest thread (for copies,
/// of the busiest device), not a sum.
pub(super) fn waiting(out: &mut Vec<Finding>, trace: &Trace, wall_ns: i64) {
    let [sync, data, pageable, garbage] = busiest(trace);
    let mut push = |code, busy: Busy, least, (cause, command), what: String, advice| {
        if share(busy.ns, wall_ns) >= least {
            let finding = Finding::new(code, busy.ns, what, advice).caused_by(cause);
            out.push(finding.shown_by(command, busy.longest.into_iter().collect()));
        }
    };
    let took = |time: i64| format!("{} ({} of wall)", time_ns(time, None), percent(time, wall_ns));
    let size = if pageable.bytes > 0 { format!(" for {}", bytes(pageable.bytes)) } else { String::new() };
    let (cause, advice) = if 2 * pageable.to_host_ns > pageable.ns {
        let advice =
            "copy results less often, to pinned memory and with non_blocking=True: .item() and .cpu() wait";
        (Cause::Synchronization, advice)
    } else {
        (Cause::HostToDeviceCopy, "use pinned memory (pin_memory=True) and non_blocking copies")
    };
    push(
        FindingCode::PageableCopies,
        pageable,
        threshold::PAGEABLE,
        (cause, "kernels"),
        format!("copies from or to pageable memory took {}{size} on the busiest device", took(pageable.ns)),
        advice,
    );
    let calls = counted(sync.count, "synchronizing call");
    push(
        FindingCode::Synchronization,
        sync,
        threshold::SYNC,
        (Cause::Synchronization, "names"),
        format!("{calls} took {} on the busiest thread", took(sync.ns)),
        "synchronize at most once per step; keep scalars on the GPU until they are printed",
    );
    push(
        FindingCode::DataLoading,
        data,
        threshold::DATA,
        (Cause::DataLoading, "idle"),
        format!("waiting for the data loader took {} on the busiest thread", took(data.ns)),
        "increase num_workers, prefetch, or make preprocessing cheaper",
    );
    let collections = counted(garbage.count, "garbage collection");
    push(
        FindingCode::GarbageCollection,
        garbage,
        threshold::GARBAGE,
        (Cause::GarbageCollection, "names"),
        format!("{collections} of Python took {} on the busiest thread", took(garbage.ns)),
        "call gc.freeze() after setup, or gc.disable() and gc.collect() between steps",
    );
}

/// The spans of one kind on one thread or device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Busy {
    /// The time during which any of them is open.
    ns: i64,
    count: usize,
    bytes: i64,
    /// Of copies, the sum of the durations of those to the host.
    to_host_ns: i64,
    /// The longest of them.
    longest: Option<Row>,
}

/// Returns the synchronizing calls, the data loading and the garbage collections of the thread that is busiest with
/// each, and the pageable copies of the busiest device. The third is the copies.
fn busiest(trace: &Trace) -> [Busy; 4] {
    let table = &trace.table;
    let collector = table.names.find("Python GC");
    let mut index = Index::default();
    let mut groups: Vec<(usize, Busy, Collector)> = Vec::new();
    let (ranges, waiting) = (Ranges::new(&table.names), table.names.that(is_sync_name));
    for row in table.rows() {
        let kind = match table.category(row) {
            Category::Runtime | Category::Driver if waiting.has(table.name_id(row)) => 0,
            _ if ranges.is_loading(table, row) => 1,
            Category::Memcpy if copied(table, row).contains("Pageable") => 2,
            Category::PythonFunction if Some(table.name_id(row)) == collector => 3,
            _ => continue,
        };
        if !table.is_span(row) {
            continue;
        }
        let place = if kind == 2 { table.track(row).pid.0 } else { table.track_id(row).0 };
        let at = index.get_or_insert((kind, i64::from(place)), groups.len() as u32) as usize;
        if at == groups.len() {
            groups.push((kind as usize, Busy::default(), Collector::default()));
        }
        let (_, busy, times) = &mut groups[at];
        busy.count += 1;
        if busy.longest.is_none_or(|longest| table.dur(row) > table.dur(longest)) {
            busy.longest = Some(row);
        }
        busy.bytes = busy.bytes.saturating_add(table.bytes(row, Key::MemcpyBytes));
        if kind == 2 && copied(table, row).contains("DtoH") {
            busy.to_host_ns = busy.to_host_ns.saturating_add(table.dur(row));
        }
        times.push((table.ts(row), table.end(row)));
    }
    let mut most = [Busy::default(); 4];
    for (kind, busy, times) in groups {
        let ns = times.union().length();
        if ns > most[kind].ns {
            most[kind] = Busy { ns, ..busy };
        }
    }
    most
}

/// The name of a copy, with its kind.
fn copied(table: &Table, row: Row) -> Cow<'_, str> {
    copy_name(table, row).map_or(Cow::Borrowed(table.name(row)), Cow::Owned)
}
