//! Replays of CUDA and HIP graphs: what one launch call starts.

use crate::analysis::context::Analysis;
use crate::analysis::intervals::{Interval, Intervals};
use crate::base::index::Index;
use crate::base::order::{descending, sort_by_key};
use crate::trace::table::events::{Row, Table};
use alloc::vec::Vec;

/// The replays of one graph.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    /// The first launch call.
    pub(crate) first: Row,
    pub(crate) launches: usize,
    /// The number of kernels, copies and memsets of each replay.
    pub(crate) activities: usize,
    /// Sums over the replays, in ns: from the first start to the last end, without an activity in between, the launch calls, and
    /// from the start of the call to the first start.
    pub(crate) time_ns: i64,
    pub(crate) gap_ns: i64,
    pub(crate) call_ns: i64,
    pub(crate) wait_ns: i64,
}

/// One replay.
struct Replay {
    call: Row,
    activities: usize,
    /// The same for the same names, in any order.
    names: u64,
    time: Interval,
    busy_ns: i64,
}

impl Replay {
    fn new(table: &Table, call: Row, work: &[Row]) -> Replay {
        let times: Vec<Interval> = work.iter().map(|&row| (table.ts(row), table.end(row))).collect();
        let start = times.iter().map(|time| time.0).min().unwrap_or(0);
        let end = times.iter().map(|time| time.1).max().unwrap_or(start);
        let names = work.iter().map(|&row| mixed(u64::from(table.name_id(row).0)));
        Replay {
            call,
            activities: work.len(),
            names: names.fold(0, u64::wrapping_add),
            time: (start, end),
            busy_ns: Intervals::union_of(times).length(),
        }
    }
}

/// Spreads a number over all bits (the finaliser of `SplitMix64`).
pub(super) fn mixed(number: u64) -> u64 {
    let mut bits = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// Returns the graphs with device work: launches whose work has the same names. Those that take longest come first.
pub(crate) fn graphs(analysis: &Analysis<'_>) -> Vec<Graph> {
    let (table, links) = (&analysis.trace.table, &analysis.trace.links);
    let mut work: Vec<(Row, Row)> = links.graph_work(table).collect();
    sort_by_key(&mut work, |&(row, call)| (i64::from(call), i64::from(row)));
    let (mut graphs, mut known): (Vec<Graph>, Index) = Default::default();
    for of_call in work.chunk_by(|a, b| a.1 == b.1) {
        let rows: Vec<Row> = of_call.iter().map(|pair| pair.0).collect();
        let replay = Replay::new(table, of_call[0].1, &rows);
        let key = (replay.names as i64, replay.activities as i64);
        let at = known.get_or_insert(key, graphs.len() as u32) as usize;
        if at == graphs.len() {
            graphs.push(Graph::new(&replay));
        }
        graphs[at].add(table, &replay);
    }
    sort_by_key(&mut graphs, |graph| (descending(graph.time_ns), i64::from(graph.first)));
    graphs
}

impl Graph {
    fn new(replay: &Replay) -> Graph {
        Graph {
            first: replay.call,
            launches: 0,
            activities: replay.activities,
            time_ns: 0,
            gap_ns: 0,
            call_ns: 0,
            wait_ns: 0,
        }
    }

    /// The mean of a sum over the replays, in ns.
    pub(super) fn mean_ns(&self, sum_ns: i64) -> i64 {
        sum_ns / self.launches.max(1) as i64
    }

    fn add(&mut self, table: &Table, replay: &Replay) {
        let time_ns = replay.time.1 - replay.time.0;
        self.launches += 1;
        self.time_ns += time_ns;
        self.gap_ns += time_ns - replay.busy_ns;
        self.call_ns += table.dur(replay.call).max(0);
        self.wait_ns += (replay.time.0 - table.ts(replay.call)).max(0);
    }
}
