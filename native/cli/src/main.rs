//! The command `kinetoscope`: parses arguments, runs one query or export, prints the result.
//!
//! The exit codes are in `failure`.

mod answer;
mod args;
mod audit;
mod budgets;
mod destinations;
mod diff;
mod failure;
mod files;
mod joins;
mod named_files;
mod outline;
mod print;
mod progress;
mod random;
mod ranks;
mod reading;

mod steps_from;
mod tables;
mod terminal;
mod trend;
#[cfg(feature = "view")]
mod view;

use clap::ArgMatches;
use failure::{Failure, UNREADABLE, report};
use kinetoscope_core::base::escape;
use kinetoscope_core::queries;
use named_files::refuse_overlaps;
use print::print;
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

/// Runs the command of the process arguments.
fn main() -> ExitCode {
    #[cfg(unix)]
    if let Err(error) = kinetoscope::files::remove_unfinished_on_signals() {
        report(format!("a signal can leave a temporary file: {error}"));
    }
    let matches = match args::command().try_get_matches_from(arguments()) {
        Ok(matches) => matches,
        Err(error) => return refuse_arguments(&error),
    };
    match run(&matches) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            report(&failure.message);
            ExitCode::from(failure.code)
        }
    }
}

/// Prints why the arguments are wrong, or the help. Values of arguments, such as names of files, are escaped.
fn refuse_arguments(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    let lines: Vec<_> = text.lines().map(escape::whole_line).collect();
    if !error.use_stderr() || lines.iter().all(|line| matches!(line, Cow::Borrowed(_))) {
        error.exit();
    }
    for line in lines {
        eprintln!("{line}");
    }
    ExitCode::from(UNREADABLE)
}

/// The arguments of the process. A query that begins with a comment is no option.
fn arguments() -> impl Iterator<Item = OsString> {
    std::env::args_os().map(|argument| {
        let is_comment =
            argument.as_encoded_bytes().strip_prefix(b"--").is_some_and(|rest| rest.starts_with(b" "));
        if is_comment { [OsStr::new(" "), &argument].into_iter().collect() } else { argument }
    })
}

fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    refuse_overlaps(leaf(matches))?;
    match matches.subcommand() {
        None => {
            refuse_unknown_command(matches)?;
            answer::answer("summary", matches)
        }
        Some(("ranks", matches)) => ranks::ranks(matches),
        Some(("check", matches)) => budgets::check(matches),
        Some(("outline", matches)) => outline::outline(matches),
        Some(("trend", matches)) => trend::trend(matches),
        Some((name @ ("diff" | "diff-tree"), matches)) => diff::diff(name, matches),
        Some(("summarize", matches)) => ranks::summarize::summarize(matches),
        Some(("merge", matches)) => ranks::merge::merge(matches),
        Some(("sql", matches)) => tables::sql(matches),
        Some(("repair", matches)) => files::repair(matches),
        #[cfg(feature = "view")]
        Some(("view", matches)) => view::view(matches),
        #[cfg(feature = "view")]
        Some(("attach", matches)) => view::attach(matches),
        Some(("completions", matches)) => {
            let mut text = Vec::new();
            if let Some(&shell) = matches.get_one::<clap_complete::Shell>("shell") {
                clap_complete::generate(shell, &mut args::command(), "kinetoscope", &mut text);
            }
            print(&String::from_utf8_lossy(&text), None)?;
            Ok(0)
        }
        Some(("man", _)) => {
            let mut text = Vec::new();
            clap_mangen::Man::new(args::command()).render(&mut text)?;
            print(&String::from_utf8_lossy(&text), None)?;
            Ok(0)
        }
        Some(("export", matches)) => matches.subcommand().map_or(Ok(UNREADABLE), |(name, matches)| {
            let is_table = args::tables::EXPORTS.contains(&name);
            if is_table { tables::export(name, matches) } else { files::export(name, matches) }
        }),
        Some((name, matches)) if queries::query(name).is_ok() => answer::answer(name, matches),
        Some((name, matches)) => files::export(name, matches),
    }
}

/// The arguments of the command itself, such as those of `export folded`.
fn leaf(matches: &ArgMatches) -> &ArgMatches {
    matches.subcommand().map_or(matches, |(_, inner)| leaf(inner))
}

/// Reports a mistyped command, which would otherwise be a trace that does not exist.
fn refuse_unknown_command(matches: &ArgMatches) -> Result<(), Failure> {
    match args::traces_of(matches).first() {
        Some(name) if name.as_os_str() != "-" && name.extension().is_none() && !name.exists() => {
            let name = name.display().to_string();
            Err(Failure::usage(if args::command().find_subcommand(&name).is_some() {
                format!("the options of {name} follow its name: `kinetoscope {name} [OPTIONS] TRACE...`")
            } else {
                format!("{name} is neither a command nor a file; see `kinetoscope --help`")
            }))
        }
        _ => Ok(()),
    }
}
