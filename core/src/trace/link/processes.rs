//! Which processes start the work of each device, for traces in which ids repeat.
//!
//! 1. Work whose id only one process has before the work began is evidence for that process.
//! 2. Without such work, a process must have an earlier call for nearly as much work of the device as any other. If there are no more
//!    devices than processes, a process that has a device is left out, if any remains.
//! 3. A process that has no device then shares each device for a quarter of whose work it has an earlier call.
//! 4. If as many devices remain as processes, and the file has each process with its device one after the other, as merged
//!    traces do, they are assigned in this order. If it has not, they are assigned in the order of time, which is a guess.

use super::ById;
use crate::base::index::Index;
use crate::base::names::NameId;
use crate::base::order::sort_by_key;
use crate::trace::table::events::{Row, Table};
use alloc::vec;
use alloc::vec::Vec;

/// The most processes and devices that are distinguished. They limit the size of the table of both. Beyond them, links between
/// processes are guesses.
const MOST_PROCESSES: usize = 256;
const MOST_DEVICES: usize = 2048;

/// Less than the share of 1 / `FEW` of the work of a device is no evidence: calls may be missing.
const FEW: u64 = 20;

/// The share of 1 / `SHARED` of the work of a device for which a process without a device must have calls to be one of those that
/// use it.
const SHARED: u64 = 4;

/// The processes that start the work of devices.
#[derive(Default)]
pub(super) struct Processes {
    devices: Index,
    owners: Vec<Owners>,
}

/// The processes that start the work of one device.
#[derive(Clone, Debug, Default)]
pub(super) struct Owners {
    /// The `pid`s of the processes; all processes if it is empty.
    pub(super) pids: Vec<NameId>,
    /// Whether another choice is as likely.
    pub(super) guessed: bool,
}

impl Processes {
    pub(super) fn new(table: &Table, sources: &ById, work: &[(i64, Row)]) -> Processes {
        let evidence = Evidence::collect(table, sources, work);
        if evidence.processes.len() < 2 {
            return Processes::default();
        }
        let owners = evidence.decide();
        Processes { devices: evidence.devices, owners }
    }

    /// The processes that start the work of the device of this row.
    pub(super) fn get(&self, table: &Table, row: Row) -> Option<&Owners> {
        let at = self.devices.get((i64::from(table.track(row).pid.0), 0))?;
        self.owners.get(at as usize)
    }
}

/// The first and last row and the first time of some events.
#[derive(Clone, Copy)]
struct Extent {
    pid: NameId,
    first: Row,
    last: Row,
    begin: i64,
}

impl Extent {
    fn add(&mut self, table: &Table, row: Row) {
        self.first = self.first.min(row);
        self.last = self.last.max(row);
        self.begin = self.begin.min(table.ts(row));
    }
}

/// Adds an event to the extent of its process or device, and returns the index of that.
fn extend(table: &Table, index: &mut Index, extents: &mut Vec<Extent>, row: Row) -> usize {
    let pid = table.track(row).pid;
    let at = index.get_or_insert((i64::from(pid.0), 0), extents.len() as u32) as usize;
    if at == extents.len() {
        extents.push(Extent { pid, first: row, last: row, begin: table.ts(row) });
    }
    extents[at].add(table, row);
    at
}

#[derive(Default)]
struct Evidence {
    devices: Index,
    work: Vec<Extent>,
    processes: Vec<Extent>,
    /// For each device and process: the work that the process has an earlier call for, and that for which only it has one.
    counts: Vec<Vec<(u64, u64)>>,
    totals: Vec<u64>,
}

impl Evidence {
    fn collect(table: &Table, sources: &ById, work: &[(i64, Row)]) -> Evidence {
        let mut evidence = Evidence::default();
        let mut index = Index::default();
        let processes: Vec<u32> = (sources.0.iter())
            .map(|&(_, row)| extend(table, &mut index, &mut evidence.processes, row) as u32)
            .collect();
        if evidence.processes.len() > MOST_PROCESSES {
            evidence.processes.clear();
        }
        if evidence.processes.len() < 2 {
            return evidence;
        }
        // The earliest call of each process with the id of the last work.
        let (mut known, mut earliest): (Option<i64>, Vec<(u32, i64)>) = (None, Vec::new());
        for &(id, row) in work {
            if known != Some(id) {
                known = Some(id);
                earliest = earliest_calls(table, sources, &processes, id);
            }
            evidence.add(table, row, &earliest);
            if evidence.work.len() > MOST_DEVICES {
                evidence.processes.clear();
                break;
            }
        }
        evidence
    }

    fn add(&mut self, table: &Table, row: Row, earliest: &[(u32, i64)]) {
        let device = extend(table, &mut self.devices, &mut self.work, row);
        if device == self.counts.len() {
            self.counts.push(vec![(0, 0); self.processes.len()]);
            self.totals.push(0);
        }
        self.totals[device] += 1;
        let counts = &mut self.counts[device];
        let before = || earliest.iter().filter(|call| call.1 <= table.ts(row)).map(|call| call.0 as usize);
        let is_alone = before().nth(1).is_none();
        for process in before() {
            counts[process].0 += 1;
            counts[process].1 += u64::from(is_alone);
        }
    }

