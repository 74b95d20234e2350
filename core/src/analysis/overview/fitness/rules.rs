//! The rules: when a trace does not show what a question needs.

use super::Question::{Communication, DeviceTime, Idle, Memory, Operators, Steps};
use super::Verdict::{Good, Limited, Unfit};
use super::facts::{Count, Facts};
use super::{Question, Reason, ReasonCode};
use crate::analysis::context::Analysis;
use crate::analysis::device::steps::Step;
use crate::analysis::overview::validator::{RuleName, validate};
use crate::analysis::torch::source::{SourceBy, Sources};
use crate::base::diagnostics::{Code, Severity};
use crate::base::order::sort_by_key;
use crate::base::units::{counted, time_ns};
use crate::trace::Trace;
use crate::trace::attribution::OwnerSource;
use crate::trace::link::graphs_of;
use crate::trace::read::snapshot::{SEGMENT, SOURCE};
use crate::trace::table::category::Category;
use crate::trace::table::events::Row;
use crate::trace::table::layout::Key;
use crate::trace::table::metadata::Source;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde_json::Value;

/// Thresholds of the rules; shares of 1.
mod threshold {
    /// The share of launches without work, or of work without launches, that is a reason.
    pub(super) const UNLINKED: f64 = 0.01;
    /// Most memsets take less, in ns.
    pub(super) const MEMSET_NS: i64 = 5_000;
    /// The share from which on causes of idle time cannot be found.
    pub(super) const MOSTLY: f64 = 0.5;
    /// The share of device work that starts before its launch.
    pub(super) const EARLY: f64 = 0.001;
    /// The share of device work of CUDA graphs.
    pub(super) const GRAPHS: f64 = 0.1;
    /// The share of one collective of the time of all, and the number from which on that says something.
    pub(super) const ONE_COLLECTIVE: f64 = 0.8;
    pub(super) const COLLECTIVES: u64 = 5;
    /// The share of the median number of launches below which a step is cut.
    pub(super) const CUT_STEP: f64 = 0.5;
    /// The duration of a first step, in medians of the others, from which on it was not warmed up.
    pub(super) const COLD_STEP: f64 = 1.5;
    /// The number of calls from which on, and the ids for each call from which on, most calls are missing; and the number of
    /// calls at both ends that are looked at.
    pub(super) const SAMPLED_CALLS: usize = 200;
    pub(super) const SAMPLED_RATIO: i64 = 64;
    pub(super) const SAMPLED_ENDS: usize = 64;
    /// No device runs more threads than this on a multiprocessor.
    pub(super) const THREADS: i64 = 2560;
}

const EVERY: &[Question] = &[Operators, DeviceTime, Idle, Communication, Memory, Steps];
const DEVICE: &[Question] = &[DeviceTime, Idle, Communication];

/// Returns all reasons.
pub(super) fn reasons(analysis: &Analysis<'_>, steps: &[Step]) -> Vec<Reason> {
    let facts = Facts::new(analysis);
    let mut out = Reasons { trace: analysis.trace, facts, found: Vec::new() };
    out.absent(steps);
    out.links();
    out.quality();
    out.collectives();
    out.steps(steps, analysis.steps_are_alike());
    out.properties();
    out.validator();
    out.found
}

struct Reasons<'a> {
    trace: &'a Trace,
    facts: Facts,
    found: Vec<Reason>,
}

