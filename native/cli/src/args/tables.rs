//! The commands about the tables of traces. They are in the help of every build; without their feature they say how to get it.

use super::help::examples;
use super::input::{captures, provenance};
use super::{format_arg, output, rules, run_traces};
use clap::{Arg, ArgAction, Command, value_parser};
use kinetoscope_core::base::units::parse_bytes;
use kinetoscope_core::queries::schema::TABLES;
use std::path::PathBuf;

/// The forms of `export` that write tables.
pub(crate) const EXPORTS: [&str; 2] = ["parquet", "arrow"];

/// The names of the tables. They are constants, so that a command without the feature does not contain the tables.
const NAMES: [&str; TABLES.len()] = {
    let mut names = [""; TABLES.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = TABLES[at].name;
        at += 1;
    }
    names
};

pub(super) fn parquet() -> Command {
    Command::new("parquet")
        .about("A folder of Parquet files, for DuckDB, Spark, Polars and others")
        .long_about(
            "Writes the tables of traces as Parquet files into a folder.\n\nThe folder has a folder for each table, and in it \
             run_id=RUN/rank=RANK/part-0.parquet for each trace. Traces are read one after the other; one that is written again \
             replaces the one of the same run and rank. The schema is in the reference.",
        )
        .after_help(examples("export parquet", &["run.json.gz -o tables", "ranks/ -o tables --run-id nightly"]))
        .args([
            run_traces(),
            run_id(),
            rank(),
            Arg::new("tables")
                .long("tables")
                .value_name("LIST")
                .value_delimiter(',')
                .value_parser(NAMES)
                .hide_possible_values(true)
                .help(format!("Only these tables [default: {}]", names(","))),
            Arg::new("output")
                .long("output")
                .short('o')
                .value_name("FOLDER")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("The folder: empty, or with tables that this command wrote"),
        ])
        .args(rules())
        .args([captures(), provenance()])
}

pub(super) fn arrow() -> Command {
    Command::new("arrow")
        .about("A table as a stream of Arrow's IPC format")
        .after_help(examples("export arrow", &["run.json.gz --table ops -o ops.arrows"]))
        .args([
            run_traces(),
            Arg::new("table")
                .long("table")
                .value_name("TABLE")
                .default_value("events")
                .value_parser(NAMES)
                .hide_possible_values(true)
                .help(format!("The table: {}", names(", "))),
            run_id(),
            rank(),
            output("Write to this file instead of standard output"),
        ])
        .args(rules())
        .args([captures(), provenance()])
}

pub(super) fn sql() -> Command {
    Command::new("sql")
        .about("Answers SQL about traces, or about a folder of Parquet files")
        .long_about(
            "Answers a query in SQL about the tables of traces, or of a folder that `export parquet` wrote.\n\nWithout a query, it is read \
             from standard input; on a terminal, a shell starts. The engine is DataFusion. The reference has the tables and functions.",
        )
        .after_help(examples(
            "sql",
            &[
                "'SELECT name, sum(dur_ns) AS sum_ns FROM kernels GROUP BY name' run.json.gz",
                "--run idle run.json.gz",
                "tables/",
            ],
        ))
        .args([
            Arg::new("run")
                .value_name("QUERY|TRACE")
                .num_args(1..)
                .value_parser(value_parser!(PathBuf))
                .help("The query, and traces or a folder of Parquet files"),
            Arg::new("list").long("list").action(ArgAction::SetTrue).help("List the queries of the library"),
            Arg::new("query").long("run").value_name("NAME").help("Run a query of the library"),
            run_id(),
            rank(),
            Arg::new("query-memory").long("query-memory").value_name("SIZE").value_parser(parse_bytes).help(
                "What queries sort and group takes at most this, such as 2GB; more is written to temporary files",
            ),
            format_arg("The output format"),
            output("Write to this file instead of standard output"),
        ])
        .args(rules())
        .args([captures(), provenance()])
}

fn run_id() -> Arg {
    Arg::new("run-id").long("run-id").value_name("ID").help(
        "The id of the run of all traces: letters, digits, `.`, `_`, `-` [default: the name of the file or folder]",
    )
}

fn rank() -> Arg {
    Arg::new("rank")
        .long("rank")
        .value_name("N")
        .default_value("0")
        .value_parser(value_parser!(i64).range(0..))
        .help("The rank of the first trace that does not state it; the next ones follow")
}

fn names(separator: &str) -> String {
    NAMES.join(separator)
}
