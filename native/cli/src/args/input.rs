//! The arguments about how traces are read.

use super::rules_of;
use crate::failure::Failure;
use crate::joins::Joins;
use crate::reading::Reading;
use crate::steps_from::StepsFrom;
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, value_parser};
use kinetoscope_core::analysis::query::options::WINDOW;
use kinetoscope_core::analysis::query::value::OptionValue;
use kinetoscope_core::base::error::Error;
use kinetoscope_core::base::units::parse_bytes;
use kinetoscope_core::queries::Input;
use kinetoscope_core::trace::kernel_rules::KernelRules;
use kinetoscope_core::trace::step_rules::StepRules;
use kinetoscope_core::trace::versions::Rules;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The longest file that is read besides traces, in bytes.
const LONGEST: u64 = 256 << 20;

/// How the traces of a command are read. Not every command has all of these arguments.
pub(super) fn reading(matches: &ArgMatches) -> Reading {
    Reading {
        rules: rules_of(matches),
        joins: joins(matches),
        window: matches.try_get_one("window").ok().flatten().copied(),
        memory_limit: matches.try_get_one("memory-limit").ok().flatten().copied(),
    }
}

/// The files that are joined to traces.
pub(crate) fn joins(matches: &ArgMatches) -> Joins {
    // `None` for a command that does not use such files.
    let given = |name| {
        let given = matches.try_get_many(name).ok()?;
        Some(given.into_iter().flatten().cloned().collect())
    };
    Joins {
        execution_trace: matches.try_get_one("execution-trace").ok().flatten().cloned(),
        captures: given("capture"),
        provenance: given("provenance"),
    }
}

/// Reads a file that is not a trace, such as rules, peaks, budgets and histories.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LONGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST {
        let message = format!("the file is longer than {} MiB", LONGEST >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(text)
}

/// As [`read_text`], with an error that names the file.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    read_text(path).map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
}

/// The arguments about what a trace may take and which part of it is read.
pub(super) fn extent() -> [Arg; 2] {
    [
        Arg::new(WINDOW.name)
            .long(WINDOW.name)
            .value_name(WINDOW.value)
            .help_heading("Input")
            .value_parser(|text: &str| match WINDOW.parse(text)? {
                OptionValue::Pair(from, to) => Ok((from, to)),
                _ => Err("expected a range of time".to_owned()),
            })
            .hide_short_help(true)
            .help(WINDOW.help()),
        Arg::new("memory-limit")
            .long("memory-limit")
            .value_name("SIZE")
            .help_heading("Input")
            .value_parser(parse_bytes)
            .hide_short_help(true)
            .help("Stop reading before the trace and its analyses take more than this, such as 2GB"),
    ]
}

/// The arguments about the rules that a trace is read by.
pub(super) fn rules() -> [Arg; 4] {
    [torch_version(), kernel_rules(), step_rules(), steps_from()]
}

/// The same for an answer that depends on these inputs. The others have no effect on it, and are not in the help.
pub(super) fn rules_for(inputs: &[Input]) -> [Arg; 4] {
    let of = [Input::TorchRules, Input::KernelRules, Input::StepRules, Input::StepRules];
    let mut of = of.into_iter();
    rules().map(|arg| arg.hide(of.next().is_none_or(|input| !inputs.contains(&input))))
}

fn torch_version() -> Arg {
    Arg::new("torch-version")
        .long("torch-version")
        .value_name("VERSION")
        .help_heading("Input")
        .value_parser(Rules::for_version)
        .allow_hyphen_values(true)
        .help("Make events and averages by the rules of this version of PyTorch, such as 2.15 [default: recognised]")
}

fn kernel_rules() -> Arg {
    rules_arg("kernel-rules", KernelRules::parse)
        .help("Own rules for categories of kernels: lines of category,pattern")
}

fn step_rules() -> Arg {
    rules_arg("step-rules", StepRules::parse)
        .conflicts_with("steps-from")
        .help("Own rules for the names of iterations of an inference engine: lines of phase,pattern")
}

/// An argument that names a file of rules.
fn rules_arg<R: Clone + Send + Sync + 'static>(
    name: &'static str,
    parse: fn(&str) -> Result<R, Error>,
) -> Arg {
    let rules = move |path: PathBuf| {
        let text = read_text(&path).map_err(|error| error.to_string())?;
        parse(&text).map_err(|error| error.to_string())
    };
    Arg::new(name)
        .long(name)
        .value_name("FILE")
        .help_heading("Input")
        .value_parser(PathBufValueParser::new().try_map(rules))
}

fn steps_from() -> Arg {
    Arg::new("steps-from")
        .long("steps-from")
        .value_name("REGEX")
        .help_heading("Input")
        .value_parser(StepsFrom::parse)
        .help(
            "Take the ranges whose names match as steps; the groups (?<phase>…), (?<batch>…), (?<tokens>…) and (?<number>…) say what \
             the names state",
        )
}

/// The arguments that name files which are joined to a trace, for an answer that depends on these inputs.
pub(super) fn joined(inputs: &[Input]) -> impl Iterator<Item = Arg> {
    let execution_trace = inputs.contains(&Input::ExecutionTrace).then(execution_trace);
    let captures = inputs.contains(&Input::Captures).then(captures);
    let provenance = inputs.contains(&Input::Provenance).then(provenance);
    execution_trace.into_iter().chain(captures).chain(provenance)
}

pub(super) fn captures() -> Arg {
    Arg::new("capture")
        .long("capture")
        .value_name("FILE")
        .action(ArgAction::Append)
        .help_heading("Input")
        .hide_short_help(true)
        .value_parser(value_parser!(PathBuf))
        .help(
            "Take the operators of the kernels of CUDA and HIP graphs from a trace of their capture; can be repeated [default: those in a \
             folder capture_traces next to the trace]",
        )
}

pub(super) fn provenance() -> Arg {
    Arg::new("provenance")
        .long("provenance")
        .value_name("FILE|FOLDER")
        .action(ArgAction::Append)
        .help_heading("Input")
        .hide_short_help(true)
        .value_parser(value_parser!(PathBuf))
        .help(
            "Take the sources of kernels from what PyTorch writes: the log of TORCH_TRACE, a folder torch_compile_debug, \
             kernel_information.json, or annotations of CUDA graphs; can be repeated [default: those next to the trace, except annotations]",
        )
}

fn execution_trace() -> Arg {
    Arg::new("execution-trace")
        .long("execution-trace")
        .value_name("FILE")
        .help_heading("Input")
        .value_parser(value_parser!(PathBuf))
        .help("Take inputs and outputs from the execution trace that was recorded with the trace")
}
