//! Launches by their definition.

use serde_json::Value;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Device work with its calls, ascending, and how many of the links are guesses.
pub(crate) struct Launches {
    pub(crate) chosen: Vec<(usize, usize)>,
    pub(crate) undecided: u64,
}

struct Event {
    row: usize,
    pid: u64,
    tid: u64,
    begin: u64,
    end: u64,
    id: u64,
    external: u64,
    can_start: bool,
}

fn collect(events: &[Value], wanted: &[&str]) -> Vec<Event> {
    let is_wanted = |event: &Value| event["ph"] == "X" && wanted.iter().any(|cat| event["cat"] == *cat);
    let number = |value: &Value| value.as_u64().expect("a number");
    let rows = events.iter().enumerate().filter(|(_, event)| is_wanted(event));
    rows.map(|(row, event)| Event {
        row,
        pid: number(&event["pid"]),
        tid: number(&event["tid"]),
        begin: number(&event["ts"]),
        end: number(&event["ts"]) + number(&event["dur"]),
        id: event["args"]["correlation"].as_u64().unwrap_or(0),
        external: number(&event["args"]["External id"]),
        can_start: event["name"] != "cudaStreamSynchronize",
    })
    .collect()
}

pub(crate) fn launches(events: &[Value]) -> Launches {
    let calls = collect(events, &["cuda_runtime", "cuda_driver"]);
    let work = collect(events, &["kernel"]);
    linked(&calls, &work.into_iter().filter(|work| work.id != 0).collect::<Vec<Event>>())
}

/// Device work without a call, with the operators of its external id.
pub(crate) fn operators_of_work(events: &[Value]) -> Launches {
    let by_external = |event: Event| Event { id: event.external, ..event };
    let calls = collect(events, &["cuda_runtime", "cuda_driver"]);
    let has_call = |work: &Event| work.id != 0 && calls.iter().any(|call| call.id == work.id);
    let is_named = |work: &Event| work.external > 0 && work.external != work.id;
    let work = collect(events, &["kernel"]).into_iter();
    let work: Vec<Event> = work.filter(|work| is_named(work) && !has_call(work)).map(by_external).collect();
    let ops = collect(events, &["cpu_op"]).into_iter().map(by_external);
    linked(&ops.collect::<Vec<Event>>(), &work)
}

/// Links work to what has its id.
fn linked(sources: &[Event], work: &[Event]) -> Launches {
    let owners = Owners::decide(sources, work);
    let mut launches = Launches { chosen: Vec::new(), undecided: 0 };
    let ids: BTreeSet<u64> = work.iter().map(|work| work.id).collect();
    for id in ids {
        let group: Vec<&Event> = sources.iter().filter(|source| source.id == id).collect();
        let work: Vec<&Event> = work.iter().filter(|work| work.id == id).collect();
        if let [source] = group[..] {
            launches.chosen.extend(work.iter().map(|work| (work.row, source.row)));
        } else if !group.is_empty() {
            resolve(&group, &work, &owners, &mut launches);
        }
    }
    launches.chosen.sort_unstable();
    launches
}

/// The operators of launch calls by their external ids, of calls that have one that an operator has; and whether each is a guess.
pub(crate) fn operators(events: &[Value]) -> BTreeMap<usize, (usize, bool)> {
    let ops = collect(events, &["cpu_op"]);
    let calls = collect(events, &["cuda_runtime", "cuda_driver"]);
    calls.iter().filter_map(|call| Some((call.row, operator(&ops, call)?))).collect()
}

fn operator(ops: &[Event], call: &Event) -> Option<(usize, bool)> {
    let named = || ops.iter().filter(|op| op.external == call.external && call.external > 0);
    let contains = |op: &&Event| {
        (op.pid, op.tid) == (call.pid, call.tid) && op.begin <= call.begin && call.end <= op.end
    };
    if let Some(innermost) = named().filter(contains).max_by_key(|op| (op.begin, op.row)) {
        return Some((innermost.row, false));
    }
    // The id that files before 2024 wrote into calls without an operator.
    if call.external == call.id {
        return None;
    }
    let of_process = || named().filter(|op| op.pid == call.pid);
    let before = of_process().filter(|op| op.begin <= call.begin);
    let latest = before.max_by_key(|op| (op.begin, Reverse(op.row)));
    let found = latest.or_else(|| of_process().next()).or_else(|| named().next())?;
    let count = if of_process().count() > 0 { of_process().count() } else { named().count() };
    Some((found.row, count > 1))
}

