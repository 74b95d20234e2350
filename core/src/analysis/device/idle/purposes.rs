//! Calls that are for something that their names do not say: captures of CUDA graphs, first uses, and waits for work from
//! before the recording.

use super::cause::Cause;
use crate::analysis::context::Analysis;
use crate::analysis::device::names::is_sync_name;
use crate::analysis::intervals::{Collector, Interval, Intervals, lengths_in};
use crate::base::index::Index;
use crate::base::names::ByName;
use crate::base::order::sort_by_key;
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::tracks::TrackId;
use alloc::vec;
use alloc::vec::Vec;

/// A wait that takes at least this long, in ns, waits for work.
pub(crate) const WAIT_NS: i64 = 200_000;

/// A first use takes at least this long, in ns, and at least this many times as long as the median call.
const FIRST_USE_NS: i64 = 1_000_000;
const FIRST_USE_RATIO: i64 = 100;

/// Of fewer calls, the median says little: then a first use takes at least this long, in ns.
const FEW_CALLS: usize = 4;
const LONG_FIRST_USE_NS: i64 = 50_000_000;

/// The causes of calls that [`Purposes`] knows.
const CAUSES: [Cause; 2] = [Cause::ColdStart, Cause::NotRecorded];

/// What calls are for, where their names do not say it.
#[derive(Debug, Default)]
pub(crate) struct Purposes {
    pub(crate) captures: Captures,
    /// The calls that are a first use or wait for unrecorded work, with an index into [`CAUSES`].
    calls: Index,
    /// The calls that are the first of their kind, take much longer than others, and do not wait for a device.
    pub(super) first_uses: Vec<Row>,
    /// The calls that wait and end before the first recorded activity begins.
    pub(crate) early_waits: Vec<Row>,
}

impl Analysis<'_> {
    /// Returns what the calls of the runtime and of the driver are for.
    pub(crate) fn purposes(&self) -> &Purposes {
        self.once(|| Purposes::new(self.trace))
    }
}

impl Purposes {
    fn new(trace: &Trace) -> Purposes {
        if !trace.table.layouts.has_any(Category::is_launch_call) {
            return Purposes::default();
        }
        let (first_uses, early_waits) = (first_uses(trace), early_waits(trace));
        let mut calls = Index::default();
        for (cause, rows) in (0..).zip([&first_uses, &early_waits]) {
            for &row in rows {
                calls.set((i64::from(row), 0), cause);
            }
        }
        Purposes { captures: Captures(captures(trace)), calls, first_uses, early_waits }
    }

    /// What a call is for, if its name does not say it.
    pub(super) fn cause(&self, call: Row) -> Option<Cause> {
        self.calls.get((i64::from(call), 0)).map(|at| CAUSES[at as usize])
    }

    pub(super) fn all_captures(&self) -> impl Iterator<Item = &Capture> {
        self.captures.0.iter().flat_map(|(_, captures)| captures)
    }

    /// The captures of a thread, in order of time.
    pub(super) fn captures(&self, thread: TrackId) -> &[Capture] {
        self.captures.of(thread)
    }
}

/// Captures of CUDA graphs on one thread, without a gap between them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capture {
    /// From the call that begins the first one to the end of the call that ends the last one; if operators are open around
    /// them, as long as the outermost of those.
    pub(crate) time: Interval,
    /// From the calls that begin captures to those that end them, in ns.
    pub(crate) own_ns: i64,
    /// The call that begins the first one.
    pub(crate) begin: Row,
    pub(crate) count: usize,
}

/// The captures of CUDA graphs, in the order of threads and of time.
#[derive(Debug, Default)]
pub(crate) struct Captures(Vec<(TrackId, Vec<Capture>)>);

impl Captures {
    /// The captures of a thread, in order of time.
    fn of(&self, thread: TrackId) -> &[Capture] {
        self.0.binary_search_by_key(&thread, |captures| captures.0).map_or(&[], |at| &self.0[at].1)
    }

    /// Whether a thread captures at an instant.
    pub(crate) fn has(&self, thread: TrackId, instant: i64) -> bool {
        let captures = self.of(thread);
        let at = captures.partition_point(|capture| capture.time.1 <= instant);
        captures.get(at).is_some_and(|capture| capture.time.0 <= instant)
    }
}