    fn decide(&self) -> Vec<Owners> {
        let mut candidates: Vec<Vec<usize>> = (0..self.work.len()).map(|at| self.voters(at)).collect();
        let open: Vec<usize> = (0..candidates.len()).filter(|&at| candidates[at].is_empty()).collect();
        let mut taken = vec![false; self.processes.len()];
        for voters in &candidates {
            if let [process] = voters[..] {
                taken[process] = true;
            }
        }
        for &device in &open {
            candidates[device] = self.likely(device);
        }
        if self.work.len() <= self.processes.len() {
            eliminate(&mut candidates, &open, &mut taken);
        }
        self.share(&mut candidates);
        let mut owners: Vec<Owners> = candidates.iter().map(|of| self.owners(of)).collect();
        for &device in &open {
            let of = &candidates[device];
            let alike: Vec<usize> = open.iter().copied().filter(|&other| candidates[other] == *of).collect();
            if of.len() > 1 && alike.len() == of.len() && alike[0] == device {
                self.assign(&alike, of, &mut owners);
            }
            owners[device].guessed |= owners[device].pids.len() > 1;
        }
        owners
    }

    /// Adds processes without a device to those of each device that they have calls for enough of the work of.
    fn share(&self, candidates: &mut [Vec<usize>]) {
        let has_device = |process: &usize| candidates.iter().any(|of| of.contains(process));
        let without: Vec<usize> = (0..self.processes.len()).filter(|process| !has_device(process)).collect();
        for (device, of) in candidates.iter_mut().enumerate() {
            let is_enough = |process: &usize| self.counts[device][*process].0 * SHARED >= self.totals[device];
            of.extend(without.iter().copied().filter(is_enough));
            sort_by_key(of, |&process| (process as i64, 0));
        }
    }

    fn owners(&self, processes: &[usize]) -> Owners {
        Owners { pids: processes.iter().map(|&at| self.processes[at].pid).collect(), guessed: false }
    }

    /// The processes with a share of the work that only they can have started; with those that can have started the rest, if it is
    /// more than a share.
    fn voters(&self, device: usize) -> Vec<usize> {
        let (counts, share) = (&self.counts[device], self.totals[device] / FEW);
        let voters: Vec<usize> =
            (0..counts.len()).filter(|&at| counts[at].1 > 0 && counts[at].1 >= share).collect();
        match voters[..] {
            [process] if counts[process].0 + share < self.totals[device] => {
                (0..counts.len()).filter(|&at| counts[at].0 > 0).collect()
            }
            _ => voters,
        }
    }

    /// The processes that have a call for nearly as much work of a device as any.
    fn likely(&self, device: usize) -> Vec<usize> {
        let counts = &self.counts[device];
        let most = counts.iter().map(|count| count.0).max().unwrap_or(0);
        (0..counts.len()).filter(|&at| most > 0 && counts[at].0 >= most - most / FEW).collect()
    }

    /// Assigns devices to as many processes.
    fn assign(&self, devices: &[usize], processes: &[usize], owners: &mut [Owners]) {
        let by_file = |extent: &Extent| i64::from(extent.first);
        let by_time = |extent: &Extent| extent.begin;
        let of_file = self.pairs(devices, processes, by_file);
        let are_apart = of_file.windows(2).all(|pair| self.block(pair[0]).1 < self.block(pair[1]).0);
        let pairs = if are_apart { of_file } else { self.pairs(devices, processes, by_time) };
        for (device, process) in pairs {
            owners[device] = Owners { guessed: !are_apart, ..self.owners(&[process]) };
        }
    }

    /// Devices with processes, each in an order.
    fn pairs(
        &self,
        devices: &[usize],
        processes: &[usize],
        key: impl Fn(&Extent) -> i64,
    ) -> Vec<(usize, usize)> {
        let sorted = |extents: &[Extent], of: &[usize]| {
            let mut sorted = of.to_vec();
            sort_by_key(&mut sorted, |&at| (key(&extents[at]), i64::from(extents[at].first)));
            sorted
        };
        sorted(&self.work, devices).into_iter().zip(sorted(&self.processes, processes)).collect()
    }

    /// The first and last row of a device and a process.
    fn block(&self, (device, process): (usize, usize)) -> (Row, Row) {
        let (work, process) = (self.work[device], self.processes[process]);
        (work.first.min(process.first), work.last.max(process.last))
    }
}

/// The processes that have an id, each with the time of its earliest call.
fn earliest_calls(table: &Table, sources: &ById, processes: &[u32], id: i64) -> Vec<(u32, i64)> {
    let range = sources.range(id);
    let mut calls: Vec<(u32, i64)> = range
        .map(|at| (processes[at], table.ts(sources.0[at].1)))
        .filter(|call| call.1 != i64::MIN)
        .collect();
    sort_by_key(&mut calls, |&(process, begin)| (i64::from(process), begin));
    calls.dedup_by_key(|call| call.0);
    calls
}

/// Leaves out processes that start the work of another device only, as long as that decides anything.
fn eliminate(candidates: &mut [Vec<usize>], open: &[usize], taken: &mut [bool]) {
    let mut changed = true;
    while changed {
        for &device in open {
            let of = &mut candidates[device];
            if of.iter().any(|&at| !taken[at]) {
                of.retain(|&at| !taken[at]);
            }
        }
        changed = false;
        for &device in open {
            if let [process] = candidates[device][..] {
                changed |= !core::mem::replace(&mut taken[process], true);
            }
        }
    }
}
