//! The command line, built from the engine's lists of queries and exports, and its parsed arguments.

mod compare;
mod help;
mod input;
mod outline;
mod ranks;
pub(crate) mod tables;

use crate::failure::Failure;
use crate::reading::{ChosenRules, Reading};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use help::{columns_of, examples};
#[cfg(feature = "parquet")]
pub(crate) use input::joins;
use input::{extent, joined, rules, rules_for};
pub(crate) use input::{read, read_text};
use kinetoscope_core::analysis::query::options::{Opt, Options};
use kinetoscope_core::analysis::query::value::OptionValue;
use kinetoscope_core::analysis::query::value::ValueKind;
use kinetoscope_core::base::words::option_spelling;
use kinetoscope_core::queries::{COMPARISONS, EXPORTS, Export, ExportKind, QUERIES, Query};
use std::fmt::Write;
use std::path::PathBuf;

/// The parts of the help of `kinetoscope` without a command. The commands are in `before-help`, by topic.
const TEMPLATE: &str = "{about-section}\n{usage-heading} {usage}\n\n{before-help}Arguments:\n{positionals}\n\n\
    Options:\n{options}{after-help}";

const LONG_ABOUT: &str = "Explains profiler traces of PyTorch (Kineto), of other programs that write Chrome's trace format, and of \
    the crate kinetoscope.\n\n\
    Without a command, `kinetoscope TRACE...` is `kinetoscope summary TRACE...`.";

const AFTER_HELP: &str = "Examples:\n  \
    kinetoscope run.pt.trace.json.gz\n  \
    kinetoscope ops run.json --sort-by self_cpu_time_total --row-limit 20";

/// What follows [`AFTER_HELP`] in the long help.
const MORE_HELP: &str = "\n  \
    kinetoscope kernels run.json --format csv -o kernels.csv\n  \
    kinetoscope repair broken.json -o clean.json.gz\n  \
    gzip -dc run.json.gz | kinetoscope -\n\n\
    Exit codes:\n  \
    0  success\n  \
    1  an identity or a budget of `check` does not hold, or `fitness` found a question unfit\n  \
    2  wrong usage, or a file that cannot be read or written\n  \
    3  `what-if` refuses the trace; with --strict: a part of a trace could not be read, or it\n     \
       lacks what the answer needs";

/// The commands by topic, for the help text.
const TOPICS: [(&str, &[&str]); 9] = [
    ("Overview", &["summary", "fitness", "check", "info", "outline"]),
    (
        "Operators",
        &[
            "ops",
            "events",
            "event-tree",
            "stacks",
            "modules",
            "compiled",
            "coverage",
            "patterns",
            "evaluation",
            "nodes",
        ],
    ),
    ("Causes", &["breakdown", "idle", "tasks", "critical-path", "what-if"]),
    ("Compare", &["diff", "diff-tree", "trend"]),
    ("Ranks", &["ranks", "summarize", "merge"]),
    ("Devices", &["kernels", "launches", "sequences", "collectives", "flops", "memory", "steps", "serving"]),
    ("Timeline", &["tree", "samples", "names", "counters", "tracks"]),
    ("Traces", &["sql", "view", "attach", "export", "repair", "slice", "shrink", "redact"]),
    ("Shell", &["completions", "man", "help"]),
];

/// The complete command line.
pub(crate) fn command() -> Command {
    let root = Command::new("kinetoscope")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Explains profiler traces of PyTorch (Kineto), Chrome and Rust programs")
        .long_about(LONG_ABOUT)
        .help_template(TEMPLATE)
        .after_help(AFTER_HELP)
        .after_long_help(format!("{AFTER_HELP}{MORE_HELP}"))
        .args_conflicts_with_subcommands(true)
        .subcommands(subcommands());
    let (short, long) = (topics(), descriptions(&root));
    answer_args(root.before_help(short).before_long_help(long), None)
}

