//! The commands about several ranks that are no queries.

use super::help::examples;
use super::run_args;
use clap::{Arg, Command, value_parser};

pub(super) fn summarize() -> Command {
    Command::new("summarize")
        .about("Writes small summaries of ranks, from which `ranks` answers")
        .long_about(
            "Writes small summaries of ranks (.ksum), from which `ranks` answers as from the traces.\n\nA summary is at most 2 % of \
             the size of its trace, or 256 KiB. With a folder as output, each trace gets a file of its own; otherwise all summaries \
             are in one file. Summaries are merged in any order, with the same result.",
        )
        .after_help(examples("summarize", &["rank0.pt.trace.json.gz -o rank0.ksum", "ranks/*.ksum -o run.ksum"]))
        .args(run_args("Write to this file, or to a file for each trace in this folder"))
}

pub(super) fn merge() -> Command {
    Command::new("merge")
        .about("Writes the events of several ranks as one trace, on one clock")
        .long_about(
            "Writes the events of several ranks as one Chrome trace, on one clock.\n\nRank R has the numbers from R x 10,000,000 as \
             processes and threads, and ids from R x 2^33. The times of a rank are moved by the offset and drift of its clock, as \
             `ranks` shows them, where they are larger than their error.",
        )
        .after_help(examples("merge", &["ranks/ -o run.json.gz", "ranks.tar.gz --ranks 0,7 -o two.json"]))
        .arg(
            Arg::new("ranks")
                .long("ranks")
                .value_name("LIST")
                .value_delimiter(',')
                .value_parser(value_parser!(i64))
                .help("Only these ranks, such as 0,7"),
        )
        .args(run_args("Write to this file; a name in .gz is compressed [default: standard output]"))
}
