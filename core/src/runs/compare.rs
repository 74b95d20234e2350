//! Comparison of two traces, or of two runs of several ranks: what changed, by how much, whether it is noise, and why.
//!
//! ```text
//! Trace → Profile ┐
//!                 ├→ align → measure → lines → noise → change → rows, text
//! Trace → Profile ┘
//! ```
//!
//! A trace is reduced to a [`Profile`], so that no two traces need to be in memory.
//!
//! | module | contents |
//! |---|---|
//! | [`profile`] | the places of a step, with a sample for each step |
//! | `align` | which places of one profile are which of the other |
//! | `iterations` | which iterations of an inference engine are comparable |
//! | `measure` | times and counts of groups of places; pairs of ranks add up |
//! | `lines` | the lines, whose values add up to the totals |
//! | `noise` | which changes are more than noise; `statistics` has the methods |
//! | `change` | what changed in a line, and why |
//! | `rank_waits`, `hardware` | what the other ranks and the counters of the hardware say about the cause |
//! | `tree` | the call tree with the times of both sides |

mod align;
mod change;
mod hardware;
mod iterations;
pub(crate) mod kinds;
mod lines;
mod measure;
mod noise;
mod notes;
mod pairs;
pub mod profile;
pub mod query;
mod rank_waits;
mod report;
mod rows;
pub(crate) mod statistics;
pub(crate) mod tree;
mod verdict;

use self::change::{change, why};
use self::kinds::{Change, DiffCause, RowKind};
use self::lines::{Line, lines};
use self::measure::{Both, Measures};
use self::noise::{Factors, judge};
use self::profile::Profile;
use self::query::DiffOptions;
use self::tree::CallTree;
use crate::base::error::Error;
use crate::base::order::{descending, float_key, sort_by_key};
use crate::base::page::Page;
use crate::base::rows::Rows;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// Collects pairs of profiles, one of each side: of two traces, or of each rank of two runs.
#[derive(Clone, Debug, Default)]
pub struct Comparer {
    measures: Measures,
    notes: Vec<String>,
    sources: Both<Vec<String>>,
    is_partial: bool,
    /// The ranks with the number of their steps on each side. Several recordings of a rank follow one another.
    ranks: Vec<(Option<i64>, Both<usize>)>,
}

impl Comparer {
    /// Adds two profiles of the same rank. Of iterations of inference engines, those that are comparable.
    pub fn add(&mut self, base: &Profile, new: &Profile) {
        let comparable = iterations::comparable([base, new]);
        let (profiles, note) = comparable.map_or((None, None), |one| (one.profiles, Some(one.note)));
        match &profiles {
            Some([base, new]) => self.add_steps(base, new),
            None => self.add_steps(base, new),
        }
        if let Some(note) = note {
            self.note(note);
        }
    }

    fn add_steps(&mut self, base: &Profile, new: &Profile) {
        let rank = base.rank();
        let at = self.ranks.iter().position(|known| rank.is_some() && known.0 == rank).unwrap_or_else(|| {
            self.ranks.push((rank, [0; 2]));
            self.ranks.len() - 1
        });
        let [a, b] = &mut self.ranks[at].1;
        let from = [*a, *b];
        (*a, *b) = (*a + base.len(), *b + new.len());
        self.measures.add([base, new], from);
        for note in notes::notes([base, new]) {
            self.note(note);
        }
        self.is_partial |= base.facts.is_partial || new.facts.is_partial;
        self.sources[0].push(base.source.clone());
        self.sources[1].push(new.source.clone());
    }

    /// Adds something that should be known about the traces, unless it is known already.
    pub fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Compares.
    pub fn finish(mut self) -> Comparison {
        for note in notes::about(&self.measures) {
            self.note(note);
        }
        let Comparer { mut measures, mut notes, sources, is_partial, ranks } = self;
        let summaries = core::mem::take(&mut measures.summaries);
        let mut lines = lines(&measures);
        rank_waits::add(&mut lines, summaries);
        let factors = judge(&mut lines);
        let verdicts = verdicts(&lines, measures.groups.len());
        let groups = measures.groups.iter().map(|measured| &measured.group).zip(verdicts);
        let units = [measures.units(0), measures.units(1)];
        let tree = CallTree::new(core::mem::take(&mut measures.tree), groups, units);
        notes.extend(notes::about_noise(&lines, &factors));
        notes.extend(hardware::notes(&measures));
        let speeds = [("host", true), ("devices", false)].into_iter().zip(&factors);
        lines.extend(speeds.filter_map(|((name, is_host), factor)| {
            let factor = factor.as_ref().filter(|factor| factor.log != 0.0)?;
            Some(Line::from_factor(name, factor, hardware::clocks(&measures, is_host, factor)))
        }));
        let largest = |lines: &mut dyn Iterator<Item = &Line>| {
            lines.flat_map(|line| line.values).max().map_or(1, |value| value.max(1))
        };
        let wall = largest(&mut lines.iter().take(1));
        let memory = largest(&mut lines.iter().filter(|line| line.kind == RowKind::Memory));
        // If nothing differs at all, not even the totals are of interest.
        let is_equal = lines.iter().all(Line::is_equal);
        lines.retain(|line| !is_equal && (line.kind == RowKind::Total || !line.is_equal()));
        let mut findings: Vec<Finding> = lines.into_iter().map(Finding::from_line).collect();
        let size = |finding: &Finding| {
            let Line { values, kind, .. } = &finding.line;
            let total = if *kind == RowKind::Memory { memory } else { wall };
            (values[1] - values[0]).unsigned_abs() as f64 / total as f64
        };
        sort_by_key(&mut findings, |finding| (finding.rank(), descending(float_key(size(finding)))));
        Comparison {
            sources,
            ranks: ranks.len(),
            findings,
            tree,
            notes,
            is_partial,
            factors,
            aligned: notes::aligned(&measures),
            other_program: notes::other_program(&measures),
            steps: [measures.steps(0), measures.steps(1)],
        }
    }
}

