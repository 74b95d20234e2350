//! Whether budgets hold.

use super::metric::{Metric, question_of};
use super::parse::{Budget, Budgets, Increase, Wrong, unknown};
use super::subject::{Subject, fits};
use crate::analysis::overview::findings::FindingCode;
use crate::base::words::words;
use crate::runs::compare::Comparison;
use crate::runs::compare::kinds::{DiffPart, RowKind};
use crate::runs::ranks::phases::Phase;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Write;

words! {
    "BudgetOutcome"
    /// Whether a limit holds.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Outcome {
        /// It holds.
        Pass = "pass",
        /// It does not hold.
        Breach = "breach",
        /// The trace cannot decide it.
        Unfit = "unfit",
    }
}

words! {
    "BudgetRule"
    /// The kind of limit.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Rule {
        /// The value is not larger.
        Max = "max",
        /// The value is not larger than that of the base by more than this.
        MaxIncrease = "max_increase",
        /// The value is not larger than that of the base by more than noise.
        NoSignificantIncrease = "no_significant_increase",
        /// The finding does not appear.
        Forbid = "forbid",
    }
}

/// A limit that was checked.
#[derive(Clone, Debug)]
pub(crate) struct Limit {
    pub(crate) metric: Metric,
    pub(crate) name: String,
    pub(crate) rule: Rule,
    pub(crate) outcome: Outcome,
    pub(crate) value: Option<f64>,
    /// The largest value that is allowed.
    pub(crate) limit: Option<f64>,
    /// The value of the base.
    pub(crate) base: Option<f64>,
    /// Why, in one sentence without a period.
    pub(crate) message: String,
}

/// The limits of a trace that were checked.
#[derive(Clone, Debug)]
pub struct Checked {
    pub(crate) source: String,
    pub(crate) limits: Vec<Limit>,
}

impl Checked {
    /// The name of the trace.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The outcome of several traces: a breach if a limit does not hold, else unfit if one cannot be decided.
    pub fn outcome(checked: &[Checked]) -> Outcome {
        let has = |outcome| all(checked).iter().any(|(_, limit)| limit.outcome == outcome);
        [Outcome::Breach, Outcome::Unfit].into_iter().find(|&outcome| has(outcome)).unwrap_or(Outcome::Pass)
    }
}

impl Budgets {
    /// Checks a trace, and compares it with those of a base: those of the same rank, if it has any.
    ///
    /// # Errors
    /// Returns the first budget whose name nothing has, or that needs a base, and any budget of a trace without events.
    pub fn check(&self, subject: &Subject, base: &[Subject]) -> Result<Checked, Wrong> {
        let same_rank: Vec<&Subject> = base.iter().filter(|base| base.rank() == subject.rank()).collect();
        let base = if same_rank.is_empty() { base.iter().collect() } else { same_rank };
        let comparisons: Vec<Comparison> =
            base.iter().map(|base| Comparison::new(&base.profile, &subject.profile)).collect();
        let mut limits = Vec::new();
        for budget in &self.0 {
            let check = Check { budget, subject, base: &base, comparisons: &comparisons };
            check.add(&mut limits).map_err(|message| Wrong { path: budget.path(), message })?;
        }
        Ok(Checked { source: subject.source().to_string(), limits })
    }
}

/// The check of one budget.
struct Check<'a> {
    budget: &'a Budget,
    subject: &'a Subject,
    base: &'a [&'a Subject],
    comparisons: &'a [Comparison],
}

