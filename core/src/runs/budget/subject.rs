//! What a trace measures.

use super::metric::Metric;
use crate::analysis::context::Analysis;
use crate::analysis::device::idle::{Cause, whole_cause};
use crate::analysis::overview::findings::FindingCode;
use crate::analysis::query::question::Question;
use crate::base::index::Keyed;
use crate::base::names::NameId;
use crate::base::order::sort_by;
use crate::base::words::Word;
use crate::runs::compare::kinds::RowKind;
use crate::runs::compare::profile::Profile;
use crate::runs::compare::statistics::{mean, median};
use crate::runs::ranks::phases::Phase;
use crate::trace::Trace;
use crate::trace::link::is_launch_name;
use crate::trace::table::category::Category;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// A trace, reduced to what budgets are about.
#[derive(Clone, Debug)]
pub struct Subject {
    pub(super) profile: Profile,
    /// The indices of the devices with memory, ordered by name.
    devices: Vec<usize>,
    pub(super) findings: Vec<FindingCode>,
    /// The questions that the trace cannot answer, with the reasons.
    pub(super) unfit: Vec<(Question, String)>,
    /// Whether the trace has events. Without any, nothing was measured.
    pub(super) has_events: bool,
}

impl Subject {
    /// Reduces a trace. `source` is its name in answers.
    pub fn from_trace(trace: &Trace, source: &str) -> Subject {
        let analysis = Analysis::new(trace);
        let summary = analysis.summary();
        let mut findings: Vec<FindingCode> = summary.findings.iter().map(|finding| finding.code).collect();
        findings.dedup();
        let unfit = summary.fitness.iter().filter(|fitness| fitness.is_unfit());
        let profile = Profile::from_analysis(&analysis, source);
        let mut devices: Vec<usize> = (0..profile.memory.len()).collect();
        sort_by(&mut devices, |&a, &b| profile.memory[a].device.cmp(&profile.memory[b].device));
        Subject {
            profile,
            devices,
            findings,
            has_events: trace.has_events(),
            unfit: unfit.map(|fitness| (fitness.question, fitness.because())).collect(),
        }
    }

    /// The rank of the trace, if it or its name states one.
    pub fn rank(&self) -> Option<i64> {
        self.profile.rank()
    }

    /// The name of the trace.
    pub fn source(&self) -> &str {
        self.profile.source()
    }

    /// The program that wrote the trace.
    pub(crate) fn producer(&self) -> &str {
        &self.profile.facts.producer
    }

    /// The number of steps; 1 without profiler steps.
    pub(crate) fn steps(&self) -> usize {
        self.profile.len()
    }

    /// Why the trace cannot decide a budget of a metric.
    pub(crate) fn why_unfit(&self, metric: Metric) -> Option<&str> {
        self.why_unfit_for(metric.question())
    }

    /// Why the trace cannot answer a question, or any.
    pub(super) fn why_unfit_for(&self, question: Option<Question>) -> Option<&str> {
        if self.is_partial() {
            return Some("a part of the trace could not be read");
        }
        let question = question?;
        self.unfit.iter().find(|unfit| unfit.0 == question).map(|unfit| unfit.1.as_str())
    }

    /// Whether the trace has events. Without any, nothing was measured.
    pub fn has_events(&self) -> bool {
        self.has_events
    }

    /// Whether a part of the trace could not be read.
    pub fn is_partial(&self) -> bool {
        self.profile.facts.is_partial
    }

    /// The value of each step; of a metric that is no time per step, one value. `None` if nothing has the name.
    pub(super) fn samples(&self, metric: Metric, name: &str) -> Option<Vec<f64>> {
        let profile = &self.profile;
        let all = |of: &dyn Fn(usize) -> i64| (0..profile.len()).map(|at| of(at) as f64).collect();
        Some(match metric {
            Metric::Step => all(&|at| profile.steps[at].wall_ns),
            Metric::DeviceBusy => self.sums(|kind, _| kind.is_on_device(), |sample| sample.ns)?,
            Metric::DeviceIdle => all(&|at| profile.idle[at].iter().sum()),
            Metric::Idle => {
                let cause = Cause::from_word(name)?;
                all(&|at| profile.idle[at][cause as usize])
            }
            Metric::Communication => all(&|at| profile.phases[at][Phase::Communication as usize]),
            Metric::Operator | Metric::Range | Metric::Kernel => {
                let is_kind = kinds(metric);
                self.sums(|kind, text| is_kind(kind) && fits(name, text), |sample| sample.sum_ns)?
            }
            Metric::Memory => vec![self.peak(name)? as f64],
            Metric::Launches => {
                let is_launch = |kind, text: &str| kind == RowKind::Runtime && is_launch_name(text);
                let none = || vec![0.0; profile.len()];
                self.sums(is_launch, |sample| i64::from(sample.count)).unwrap_or_else(none)
            }
            Metric::Recompilations => {
                let is_compilation = |_, text: &str| {
                    [Category::UserAnnotation, Category::PythonFunction]
                        .into_iter()
                        .any(|category| whole_cause(category, text) == Some(Cause::Compilation))
                };
                let counts = self.sums(is_compilation, |sample| i64::from(sample.count));
                vec![counts.map_or(0.0, |counts| counts.iter().sum())]
            }
            Metric::Findings => vec![self.findings.len() as f64],
        })
    }