/// Whether the change of each group is more than noise.
fn verdicts(lines: &[Line], groups: usize) -> Vec<Option<bool>> {
    let mut verdicts = vec![None; groups];
    for line in lines {
        if let Some(group) = line.group {
            verdicts[group] = line.verdict.is_significant;
        }
    }
    verdicts
}

/// A line with what changed in it.
#[derive(Clone, Debug)]
struct Finding {
    line: Line,
    change: Change,
    why: Option<(DiffCause, String)>,
}

impl Finding {
    fn from_line(line: Line) -> Finding {
        let change = change(&line);
        let why = why(&line, change);
        Finding { line, change, why }
    }

    /// Significant rows come first, then those that cannot be decided. Of each, what runs comes before what waits for it,
    /// and sums come last.
    fn rank(&self) -> i64 {
        let verdict = match self.line.verdict.is_significant {
            Some(true) => 0,
            None => 10,
            Some(false) => 20,
        };
        verdict
            + match self.line.kind {
                RowKind::Total | RowKind::Phase | RowKind::Wait | RowKind::Step | RowKind::Speed => 2,
                RowKind::Idle => 1,
                _ if self.line.waits() => 1,
                _ => 0,
            }
    }
}

/// The differences of two traces, or of two runs.
#[derive(Clone, Debug)]
pub struct Comparison {
    sources: Both<Vec<String>>,
    ranks: usize,
    findings: Vec<Finding>,
    tree: CallTree,
    notes: Vec<String>,
    is_partial: bool,
    factors: Factors,
    /// The share of the time of each side that has a counterpart.
    aligned: Both<f64>,
    /// Why the sides are probably of different programs.
    other_program: Option<String>,
    steps: Both<usize>,
}

impl Comparison {
    /// Compares two profiles.
    pub fn new(base: &Profile, new: &Profile) -> Comparison {
        let mut comparer = Comparer::default();
        comparer.add(base, new);
        comparer.finish()
    }

    /// The names of the traces, each with its side: `a` or `b`.
    pub fn sources(&self) -> impl Iterator<Item = (&'static str, &str)> {
        ["a", "b"]
            .into_iter()
            .zip(&self.sources)
            .flat_map(|(side, names)| names.iter().map(move |name| (side, name.as_str())))
    }

    /// Whether a part of one of the traces could not be read.
    pub fn is_partial(&self) -> bool {
        self.is_partial
    }

    /// Compares two runs of several ranks: each rank with the same rank of the other side. Two sides of one trace each are
    /// compared whatever their ranks.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] if no rank is on both sides, or some are of traces and others of summaries.
    pub fn between_runs(base: &[Profile], new: &[Profile]) -> Result<Comparison, Error> {
        let all = || base.iter().chain(new);
        if let Some(summary) = all().find(|profile| profile.is_summary())
            && let Some(trace) = all().find(|profile| !profile.is_summary())
        {
            let (summary, trace) = (summary.source(), trace.source());
            let why = format!(
                "summaries are compared with summaries: there is one of {summary}, and the trace {trace}"
            );
            return Err(Error::BadOption(why));
        }
        let mut comparer = Comparer::default();
        if let ([base], [new]) = (base, new) {
            comparer.add(base, new);
            return Ok(comparer.finish());
        }
        let (pairs, alone) = pairs::by_rank(base, new);
        if pairs.is_empty() {
            return Err(Error::BadOption(String::from("no rank has a trace on both sides")));
        }
        for (base, new) in pairs {
            comparer.add(base, new);
        }
        for note in alone {
            comparer.note(note);
        }
        Ok(comparer.finish())
    }

    /// Why the two sides are probably of different programs.
    pub(crate) fn other_program(&self) -> Option<&str> {
        self.other_program.as_deref()
    }

    /// Whether a row with a name that `fits` takes longer by more than noise; `None` if that cannot be decided. What both
    /// sides have alike does not.
    pub(crate) fn increases(&self, kinds: &[RowKind], fits: &dyn Fn(&str) -> bool) -> Option<bool> {
        let is_about =
            |line: &Line| kinds.contains(&line.kind) && line.names.iter().flatten().any(|name| fits(name));
        let grew = |line: &Line| {
            line.verdict.is_significant == Some(true)
                && line.verdict.interval.is_some_and(|(low, _)| low > 0.0)
        };
        let steps = self.steps.iter().all(|&steps| steps >= noise::FEWEST_STEPS);
        steps.then(|| self.findings.iter().any(|finding| is_about(&finding.line) && grew(&finding.line)))
    }

    /// Returns the differences as rows: significant ones first, by the size of their contribution.
    pub fn rows(&self, options: &DiffOptions) -> Rows {
        rows::rows(self).first(options.row_limit)
    }

    /// Returns the differences as a page of text.
    pub fn page(&self, options: &DiffOptions) -> Page {
        report::page(self, options)
    }

    /// Returns the call tree of a step with the times of both sides: places of which a side has at least `min_share` of the
    /// step.
    pub fn tree(&self, min_share: f64) -> Rows {
        self.tree.rows(min_share)
    }

    /// Returns the same as a table for a person.
    pub(crate) fn tree_table(&self, min_share: f64, row_limit: Option<usize>) -> Rows {
        self.tree.table(min_share, row_limit)
    }
}
