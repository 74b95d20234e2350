//! Counts of checks that passed, failed and were skipped. Every step ends with these numbers in one format, and every
//! test that cannot run prints `SKIPPED name: reason`, so that the caller can count them.

use crate::shell::Failure;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// The prefix of a line that reports a skip.
const SKIPPED: &str = "SKIPPED ";

/// The counts of checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
}

impl Tally {
    /// One check that passed.
    pub(crate) const PASSED: Tally = Tally { passed: 1, failed: 0, skipped: 0 };
    /// One check that failed.
    pub(crate) const FAILED: Tally = Tally { passed: 0, failed: 1, skipped: 0 };
    /// One check that was skipped.
    pub(crate) const SKIPPED: Tally = Tally { passed: 0, failed: 0, skipped: 1 };

    pub(crate) fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    /// Parses `N passed, N failed, N skipped`.
    pub(crate) fn parse(line: &str) -> Option<Tally> {
        let mut counts = line.trim().split(", ");
        let mut next = |word: &str| counts.next()?.strip_suffix(word)?.trim_end().parse().ok();
        let tally = Tally { passed: next("passed")?, failed: next("failed")?, skipped: next("skipped")? };
        counts.next().is_none().then_some(tally)
    }

    /// Parses the last line of libtest's output, such as `test result: ok. 9 passed; 0 failed; 1 ignored; …`.
    pub(crate) fn parse_libtest(line: &str) -> Option<Tally> {
        let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
        let count = |word: &str| -> Option<usize> {
            counts.split("; ").find_map(|part| part.trim().strip_suffix(word)?.trim_end().parse().ok())
        };
        Some(Tally { passed: count("passed")?, failed: count("failed")?, skipped: count("ignored")? })
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// Prints the line that reports a skip, and returns one skipped check.
pub(crate) fn skip(name: &str, reason: &str) -> Tally {
    println!("{}", skip_line(name, reason));
    Tally::SKIPPED
}

/// Returns the line that reports a skip.
pub(crate) fn skip_line(name: &str, reason: &str) -> String {
    format!("{SKIPPED}{name}: {reason}")
}

/// Whether a line reports a skip.
pub(crate) fn is_skip(line: &str) -> bool {
    line.starts_with(SKIPPED)
}

/// Runs a command that prints a tally, forwards its output, and returns the tally.
pub(crate) fn run_counted(command: &mut Command) -> Result<Tally, Failure> {
    let spawned = command.stdout(Stdio::piped()).spawn();
    let failure = |error: &dyn std::fmt::Display| format!("{command:?}: {error}");
    let mut child = spawned.map_err(|e| failure(&e))?;
    let mut tally = None;
    for line in BufReader::new(child.stdout.take().ok_or("no output")?).lines() {
        let line = line.map_err(|e| failure(&e))?;
        tally = Tally::parse(&line).or(tally);
        println!("{line}");
    }
    let status = child.wait().map_err(|e| failure(&e))?;
    match tally {
        Some(tally) if status.success() == (tally.failed == 0) => Ok(tally),
        Some(tally) => Err(failure(&format!("{status} contradicts its count: {tally}"))),
        None => Err(failure(&format!("{status}, without a count of its tests"))),
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;

    #[test]
    fn a_printed_tally_is_parsed() {
        let tally = Tally { passed: 3, failed: 1, skipped: 20 };
        assert_eq!(tally.to_string(), "3 passed, 1 failed, 20 skipped");
        assert_eq!(Tally::parse(&tally.to_string()), Some(tally));
        for other in ["3 passed", "3 passed, 1 failed, 2 skipped, 1 more", "all passed, 1 failed, 2 skipped"]
        {
            assert_eq!(Tally::parse(other), None, "{other}");
        }
    }

    #[test]
    fn the_summary_of_libtest_is_parsed() {
        let line = "test result: FAILED. 9 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.04s";
        assert_eq!(Tally::parse_libtest(line), Some(Tally { passed: 9, failed: 2, skipped: 1 }));
        assert_eq!(Tally::parse_libtest("test result: ok."), None);
        assert_eq!(Tally::parse_libtest("running 3 tests"), None);
    }
}
