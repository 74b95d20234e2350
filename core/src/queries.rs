//! The registry of queries and exports. The command line, the npm package and its TypeScript types are generated from
//! it.
//!
//! To add an analysis, define its [`Query`] next to it and add it to [`QUERIES`]. Every frontend is generated from this list.

mod export;
pub mod export_options;
pub mod exports;
pub mod schema;
pub mod writing;

pub use crate::analysis::query::{Answer, Compile, Input, Matches, Query, Request, literal};
pub use crate::base::join::{Join, Task};
pub use export::{Export, ExportKind, Started};

use crate::analysis::device::{
    breakdown, collectives, flops, idle_rows, kernel_rows, launch_rows, memory_rows, sequence_rows, steps,
};
use crate::analysis::overview::{check, fitness, info, summary_text};
use crate::analysis::query::options::Options;
use crate::analysis::replay::{path_rows, what_if_rows};
use crate::analysis::serving::serving_rows;
use crate::analysis::tasks::task_rows;
use crate::analysis::timeline::{call_tree, counters, modules, names, samples, tracks};
use crate::analysis::torch::{
    compiled_rows, coverage, evaluation, event_rows, event_tree_rows, node_rows, ops, patterns, stacks,
};
use crate::base::error::Error;
use crate::base::rows::Rows;
use crate::runs::compare::query as comparisons;
use crate::runs::ranks::query as runs;
use crate::trace::Trace;

/// Every query, in the order of the help text.
pub const QUERIES: &[Query] = &[
    summary_text::SUMMARY,
    ops::OPS,
    kernel_rows::KERNELS,
    sequence_rows::SEQUENCES,
    fitness::FITNESS,
    breakdown::BREAKDOWN,
    idle_rows::IDLE,
    launch_rows::LAUNCHES,
    task_rows::TASKS,
    path_rows::CRITICAL_PATH,
    what_if_rows::WHAT_IF,
    collectives::COLLECTIVES,
    runs::RANKS,
    flops::FLOPS,
    compiled_rows::COMPILED,
    coverage::COVERAGE,
    patterns::PATTERNS,
    evaluation::EVALUATION,
    memory_rows::MEMORY,
    call_tree::TREE,
    modules::MODULES,
    stacks::STACKS,
    steps::STEPS,
    serving_rows::SERVING,
    event_rows::EVENTS,
    event_tree_rows::EVENT_TREE,
    node_rows::NODES,
    samples::SAMPLES,
    names::NAMES,
    counters::COUNTERS,
    tracks::TRACKS,
    info::INFO,
    check::CHECK,
];

/// Every query about two traces or runs.
pub const COMPARISONS: &[Query] = &[comparisons::DIFF, comparisons::DIFF_TREE];

/// Every export.
pub const EXPORTS: &[Export] = exports::EXPORTS;

/// Returns the query with this name.
///
/// # Errors
/// Returns [`Error::BadOption`] if there is none.
pub fn query(name: &str) -> Result<&'static Query, Error> {
    QUERIES.iter().chain(COMPARISONS).find(|v| v.name == name).ok_or_else(|| unknown("analysis", name))
}

/// Returns the export with this name.
///
/// # Errors
/// Returns [`Error::BadOption`] if there is none.
pub fn export(name: &str) -> Result<&'static Export, Error> {
    EXPORTS.iter().find(|e| e.name == name).ok_or_else(|| unknown("export", name))
}

fn unknown(what: &str, name: &str) -> Error {
    Error::BadOption(alloc::format!("unknown {what}: {name}"))
}

