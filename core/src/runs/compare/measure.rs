//! What is compared: times and counts of groups of places, per step and side. Several pairs of ranks add up.

use super::align::{Alignment, Group, Work, align};
use super::kinds::{DiffPart, RowKind};
use super::profile::{Profile, ROOTS, Readings, Sum};
use super::tree::Tree;
use crate::analysis::device::idle::Cause;
use crate::base::index::{Index, Keyed};
use crate::base::names::{ByName, Names};
use crate::runs::ranks::phases::{Phase, Times};
use crate::runs::ranks::summary::Summary;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// A value for each side: the base first.
pub(super) type Both<T> = [T; 2];

/// A value of each step: the sum of all ranks.
pub(super) type Series = Vec<i64>;

/// A group of places with its times.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) group: Group,
    /// The number of spans or activities in each step.
    pub(super) counts: Both<Series>,
    /// The part of the wall time or of the busy time that is attributed to the group, in ns.
    pub(super) ns: Both<Series>,
    /// The sum of self times, or of the durations of activities, in ns.
    pub(super) sums: Both<Series>,
    /// Where it runs: ids of texts with the attributed time of each side.
    pub(super) places: Keyed<Both<i64>>,
}

/// What all pairs of ranks measured.
#[derive(Clone, Debug, Default)]
pub(super) struct Measures {
    /// The number of ranks that have each step.
    pub(super) ranks: Both<Vec<u32>>,
    /// The number of each step, if the traces have steps.
    pub(super) numbers: Both<Vec<Option<i64>>>,
    pub(super) wall: Both<Series>,
    pub(super) groups: Vec<Measured>,
    index: Index,
    pub(super) texts: Names,
    pub(super) idle: Vec<Both<Series>>,
    pub(super) phases: Vec<Both<Series>>,
    /// The peaks of memory, by the name of the device.
    pub(super) memory: ByName<MemoryPeaks>,
    /// The attributed time of all places, and of those with a partner, in ns.
    pub(super) attributed: Both<i64>,
    pub(super) aligned: Both<i64>,
    pub(super) devices: Both<usize>,
    pub(super) tree: Tree,
    /// Sums over complete recordings.
    pub(super) sums: Vec<Summed>,
    sum_index: Index,
    /// The sum of the means of each step, and their number, by the name of the counter.
    pub(super) readings: ByName<Both<(i64, i64)>>,
    /// The summaries of the ranks.
    pub(super) summaries: Both<Vec<Summary>>,
}

/// The largest peak of each step, and of everything, in bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct MemoryPeaks {
    pub(super) of_steps: Both<Series>,
    pub(super) peak: Both<i64>,
}

/// A sum over complete recordings.
#[derive(Clone, Debug)]
pub(super) struct Summed {
    pub(super) kind: RowKind,
    pub(super) name: String,
    pub(super) part: Option<DiffPart>,
    pub(super) counts: Both<i64>,
    pub(super) ns: Both<i64>,
}

fn grow(series: &mut Series, length: usize) {
    if series.len() < length {
        series.resize(length, 0);
    }
}

/// Adds to the value of a step.
fn add(series: &mut Series, step: usize, ns: i64) {
    grow(series, step + 1);
    series[step] = series[step].saturating_add(ns);
}

impl Measures {
    /// Adds two profiles of the same rank, whose first steps have the numbers `from` on each side.
    pub(super) fn add(&mut self, sides: Both<&Profile>, from: Both<usize>) {
        let alignment = aligned(sides);
        for (side, profile) in sides.into_iter().enumerate() {
            self.add_steps(side, profile, from[side]);
            self.add_memory(side, profile, from[side]);
            self.add_sums(side, profile);
            self.add_readings(side, profile);
            self.summaries[side].extend(profile.summary.as_deref().cloned());
        }
        let group_of: Vec<u32> = alignment.groups.iter().map(|group| self.group(group)).collect();
        for (side, profile) in sides.into_iter().enumerate() {
            let groups: Vec<u32> = alignment.of[side].iter().map(|&group| group_of[group as usize]).collect();
            let self_ns = self.add_samples(side, profile, &groups, from[side]);
            self.add_places(side, profile, &groups, &self_ns);
            self.add_aligned(side, &groups, &alignment.is_matched[side], &self_ns);
            let is_replaced = |group: u32| self.groups[group as usize].group.work == Work::Replaced;
            self.tree.add(side, profile, &groups, &self_ns, is_replaced);
        }
    }