impl Reasons<'_> {
    fn push(
        &mut self,
        code: ReasonCode,
        verdict: super::Verdict,
        questions: &'static [Question],
        events: Count,
        message: String,
    ) {
        self.found.push(Reason::new(code, verdict, questions, events, message));
    }

    /// What was not recorded at all.
    fn absent(&mut self, steps: &[Step]) {
        let none = Count::default();
        let (trace, facts) = (self.trace, self.facts.clone());
        if facts.operators.count == 0 {
            let is_captured = facts.shown_ns[OwnerSource::Capture as usize] > 0;
            self.push(
                ReasonCode::NoOperators,
                if is_captured { Limited } else { Unfit },
                &[Operators],
                none,
                match trace.table.metadata.source {
                    Source::ExecutionTrace => "an execution trace has operators without times".into(),
                    _ if is_captured => "no operators were recorded, except in the captures of graphs".into(),
                    _ => "no operators were recorded".into(),
                },
            );
        }
        if facts.work.count == 0 && facts.launches.count > 0 {
            let calls = counted(facts.launches.count as usize, "launch call");
            let message = format!("{calls} but no work of a device was recorded");
            self.push(ReasonCode::NoDeviceWork, Unfit, DEVICE, facts.launches, message);
        } else if facts.work.count == 0
            && !trace.table.names.that(|name| name.starts_with("nccl:")).is_empty()
        {
            let message = "collectives of NCCL but no work of a device was recorded".into();
            self.push(ReasonCode::NoDeviceWork, Unfit, DEVICE, none, message);
        } else if facts.work.count == 0 {
            let message = "no work of a device was recorded".into();
            let is_on_host = facts.host_communication.count > 0;
            let questions = if is_on_host { &[DeviceTime, Idle][..] } else { DEVICE };
            self.push(ReasonCode::NoDevice, Unfit, questions, none, message);
        } else if facts.communication.count + facts.host_communication.count == 0 {
            let message = "no collective was recorded".into();
            self.push(ReasonCode::NoCommunication, Unfit, &[Communication], none, message);
        }
        if facts.allocations.count == 0
            && trace.table.metadata.text(SOURCE).is_some()
            && trace.table.names.find(SEGMENT).is_some()
        {
            let message = "the snapshot has no history: it shows the memory at its end only".into();
            self.push(ReasonCode::NoMemory, Limited, &[Memory], none, message);
        } else if facts.allocations.count == 0 {
            let message = "no memory events were recorded".into();
            self.push(ReasonCode::NoMemory, Unfit, &[Memory], none, message);
        } else if facts.device_allocations.count == 0 && facts.work.count > 0 {
            let message = "memory events of the CPU only, none of a device".into();
            self.push(ReasonCode::HostMemoryOnly, Limited, &[Memory], facts.allocations, message);
        }
        if steps.is_empty() {
            self.push(ReasonCode::NoSteps, Unfit, &[Steps], none, "no steps were recorded".into());
        }
    }

    /// Launches without work, work without launches, clocks, graphs.
    fn links(&mut self) {
        let facts = self.facts.clone();
        if facts.work.count == 0 {
            return;
        }
        let percent = |share: f64| format!("{:.0}%", share * 100.0);
        let ignored = if self.has_short_memsets() { facts.memsets } else { 0 };
        let fruitless = Count { count: facts.fruitless.count - ignored, ..facts.fruitless };
        let share = fruitless.share_of(&facts.launches);
        if share >= threshold::UNLINKED {
            let message = format!("{} of the launch calls have no device work", percent(share));
            self.push(ReasonCode::LaunchesWithoutWork, Limited, DEVICE, fruitless, message);
        }
        let share = facts.unlaunched.share_of(&facts.work);
        if share >= threshold::UNLINKED {
            let verdict = if share >= threshold::MOSTLY { Unfit } else { Limited };
            let message = format!("{} of the device work is linked to no launch call", percent(share));
            self.push(ReasonCode::WorkWithoutLaunch, verdict, &[Idle], facts.unlaunched, message);
        }
        let share = facts.early.share_of(&facts.work);
        if share >= threshold::EARLY {
            let message = format!("{:.1}% of the device work starts before its launch", share * 100.0);
            let verdict = if share >= threshold::MOSTLY { Unfit } else { Limited };
            self.push(ReasonCode::Clocks, verdict, &[Idle], facts.early, message);
        }
        let share = facts.graphs.share_of(&facts.work);
        if share >= threshold::GRAPHS {
            let is_hidden = facts.hidden.share_of(&facts.work) >= threshold::GRAPHS;
            let hides = if is_hidden { ", which hide its operators" } else { "" };
            let graphs = graphs_of(&self.trace.table.names);
            let message = format!("{} of the device work belongs to {graphs}{hides}", percent(share));
            let questions = if is_hidden { &[Operators, Idle][..] } else { &[Idle] };
            self.push(ReasonCode::Graphs, Limited, questions, facts.graphs, message);
        }
        self.attribution();
        self.provenance();
    }

    /// What shows the operators of the device time, if more than launches can.
    fn attribution(&mut self) {
        let shown_ns = self.facts.shown_ns;
        let total = shown_ns.iter().sum::<i64>().max(1);
        let share = |ns: i64| format!("{:.1}%", ns as f64 / total as f64 * 100.0);
        let [launches, captures, names, none] = shown_ns.map(share);
        let names = if shown_ns[OwnerSource::Name as usize] > 0 {
            format!(", the names of generated kernels those of {names}")
        } else {
            String::new()
        };
        if self.trace.captures().next().is_some() || !names.is_empty() {
            let message = format!(
                "of the device time, captures show the operators of {captures}, launches those of {launches}{names}, nothing those of {none}"
            );
            self.push(ReasonCode::Attribution, Good, &[Operators], Count::default(), message);
        }
    }

    /// What the files show that say where kernels come from.
    fn provenance(&mut self) {
        let total: i64 = self.facts.shown_ns.iter().sum();
        if self.trace.provenance.is_none() || total == 0 {
            return;
        }
        let (table, sources) = (&self.trace.table, Sources::new(self.trace));
        let mut shown_ns = [0_i64; SourceBy::ALL.len()];
        for row in table.rows().filter(|&row| table.category(row).is_device_work() && table.is_span(row)) {
            if let Some(source) = sources.of(row) {
                let ns = &mut shown_ns[source.by as usize];
                *ns = ns.saturating_add(table.dur(row).max(0));
            }
        }
        let of =
            |all: &[SourceBy]| all.iter().map(|&by| shown_ns[by as usize]).sum::<i64>() as f64 / total as f64;
        let percent = |share: f64| format!("{:.1}%", share * 100.0);
        let share = |by| percent(of(&[by]));
        let message = format!(
            "of the device time, the files of torch.compile show the source of {} ({} by names of kernels only), stacks of graph nodes that of {}, \
             Python stacks that of {}, generated files that of {}",
            percent(of(&[SourceBy::Inductor, SourceBy::Name])),
            share(SourceBy::Name),
            share(SourceBy::GraphNode),
            share(SourceBy::Stack),
            share(SourceBy::Generated)
        );
        self.push(ReasonCode::Attribution, Good, &[Operators], Count::default(), message);
    }

    /// What was lost, left out or paused.
    fn quality(&mut self) {
        let diagnostics = &self.trace.diagnostics;
        let lost = diagnostics.findings().iter().filter(|finding| finding.code.severity() == Severity::Lost);
        let lost: u64 = lost.map(|finding| finding.count).sum();
        let filtered = diagnostics.count(Code::NotRecorded);
        let filtered_kinds = diagnostics.findings().iter().find(|finding| finding.code == Code::NotRecorded);
        let kinds = filtered_kinds.map(|finding| finding.example.clone()).unwrap_or_default();
        if lost > 0 {
            let message =
                format!("{} of the trace lost or uncertain: see `check`", counted(lost as usize, "part"));
            self.push(ReasonCode::Lost, Limited, EVERY, Count { count: lost, first: None }, message);
        }
        let is_short = kinds == Category::Memset.as_str() && self.has_short_memsets();
        if filtered > 0 && !is_short {
            let message = format!("the profiler left out activities: {kinds}");
            let events = Count { count: filtered, first: None };
            self.push(ReasonCode::Filtered, Limited, &[DeviceTime, Idle], events, message);
        }
        let before = self.facts.before;
        if before.count > 0 {
            let message = "devices may still have done work from before the recording: until its end they are neither idle nor busy".into();
            self.push(ReasonCode::BeforeRecording, Limited, &[Idle], before, message);
        }
        let replayed = self.facts.replayed;
        if replayed.count > 0 {
            let message =
                "kernels were run several times to read hardware counters: times are those of the profiler"
                    .into();
            self.push(ReasonCode::ProfilerReplay, Unfit, &[DeviceTime, Idle], replayed, message);
        }
        if let Some((calls, ids)) = self.sampled() {
            let message = format!("the ids of {} span {ids}: most calls are missing", counted(calls, "call"));
            let events = Count { count: calls as u64, first: None };
            self.push(ReasonCode::Sampled, Unfit, &[Idle], events, message);
        }
        let pauses = self.facts.pauses;
        if pauses.count > 0 {
            let message = format!("the recording was paused {}", counted(pauses.count as usize, "time"));
            let questions = &[Operators, DeviceTime, Idle, Communication, Steps];
            self.push(ReasonCode::Paused, Limited, questions, pauses, message);
        }
    }

    /// Whether the memsets whose work is missing took little of the device time, if they took as long as memsets mostly do.
    fn has_short_memsets(&self) -> bool {
        let ns = (self.facts.memsets as i64).saturating_mul(threshold::MEMSET_NS);
        ns as f64 <= self.facts.work_ns as f64 * threshold::UNLINKED
    }

    /// The number of calls of one process and how many correlation ids they span, if most calls in between are missing. CUPTI
    /// counts every call, also those that profilers leave out.
    fn sampled(&self) -> Option<(usize, i64)> {
        let table = &self.trace.table;
        let calls = || table.rows_of(Category::Runtime);
        let pid = table.track(calls().next()?).pid;
        let ids = || calls().filter(|&row| table.track(row).pid == pid);
        let count = ids().count();
        if count < threshold::SAMPLED_CALLS {
            return None;
        }
        let id = |row: Row| table.int(row, Key::Correlation).filter(|&id| id > 0);
        let first = ids().take(threshold::SAMPLED_ENDS).filter_map(id).min()?;
        let last = ids().skip(count - threshold::SAMPLED_ENDS).filter_map(id).max()?;
        let span = last.saturating_sub(first);
        (span / count as i64 >= threshold::SAMPLED_RATIO && span < i64::from(u32::MAX))
            .then_some((count, span))
    }

    fn collectives(&mut self) {
        let facts = self.facts.clone();
        let (sum, longest) = facts.communication_ns;
        if facts.communication.count >= threshold::COLLECTIVES
            && longest as f64 >= sum as f64 * threshold::ONE_COLLECTIVE
        {
            let message = format!(
                "one collective took {} of {}: ranks began recording at different times",
                time_ns(longest, None),
                time_ns(sum, None)
            );
            let events = Count { count: 1, first: facts.longest };
            self.push(ReasonCode::OneCollective, Limited, &[DeviceTime, Communication], events, message);
        }
        let known = [facts.communication, facts.host_communication];
        let Some(&all) = known.iter().find(|kind| kind.count > 0) else { return };
        let message = match self.trace.table.metadata.world_size() {
            Some(ranks) if ranks > 1 => {
                Some(format!("one of {ranks} ranks: collectives include the wait for the others"))
            }
            Some(_) => None,
            None => Some(
                "the number of ranks is not stated: collectives may include the wait for other ranks".into(),
            ),
        };
        if let Some(message) = message {
            self.push(ReasonCode::OtherRanks, Limited, &[Communication], all, message);
        }
        if !self.has_arguments() && self.trace.table.metadata.world_size() != Some(1) {
            let message = "collectives have no arguments: their groups are not known".into();
            self.push(ReasonCode::UnnamedGroups, Limited, &[Communication], all, message);
        }
    }

    /// Whether collectives have their arguments.
    fn has_arguments(&self) -> bool {
        self.trace.table.names.find("Collective name").is_some()
    }

    fn steps(&mut self, steps: &[Step], are_alike: bool) {
        let (Some(first), Some(last)) = (steps.first(), steps.last()) else { return };
        let event = |step: &Step| Count { count: 1, first: Some(step.row) };
        let mut numbers: Vec<i64> = steps.iter().map(|step| step.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let span = numbers[numbers.len() - 1].saturating_sub(numbers[0]).saturating_add(1);
        let missing = span - numbers.len() as i64;
        if missing > 0 {
            let message = format!("{} missing", counted(missing as usize, "step"));
            let events = Count { count: missing as u64, ..event(first) };
            self.push(ReasonCode::MissingSteps, Limited, &[Steps], events, message);
        }
        if steps.len() < 3 || !are_alike {
            return;
        }
        let name = |step: &Step| self.trace.table.name(step.row);
        let median = |of: &dyn Fn(&Step) -> i64| {
            let mut values: Vec<i64> = steps[1..steps.len() - 1].iter().map(of).collect();
            sort_by_key(&mut values, |&value| (value, 0));
            values[values.len() / 2] as f64
        };
        let launched = median(&|step| step.kernels as i64);
        let mut found = Vec::new();
        for step in [first, last] {
            if (step.kernels as f64) < launched * threshold::CUT_STEP {
                let message = format!("{} has {} of about {launched} launches", name(step), step.kernels);
                found.push((ReasonCode::CutStep, step, message));
            }
        }
        let (took, usual) = (first.time.1 - first.time.0, median(&|step| step.time.1 - step.time.0));
        if took as f64 >= usual * threshold::COLD_STEP {
            let times = [took, usual as i64].map(|ns| time_ns(ns, None));
            let message =
                format!("{} took {}, the others about {}: no warm-up", name(first), times[0], times[1]);
            found.push((ReasonCode::ColdStep, first, message));
        }
        for (code, step, message) in found {
            self.push(code, Limited, &[Steps], event(step), message);
        }
    }

    /// An exporter writes the number of multiprocessors where the number of threads belongs.
    fn properties(&mut self) {
        let Some(Value::Array(devices)) = self.trace.table.metadata.value("deviceProperties") else { return };
        let int = |device: &Value, key: &str| device.get(key).and_then(Value::as_i64);
        let wrong = devices.iter().filter(|device| {
            let threads = int(device, "maxThreadsPerMultiprocessor");
            let is_possible = threads
                .is_none_or(|threads| (512..=threshold::THREADS).contains(&threads) && threads % 32 == 0);
            !is_possible || int(device, "numSms").is_some_and(|count| count <= 0)
        });
        let count = wrong.count() as u64;
        if count > 0 {
            let message = "the properties of a device cannot be right: no occupancy or share of SMs".into();
            let events = Count { count, first: None };
            self.push(ReasonCode::DeviceProperties, Limited, &[DeviceTime], events, message);
        }
    }

    /// PyTorch's own rules for traces.
    fn validator(&mut self) {
        for verdict in validate(self.trace).into_iter().filter(|verdict| verdict.count > 0) {
            let questions: &'static [Question] = match verdict.rule {
                // The reason is known already.
                RuleName::CollectiveMetadata if !self.has_arguments() => continue,
                RuleName::CollectiveMetadata => &[Communication],
                RuleName::SequenceUnique => &[Operators],
                _ => &[Idle],
            };
            let message = format!("{}: {}", verdict.rule.as_str(), verdict.example);
            let events = Count { count: verdict.count, first: None };
            self.push(ReasonCode::Validator, Limited, questions, events, message);
        }
    }
}
