//! The arguments of the commands that compare: `diff`, `check` with budgets, and `trend`.

use super::help::examples;
use super::{FORMATS, format_arg, output, with_formats};
use clap::{Arg, ArgAction, Command, value_parser};
use std::path::PathBuf;

const ABOUT: &str = "Checks traces: identities that must hold, and diagnostics; with a file of budgets, its limits.\n\n\
    A file of budgets is a TOML file that is named first. It limits what a trace measures, absolutely or relative to the traces of \
    --base; see the guide `Gate a pull request`. --init prints one from measured traces.";

const EXAMPLES: &str = "\n  kinetoscope check budget.toml run.json --base main1.json main2.json\n  \
    kinetoscope check --init run1.json run2.json -o budget.toml";

/// The second argument of `diff`.
pub(super) fn new_trace() -> Arg {
    Arg::new("new")
        .value_name("NEW")
        .required(true)
        .help_heading(None)
        .value_parser(value_parser!(PathBuf))
        .help("The same for what is compared with it")
}

/// The command about the history that `check --record` writes.
pub(super) fn trend() -> Command {
    Command::new("trend")
        .about("Shows where the metrics of recorded runs changed for good")
        .after_help(examples("trend", &["history.jsonl", "history.jsonl --format json"]))
        .arg(
            Arg::new("history")
                .value_name("FILE")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("The lines that `check --record` appended"),
        )
        .next_help_heading("Output")
        .args([format_arg("The output format"), output("Write to this file instead of standard output")])
}

/// Adds the arguments about budgets.
pub(super) fn with_budgets(command: Command) -> Command {
    let short = command.get_after_help().map(ToString::to_string).unwrap_or_default() + EXAMPLES;
    let long = command.get_after_long_help().map(ToString::to_string).unwrap_or_default() + EXAMPLES;
    let base = Arg::new("base")
        .long("base")
        .value_name("TRACE")
        .num_args(1..)
        .action(ArgAction::Append)
        .value_parser(value_parser!(PathBuf))
        .help_heading("Budgets")
        .help("Traces that limits on changes compare with");
    let init = Arg::new("init")
        .long("init")
        .action(ArgAction::SetTrue)
        .help_heading("Budgets")
        .conflicts_with_all(["base", "reports", "record"])
        .help("Print a file of budgets whose tolerances come from the noise of the traces");
    let file = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .help_heading("Budgets")
            .help(help)
    };
    let report =
        file("report", "Also write the outcome to this file: .md, .xml (JUnit), .sarif, .json or .csv");
    let record = file("record", "Append a line with the metrics of each trace, for `trend`");
    command
        .long_about(ABOUT)
        .after_help(short)
        .after_long_help(long)
        .override_usage("kinetoscope check [OPTIONS] [BUDGET.toml] <TRACE>...")
        .args([base, init, report.id("reports").action(ArgAction::Append), record])
        .mut_arg("format", |format| {
            with_formats(format, "The output format", &[&FORMATS[..], &["junit", "sarif"]].concat())
        })
}