    /// Adds the samples to the groups of their places. Returns the sum of each place.
    fn add_samples(&mut self, side: usize, profile: &Profile, groups: &[u32], from: usize) -> Vec<i64> {
        let mut self_ns = vec![0i64; groups.len()];
        for sample in &profile.places.samples {
            let (node, step) = (sample.node as usize, from + sample.step as usize);
            let measured = &mut self.groups[groups[node] as usize];
            add(&mut measured.counts[side], step, i64::from(sample.count));
            add(&mut measured.ns[side], step, sample.ns);
            add(&mut measured.sums[side], step, sample.sum_ns);
            self_ns[node] = self_ns[node].saturating_add(sample.ns);
        }
        self_ns
    }

    fn add_places(&mut self, side: usize, profile: &Profile, groups: &[u32], self_ns: &[i64]) {
        let within = self.within(profile);
        for ((&group, within), &ns) in groups.iter().zip(within).zip(self_ns) {
            let place = &mut self.groups[group as usize].places.entry((i64::from(within), 0))[side];
            *place = place.saturating_add(ns);
        }
    }

    fn add_aligned(&mut self, side: usize, groups: &[u32], is_matched: &[bool], self_ns: &[i64]) {
        for ((&group, &is_matched), &ns) in groups.iter().zip(is_matched).zip(self_ns) {
            self.attributed[side] = self.attributed[side].saturating_add(ns);
            if is_matched && self.groups[group as usize].group.work != Work::Replaced {
                self.aligned[side] = self.aligned[side].saturating_add(ns);
            }
        }
    }

    fn add_steps(&mut self, side: usize, profile: &Profile, from: usize) {
        self.devices[side] = self.devices[side].max(profile.facts.used_devices);
        if !profile.is_summary() {
            self.idle.resize_with(Cause::ALL.len(), Default::default);
        }
        self.phases.resize_with(Phase::ALL.len(), Default::default);
        for (index, step) in profile.steps.iter().enumerate() {
            let at = from + index;
            if at == self.ranks[side].len() {
                self.ranks[side].push(0);
                self.numbers[side].push(step.number);
            }
            self.ranks[side][at] += 1;
            add(&mut self.wall[side], at, step.wall_ns);
            for (series, ns) in self.idle.iter_mut().zip(profile.idle[index]) {
                add(&mut series[side], at, ns);
            }
            let phases: Times = profile.phases[index];
            for (series, ns) in self.phases.iter_mut().zip(phases) {
                add(&mut series[side], at, ns);
            }
        }
    }

    fn add_memory(&mut self, side: usize, profile: &Profile, from: usize) {
        for peaks in &profile.memory {
            let MemoryPeaks { of_steps, peak } = self.memory.entry(self.texts.intern(&peaks.device));
            peak[side] = peak[side].max(peaks.peak);
            for (step, bytes) in peaks.of_steps.iter().enumerate() {
                let step = from + step;
                grow(&mut of_steps[side], step + 1);
                of_steps[side][step] = of_steps[side][step].max(bytes.unwrap_or(0));
            }
        }
    }

