//! The history of a program: the line that `check --record` appends, and the command `trend`.

use crate::answer::add_csv;
use crate::args::{self, Format};
use crate::failure::{Failure, report};
use crate::print::print;
use crate::terminal;
use clap::ArgMatches;
use kinetoscope::files::{behind_links, folder_of};
use kinetoscope_core::output::document;
use kinetoscope_core::runs::budget::subject::Subject;
use kinetoscope_core::runs::history::record::{Origin, line};
use kinetoscope_core::runs::history::trend::Trend;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

/// Appends a line for each trace. A line is written at once, so that several jobs can append to one file.
pub(crate) fn record(path: &Path, subjects: &[Subject]) -> Result<(), Failure> {
    let failure = |error| Failure::usage(format!("{}: {error}", path.display()));
    let origin = origin();
    let (partial, complete): (Vec<&Subject>, Vec<&Subject>) =
        subjects.iter().partition(|subject| subject.is_partial());
    for subject in partial {
        report(format!("{}: not recorded, because a part could not be read", subject.source()));
    }
    let mut ranks: Vec<Option<i64>> = complete.iter().map(|subject| subject.rank()).collect();
    ranks.sort_unstable();
    ranks.dedup();
    if ranks.len() > 1 {
        report(format!(
            "{} ranks are recorded as runs: record one rank of each run to see its trend",
            ranks.len()
        ));
    }
    let mut lines: String = complete.into_iter().map(|subject| line(subject, &origin)).collect();
    if lines.is_empty() {
        return Ok(());
    }
    let path = &behind_links(path).map_err(failure)?;
    if history(path)?.last().is_some_and(|last| *last != b'\n') {
        lines.insert(0, '\n');
    }
    let mut file = OpenOptions::new().append(true).create(true).open(path).map_err(failure)?;
    file.write_all(lines.as_bytes()).map_err(failure)
}

/// Refuses a file to which no lines can be appended, before a command has written anything.
pub(crate) fn check_target(path: &Path) -> Result<(), Failure> {
    let failure = |error| Failure::usage(format!("{}: {error}", path.display()));
    let place = behind_links(path).map_err(failure)?;
    fs::metadata(folder_of(&place)).map_err(failure)?;
    history(&place).map(drop)
}

/// The content of a history; empty if there is none yet.
fn history(path: &Path) -> Result<Vec<u8>, Failure> {
    let wrong = |text: &str| Failure::usage(format!("{}: {text}", path.display()));
    if path.exists() && !path.is_file() {
        return Err(wrong("a history is a file"));
    }
    let before = fs::read(path).unwrap_or_default();
    if before.is_empty() || is_history(&before) {
        Ok(before)
    } else {
        Err(wrong("this is not a history: nothing was appended"))
    }
}

/// Whether the first line of a file is one of a history.
fn is_history(file: &[u8]) -> bool {
    let first = file.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line: Option<serde_json::Value> = serde_json::from_slice(first).ok();
    let schema = line.as_ref().and_then(|line| line["schema"].as_str());
    schema.is_some_and(|schema| schema.starts_with("kinetoscope.history/"))
}

fn origin() -> Origin {
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    Origin {
        commit: commit(),
        host: fs::read_to_string("/proc/sys/kernel/hostname")
            .map(|name| name.trim().to_owned())
            .unwrap_or_default(),
        tool: concat!("kinetoscope ", env!("CARGO_PKG_VERSION")).to_owned(),
        time: time.map_or(0, |time| i64::try_from(time.as_secs()).unwrap_or(0)),
    }
}

/// The commit that continuous integration works on, or that of the repository around the folder.
fn commit() -> String {
    let variable = ["GITHUB_SHA", "CI_COMMIT_SHA"].into_iter().find_map(|name| std::env::var(name).ok());
    let of_repository = || {
        let mut git = Command::new("git");
        let output = git.args(["rev-parse", "HEAD"]).stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    variable.filter(|commit| !commit.is_empty()).or_else(of_repository).unwrap_or_default()
}

/// Prints where the metrics of a history changed.
pub(crate) fn trend(matches: &ArgMatches) -> Result<u8, Failure> {
    let path = matches.get_one::<PathBuf>("history").cloned().unwrap_or_default();
    let failure = |message: String| Failure::usage(format!("{}: {message}", path.display()));
    let lines =
        if path.as_os_str() == "-" { io::read_to_string(io::stdin()) } else { args::read_text(&path) };
    let lines = lines.map_err(|error| failure(error.to_string()))?;
    let trend = Trend::read(&lines).map_err(|error| failure(error.to_string()))?;
    let mut text = String::new();
    let (format, output) = (args::format(matches), args::output_of(matches));
    match format {
        Format::Json => text = document::trend(&trend),
        Format::Csv | Format::ExactCsv => add_csv(&mut text, "", trend.rows(), format, false),
        Format::Md => text = trend.rows().to_markdown(),
        _ => text = trend.page().to_text(terminal::width(output.as_deref())),
    }
    print(&text, output.as_deref())?;
    Ok(0)
}
