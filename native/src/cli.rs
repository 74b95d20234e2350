//! The command line: flags into options, one call, text out.
//!
//! Exit codes: 0 fine · 1 a check failed · 2 wrong usage or unreadable input · 3 an answer from a partly readable trace
//! when `--strict` is given.

mod answer;
mod args;
mod files;
mod progress;

use args::{Cli, Command, ExportKind};
use clap::{CommandFactory, Parser};
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
    let cli = Cli::parse();
    match run(cli) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            let _ = writeln!(io::stderr(), "kinetoscope: {}", failure.message);
            ExitCode::from(failure.code)
        }
    }
}

fn run(cli: Cli) -> Result<u8, Failure> {
    let Some(command) = cli.command else {
        if cli.summary.traces.is_empty() {
            return Err(Failure::usage("no trace given; try `kinetoscope --help`"));
        }
        return answer::summary(&cli.summary.traces, &cli.summary.how);
    };
    match command {
        Command::Summary(args) => answer::summary(&args.traces, &args.how),
        Command::Ops(args) => answer::ops(&args),
        Command::Kernels(args) => answer::kernels(&args),
        Command::Tree(args) => answer::tree(&args),
        Command::Stacks(args) => answer::stacks(&args),
        Command::Steps(args) => answer::steps(&args),
        Command::Events(args) => answer::events(&args),
        Command::Info(args) => answer::info(&args),
        Command::Ledger(args) => answer::ledger(&args),
        Command::Export(export) => match export.kind {
            ExportKind::Chrome(args) => files::chrome(&args),
            ExportKind::Folded(args) => files::folded(&args),
            ExportKind::Csv(args) => files::csv(&args),
        },
        Command::Repair(args) => files::repair(&args),
        Command::Slice(args) => files::slice(&args),
        Command::Shrink(args) => files::shrink(&args),
        Command::Redact(args) => files::redact(&args),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "kinetoscope", &mut io::stdout());
            Ok(0)
        }
        Command::Man => {
            clap_mangen::Man::new(Cli::command()).render(&mut io::stdout())?;
            Ok(0)
        }
    }
}