impl Check<'_> {
    fn add(&self, limits: &mut Vec<Limit>) -> Result<(), String> {
        let Check { budget, subject, base, .. } = self;
        if !subject.has_events {
            return Err(format!("{}: the trace has no events: nothing was measured", subject.source()));
        }
        if budget.is_relative() && base.is_empty() {
            return Err("a limit on a change needs a base: --base TRACE".into());
        }
        if budget.metric == Metric::Findings {
            limits.extend(self.findings());
            return Ok(());
        }
        let value = subject.value(budget.metric, &budget.name);
        let of_base: Vec<f64> =
            base.iter().filter_map(|base| base.value(budget.metric, &budget.name)).collect();
        if value.is_none() && of_base.is_empty() && !budget.optional && self.unfit().is_none() {
            let names = subject.names(budget.metric);
            let message = unknown(budget.metric.as_str(), &budget.name, &names);
            return Err(message.replacen("unknown", "the trace has no", 1));
        }
        let base = (!of_base.is_empty()).then(|| of_base.iter().sum::<f64>() / of_base.len() as f64);
        limits.extend(budget.max.map(|max| self.max(value, max)));
        limits.extend(budget.max_increase.map(|increase| self.increase(value, base, increase)));
        limits.extend(budget.no_significant_increase.then(|| self.significance(value, base)));
        Ok(())
    }

    /// Why the trace cannot decide the budget.
    fn unfit(&self) -> Option<String> {
        self.subject.why_unfit(self.budget.metric).map(ToString::to_string)
    }

    /// Why the base cannot be compared with.
    fn unfit_base(&self) -> Option<String> {
        let partial = self.base.iter().find(|base| base.profile.facts.is_partial);
        let partial = partial.map(|base| format!("a part of {} could not be read", base.source()));
        let has_steps = |subject: &Subject| subject.profile.has_steps();
        let without = self.base.iter().find(|base| has_steps(self.subject) && !has_steps(base));
        let without = || without.map(|base| format!("{} has no profiler steps", base.source()));
        let other = || self.comparisons.iter().find_map(Comparison::other_program).map(ToString::to_string);
        partial.or_else(without).or_else(other)
    }

    fn limit(&self, rule: Rule, value: Option<f64>) -> Limit {
        Limit {
            metric: self.budget.metric,
            name: self.budget.name.clone(),
            rule,
            outcome: Outcome::Unfit,
            value,
            limit: None,
            base: None,
            message: String::new(),
        }
    }

    fn max(&self, value: Option<f64>, max: f64) -> Limit {
        let limit = Limit { limit: Some(max), ..self.limit(Rule::Max, value) };
        decide(limit, self.unfit(), by_value)
    }

    fn increase(&self, value: Option<f64>, base: Option<f64>, increase: Increase) -> Limit {
        let of_base = base.unwrap_or(0.0);
        let allowed = match increase {
            Increase::Share(share) => of_base * (1.0 + share),
            Increase::By(more) => of_base + more,
        };
        let limit = Limit { limit: Some(allowed), base, ..self.limit(Rule::MaxIncrease, value) };
        decide(limit, self.unfit().or_else(|| self.unfit_base()), by_value)
    }

    fn significance(&self, value: Option<f64>, base: Option<f64>) -> Limit {
        let limit = Limit { base, ..self.limit(Rule::NoSignificantIncrease, value) };
        decide(limit, self.unfit().or_else(|| self.unfit_base()), |_| {
            let (kinds, name) = self.rows();
            let verdicts: Vec<Option<bool>> = self
                .comparisons
                .iter()
                .map(|comparison| comparison.increases(kinds, &|text| fits(&name, text)))
                .collect();
            // With several recordings of the base, each of them must show the increase.
            let (outcome, message) = if verdicts.iter().all(|verdict| *verdict == Some(true)) {
                (Outcome::Breach, "it is larger than in the base by more than noise")
            } else if verdicts.contains(&Some(false)) {
                (Outcome::Pass, "no increase beyond noise")
            } else {
                (Outcome::Unfit, "noise and change cannot be distinguished: each side needs at least 3 steps")
            };
            (outcome, message.into())
        })
    }

    /// The rows of a comparison that a budget is about.
    fn rows(&self) -> (&'static [RowKind], String) {
        let name = self.budget.name.as_str();
        let (kinds, name): (&[RowKind], &str) = match self.budget.metric {
            Metric::Step => (&[RowKind::Total], DiffPart::Wall.as_str()),
            Metric::DeviceBusy => (&[RowKind::Total], DiffPart::DeviceBusy.as_str()),
            Metric::DeviceIdle => (&[RowKind::Total], DiffPart::DeviceIdle.as_str()),
            Metric::Communication => (&[RowKind::Phase], Phase::Communication.as_str()),
            Metric::Idle => (&[RowKind::Idle], name),
            Metric::Operator => (&[RowKind::Operator], name),
            Metric::Range => (&[RowKind::Range, RowKind::Python], name),
            Metric::Memory => return (&[RowKind::Memory], format!("peak of {name}")),
            Metric::Kernel => {
                (&[RowKind::Kernel, RowKind::Collective, RowKind::Memcpy, RowKind::Memset], name)
            }
            Metric::Launches | Metric::Recompilations | Metric::Findings => (&[RowKind::Runtime], name),
        };
        (kinds, name.to_string())
    }

    fn findings(&self) -> Vec<Limit> {
        let limit = |code: &FindingCode| {
            let limit = Limit { name: code.as_str().into(), ..self.limit(Rule::Forbid, None) };
            if self.subject.findings.contains(code) {
                return decide(limit, self.unfit(), |_| {
                    (Outcome::Breach, "the trace has this finding".into())
                });
            }
            let unfit = self.subject.why_unfit_for(question_of(*code)).map(ToString::to_string);
            decide(limit, unfit, |_| (Outcome::Pass, "the trace does not have this finding".into()))
        };
        self.budget.forbid.iter().map(limit).collect()
    }
}

/// Decides a limit, unless the traces are unfit for it.
fn decide(limit: Limit, unfit: Option<String>, by: impl FnOnce(&Limit) -> (Outcome, String)) -> Limit {
    let (outcome, message) = unfit.map_or_else(|| by(&limit), |why| (Outcome::Unfit, why));
    Limit { outcome, message, ..limit }
}

/// Compares a value with its limit. What does not occur takes no time.
fn by_value(limit: &Limit) -> (Outcome, String) {
    let (value, max) = (limit.value.unwrap_or(0.0), limit.limit.unwrap_or(0.0));
    let unit = limit.metric.unit();
    let relation = if value <= max { "within" } else { "over" };
    let mut message = format!("{} is {relation} {}", unit.show(value), unit.show(max));
    if let Some(base) = limit.base.filter(|&base| base > 0.0) {
        let change = (value / base - 1.0) * 100.0;
        let _ = write!(message, "; {change:+.1} % against {}", unit.show(base));
    }
    (if value <= max { Outcome::Pass } else { Outcome::Breach }, message)
}

/// The limits of several traces, each with the name of its trace.
pub(super) fn all(checked: &[Checked]) -> Vec<(&str, &Limit)> {
    let mut all = vec![];
    for result in checked {
        all.extend(result.limits.iter().map(|limit| (result.source.as_str(), limit)));
    }
    all
}