fn resolve(group: &[&Event], work: &[&Event], owners: &Owners, launches: &mut Launches) {
    let is_inner = |call: &Event| {
        let order = |event: &Event| (event.begin, u64::MAX - event.end, event.row);
        group.iter().any(|other| {
            (other.pid, other.tid) == (call.pid, call.tid)
                && order(other) < order(call)
                && call.end <= other.end
        })
    };
    let outer: Vec<&Event> = group.iter().copied().filter(|call| !is_inner(call)).collect();
    let starting: Vec<&Event> = outer.iter().copied().filter(|call| call.can_start).collect();
    let outer = if starting.is_empty() { outer } else { starting };
    let candidates = |work: &Event| {
        let of_owners: Vec<&Event> =
            outer.iter().copied().filter(|call| owners.get(work.pid).contains(&call.pid)).collect();
        let left = if of_owners.is_empty() { outer.clone() } else { of_owners };
        let is_named = |call: &Event| work.external > 0 && call.external == work.external;
        let of_owners: Vec<&Event> = left.iter().copied().filter(|call| is_named(call)).collect();
        let of_any: Vec<&Event> = outer.iter().copied().filter(|call| is_named(call)).collect();
        [of_owners, of_any, left].into_iter().find(|calls| !calls.is_empty()).expect("a call")
    };
    let choose = |work: &Event| {
        let all = candidates(work);
        let before = all.iter().filter(|call| call.begin <= work.begin);
        let latest = before.max_by_key(|call| (call.begin, call.row));
        latest.or_else(|| all.iter().min_by_key(|call| (call.begin, call.row))).expect("a call").row
    };
    let chosen: Vec<usize> = work.iter().map(|work| choose(work)).collect();
    let pids: BTreeSet<u64> = outer.iter().map(|call| call.pid).collect();
    for (work, &call) in work.iter().zip(&chosen) {
        launches.chosen.push((work.row, call));
        let times = chosen.iter().filter(|&&other| other == call).count();
        let pid = outer.iter().find(|other| other.row == call).expect("a call").pid;
        let is_unused = |other: &&&Event| !chosen.contains(&other.row);
        let began = |other: &&Event| other.begin <= work.begin;
        let is_early = outer.iter().any(|other| other.row == call && !began(other));
        let is_alternative = |other: &Event| is_early || (began(&other) && (times > 1 || other.pid != pid));
        let guessed = (owners.guessed.contains(&work.pid) && pids.len() > 1)
            || (times > 1 && outer.iter().filter(is_unused).any(|other| other.can_start && began(other)))
            || candidates(work).iter().filter(is_unused).any(|other| is_alternative(other));
        launches.undecided += u64::from(guessed);
    }
}

/// The processes that start the work of every device.
#[derive(Default)]
struct Owners {
    all: Vec<(u64, Vec<u64>)>,
    guessed: Vec<u64>,
}

/// The distinct processes or devices of events.
fn pids(events: &[Event]) -> Vec<u64> {
    events.iter().map(|event| event.pid).collect::<BTreeSet<u64>>().into_iter().collect()
}

impl Owners {
    fn get(&self, device: u64) -> Vec<u64> {
        self.all.iter().find(|of| of.0 == device).map(|of| of.1.clone()).unwrap_or_default()
    }