fn captures(trace: &Trace) -> Vec<(TrackId, Vec<Capture>)> {
    let table = &trace.table;
    let begins = table.names.that(|name| name.contains("BeginCapture"));
    let mut all: Vec<(TrackId, Vec<Capture>)> = Vec::new();
    if begins.is_empty() {
        return all;
    }
    let ends = table.names.that(|name| name.contains("EndCapture"));
    let is_bound = |row: &Row| {
        let name = table.name_id(*row);
        (begins.has(name) || ends.has(name)) && table.category(*row).is_launch_call() && table.is_span(*row)
    };
    let mut bounds: Vec<Row> = table.rows().filter(is_bound).collect();
    sort_by_key(&mut bounds, |&row| (i64::from(table.track_id(row).0), table.ts(row)));
    let mut begun: Option<Row> = None;
    for row in bounds {
        let track = table.track_id(row);
        begun = begun.filter(|&begin| table.track_id(begin) == track);
        if begins.has(table.name_id(row)) {
            // The call of the driver lies within that of the runtime.
            begun = begun.or(Some(row));
        } else if let Some(begin) = begun.take() {
            let own = (table.ts(begin), table.end(row));
            let (time, own_ns) = (within_operator(trace, track, own), own.1 - own.0);
            if all.last().is_none_or(|last| last.0 != track) {
                all.push((track, Vec::new()));
            }
            let Some((_, captures)) = all.last_mut() else { continue };
            match captures.last_mut().filter(|last| time.0 < last.time.1) {
                Some(last) => {
                    (last.time.1, last.count) = (last.time.1.max(time.1), last.count + 1);
                    last.own_ns = last.own_ns.saturating_add(own_ns);
                }
                None => captures.push(Capture { time, own_ns, begin, count: 1 }),
            }
        }
    }
    all
}

/// The number of lanes, and of open spans of each, that are searched for the outermost operator.
const SEARCHED: usize = 64;

/// The period of the outermost operator around a capture, or of the capture without one.
fn within_operator(trace: &Trace, track: TrackId, time: Interval) -> Interval {
    let (table, tree) = (&trace.table, &trace.tree);
    let lanes = tree.lanes_of(track).iter().take(SEARCHED);
    let open = lanes.flat_map(|lane| tree.open_in(lane, table, time.0).take(SEARCHED));
    let is_around = |row: &Row| {
        let is_operator =
            table.category(*row) == Category::CpuOp && !table.name(*row).starts_with("ProfilerStep#");
        is_operator && table.end(*row) >= time.1
    };
    let around = open.map(|at| tree.row(at)).filter(is_around);
    around.fold(time, |time, row| (time.0.min(table.ts(row)), time.1.max(table.end(row))))
}

/// Returns the calls that are the first of their kind, take much longer than others, and do not wait for a device.
fn first_uses(trace: &Trace) -> Vec<Row> {
    let table = &trace.table;
    let waits = table
        .names
        .that(|name| is_sync_name(name) || ["Graph", "Host"].iter().any(|part| name.contains(part)));
    let is_call = |row: &Row| table.category(*row).is_launch_call() && table.is_span(*row);
    let is_long = |row: &Row| table.dur(*row) >= FIRST_USE_NS && !waits.has(table.name_id(*row));
    let mut long: Vec<Row> = table.rows().filter(|row| is_call(row) && is_long(row)).collect();
    if long.is_empty() {
        return long;
    }
    let mut is_meant = vec![false; table.names.len()];
    for &row in &long {
        is_meant[table.name_id(row).0 as usize] = true;
    }
    let mut durations: ByName<Vec<i64>> = ByName::default();
    for row in table.rows().filter(|row| is_meant[table.name_id(*row).0 as usize] && is_call(row)) {
        durations.entry(table.name_id(row)).push(table.dur(row));
    }
    let mut least = vec![0; table.names.len()];
    for (name, mut durations) in durations.into_entries() {
        let (middle, count) = (durations.len() / 2, durations.len());
        let median = *durations.select_nth_unstable(middle).1;
        let usual =
            if count < FEW_CALLS { LONG_FIRST_USE_NS } else { median.saturating_mul(FIRST_USE_RATIO) };
        least[name.0 as usize] = usual;
    }
    long.retain(|&row| table.dur(row) >= least[table.name_id(row).0 as usize]);
    let work = Work::new(trace, &long);
    let times: Vec<Interval> = long.iter().map(|&row| (table.ts(row), table.end(row))).collect();
    let busy = lengths_in(&[&work.busy], &times);
    let calls = long.into_iter().zip(busy);
    calls
        .filter(|(row, busy)| busy.all[0] <= table.dur(*row) / 2 && work.is_first(table, *row))
        .map(|(row, _)| row)
        .collect()
}