fn subcommands() -> impl Iterator<Item = Command> {
    let exports = |kind| EXPORTS.iter().filter(move |e| e.kind == kind);
    let forms: Vec<&str> = exports(ExportKind::Form).map(|e| e.name).chain(tables::EXPORTS).collect();
    let export = Command::new("export")
        .about("Converts a trace to another format")
        .after_help(examples("export", &["chrome run.ktrace -o run.json", "folded run.json -o run.folded"]))
        .override_usage(format!("kinetoscope export <{}> [OPTIONS] <TRACE>...", forms.join("|")))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(exports(ExportKind::Form).map(|e| export_command(e, "export ")))
        .subcommands([tables::parquet(), tables::arrow()]);
    let repair = Command::new("repair")
        .about("Writes a valid trace from a damaged one, in one pass")
        .after_help(examples("repair", &["killed.json.gz -o clean.json.gz", "damaged/ -o clean/"]))
        .args(file_args());
    let shell =
        Arg::new("shell").required(true).value_parser(value_parser!(clap_complete::Shell)).help("The shell");
    QUERIES
        .iter()
        .chain(COMPARISONS)
        .map(query_command)
        .chain([
            outline::outline(),
            compare::trend(),
            ranks::summarize(),
            ranks::merge(),
            tables::sql(),
            export,
            repair,
        ])
        .chain(page_commands())
        .chain(exports(ExportKind::Edit).map(|e| export_command(e, "")))
        .chain([
            Command::new("completions")
                .about("Prints shell completions")
                .arg(shell)
                .after_help(examples("completions", &["bash > kinetoscope.bash", "zsh > _kinetoscope"])),
            Command::new("man")
                .about("Prints the man page")
                .after_help(examples("man", &["> kinetoscope.1", "| man -l -"])),
        ])
}

/// The names of the commands.
fn topics() -> String {
    let mut out =
        "Commands (kinetoscope --help describes them, kinetoscope COMMAND -h their options):\n".to_owned();
    for (topic, names) in TOPICS {
        let _ = writeln!(out, "  {topic:<9}  {}", names.join(", "));
    }
    out
}

/// The commands with a line each.
fn descriptions(root: &Command) -> String {
    let mut out = String::new();
    for (topic, names) in TOPICS {
        let _ = writeln!(out, "{topic}:");
        for command in names.iter().filter_map(|name| root.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(out, "  {:<11}  {about}", command.get_name());
        }
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out + "\n"
}

fn query_command(query: &Query) -> Command {
    let examples = examples(query.name, query.examples);
    let command = Command::new(query.name)
        .about(query.about)
        .after_long_help(format!("{}{examples}", columns_of(query)))
        .after_help(examples)
        .args(query.options.iter().map(option_arg));
    let command = answer_args(command.next_help_heading("Output"), Some(query));
    if query.name == "check" { compare::with_budgets(command) } else { command }
}

/// The commands with the page in a browser, where that was compiled.
fn page_commands() -> Vec<Command> {
    let view = Command::new("view")
        .about("Opens traces in the browser; they do not leave this machine")
        .long_about(
            "Opens traces in the browser.\n\nServes the page and the traces on a loopback address under a secret path until Ctrl+C. \
             With --follow, the page shows the last seconds of a recording while a program writes it.",
        )
        .after_help(examples("view", &["run.pt.trace.json.gz", "before.json after.json", "--follow run.ktrace"]))
        .args([
            traces(true),
            Arg::new("follow")
                .long("follow")
                .action(ArgAction::SetTrue)
                .help("Show a recording (.ktrace) while it is written"),
        ])
        .args(page_args());
    let attach = Command::new("attach")
        .about("Shows a running program, and starts and stops its recordings")
        .long_about(
            "Shows what a running program does, and starts and stops its recordings.\n\nThe program allows it with \
             `kinetoscope::control::Control`, or with the environment variable KINETOSCOPE=FOLDER,attach. The page shows the last \
             seconds of the recording while it runs; its file has all of it.\n\nThe file of a program that listens on a port has \
             its address and secret. 127.0.0.1:PORT with the secret in the environment variable KINETOSCOPE_SECRET is the same.",
        )
        .after_help(examples("attach", &["4711", "/run/app/4711.sock --start", "/run/app/4711.port --stop"]))
        .arg(
            Arg::new("address")
                .value_name("ADDRESS")
                .required(true)
                .help("A process id, the path of its socket or .port file, or `-` for the line of that file"),
        )
        .args(
            [("start", "Start a recording and print its file"), ("stop", "Stop the recording"), ("status", "Print the state")]
                .map(|(name, help)| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help).group("command")),
        )
        .args(page_args());
    if cfg!(feature = "view") { vec![view, attach] } else { Vec::new() }
}

fn page_args() -> [Arg; 3] {
    [
        Arg::new("keep")
            .long("keep")
            .value_name("SECONDS")
            .value_parser(value_parser!(f64))
            .help("How much of a running recording the page shows [default: 10], at most 4 MiB"),
        Arg::new("port")
            .long("port")
            .value_name("N")
            .value_parser(value_parser!(u16))
            .help("The port on the loopback address [default: any free port]"),
        Arg::new("no-open")
            .long("no-open")
            .action(ArgAction::SetTrue)
            .help("Print the address and do not start a browser"),
    ]
}

