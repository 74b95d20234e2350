//! The traces of the arguments, each as a rank of a run.

use crate::args::{joins, rules_of, traces_of};
use crate::failure::{Failure, UNREADABLE, report};
use crate::joins::Joins;
use crate::reading::{ChosenRules, read_run};
use clap::ArgMatches;
use kinetoscope::files::{Content, Found, RunFiles};
use kinetoscope_tables::Error;
use kinetoscope_tables::arrow::{RankTrace, RunId};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The endings of the names of traces and archives, which are no part of the name of a run.
const ENDINGS: [&str; 9] = [".gz", ".zst", ".json", ".trace", ".pt", ".ktrace", ".pftrace", ".tar", ".zip"];

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::usage(error.to_string())
    }
}

/// Where traces are read from, and which run they are.
pub(super) struct Ranks {
    arguments: Vec<PathBuf>,
    rules: ChosenRules,
    joins: Joins,
    run_id: Option<RunId>,
    /// The rank of the first trace that does not state it.
    rank: i64,
}

impl Ranks {
    pub(super) fn from_matches(matches: &ArgMatches) -> Result<Ranks, Failure> {
        Ranks::from_paths(traces_of(matches), matches)
    }

    /// The same for other paths.
    pub(super) fn from_paths(arguments: Vec<PathBuf>, matches: &ArgMatches) -> Result<Ranks, Failure> {
        let run_id = matches.get_one::<String>("run-id").map(|id| RunId::new(id)).transpose()?;
        let rules = rules_of(matches);
        Ok(Ranks {
            arguments,
            rules,
            joins: joins(matches),
            run_id,
            rank: matches.get_one("rank").copied().unwrap_or(0),
        })
    }

    /// Reads the traces one after the other, and calls `each` with each of them. A file that cannot be read is reported.
    /// Returns the exit code.
    pub(super) fn read(&self, each: &mut dyn FnMut(RankTrace) -> Result<(), Failure>) -> Result<u8, Failure> {
        let mut read = Read { known: BTreeSet::new(), rank: self.rank, unread: Vec::new(), failure: None };
        for argument in &self.arguments {
            let run_id = self.run_id.clone().unwrap_or_else(|| run_of(argument));
            let mut add = |found| read.add(found, &run_id, each);
            read_all(argument, (&self.rules, &self.joins), &mut add)?;
        }
        if let Some(failure) = read.failure {
            return Err(failure);
        }
        let last = if read.known.is_empty() {
            read.unread.pop().or(Some("there is no trace".to_owned()))
        } else {
            None
        };
        let code = if read.unread.is_empty() { 0 } else { UNREADABLE };
        read.unread.iter().for_each(report);
        last.map_or(Ok(code), |message| Err(Failure::usage(message)))
    }
}

/// Reads the traces of an argument one after the other.
fn read_all(
    argument: &Path,
    (rules, joins): (&ChosenRules, &Joins),
    each: &mut dyn FnMut(Found),
) -> Result<(), Failure> {
    #[cfg(feature = "cloud")]
    if let Some(remote) = kinetoscope_tables::remote::Remote::from_path(argument)? {
        return super::remote::read(&remote, (rules, joins), each);
    }
    read_run(&RunFiles::find(&[argument.to_owned()])?, rules, joins, each);
    Ok(())
}

/// What was read so far.
struct Read {
    /// The runs and ranks.
    known: BTreeSet<(RunId, i64)>,
    /// The least rank of a trace that does not state it.
    rank: i64,
    /// What could not be read, and why.
    unread: Vec<String>,
    failure: Option<Failure>,
}

impl Read {
    fn add(&mut self, found: Found, run_id: &RunId, each: &mut dyn FnMut(RankTrace) -> Result<(), Failure>) {
        if self.failure.is_some() || found.is_other_file() {
            return;
        }
        let trace = match found.content {
            Ok(Content::Trace(trace)) => *trace,
            Ok(Content::Summaries(_)) => {
                self.unread.push(format!("{}: a summary has no events", found.path));
                return;
            }
            Err(reason) => {
                self.unread.push(format!("{}: {reason}", found.path));
                return;
            }
        };
        let rank = trace.table.metadata.rank().unwrap_or_else(|| self.next_rank(run_id));
        if !self.known.insert((run_id.clone(), rank)) {
            self.failure = Some(Error::SameRank { run_id: run_id.as_str().to_owned(), rank }.into());
            return;
        }
        self.failure = each(RankTrace::new(trace, run_id.clone(), rank)).err();
    }

    /// The rank of a trace that does not state it: the first that is free.
    fn next_rank(&self, run_id: &RunId) -> i64 {
        let is_free = |rank: &i64| !self.known.contains(&(run_id.clone(), *rank));
        (self.rank..=i64::MAX).find(is_free).unwrap_or(self.rank)
    }
}

/// Returns the run of the traces of an argument: its name.
fn run_of(argument: &Path) -> RunId {
    // The user and the query of an address can be credentials.
    let argument = match argument.to_str().and_then(|text| text.split_once("://")) {
        Some((_, address)) => Path::new(address.split(['?', '#']).next().unwrap_or_default()),
        None => argument,
    };
    let absolute = argument.canonicalize().unwrap_or_else(|_| argument.to_owned());
    let name = absolute.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut stem = if argument.as_os_str() == "-" { "stdin" } else { name.as_str() };
    while let Some(shorter) = ENDINGS.iter().find_map(|ending| stem.strip_suffix(ending)) {
        stem = shorter;
    }
    RunId::resembling(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_named_after_files_and_folders() {
        let run = |path: &str| run_of(Path::new(path)).as_str().to_owned();
        assert_eq!(run("/a/run.v2.pt.trace.json.gz"), "run.v2");
        assert_eq!(run("/a/ranks/"), "ranks");
        assert_eq!(run("/a/my run.ktrace"), "my_run");
        assert_eq!(run("-"), "stdin");
        assert_eq!(run("s3://bucket/nightly/run7.json.gz?sig=secret"), "run7");
        assert_eq!(run("gs://bucket/nightly/"), "nightly");
    }
}
