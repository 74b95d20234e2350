//! The command line, built from the engine's lists of queries and exports, and its parsed arguments.

use crate::failure::Failure;
use clap::builder::{PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use kinetoscope_core::queries::options::{Opt, Options, Takes};
use kinetoscope_core::queries::setting::Setting;
use kinetoscope_core::queries::{EXPORTS, Export, Kind, QUERIES, Query};
use std::fs;
use std::path::{Path, PathBuf};

const LONG_ABOUT: &str = "Explains profiler traces: PyTorch/Kineto, Chrome and its own, plain, .gz or .zst.\n\n\
    `kinetoscope TRACE…` is `kinetoscope summary TRACE…`. A TRACE is a file, a folder, or `-` for standard input.";

const AFTER_HELP: &str = "Examples:\n  \
    kinetoscope run.pt.trace.json.gz                 what a person wants first\n  \
    kinetoscope ops run.json --sort-by self_cpu_time_total --row-limit 20\n  \
    kinetoscope kernels run.json --format csv -o kernels.csv\n  \
    kinetoscope repair broken.json -o clean.json.gz\n  \
    gzip -dc run.json.gz | kinetoscope -\n\n\
    Exit codes: 0 fine, 1 a check failed, 2 wrong usage or unreadable input,\n\
    3 an answer from a partly readable trace when --strict is given.";

/// The whole command line.
pub(crate) fn command() -> Command {
    let exports = |kind| EXPORTS.iter().filter(move |e| e.kind == kind);
    let export = Command::new("export")
        .about("The trace in another form")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(exports(Kind::Form).map(|e| export_command(e, "export ")));
    let root = Command::new("kinetoscope")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Explains profiler traces: PyTorch/Kineto and Chrome")
        .long_about(LONG_ABOUT)
        .after_help(AFTER_HELP)
        .args_conflicts_with_subcommands(true)
        .subcommands(QUERIES.iter().map(query_command))
        .subcommand(export)
        .subcommand(
            Command::new("repair")
                .about("A clean trace from a damaged one, in one pass")
                .after_help(examples("repair", &["killed.json.gz -o clean.json.gz"]))
                .args(file_args()),
        )
        .subcommands(view_command())
        .subcommands(exports(Kind::Edit).map(|e| export_command(e, "")))
        .subcommand(
            Command::new("completions").about("Shell completions, to standard output").arg(
                Arg::new("shell")
                    .required(true)
                    .value_parser(value_parser!(clap_complete::Shell))
                    .help("The shell"),
            ),
        )
        .subcommand(Command::new("man").about("The man page, to standard output"));
    answer_args(root, false)
}

fn examples(command: &str, examples: &[&str]) -> String {
    let lines: Vec<String> = examples.iter().map(|e| format!("  kinetoscope {command} {e}")).collect();
    format!("Example{}:\n{}", if lines.len() > 1 { "s" } else { "" }, lines.join("\n"))
}

fn query_command(query: &Query) -> Command {
    let command =
        Command::new(query.name).about(query.about).after_help(examples(query.name, query.examples));
    answer_args(command, true).args(query.options.iter().map(option_arg))
}

/// The page in a browser, where that was compiled.
fn view_command() -> Option<Command> {
    let command = Command::new("view")
        .about("Opens traces in the browser; they do not leave this machine")
        .after_help(examples("view", &["run.pt.trace.json.gz", "before.json after.json"]))
        .args([
            traces(true),
            Arg::new("port")
                .long("port")
                .value_name("N")
                .value_parser(value_parser!(u16))
                .help("The port of the loopback address [default: any that is free]"),
            Arg::new("no-open")
                .long("no-open")
                .action(ArgAction::SetTrue)
                .help("Only print the address, and start no browser"),
        ]);
    cfg!(feature = "view").then_some(command)
}

fn export_command(export: &Export, path: &str) -> Command {
    Command::new(export.name)
        .about(export.about)
        .after_help(examples(&format!("{path}{}", export.name), export.examples))
        .args(file_args())
        .args(export.options.iter().map(option_arg))
        .args(audit_args().into_iter().filter(|_| export.name == AUDITED))
        .after_long_help(explained(export, path))
}

/// The command whose result can be audited.
pub(crate) const AUDITED: &str = "redact";

const REDACTION: &str = "What no rule allows is replaced by a pseudonym, `x` and 16 hexadecimal digits; equal texts have equal \
    pseudonyms. Replaced are names, paths, hosts, keys that are no profiler's, the numbers under such keys, and the values of \
    a program's own counters.\n\n\
    Kept are times, ids, sizes, counts, shapes, types, inputs that are numbers, line numbers, device models, and the names of \
    torch's operators, of calls of CUDA and ROCm, and of kernels with the numbers in them. A kernel's name counts as public \
    when its words are those of public kernels and operators; times count from 1970, so that they tell when the trace was \
    recorded. Names of files and folders stay too: --output FOLDER writes each trace under the name that it has. Look through \
    `--audit` before you share a trace: it lists every text that is kept, and why, and counts the numbers of each field. Times, \
    phases, and `true`, `false` and `null` always stay.";

fn explained(export: &Export, path: &str) -> String {
    let examples = examples(&format!("{path}{}", export.name), export.examples);
    if export.name == AUDITED { format!("{REDACTION}\n\n{examples}") } else { examples }
}

fn audit_args() -> [Arg; 2] {
    [
        Arg::new("audit")
            .long("audit")
            .action(ArgAction::SetTrue)
            .help("Print what is kept and by which rule, and how much is hidden; the trace is written with --output only"),
        format_arg("The form of the audit"),
    ]
}

fn option_arg(option: &'static Opt) -> Arg {
    let arg = Arg::new(option.name).long(option.name).help(option.help());
    if option.takes == Takes::Nothing {
        return arg.action(ArgAction::SetTrue);
    }
    let arg = arg.value_name(option.value);
    let parse = |text: &str| option.parse(text).map_err(|error| error.to_string());
    match option.takes {
        Takes::File => arg.value_parser(value_parser!(PathBuf)),
        Takes::Word(words) => {
            let words = PossibleValuesParser::new(words.words).try_map(move |word| parse(&word));
            arg.value_parser(words).hide_possible_values(true)
        }
        // The first of two numbers can be below 0.
        Takes::Range => arg.value_parser(ValueParser::new(parse)).allow_hyphen_values(true),
        _ => arg.value_parser(ValueParser::new(parse)).allow_negative_numbers(true),
    }
}

fn traces(required: bool) -> Arg {
    Arg::new("traces")
        .value_name("TRACE")
        .num_args(1..)
        .required(required)
        .value_parser(value_parser!(PathBuf))
        .help("Files (.json, .json.gz, .json.zst, .ktrace), folders, or `-` for standard input")
}

fn output(help: &'static str) -> Arg {
    Arg::new("output")
        .long("output")
        .short('o')
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .help(help)
}

fn strict() -> Arg {
    Arg::new("strict")
        .long("strict")
        .action(ArgAction::SetTrue)
        .help("Exit with 3 when part of a trace could not be read")
}

fn format_arg(help: &'static str) -> Arg {
    Arg::new("format")
        .long("format")
        .value_name("FORMAT")
        .default_value("table")
        .value_parser(["table", "json", "csv", "md"])
        .help(help)
}

fn answer_args(command: Command, required: bool) -> Command {
    command.arg(traces(required)).args([
        format_arg("The form of the answer"),
        output("Write to a file instead of standard output"),
        strict(),
    ])
}

fn file_args() -> [Arg; 3] {
    let help = "Write to this file, or for several traces into this folder; `.gz` compresses [default: standard output]";
    [traces(true), output(help), strict()]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Table,
    Json,
    Csv,
    Md,
}

/// What every command takes.
pub(crate) struct Files {
    pub(crate) traces: Vec<PathBuf>,
    pub(crate) output: Option<PathBuf>,
    pub(crate) strict: bool,
}

/// The traces that were named.
pub(crate) fn traces_of(matches: &ArgMatches) -> Vec<PathBuf> {
    matches.get_many("traces").map(|t| t.cloned().collect()).unwrap_or_default()
}

impl Files {
    pub(crate) fn of(matches: &ArgMatches) -> Files {
        Files {
            traces: traces_of(matches),
            output: matches.get_one("output").cloned(),
            strict: matches.get_flag("strict"),
        }
    }
}

pub(crate) fn format(matches: &ArgMatches) -> Format {
    match matches.get_one::<String>("format").map(String::as_str) {
        Some("json") => Format::Json,
        Some("csv") => Format::Csv,
        Some("md") => Format::Md,
        _ => Format::Table,
    }
}

/// The given options of a query or an export.
pub(crate) fn options(declared: &[Opt], matches: &ArgMatches) -> Result<Options, Failure> {
    let mut options = Options::default();
    for option in declared {
        let setting = match option.takes {
            Takes::Nothing => matches.get_flag(option.name).then_some(Setting::Given),
            Takes::File => match matches.get_one::<PathBuf>(option.name) {
                Some(path) => Some(Setting::Text(read(path)?)),
                None => None,
            },
            _ => matches.get_one::<Setting>(option.name).cloned(),
        };
        if let Some(setting) = setting {
            options.set(option, setting);
        }
    }
    Ok(options)
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|e| Failure::usage(format!("{}: {e}", path.display())))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_arguments_are_consistent() {
        super::command().debug_assert();
    }
}