/// What devices did, for long calls.
struct Work {
    /// The times in which any device ran.
    busy: Intervals,
    /// The first work of each name that a long call launched.
    first: Firsts,
    /// The work that each long call launched.
    launched: Vec<(Row, Row)>,
    /// The first call of each name of a long call.
    first_call: Firsts,
}

/// The first events of names.
struct Firsts {
    /// Whether each name is meant, and the first event of it.
    names: Vec<(bool, Option<Row>)>,
}

impl Firsts {
    /// Of the names of some events.
    fn of(table: &Table, events: impl Iterator<Item = Row>) -> Firsts {
        let mut names = vec![(false, None); table.names.len()];
        events.for_each(|row| names[table.name_id(row).0 as usize].0 = true);
        Firsts { names }
    }

    fn add(&mut self, table: &Table, row: Row) {
        let (is_meant, known) = &mut self.names[table.name_id(row).0 as usize];
        if *is_meant && known.is_none_or(|known| table.ts(row) < table.ts(known)) {
            *known = Some(row);
        }
    }

    /// Whether an event is the first of its name.
    fn has(&self, table: &Table, row: Row) -> bool {
        self.names[table.name_id(row).0 as usize].1 == Some(row)
    }
}

impl Work {
    fn new(trace: &Trace, calls: &[Row]) -> Work {
        let table = &trace.table;
        let is_meant = |link: &&(Row, Row)| calls.binary_search(&link.1).is_ok();
        let mut launched: Vec<(Row, Row)> =
            trace.links.launch_of.iter().filter(is_meant).map(|&(work, call)| (call, work)).collect();
        sort_by_key(&mut launched, |&(call, work)| (i64::from(call), i64::from(work)));
        let mut first = Firsts::of(table, launched.iter().map(|link| link.1));
        let mut first_call = Firsts::of(table, calls.iter().copied());
        let mut times = Collector::default();
        for row in table.rows() {
            let category = table.category(row);
            if category.is_launch_call() {
                first_call.add(table, row);
            } else if category.is_device_work() && table.is_span(row) {
                times.push((table.ts(row), table.end(row)));
                first.add(table, row);
            }
        }
        Work { busy: times.union(), first, launched, first_call }
    }

    /// Whether a call can be a first use: what it launched is the first kernel of its name, and began late in the call, because its
    /// code was loaded; or it launched nothing, and takes so long, or is so early, that it creates a context or loads code.
    fn is_first(&self, table: &Table, call: Row) -> bool {
        let at = self.launched.partition_point(|link| link.0 < call);
        if let Some(&(_, work)) = self.launched.get(at).filter(|link| link.0 == call) {
            let is_kernel = table.category(work) == Category::Kernel;
            let is_late = table.ts(work) - table.ts(call) >= table.dur(call) / 2;
            return is_kernel && is_late && self.first.has(table, work);
        }
        let begun = self.busy.as_slice().first().map_or(i64::MAX, |first| first.0);
        let is_long = table.dur(call) >= LONG_FIRST_USE_NS;
        table.ts(call) < begun || (is_long && self.first_call.has(table, call))
    }
}

/// The long waits that were over before any work that was recorded began: for work from before the recording.
fn early_waits(trace: &Trace) -> Vec<Row> {
    let table = &trace.table;
    let waits = table.names.that(is_sync_name);
    if waits.is_empty() {
        return Vec::new();
    }
    let work = table.rows().filter(|&row| table.category(row).is_device_work() && table.is_span(row));
    let first = work.map(|row| table.ts(row)).min().unwrap_or(i64::MIN);
    let is_early = |row: &Row| {
        table.category(*row).is_launch_call()
            && waits.has(table.name_id(*row))
            && table.dur(*row) >= WAIT_NS
            && table.end(*row) <= first
    };
    let mut rows: Vec<Row> = table.rows().filter(is_early).collect();
    sort_by_key(&mut rows, |&row| (table.ts(row), i64::from(row)));
    rows
}
