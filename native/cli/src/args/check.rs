//! The arguments of `check` that other queries do not have.

use super::FORMATS;
use clap::{Arg, ArgAction, Command, value_parser};
use std::path::PathBuf;

const ABOUT: &str = "Checks traces: identities that must hold, and diagnostics; with a file of budgets, its limits.\n\n\
    A file of budgets is a TOML file that is named first. It limits what a trace measures, absolutely or relative to the traces of \
    --base; see the guide `Gate a pull request`. --init prints one from measured traces.";

const EXAMPLES: &str = "\n  kinetoscope check budget.toml run.json --base main1.json main2.json\n  \
    kinetoscope check --init run1.json run2.json -o budget.toml";

/// Adds the arguments about budgets.
pub(super) fn with_budgets(command: Command) -> Command {
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default() + EXAMPLES;
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
        .conflicts_with("base")
        .help("Print a file of budgets whose tolerances come from the noise of the traces");
    command
        .long_about(ABOUT)
        .after_help(examples)
        .after_long_help(long)
        .override_usage("kinetoscope check [OPTIONS] [BUDGET.toml] <TRACE>...")
        .args([base, init])
        .mut_arg("format", |format| format.value_parser([&FORMATS[..], &["junit", "sarif"]].concat()))
}
