//! The lines of a comparison: groups of places, idle time, phases, steps, memory and totals, each with its values.
//!
//! All times are per step. The lines of the host add up to the wall time, those of devices to their busy time, and those of
//! idle causes to their idle time. So that they add up in whole nanoseconds, the sums of all lines before a line are rounded
//! instead of the line itself; a value is off by less than 1 ns.

use super::align::Work;
use super::kinds::{DiffPart, RowKind};
use super::measure::{Both, Measured, Measures, Series, Summed};
use super::profile::COLLECTIVE_IN_FLIGHT;
use super::verdict::{Factor, Verdict};
use crate::analysis::device::idle::Cause;
use crate::analysis::device::names::is_sync_name;
use crate::base::names::NameId;
use crate::base::order::{descending, sort_by_key};
use crate::base::words::{Word, label};
use crate::runs::ranks::phases::Phase;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// A line.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) kind: RowKind,
    pub(super) name: String,
    /// The names on each side, where something was replaced; else the name.
    pub(super) names: Both<Vec<String>>,
    pub(super) work: Work,
    /// The place in the groups of the measures, if it is one of them.
    pub(super) group: Option<usize>,
    /// The total that it is a part of.
    pub(super) part: Option<DiffPart>,
    /// The number of spans or activities of all steps.
    pub(super) counts: Both<i64>,
    /// The number of spans or activities of each step.
    pub(super) calls: Both<Vec<f64>>,
    /// The value of each step: times in ns, memory in bytes.
    pub(super) samples: Both<Vec<f64>>,
    /// The mean of the steps: times in ns, memory in bytes.
    pub(super) values: Both<i64>,
    /// The sum of self times, or of the durations of activities, of all steps in ns.
    pub(super) sums: Both<i64>,
    /// The shapes, types or streams of each side, where they differ.
    pub(super) inputs: Option<Both<String>>,
    /// What it runs within, with the change of each, the largest first.
    pub(super) places: Vec<(String, i64)>,
    pub(super) verdict: Verdict,
    /// The common factor that the line is about.
    pub(super) factor: Option<Factor>,
    /// What other lines or the hardware say about the cause.
    pub(super) about: Option<String>,
}

impl Line {
    /// Whether the times of the calls of a side add up to more than the time that is theirs: they overlap each other or other spans.
    pub(super) fn overlaps(&self, side: usize) -> bool {
        self.sums[side] as f64 > self.samples[side].iter().sum::<f64>() + 0.5
    }

    pub(super) fn new(kind: RowKind, name: &str) -> Line {
        Line {
            kind,
            name: name.to_string(),
            names: [vec![name.to_string()], vec![name.to_string()]],
            work: Work::Same,
            group: None,
            part: None,
            counts: [0; 2],
            calls: Default::default(),
            samples: Default::default(),
            values: [0; 2],
            sums: [0; 2],
            inputs: None,
            places: Vec::new(),
            verdict: Verdict::default(),
            factor: None,
            about: None,
        }
    }

    /// What the line contributes to the change.
    pub(super) fn contribution(&self) -> i64 {
        self.values[1] - self.values[0]
    }

    /// The total that the line is.
    pub(super) fn part_of_total(&self) -> Option<DiffPart> {
        (self.kind == RowKind::Total).then(|| DiffPart::from_word(&self.name)).flatten()
    }

    /// The name as text for a person. Those of totals, phases and idle time are words.
    pub(super) fn label(&self) -> String {
        match self.kind {
            RowKind::Total | RowKind::Phase | RowKind::Idle => label(&self.name),
            _ => self.name.clone(),
        }
    }

    /// The number of calls of a step, if it is the same in all steps of a side.
    pub(super) fn constant_calls(&self, side: usize) -> Option<f64> {
        let calls = &self.calls[side];
        let first = calls.first().copied()?;
        calls.iter().all(|&count| (count - first).abs() < 1e-9).then_some(first)
    }

    /// Whether the host waits for devices, so that other lines show what the time is for.
    pub(super) fn waits(&self) -> bool {
        self.kind == RowKind::Runtime && self.names.iter().flatten().all(|name| is_sync_name(name))
    }

    /// Whether its time is that of collectives.
    pub(super) fn is_of_collectives(&self) -> bool {
        match self.kind {
            RowKind::Collective => true,
            RowKind::Other => self.name == COLLECTIVE_IN_FLIGHT,
            RowKind::Phase => Phase::from_word(&self.name) == Some(Phase::Communication),
            _ => false,
        }
    }

    /// Returns the line of a common factor.
    pub(super) fn from_factor(name: &str, factor: &Factor, about: Option<String>) -> Line {
        Line { values: factor.ns, factor: Some(*factor), about, ..Line::new(RowKind::Speed, name) }
    }

    /// Whether both sides have the same values in every step.
    pub(super) fn is_equal(&self) -> bool {
        let [a, b] = &self.samples;
        self.work == Work::Same
            && a == b
            && self.counts[0] == self.counts[1]
            && self.sums[0] == self.sums[1]
            && self.values[0] == self.values[1]
    }
}

