//! Words that the documentation, comments and texts of the project avoid, with the words that replace them.

use crate::shell::{Failure, root};
use crate::tally::Tally;
use std::fs;
use std::process::Command;

/// A word, in lower case, and its replacement.
const AVOIDED: [(&str, &str); 30] = [
    ("told", "reports, records, passes"),
    ("tells", "reports, records, passes"),
    ("asked", "requested, required"),
    ("asks", "requests, requires"),
    ("stands", "is, represents"),
    ("beside", "next to, compared with, in addition to"),
    ("moments", "instant events"),
    ("oddity", "diagnostic"),
    ("oddities", "diagnostics"),
    ("ledger", "check, diagnostics"),
    ("sick", "malformed"),
    ("sickness", "defect"),
    ("lesson", "example"),
    ("lessons", "examples"),
    ("verb", "command, query"),
    ("verbs", "commands, queries"),
    ("dearest", "most expensive"),
    ("parted", "split, broken down"),
    ("stand-in", "fake"),
    ("stand-ins", "fakes"),
    ("rival", "other tracer, baseline"),
    ("rivals", "other tracers, baselines"),
    ("faces", "frontends, interfaces"),
    ("for want of", "because there is no"),
    ("nobody", "state the condition"),
    ("believed", "accepted, assumed"),
    ("heir", "successor"),
    ("deed", "transition"),
    ("how far to trust", "data quality"),
    ("what looks wrong", "findings"),
];

/// Files with these endings are searched.
const TEXTS: [&str; 9] = [".rs", ".md", ".ts", ".tsx", ".js", ".mjs", ".toml", ".html", ".css"];

/// Recorded data, generated or legal texts, and this list.
const EXCEPT: [&str; 4] = ["CHANGELOG.md", "tests/data/", "web/src/engine/sample", "xtask/src/words.rs"];

/// Searches every text of the repository.
pub(crate) fn check() -> Result<Tally, Failure> {
    let output = Command::new("git").args(["ls-files"]).current_dir(root()).output();
    let output = output.map_err(|e| format!("git ls-files: {e}"))?;
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    let is_text = |path: &&str| {
        TEXTS.iter().any(|end| path.ends_with(end)) && !EXCEPT.iter().any(|e| path.starts_with(e))
    };
    let mut found = Vec::new();
    for path in listed.lines().filter(is_text) {
        let Ok(text) = fs::read_to_string(root().join(path)) else { continue };
        for (number, line) in text.lines().enumerate() {
            found.extend(
                avoided(line).map(|(word, better)| format!("{path}:{}: {word}: write {better}", number + 1)),
            );
        }
    }
    if found.is_empty() { Ok(Tally::PASSED) } else { Err(found.join("\n")) }
}

/// The avoided words of a line. `code` in backticks counts too.
fn avoided(line: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let line = line.to_lowercase();
    AVOIDED.into_iter().filter(move |(word, _)| {
        line.match_indices(word).any(|(at, _)| {
            let is_end = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
            is_end(line[..at].chars().next_back()) && is_end(line[at + word.len()..].chars().next())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::avoided;

    #[test]
    fn words_are_found_whole() {
        assert_eq!(avoided("Told by the verb").map(|(word, _)| word).collect::<Vec<_>>(), ["told", "verb"]);
        assert_eq!(avoided("verbose, retold, besides").count(), 0);
    }
}
