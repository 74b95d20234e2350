//! The flags of every verb, with their help.

use clap::{Args, Parser, Subcommand, ValueEnum};
use kinetoscope_core::units::TimeUnit;
use std::path::PathBuf;

#[derive(Parser)]
#[command(
    name = "kinetoscope",
    version,
    about = "Explains profiler traces: PyTorch/Kineto and Chrome",
    long_about = "Explains profiler traces: PyTorch/Kineto and Chrome, plain, .gz or .zst.\n\n\
        `kinetoscope TRACE…` is `kinetoscope summary TRACE…`. A TRACE is a file, a folder, or `-` for standard input.",
    after_help = "Examples:\n  \
        kinetoscope run.pt.trace.json.gz                 what a person wants first\n  \
        kinetoscope ops run.json --sort-by self_cpu_time_total --row-limit 20\n  \
        kinetoscope kernels run.json --format csv -o kernels.csv\n  \
        kinetoscope repair broken.json -o clean.json.gz\n  \
        gzip -dc run.json.gz | kinetoscope -\n\n\
        Exit codes: 0 fine, 1 a check failed, 2 wrong usage or unreadable input,\n\
        3 an answer from a partly readable trace when --strict is given.",
    args_conflicts_with_subcommands = true
)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    #[command(flatten)]
    pub(super) summary: Optional,
}

#[derive(Subcommand)]
pub(super) enum Command {
    /// What was traced, where the time went, what looks wrong, how far to trust it
    Summary(Required),
    /// Operators: torch's `key_averages`, as torch's table
    #[command(after_help = "Examples:\n  \
        kinetoscope ops run.json --sort-by self_cpu_time_total --row-limit 10\n  \
        kinetoscope ops run.json --group-by shape,stack:5 --format json")]
    Ops(OpsArgs),
    /// Kernels, copies and fills by time
    Kernels(RowArgs),
    /// The call tree of every lane, merged by name
    #[command(after_help = "Example:\n  kinetoscope tree run.json --depth 6 --min-share 1")]
    Tree(TreeArgs),
    /// Python stacks by self time
    Stacks(RowArgs),
    /// What each profiler step spent its time on
    Steps(RowArgs),
    /// Every function event, under torch's field names
    Events(RowArgs),
    /// Counts, machine and metadata
    Info(RowArgs),
    /// Identities that must hold, and every oddity of the file; exit 1 when an identity fails
    Ledger(RowArgs),
    /// The trace in another form
    Export(ExportArgs),
    /// A clean trace from a damaged one, in one pass
    #[command(after_help = "Example:\n  kinetoscope repair killed.json.gz -o clean.json.gz")]
    Repair(FileArgs),
    /// The part of a trace that some steps, times or ranks cover
    #[command(after_help = "Examples:\n  \
        kinetoscope slice run.json --steps 3-4 -o two-steps.json\n  \
        kinetoscope slice run.json --time 1.5ms..20ms -o part.json.gz\n  \
        kinetoscope slice ranks/ --ranks 0,3 -o out/")]
    Slice(SliceArgs),
    /// A trace without short spans or without some categories
    #[command(
        after_help = "Example:\n  kinetoscope shrink run.json --min-duration 10us --drop python_function -o small.json.gz"
    )]
    Shrink(ShrinkArgs),
    /// A trace without names, paths and hosts; structure and times are kept
    Redact(RedactArgs),
    /// Shell completions, to standard output
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// The man page, to standard output
    Man,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Table,
    Json,
    Csv,
    Md,
}

#[derive(Args)]
pub(super) struct Optional {
    /// Files (.json, .json.gz, .json.zst), folders, or `-` for standard input
    #[arg(value_name = "TRACE")]
    pub(super) traces: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) how: How,
}

#[derive(Args)]
pub(super) struct How {
    /// The form of the answer
    #[arg(long, value_enum, default_value = "table")]
    pub(super) format: Format,
    /// Write to a file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Exit with 3 when part of a trace could not be read
    #[arg(long)]
    pub(super) strict: bool,
}