impl Trace {
    /// Runs a query by its name and returns its rows. Queries with options are also functions with typed options, next to their
    /// analyses.
    ///
    /// ```
    /// use kinetoscope_core::trace::Trace;
    /// use kinetoscope_core::analysis::query::options::Options;
    /// use kinetoscope_core::queries::query;
    ///
    /// let trace = Trace::read(br#"[{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1, "dur": 5}]"#)?;
    /// let options = Options::from_texts(query("kernels")?.options, &[("row-limit", "10")])?;
    /// assert_eq!(trace.ask("kernels", &options)?.rows.len(), 1);
    /// # Ok::<(), kinetoscope_core::base::error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] if there is no such query, and the errors of [`Query::answer`].
    pub fn ask(&self, name: &str, options: &Options) -> Result<Rows, Error> {
        Ok(query(name)?.answer(self, Request::new(options))?.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::export_options::{
        ChromeOptions, CsvOptions, FoldedOptions, MemoryTimelineOptions, RedactOptions, ShrinkOptions,
        SliceOptions,
    };
    use super::*;
    use crate::analysis::query::options::{Fallback, ListOptions, Opt, TypedOptions};
    use crate::analysis::query::value::ValueKind;
    use alloc::vec::Vec;
    use core::fmt::Debug;

    /// Returns a value that is not the default.
    fn sample(option: &Opt) -> &'static str {
        match option.kind {
            ValueKind::Nothing | ValueKind::Text | ValueKind::File | ValueKind::Texts => "text",
            ValueKind::Count
            | ValueKind::Percent
            | ValueKind::Width
            | ValueKind::Range
            | ValueKind::Numbers => "5",
            ValueKind::Word(words) | ValueKind::Attribute(words) => words.words[1],
            ValueKind::Groups => "shape",
            ValueKind::Duration => "3us",
            ValueKind::Times => "1us..3us",
        }
    }

    /// Checks that the typed options read every declared option, that the first word of a vocabulary is the default, and that the
    /// defaults for rows are those of `Default`.
    fn check<O: TypedOptions + Default + Debug + PartialEq>(declared: &mut Vec<&'static [Opt]>) {
        let position = declared.iter().position(|options| *options == O::DECLARED);
        declared.swap_remove(position.expect("options of a query or an export"));
        for for_reading in [false, true] {
            let defaults = O::from_options(&Options::default(), for_reading);
            let with = |option: &Opt, text| {
                let options = Options::from_texts(O::DECLARED, &[(option.name, text)]);
                O::from_options(&options.expect(option.name), for_reading)
            };
            for option in O::DECLARED {
                assert_ne!(with(option, sample(option)), defaults, "{} is not read", option.name);
                if let (ValueKind::Word(words), Fallback::Words(word)) = (option.kind, option.fallback)
                    && words.words.contains(&word)
                {
                    assert_eq!(with(option, word), defaults, "{} has another default", option.name);
                }
            }
        }
        assert_eq!(O::from_options(&Options::default(), false), O::default());
    }

    #[test]
    fn every_option_is_read() {
        let lists = |options: &&'static [Opt]| !options.is_empty() && **options != *ListOptions::DECLARED;
        let queries = QUERIES.iter().chain(COMPARISONS).map(|query| query.options);
        let mut declared: Vec<&'static [Opt]> = queries.filter(lists).collect();
        declared.push(ListOptions::DECLARED);
        check::<ListOptions>(&mut declared);
        check::<ops::OpsOptions>(&mut declared);
        check::<breakdown::BreakdownOptions>(&mut declared);
        check::<idle_rows::IdleOptions>(&mut declared);
        check::<launch_rows::LaunchesOptions>(&mut declared);
        check::<kernel_rows::KernelsOptions>(&mut declared);
        check::<sequence_rows::SequencesOptions>(&mut declared);
        check::<flops::FlopsOptions>(&mut declared);
        check::<fitness::FitnessOptions>(&mut declared);
        check::<task_rows::TasksOptions>(&mut declared);
        check::<path_rows::CriticalPathOptions>(&mut declared);
        check::<what_if_rows::WhatIfOptions>(&mut declared);
        check::<patterns::PatternsOptions>(&mut declared);
        check::<call_tree::TreeOptions>(&mut declared);
        check::<stacks::StacksOptions>(&mut declared);
        check::<samples::SamplesOptions>(&mut declared);
        check::<names::NamesOptions>(&mut declared);
        check::<runs::RanksOptions>(&mut declared);
        check::<comparisons::DiffTreeOptions>(&mut declared);
        assert!(declared.is_empty(), "the options of a query are not checked: {declared:?}");
    }

    #[test]
    fn every_option_of_an_export_is_read() {
        let all = EXPORTS.iter().map(|export| export.options);
        let mut declared: Vec<&'static [Opt]> = all.filter(|options| !options.is_empty()).collect();
        check::<ChromeOptions>(&mut declared);
        check::<CsvOptions>(&mut declared);
        check::<FoldedOptions>(&mut declared);
        check::<MemoryTimelineOptions>(&mut declared);
        check::<SliceOptions>(&mut declared);
        check::<ShrinkOptions>(&mut declared);
        check::<RedactOptions>(&mut declared);
        assert!(declared.is_empty(), "the options of an export are not checked: {declared:?}");
    }

    #[test]
    fn tables_have_their_own_defaults() {
        let nothing = Options::default();
        assert_eq!(ops::OpsOptions::from_options(&nothing, true).table.row_limit, Some(100));
        assert!(call_tree::TreeOptions::from_options(&nothing, true).min_share > 0.0);
    }
}