    /// The peak of the first device with this name, or whose name fits the pattern, in bytes.
    fn peak(&self, name: &str) -> Option<i64> {
        let memory = &self.profile.memory;
        if name.contains('*') {
            return memory.iter().find(|peaks| fits(name, &peaks.device)).map(|peaks| peaks.peak);
        }
        let at = self.devices.partition_point(|&at| memory[at].device.as_str() < name);
        self.devices
            .get(at)
            .map(|&at| &memory[at])
            .filter(|peaks| peaks.device == name)
            .map(|peaks| peaks.peak)
    }

    /// The value that is compared with a limit.
    pub(crate) fn value(&self, metric: Metric, name: &str) -> Option<f64> {
        let samples = self.samples(metric, name)?;
        Some(if metric == Metric::Step { median(&samples) } else { mean(&samples) })
    }

    /// The names that a budget of a metric can have.
    pub(crate) fn names(&self, metric: Metric) -> Vec<String> {
        let mut names: Vec<String> = match metric {
            Metric::Idle => Cause::ALL.iter().map(|cause| cause.as_str().to_owned()).collect(),
            Metric::Memory => self.profile.memory.iter().map(|peaks| peaks.device.clone()).collect(),
            _ => {
                let is_kind = kinds(metric);
                let places = &self.profile.places;
                let nodes = places.nodes.iter().filter(|node| is_kind(node.kind));
                nodes.map(|node| places.text(node.name).to_owned()).collect()
            }
        };
        sort_by(&mut names, Ord::cmp);
        names.dedup();
        names
    }

    /// The names with the largest values, at most so many, with the values.
    pub(crate) fn largest(&self, metric: Metric, most: usize) -> Vec<(String, f64)> {
        let places = &self.profile.places;
        let is_kind = kinds(metric);
        // The sum of each name, by its number.
        let mut sums: Keyed<i64> = Keyed::default();
        for sample in &places.samples {
            let node = &places.nodes[sample.node as usize];
            if is_kind(node.kind) {
                let sum = sums.entry((i64::from(node.name.0), 0));
                *sum = sum.saturating_add(sample.sum_ns);
            }
        }
        let name_of = |key: (i64, i64)| places.text(NameId(key.0 as u32));
        let mut names: Vec<(&str, i64)> =
            sums.into_entries().into_iter().map(|(key, sum)| (name_of(key), sum)).collect();
        sort_by(&mut names, |a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        names.truncate(most);
        let with_value = |(name, _): (&str, i64)| Some((name.to_owned(), self.value(metric, name)?));
        names.into_iter().filter_map(with_value).collect()
    }

    /// Adds up the samples of places for each step. `None` if there is no such place.
    fn sums(
        &self,
        is_wanted: impl Fn(RowKind, &str) -> bool,
        value: impl Fn(&crate::runs::compare::profile::Sample) -> i64,
    ) -> Option<Vec<f64>> {
        let places = &self.profile.places;
        let wanted: Vec<bool> =
            places.nodes.iter().map(|node| is_wanted(node.kind, places.text(node.name))).collect();
        wanted.contains(&true).then(|| {
            let mut sums = vec![0.0; self.profile.len()];
            for sample in places.samples.iter().filter(|sample| wanted[sample.node as usize]) {
                sums[sample.step as usize] += value(sample) as f64;
            }
            sums
        })
    }
}

/// Which places a metric is about.
fn kinds(metric: Metric) -> fn(RowKind) -> bool {
    match metric {
        Metric::Operator => |kind| kind == RowKind::Operator,
        Metric::Range => |kind| matches!(kind, RowKind::Range | RowKind::Python),
        _ => RowKind::is_on_device,
    }
}

/// Whether a name fits a pattern, in which `*` is any characters.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(start) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return name.ends_with(part);
        }
        let Some(at) = name.find(part) else { return false };
        name = &name[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn stars_are_any_characters() {
        for (pattern, name, expected) in [
            ("aten::mm", "aten::mm", true),
            ("aten::mm", "aten::mmm", false),
            ("ampere_*", "ampere_sgemm", true),
            ("*gemm*", "ampere_sgemm_128x64_tn", true),
            ("*gemm*tn", "ampere_sgemm_128x64_tn", true),
            ("*gemm*nn", "ampere_sgemm_128x64_tn", false),
            ("a*a", "a", false),
            ("*", "", true),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }
}