#[derive(Args)]
pub(super) struct Required {
    /// Files (.json, .json.gz, .json.zst), folders, or `-` for standard input
    #[arg(value_name = "TRACE", required = true)]
    pub(super) traces: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) how: How,
}

#[derive(Args)]
pub(super) struct RowArgs {
    #[command(flatten)]
    pub(super) input: Required,
    /// At most this many rows
    #[arg(long, value_name = "N")]
    pub(super) row_limit: Option<usize>,
}

#[derive(Args)]
pub(super) struct OpsArgs {
    #[command(flatten)]
    pub(super) input: Required,
    /// A column of torch's table, such as `self_cpu_time_total`; rows stay in order of first use without it
    #[arg(long, value_name = "NAME")]
    pub(super) sort_by: Option<String>,
    /// At most this many rows, -1 for all [default: 100 in a table, all in JSON, CSV and Markdown]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) row_limit: Option<i64>,
    /// Any of shape, stack:N, overload
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = grouping)]
    pub(super) group_by: Vec<Grouping>,
    /// Only rows whose first event has no parent
    #[arg(long)]
    pub(super) top_level_only: bool,
    /// s, ms or us [default: what suits each value]
    #[arg(long, value_name = "UNIT", value_parser = time_unit)]
    pub(super) time_unit: Option<TimeUnit>,
    /// Longest name, or none
    #[arg(long, value_name = "N", default_value = "55", value_parser = width)]
    pub(super) max_name_width: Width,
    /// Longest shapes, or none
    #[arg(long, value_name = "N", default_value = "80", value_parser = width)]
    pub(super) max_shapes_width: Width,
    /// Longest stack frame, or none
    #[arg(long, value_name = "N", default_value = "75", value_parser = width)]
    pub(super) max_src_width: Width,
    /// A line above the table
    #[arg(long, value_name = "TEXT")]
    pub(super) header: Option<String>,
}

#[derive(Args)]
pub(super) struct TreeArgs {
    #[command(flatten)]
    pub(super) input: Required,
    /// How many levels
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(super) depth: usize,
    /// Leave out what takes less than this percentage of its lane [default: 1 in a table, 0 elsewhere]
    #[arg(long, value_name = "PERCENT")]
    pub(super) min_share: Option<f64>,
    /// At most this many rows
    #[arg(long, value_name = "N")]
    pub(super) row_limit: Option<usize>,
}

#[derive(Args)]
pub(super) struct ExportArgs {
    #[command(subcommand)]
    pub(super) kind: ExportKind,
}

#[derive(Subcommand)]
pub(super) enum ExportKind {
    /// A Chrome trace; what is written reads back equal
    Chrome(FileArgs),
    /// Folded stacks for flame graphs, in the form of torch's `export_stacks`
    Folded(FoldedArgs),
    /// Every event as a line of CSV
    Csv(FileArgs),
}

#[derive(Args)]
pub(super) struct FileArgs {
    /// Files (.json, .json.gz, .json.zst), folders, or `-` for standard input
    #[arg(value_name = "TRACE", required = true)]
    pub(super) traces: Vec<PathBuf>,
    /// Write to this file, or for several traces into this folder; `.gz` compresses [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Exit with 3 when part of a trace could not be read
    #[arg(long)]
    pub(super) strict: bool,
}

#[derive(Args)]
pub(super) struct FoldedArgs {
    #[command(flatten)]
    pub(super) file: FileArgs,
    /// `self_cpu_time_total` or `self_cuda_time_total`
    #[arg(long, value_name = "NAME", default_value = "self_cpu_time_total")]
    pub(super) metric: String,
    /// Fold the spans of every lane instead of the recorded Python stacks
    #[arg(long)]
    pub(super) lanes: bool,
}