/// Returns every line.
pub(super) fn lines(measures: &Measures) -> Vec<Line> {
    let units = [measures.units(0), measures.units(1)];
    let mut host: Vec<Line> =
        measures.parts(false).map(|at| group_line(measures, at, DiffPart::Wall)).collect();
    add_up(&mut host, units);
    let mut device: Vec<Line> =
        measures.parts(true).map(|at| group_line(measures, at, DiffPart::DeviceBusy)).collect();
    let idle = measures.idle.iter().zip(Cause::ALL).map(|(series, cause)| Line {
        part: Some(DiffPart::DeviceIdle),
        ..series_line(measures, RowKind::Idle, cause.as_str(), series)
    });
    device.extend(idle);
    let (parts, mut names): (Vec<Line>, Vec<Line>) =
        measures.sums.iter().map(|sum| sum_line(sum, units)).partition(|line| line.part.is_some());
    device.extend(parts);
    add_up(&mut names, units);
    add_up(&mut device, units);
    let mut phases: Vec<Line> = (measures.phases.iter().zip(Phase::ALL))
        .map(|(series, phase)| series_line(measures, RowKind::Phase, phase.as_str(), series))
        .collect();
    add_up(&mut phases, units);
    let mut lines = Vec::new();
    let has_device = measures.devices.iter().any(|&devices| devices > 0);
    lines.extend(total(measures, &host, DiffPart::Wall));
    if has_device {
        lines.extend(total(measures, &device, DiffPart::DeviceBusy));
        lines.extend(total(measures, &device, DiffPart::DeviceIdle));
        host.append(&mut device);
    }
    lines.append(&mut host);
    lines.append(&mut names);
    lines.append(&mut phases);
    lines.extend(memory(measures));
    lines.extend(steps(measures));
    lines
}

fn group_line(measures: &Measures, at: usize, part: DiffPart) -> Line {
    let Measured { group, counts, ns, sums, places } = &measures.groups[at];
    let units = [measures.units(0).max(1), measures.units(1).max(1)];
    let change = |place: &Both<i64>| place[1] / units[1] - place[0] / units[0];
    let mut places: Vec<(String, i64)> = (places.entries().iter())
        .filter(|(key, _)| key.0 != 0)
        .map(|(key, place)| (measures.texts.get(NameId(key.0 as u32)).to_string(), change(place)))
        .filter(|place| place.1 != 0)
        .collect();
    sort_by_key(&mut places, |place| (descending(place.1.saturating_abs()), place.1));
    places.truncate(MOST_PLACES);
    Line {
        group: Some(at),
        names: group.names.clone(),
        work: group.work,
        part: Some(part),
        counts: [sum(&counts[0]), sum(&counts[1])],
        calls: [measures.samples(0, &counts[0]), measures.samples(1, &counts[1])],
        sums: [sum(&sums[0]), sum(&sums[1])],
        inputs: group.inputs.clone(),
        places,
        ..series_line(measures, group.kind, &group.name(), ns)
    }
}

/// The number of places that a line lists.
const MOST_PLACES: usize = 5;

fn series_line(measures: &Measures, kind: RowKind, name: &str, series: &Both<Series>) -> Line {
    Line {
        samples: [measures.samples(0, &series[0]), measures.samples(1, &series[1])],
        values: [sum(&series[0]), sum(&series[1])],
        ..Line::new(kind, name)
    }
}

fn sum_line(sum: &Summed, units: Both<i64>) -> Line {
    let Summed { kind, name, part, counts, ns } = sum;
    let calls = |side: usize| vec![counts[side] as f64 / units[side].max(1) as f64];
    Line {
        part: *part,
        counts: *counts,
        calls: if *counts == [0, 0] { Default::default() } else { [calls(0), calls(1)] },
        values: *ns,
        sums: *ns,
        ..Line::new(*kind, name)
    }
}

fn sum(series: &[i64]) -> i64 {
    series.iter().fold(0, |sum, &ns| sum.saturating_add(ns))
}

/// The largest sum, which only damaged files reach.
const LARGEST: i128 = 1 << 60;

/// Divides the sums of all steps by the number of steps, so that the means of all lines add up to the mean of their sum.
fn add_up(lines: &mut [Line], units: Both<i64>) {
    for (side, units) in units.into_iter().enumerate() {
        let units = i128::from(units.max(1));
        let (mut total, mut before) = (0i128, 0);
        for line in lines.iter_mut() {
            total += i128::from(line.values[side]);
            let reached = total.div_euclid(units).clamp(-LARGEST, LARGEST) as i64;
            line.values[side] = reached - before;
            before = reached;
        }
    }
}

/// Returns the total of the lines that are parts of it, unless there are none.
fn total(measures: &Measures, lines: &[Line], part: DiffPart) -> Option<Line> {
    let parts = || lines.iter().filter(|line| line.part == Some(part));
    parts().next()?;
    let mut line = Line::new(RowKind::Total, part.as_str());
    for side in 0..2 {
        line.values[side] = parts().map(|line| line.values[side]).sum();
        if parts().any(|summand| summand.samples[side].is_empty()) {
            continue;
        }
        line.samples[side] = vec![0.0; measures.steps(side)];
        for summand in parts() {
            line.samples[side].iter_mut().zip(&summand.samples[side]).for_each(|(sum, ns)| *sum += ns);
        }
    }
    Some(line)
}

fn memory(measures: &Measures) -> impl Iterator<Item = Line> {
    measures.memory.entries().iter().map(|(device, peaks)| Line {
        samples: [0, 1].map(|side| peaks.of_steps[side].iter().map(|&bytes| bytes as f64).collect()),
        values: peaks.peak,
        ..Line::new(RowKind::Memory, &format!("peak of {}", measures.texts.get(*device)))
    })
}

/// Returns the steps of both sides, in their order.
fn steps(measures: &Measures) -> Vec<Line> {
    let [a, b] = &measures.numbers;
    let wall = |side: usize, at: usize| measures.wall[side][at] / i64::from(measures.ranks[side][at]);
    let name = |number: Option<i64>| number.map(|number| format!("step {number}"));
    (a.iter().zip(b).enumerate())
        .filter_map(|(at, (&x, &y))| {
            let names = [name(x)?, name(y)?];
            let mut line = Line::new(RowKind::Step, &names[1]);
            line.names = names.map(|name| vec![name]);
            line.values = [wall(0, at), wall(1, at)];
            Some(line)
        })
        .collect()
}
