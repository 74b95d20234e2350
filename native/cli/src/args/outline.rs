//! The arguments of `outline`.

use super::help::{columns, examples};
use super::{format_arg, output, strict, traces};
use clap::{Arg, Command, value_parser};
use kinetoscope_core::outline::COLUMNS;

/// The command that prints exact totals of traces of any size.
pub(super) fn outline() -> Command {
    let examples = examples("outline", &["huge.pt.trace.json.gz", "huge.json --row-limit 50 --format csv"]);
    Command::new("outline")
        .about("Prints exact totals of a trace that may not fit into memory")
        .long_about(
            "Prints exact totals of a Chrome trace of any size: by category, track and name.\n\nThe trace is read once, and memory does not \
             grow with its events. Other commands read a part of such a trace with --window.",
        )
        .after_long_help(format!("{}{examples}", columns("Columns", COLUMNS)))
        .after_help(examples)
        .arg(
            Arg::new("row-limit")
                .long("row-limit")
                .value_name("N")
                .value_parser(value_parser!(usize))
                .help("At most this many rows of each kind [default: 10 in a table, all elsewhere]"),
        )
        .next_help_heading("Output")
        .args([
            traces(true),
            format_arg("The output format"),
            output("Write to this file instead of standard output"),
            strict(),
        ])
}