#[derive(Args)]
pub(super) struct SliceArgs {
    #[command(flatten)]
    pub(super) file: FileArgs,
    /// A step or a range of steps: 3 or 3-5
    #[arg(long, value_name = "A-B", value_parser = steps)]
    pub(super) steps: Option<(i64, i64)>,
    /// A time after the start of the recording: 1.5ms..20ms
    #[arg(long, value_name = "START..END", value_parser = time_range)]
    pub(super) time: Option<(i64, i64)>,
    /// Only the traces of these ranks
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(super) ranks: Vec<i64>,
}

#[derive(Args)]
pub(super) struct ShrinkArgs {
    #[command(flatten)]
    pub(super) file: FileArgs,
    /// Leave out host spans that are shorter, such as 10us
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "0ns")]
    pub(super) min_duration: i64,
    /// Leave out these categories
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(super) drop: Vec<String>,
}

#[derive(Args)]
pub(super) struct RedactArgs {
    #[command(flatten)]
    pub(super) file: FileArgs,
    /// Give the same stand-ins to the same names in several files [default: a random one for each file]
    #[arg(long, value_name = "TEXT")]
    pub(super) salt: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grouping {
    Shape,
    Stack(usize),
    Overload,
}

/// A column's width; `None` for any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Width(pub(super) Option<usize>);

fn grouping(text: &str) -> Result<Grouping, String> {
    match text.split_once(':').unwrap_or((text, "")) {
        ("shape", "") => Ok(Grouping::Shape),
        ("overload", "") => Ok(Grouping::Overload),
        ("stack", depth) => depth
            .parse()
            .map(Grouping::Stack)
            .map_err(|_| "write stack:N with the number of frames".to_owned()),
        _ => Err("choose from shape, stack:N, overload".to_owned()),
    }
}

fn time_unit(text: &str) -> Result<TimeUnit, String> {
    TimeUnit::of(text).ok_or_else(|| "choose s, ms or us".to_owned())
}

fn width(text: &str) -> Result<Width, String> {
    if text.eq_ignore_ascii_case("none") {
        return Ok(Width(None));
    }
    text.parse().map(|n| Width(Some(n))).map_err(|_| "a number, or none".to_owned())
}

fn steps(text: &str) -> Result<(i64, i64), String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let parse = |n: &str| n.trim().parse::<i64>().map_err(|_| "a step number, or two as in 3-5".to_owned());
    Ok((parse(first)?, parse(last)?))
}

fn time_range(text: &str) -> Result<(i64, i64), String> {
    let (start, end) = text.split_once("..").ok_or("two times as in 1.5ms..20ms")?;
    let start = if start.is_empty() { 0 } else { duration(start)? };
    let end = if end.is_empty() { i64::MAX } else { duration(end)? };
    if start < end { Ok((start, end)) } else { Err("the end is before the start".to_owned()) }
}

/// A time with its unit, in ns.
fn duration(text: &str) -> Result<i64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let exponent = match &text[digits.len()..] {
        "s" => "e6",
        "ms" => "e3",
        "us" => "e0",
        "ns" => "e-3",
        _ => return Err("a time with its unit: 10us, 1.5ms, 2s, 800ns".to_owned()),
    };
    let micros = format!("{digits}{exponent}");
    let parsed = kinetoscope_core::time::parse_micros(micros.as_bytes()).filter(|p| p.ns >= 0);
    parsed.map(|p| p.ns).ok_or_else(|| "a time with its unit: 10us, 1.5ms, 2s, 800ns".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn values_are_parsed() {
        assert_eq!(duration("1.5ms"), Ok(1_500_000));
        assert_eq!(duration("800ns"), Ok(800));
        assert!(duration("10").is_err());
        assert_eq!(time_range("1us..2s"), Ok((1000, 2_000_000_000)));
        assert!(time_range("2s..1s").is_err());
        assert_eq!(steps("3"), Ok((3, 3)));
        assert_eq!(steps("3-5"), Ok((3, 5)));
        assert_eq!(grouping("stack:5"), Ok(Grouping::Stack(5)));
        assert!(grouping("stack").is_err());
        assert_eq!(width("none"), Ok(Width(None)));
    }
}