    fn decide(calls: &[Event], work: &[Event]) -> Owners {
        let (processes, devices) = (pids(calls), pids(work));
        if processes.len() < 2 {
            return Owners::default();
        }
        let mut all: Vec<(u64, Vec<u64>)> =
            devices.iter().map(|&device| (device, voters(calls, work, device, &processes))).collect();
        let open: Vec<usize> = (0..all.len()).filter(|&at| all[at].1.is_empty()).collect();
        let mut taken: BTreeSet<u64> =
            all.iter().filter_map(|of| if let [only] = of.1[..] { Some(only) } else { None }).collect();
        for &at in &open {
            all[at].1 = likely(calls, work, all[at].0, &processes);
        }
        while devices.len() <= processes.len() {
            let before = (all.clone(), taken.clone());
            for &at in &open {
                let free: Vec<u64> =
                    all[at].1.iter().copied().filter(|process| !taken.contains(process)).collect();
                if !free.is_empty() {
                    all[at].1 = free;
                }
            }
            taken.extend(open.iter().filter(|&&at| all[at].1.len() == 1).map(|&at| all[at].1[0]));
            if before == (all.clone(), taken.clone()) {
                break;
            }
        }
        let homeless: Vec<u64> = processes
            .iter()
            .copied()
            .filter(|process| !all.iter().any(|of| of.1.contains(process)))
            .collect();
        for (device, of) in &mut all {
            let total = work.iter().filter(|work| work.pid == *device).count();
            let counts = counts(calls, work, *device, &processes);
            let is_enough =
                |process: &u64| counts.iter().any(|count| count.0 == *process && count.1 * 4 >= total);
            of.extend(homeless.iter().copied().filter(is_enough));
            of.sort_by_key(|process| processes.iter().position(|other| other == process));
        }
        let mut owners = Owners { all: all.clone(), guessed: Vec::new() };
        for &at in &open {
            let (device, of) = &all[at];
            let alike: Vec<u64> =
                open.iter().map(|&other| &all[other]).filter(|other| other.1 == *of).map(|o| o.0).collect();
            if of.len() < 2 {
                continue;
            }
            if alike.len() != of.len() {
                owners.guessed.push(*device);
                continue;
            }
            let (pairs, is_sure) = assigned(calls, work, &alike, of);
            let process = pairs.iter().find(|pair| pair.0 == *device).expect("a pair").1;
            owners.all[at].1 = vec![process];
            owners.guessed.extend((!is_sure).then_some(*device));
        }
        owners
    }
}

/// For each process: how much work of a device it has an earlier call for, and for how much only it has one.
fn counts(calls: &[Event], work: &[Event], device: u64, processes: &[u64]) -> Vec<(u64, usize, usize)> {
    let can = |work: &Event, process: u64| {
        calls.iter().any(|call| call.pid == process && call.id == work.id && call.begin <= work.begin)
    };
    let of_device = || work.iter().filter(|work| work.pid == device);
    let alone = |work: &Event| processes.iter().filter(|&&process| can(work, process)).count() == 1;
    let count = |&process: &u64| {
        let able = of_device().filter(|work| can(work, process));
        (process, able.clone().count(), able.filter(|work| alone(work)).count())
    };
    processes.iter().map(count).collect()
}

fn voters(calls: &[Event], work: &[Event], device: u64, processes: &[u64]) -> Vec<u64> {
    let counts = counts(calls, work, device, processes);
    let total = work.iter().filter(|work| work.pid == device).count();
    let voters: Vec<_> = counts.iter().filter(|count| count.2 > 0 && count.2 >= total / 20).collect();
    match voters[..] {
        [voter] if voter.1 + total / 20 < total => {
            counts.iter().filter(|count| count.1 > 0).map(|count| count.0).collect()
        }
        _ => voters.iter().map(|count| count.0).collect(),
    }
}

fn likely(calls: &[Event], work: &[Event], device: u64, processes: &[u64]) -> Vec<u64> {
    let counts = counts(calls, work, device, processes);
    let most = counts.iter().map(|count| count.1).max().expect("a process");
    counts.iter().filter(|count| most > 0 && count.1 >= most - most / 20).map(|count| count.0).collect()
}

/// Devices with processes, and whether the file has them one after the other.
fn assigned(calls: &[Event], work: &[Event], devices: &[u64], processes: &[u64]) -> (Vec<(u64, u64)>, bool) {
    let pairs = |key: &dyn Fn(&Event) -> u64| -> Vec<(u64, u64)> {
        let sorted = |events: &[Event], pids: &[u64]| {
            let first = |pid: u64| {
                let of_process = || events.iter().filter(|event| event.pid == pid);
                (of_process().map(key).min(), of_process().map(|event| event.row).min())
            };
            let mut sorted = pids.to_vec();
            sorted.sort_by_key(|&pid| first(pid));
            sorted
        };
        sorted(work, devices).into_iter().zip(sorted(calls, processes)).collect()
    };
    let of_file = pairs(&|event| event.row as u64);
    let rows = |pair: (u64, u64)| {
        let of_pair = work.iter().filter(move |event| event.pid == pair.0);
        of_pair.chain(calls.iter().filter(move |event| event.pid == pair.1)).map(|event| event.row)
    };
    let are_apart = of_file.windows(2).all(|two| rows(two[0]).max() < rows(two[1]).min());
    if are_apart { (of_file, true) } else { (pairs(&|event| event.begin), false) }
}