fn export_command(export: &Export, path: &str) -> Command {
    let examples = examples(&format!("{path}{}", export.name), export.examples);
    let mut command =
        Command::new(export.name).about(export.about).args(export.options.iter().map(option_arg));
    if export.name == AUDITED {
        command = command.args(audit_args()).after_long_help(format!("{REDACTION}\n\n{examples}"));
    }
    command = command.after_help(examples).args(rules_for(export.inputs));
    command = command.args(joined(export.inputs));
    command.args(extent()).next_help_heading("Output").args(file_args())
}

/// The command whose result can be audited.
pub(crate) const AUDITED: &str = "redact";

const REDACTION: &str = "A text that no rule allows is replaced by a pseudonym: `x` and 16 hexadecimal digits. Equal texts get equal \
    pseudonyms. This covers names, paths, host names, keys that no profiler writes, the numbers under such keys, and the values of a \
    program's own counters.\n\n\
    Kept are times, ids, sizes, counts, shapes, types, numeric inputs, line numbers, device models, the names of PyTorch's \
    operators, of CUDA and ROCm calls, and of kernels whose words are those of public kernels, with the numbers in them. Phases and \
    `true`, `false` and `null` are always kept. Times count from 1970 and show when the trace was recorded. Names of output files \
    are not changed.\n\n\
    Read the output of `--audit` before you share a trace. It lists each text that is kept with the rule that allows it, and counts \
    the numbers of each field.";

fn audit_args() -> [Arg; 2] {
    [
        Arg::new("audit")
            .long("audit")
            .action(ArgAction::SetTrue)
            .help("Print what is kept, the rule that allows it, and how much is hidden; writes the trace only with --output"),
        format_arg("The format of the audit"),
    ]
}

fn option_arg(option: &'static Opt) -> Arg {
    let help = option.help();
    let arg = Arg::new(option.name).long(option.name).help(&help);
    if option.kind == ValueKind::Nothing {
        return arg.action(ArgAction::SetTrue);
    }
    let arg = arg.value_name(option.value);
    let parse = |text: &str| option.parse(text);
    match option.kind {
        ValueKind::File => arg.value_parser(value_parser!(PathBuf)),
        ValueKind::Word(words) => {
            // The hidden spelling is that of JSON.
            let value = |&word: &&'static str| PossibleValue::new(option_spelling(word)).alias(word);
            let words =
                PossibleValuesParser::new(words.words.iter().map(value)).try_map(move |word| parse(&word));
            arg.value_parser(words)
        }
        ValueKind::Attribute(words) => {
            let names = words.words.join(", ");
            arg.value_parser(ValueParser::new(parse)).long_help(format!("{help}\n\nThe attributes: {names}"))
        }
        // The first of two numbers can be below 0.
        ValueKind::Range | ValueKind::Times | ValueKind::Duration => {
            arg.value_parser(ValueParser::new(parse)).allow_hyphen_values(true)
        }
        _ => arg.value_parser(ValueParser::new(parse)).allow_negative_numbers(true),
    }
}

fn traces(required: bool) -> Arg {
    Arg::new("traces")
        .value_name("TRACE")
        .num_args(1..)
        .required(required)
        .help_heading(None)
        .value_parser(value_parser!(PathBuf))
        .help("Files, folders, or `-` for standard input")
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
        .help("Return exit code 3 if a trace was read in part, or is unfit")
}

/// The formats of answers.
pub(crate) const FORMATS: [&str; 5] = ["table", "json", "csv", "csv-exact", "md"];

fn format_arg(about: &str) -> Arg {
    let arg = Arg::new("format").long("format").value_name("FORMAT").default_value("table");
    with_formats(arg, about, &FORMATS)
}