    fn add_sums(&mut self, side: usize, profile: &Profile) {
        for Sum { kind, name, part, count, ns } in &profile.sums {
            let key = (i64::from(self.texts.intern(name).0), (*kind as i64) << 8 | i64::from(part.is_some()));
            let at = self.sum_index.get_or_insert(key, self.sums.len() as u32) as usize;
            if at == self.sums.len() {
                let (kind, name, part) = (*kind, name.clone(), *part);
                self.sums.push(Summed { kind, name, part, counts: [0; 2], ns: [0; 2] });
            }
            let sum = &mut self.sums[at];
            sum.counts[side] = sum.counts[side].saturating_add(*count);
            sum.ns[side] = sum.ns[side].saturating_add(*ns);
        }
    }

    fn add_readings(&mut self, side: usize, profile: &Profile) {
        for Readings { name, of_steps } in &profile.readings {
            let (sum, count) = &mut self.readings.entry(self.texts.intern(name))[side];
            for &mean in of_steps.iter().flatten() {
                *sum = sum.saturating_add(mean);
                *count += 1;
            }
        }
    }

    /// Returns the index of the same group.
    fn group(&mut self, group: &Group) -> u32 {
        let at = self.index.get_or_insert(group.key(&mut self.texts), self.groups.len() as u32);
        if at as usize == self.groups.len() {
            self.groups.push(Measured {
                group: group.clone(),
                counts: Default::default(),
                ns: Default::default(),
                sums: Default::default(),
                places: Keyed::default(),
            });
        }
        at
    }

    /// Returns what each place is within: the id of the name of the innermost annotation or module around it.
    fn within(&mut self, profile: &Profile) -> Vec<u32> {
        let places = &profile.places;
        let mut within = vec![0u32; places.nodes.len()];
        for (at, node) in places.nodes.iter().enumerate().skip(ROOTS.len()) {
            let parent = &places.nodes[node.parent as usize];
            let name = places.text(parent.name);
            let is_named = parent.kind == RowKind::Range || name.starts_with("nn.Module: ");
            within[at] = if is_named { self.texts.intern(name).0 } else { within[node.parent as usize] };
        }
        within
    }

    /// The number of steps of a side.
    pub(super) fn steps(&self, side: usize) -> usize {
        self.ranks[side].len()
    }

    /// The sum of the ranks of all steps of a side.
    pub(super) fn units(&self, side: usize) -> i64 {
        self.ranks[side].iter().map(|&ranks| i64::from(ranks)).sum()
    }

    /// The mean of the ranks in each step.
    pub(super) fn samples(&self, side: usize, series: &Series) -> Vec<f64> {
        let value = |at: usize| series.get(at).copied().unwrap_or(0) as f64;
        self.ranks[side].iter().enumerate().map(|(at, &ranks)| value(at) / f64::from(ranks)).collect()
    }

    /// The places in `groups` of those on the host, or of those on devices. Their values add up to the wall time or to the
    /// busy time.
    pub(super) fn parts(&self, on_device: bool) -> impl Iterator<Item = usize> {
        (0..self.groups.len()).filter(move |&at| self.groups[at].group.kind.is_on_device() == on_device)
    }
}

/// Aligns two profiles such that the result for the sides in the other order is the same with its sides exchanged.
fn aligned([a, b]: Both<&Profile>) -> Alignment {
    let is_ordered = match (a.places.nodes.len(), a.places.samples.len(), &a.steps).cmp(&(
        b.places.nodes.len(),
        b.places.samples.len(),
        &b.steps,
    )) {
        core::cmp::Ordering::Less => true,
        core::cmp::Ordering::Greater => false,
        core::cmp::Ordering::Equal => a.places <= b.places,
    };
    if is_ordered {
        return align(a, b);
    }
    let mut alignment = align(b, a);
    alignment.of.reverse();
    alignment.is_matched.reverse();
    for group in &mut alignment.groups {
        group.names.reverse();
        if let Some(inputs) = &mut group.inputs {
            inputs.reverse();
        }
    }
    alignment
}

/// Whether the groups do the same work on both sides, as far as the traces show it.
pub(super) fn is_same_work(work: Work) -> bool {
    work == Work::Same
}
