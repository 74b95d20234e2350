//! The profile of a summary, which has phases by step, and sums over the complete recording of everything else.

use super::places::{Places, ProfileNode, ROOT, ROOTS, Sample, roots, texts};
use super::{Facts, Peaks, Profile, ProfileStep};
use crate::analysis::device::idle::Cause;
use crate::base::names::Names;
use crate::runs::compare::kinds::{DiffPart, RowKind};
use crate::runs::ranks::phases::Phase;
use crate::runs::ranks::summary::{DeviceSum, Named, StepTimes, Summary};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// A sum over a complete recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) kind: RowKind,
    pub(crate) name: String,
    /// The total that it is a part of.
    pub(crate) part: Option<DiffPart>,
    pub(crate) count: i64,
    pub(crate) ns: i64,
}

impl Profile {
    /// Returns the profile of a summary. The phases are its places.
    pub fn from_summary(summary: Summary) -> Profile {
        let total = StepTimes { time: summary.time, phases: summary.phases, ..StepTimes::default() };
        let (of_steps, has_steps) = match &summary.steps[..] {
            [] => (vec![total], false),
            steps => (steps.to_vec(), true),
        };
        let number = |step: &StepTimes| has_steps.then_some(step.number);
        Profile {
            source: summary.source.clone(),
            facts: Facts {
                producer: summary.producer.clone(),
                used_devices: summary.devices.len(),
                rank: summary.rank,
                world_size: summary.world_size,
                schema: summary.schema.map(|version| version.to_string()),
                is_partial: summary.is_partial,
                is_summary: true,
                ..Facts::default()
            },
            kinds: Vec::new(),
            steps: (of_steps.iter())
                .map(|step| ProfileStep { number: number(step), wall_ns: step.time.1 - step.time.0 })
                .collect(),
            places: places(&of_steps),
            idle: vec![[0; Cause::ALL.len()]; of_steps.len()],
            phases: of_steps.iter().map(|step| step.phases).collect(),
            memory: (summary.memory.iter())
                .map(|memory| Peaks {
                    device: super::plain_device(&memory.name),
                    of_steps: vec![None; of_steps.len()],
                    peak: memory.peak_bytes,
                })
                .collect(),
            readings: Vec::new(),
            sums: sums(&summary),
            summary: Some(Box::new(summary)),
        }
    }
}

/// Returns a place for each phase.
fn places(steps: &[StepTimes]) -> Places {
    let mut names = Names::default();
    let mut nodes = roots(&mut names);
    for phase in Phase::ALL {
        nodes.push(ProfileNode::plain(ROOT, RowKind::Range, names.intern(phase.as_str())));
    }
    let first = ROOTS.len() as u32;
    let samples = steps.iter().zip(0..).flat_map(|(step, at)| {
        let times = step.phases.into_iter().zip(first..);
        times.map(move |(ns, node)| Sample { node, step: at, count: 0, ns, sum_ns: 0 })
    });
    Places { samples: samples.collect(), nodes, texts: texts(&names) }
}

/// The kind of what has a name: a summary does not tell copies and collectives of devices from other kernels.
fn kind_of(kind: RowKind, name: &str) -> RowKind {
    match kind {
        RowKind::Kernel if name.starts_with("Memcpy") => RowKind::Memcpy,
        RowKind::Kernel if name.starts_with("Memset") => RowKind::Memset,
        RowKind::Kernel if name.starts_with("nccl") => RowKind::Collective,
        kind => kind,
    }
}

fn sums(summary: &Summary) -> Vec<Sum> {
    let mut sums = Vec::new();
    let mut add = |kind, name: &str, part, count: u64, ns| {
        sums.push(Sum { kind, name: name.to_string(), part, count: count as i64, ns });
    };
    let of_devices = |of: fn(&DeviceSum) -> i64| summary.devices.iter().map(of).sum::<i64>();
    if summary.has_device {
        let busy = Some(DiffPart::DeviceBusy);
        add(RowKind::Kernel, "(compute)", busy, 0, of_devices(|device| device.compute_ns));
        add(
            RowKind::Collective,
            "(exposed communication)",
            busy,
            0,
            of_devices(|device| device.exposed_communication_ns),
        );
        add(RowKind::Memcpy, "(exposed copies)", busy, 0, of_devices(|device| device.exposed_copy_ns));
        for &(cause, ns) in &summary.idle {
            add(RowKind::Idle, cause.as_str(), Some(DiffPart::DeviceIdle), 0, ns);
        }
    }
    for (kind, named) in [(RowKind::Operator, &summary.operators), (RowKind::Kernel, &summary.kernels)] {
        // The self time of the steps is what runs outside of all spans.
        for Named { name, count, self_ns, .. } in named.iter().filter(|entry| entry.name != "ProfilerStep") {
            add(kind_of(kind, name), name, None, *count, *self_ns);
        }
    }
    sums
}