/// Sets the formats of an argument.
fn with_formats(arg: Arg, about: &str, formats: &[&'static str]) -> Arg {
    let help = format!("{about}: {}", formats.join(", "));
    let long = format!(
        "{help}\n\nIn csv, texts that a spreadsheet would run begin with '. In csv-exact they do not."
    );
    arg.value_parser(formats.to_vec()).hide_possible_values(true).help(help).long_help(long)
}

/// Adds the arguments of a query; those of `summary` to the command without a name.
fn answer_args(command: Command, query: Option<&Query>) -> Command {
    let inputs = query.unwrap_or(&QUERIES[0]).inputs;
    let joined = joined(inputs);
    let is_comparison = COMPARISONS.iter().any(|query| query.name == command.get_name());
    let traces = match command.get_name() {
        "ranks" => run_traces(),
        _ if is_comparison => run_traces().num_args(1).value_name("BASE"),
        _ => traces(query.is_some()),
    };
    let new = is_comparison.then(compare::new_trace);
    let is_of_one = !is_comparison && command.get_name() != "ranks";
    let extent = is_of_one.then(extent).into_iter().flatten();
    command.arg(traces).args(new).args(rules_for(inputs)).args(joined).args(extent).args([
        format_arg("The output format"),
        output("Write to this file instead of standard output"),
        strict(),
    ])
}

/// The arguments of a command that writes something about a run.
fn run_args(about_output: &'static str) -> impl Iterator<Item = Arg> {
    [run_traces()].into_iter().chain(rules()).chain([output(about_output), strict()])
}

fn run_traces() -> Arg {
    traces(true)
        .id("run")
        .help("Files, folders, archives (.tar, .tar.gz, .zip), patterns, or `-` for standard input")
}

fn file_args() -> [Arg; 3] {
    let help = "Write to this file, or several traces to this folder; a name in .gz is compressed [default: standard output]";
    [traces(true), output(help), strict()]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Table,
    Json,
    Csv,
    /// CSV with texts exactly as they are.
    ExactCsv,
    Md,
    Junit,
    Sarif,
}

/// What every command takes.
pub(crate) struct Files {
    pub(crate) traces: Vec<PathBuf>,
    pub(crate) output: Option<PathBuf>,
    pub(crate) strict: bool,
    pub(crate) reading: Reading,
}

/// The traces that were named.
pub(crate) fn traces_of(matches: &ArgMatches) -> Vec<PathBuf> {
    let named = |id| matches.try_get_many::<PathBuf>(id).ok().flatten();
    named("traces").or_else(|| named("run")).map(|paths| paths.cloned().collect()).unwrap_or_default()
}

/// The output that was named; `None` is standard output.
pub(crate) fn output_of(matches: &ArgMatches) -> Option<PathBuf> {
    matches.get_one::<PathBuf>("output").filter(|path| path.as_os_str() != "-").cloned()
}

/// The rules that were chosen.
pub(crate) fn rules_of(matches: &ArgMatches) -> ChosenRules {
    ChosenRules {
        torch: matches.try_get_one("torch-version").ok().flatten().copied(),
        kernels: matches.try_get_one("kernel-rules").ok().flatten().cloned(),
        steps: matches.try_get_one("step-rules").ok().flatten().cloned(),
        steps_from: matches.try_get_one("steps-from").ok().flatten().cloned(),
    }
}

impl Files {
    pub(crate) fn from_matches(matches: &ArgMatches) -> Files {
        Files {
            traces: traces_of(matches),
            output: output_of(matches),
            strict: matches.get_flag("strict"),
            reading: input::reading(matches),
        }
    }
}

pub(crate) fn format(matches: &ArgMatches) -> Format {
    let name = matches.get_one::<String>("format");
    name.and_then(|name| format_named(name)).unwrap_or(Format::Table)
}

/// Returns the format of this name.
pub(crate) fn format_named(name: &str) -> Option<Format> {
    Some(match name {
        "table" => Format::Table,
        "json" => Format::Json,
        "csv" => Format::Csv,
        "csv-exact" => Format::ExactCsv,
        "md" => Format::Md,
        "junit" => Format::Junit,
        "sarif" => Format::Sarif,
        _ => return None,
    })
}

/// The given options of a query or an export.
pub(crate) fn options(declared: &[Opt], matches: &ArgMatches) -> Result<Options, Failure> {
    let mut options = Options::default();
    for option in declared {
        let value = match option.kind {
            ValueKind::Nothing => matches.get_flag(option.name).then_some(OptionValue::Given),
            ValueKind::File => match matches.get_one::<PathBuf>(option.name) {
                Some(path) => Some(OptionValue::Text(read(path)?)),
                None => None,
            },
            _ => matches.get_one::<OptionValue>(option.name).cloned(),
        };
        if let Some(value) = value {
            options.set(option, value);
        }
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        command().debug_assert();
    }

    #[test]
    fn every_command_has_a_topic() {
        let mut root = command();
        root.build();
        let names: Vec<&str> = root.get_subcommands().map(Command::get_name).collect();
        let topics: Vec<&str> = TOPICS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        assert!(names.iter().all(|name| topics.contains(name)), "{names:?}");
        assert_eq!(names.len(), topics.len());
    }

    #[test]
    fn descriptions_fit_on_a_line() {
        for command in
            subcommands().flat_map(|c| c.get_subcommands().cloned().chain([c.clone()]).collect::<Vec<_>>())
        {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            assert!((1..=66).contains(&about.len()), "{}: {about}", command.get_name());
        }
    }

    #[test]
    fn short_help_fits_on_a_screen() {
        for mut command in [command()].into_iter().chain(subcommands()) {
            let lines = command.render_help().to_string().lines().count();
            assert!(lines <= 40, "{}: {lines} lines", command.get_name());
        }
    }
}
