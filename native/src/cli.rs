//! The command line: flags into options, one call, text out.
//!
//! Exit codes: 0 fine · 1 a check failed · 2 wrong usage or unreadable input · 3 an answer from a partly readable trace
//! when `--strict` is given.

mod answer;
mod args;
mod files;
mod progress;
#[cfg(feature = "view")]
mod view;

use clap::ArgMatches;
use kinetoscope_core::verbs;
use std::io::{self, Write};
use std::process::ExitCode;

/// What ends a command early: a message and its exit code.
struct Failure {
    message: String,
    code: u8,
}

impl Failure {
    fn usage(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), code: UNREADABLE }
    }
}

impl From<kinetoscope_core::error::Error> for Failure {
    fn from(error: kinetoscope_core::error::Error) -> Failure {
        Failure::usage(error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::usage(error.to_string())
    }
}

const CHECK_FAILED: u8 = 1;
const UNREADABLE: u8 = 2;
const PARTLY_READ: u8 = 3;

/// Runs the command that the arguments of the process give.
pub fn main() -> ExitCode {
    match run(&args::command().get_matches()) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            let _ = writeln!(io::stderr(), "kinetoscope: {}", failure.message);
            ExitCode::from(failure.code)
        }
    }
}

fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    match matches.subcommand() {
        None => answer::answer("summary", matches),
        Some(("repair", matches)) => files::repair(&args::Files::of(matches)),
        #[cfg(feature = "view")]
        Some(("view", matches)) => view::view(matches),
        Some(("completions", matches)) => {
            if let Some(&shell) = matches.get_one::<clap_complete::Shell>("shell") {
                clap_complete::generate(shell, &mut args::command(), "kinetoscope", &mut io::stdout());
            }
            Ok(0)
        }
        Some(("man", _)) => {
            clap_mangen::Man::new(args::command()).render(&mut io::stdout())?;
            Ok(0)
        }
        Some(("export", matches)) => {
            matches.subcommand().map_or(Ok(UNREADABLE), |(name, matches)| files::export(name, matches))
        }
        Some((name, matches)) if verbs::verb(name).is_ok() => answer::answer(name, matches),
        Some((name, matches)) => files::export(name, matches),
    }
}
