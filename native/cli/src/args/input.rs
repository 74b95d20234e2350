//! The arguments about how traces are read.

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Arg, value_parser};
use kinetoscope_core::kernel_rules::KernelRules;
use kinetoscope_core::queries::Input;
use kinetoscope_core::queries::options::WINDOW;
use kinetoscope_core::queries::setting::Setting;
use kinetoscope_core::units::parse_bytes;
use kinetoscope_core::versions::Rules;
use std::fs;
use std::path::PathBuf;

/// The arguments about what a trace may take and which part of it is read.
pub(super) fn extent() -> [Arg; 2] {
    [
        Arg::new(WINDOW.name)
            .long(WINDOW.name)
            .value_name(WINDOW.value)
            .help_heading("Input")
            .value_parser(|text: &str| match WINDOW.parse(text)? {
                Setting::Pair(from, to) => Ok((from, to)),
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
pub(super) fn rules() -> [Arg; 2] {
    [torch_version(), kernel_rules()]
}

/// The same for an answer that depends on these inputs. The others have no effect on it, and are not in the help.
pub(super) fn rules_for(inputs: &[Input]) -> [Arg; 2] {
    let is_hidden = |input| !inputs.contains(&input);
    [torch_version().hide(is_hidden(Input::TorchRules)), kernel_rules().hide(is_hidden(Input::KernelRules))]
}

fn torch_version() -> Arg {
    Arg::new("torch-version")
        .long("torch-version")
        .value_name("VERSION")
        .help_heading("Input")
        .value_parser(Rules::of_version)
        .allow_hyphen_values(true)
        .help("Make events and averages by the rules of this version of PyTorch, such as 2.15 [default: recognised]")
}

fn kernel_rules() -> Arg {
    let rules = |path: PathBuf| {
        let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
        KernelRules::parse(&text).map_err(|error| error.to_string())
    };
    Arg::new("kernel-rules")
        .long("kernel-rules")
        .value_name("FILE")
        .help_heading("Input")
        .value_parser(PathBufValueParser::new().try_map(rules))
        .help("Own rules for categories of kernels: lines of category,pattern")
}

pub(super) fn execution_trace() -> Arg {
    Arg::new("execution-trace")
        .long("execution-trace")
        .value_name("FILE")
        .help_heading("Input")
        .value_parser(value_parser!(PathBuf))
        .help("Take inputs and outputs from the execution trace that was recorded with the trace")
}
