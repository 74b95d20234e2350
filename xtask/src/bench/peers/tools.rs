//! The tools, their installation and their commands.

use super::super::{path, program, python};
use super::Files;
use crate::perfetto;
use crate::shell::{Failure, cargo, root, run, target};
use std::fs;
use std::path::PathBuf;

/// A tool and what it does with a file.
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) does: &'static str,
    /// The program and its arguments, which the path of the trace follows; or why it could not be installed.
    pub(super) command: Result<Vec<String>, Failure>,
    pub(super) trace: PathBuf,
    /// Whether the times of other tools for the same file are divided by its time.
    pub(super) is_baseline: bool,
}

type Installed = Result<Vec<String>, Failure>;

/// Returns all tools; the baselines are first.
pub(super) fn list(files: &Files) -> Result<Vec<Tool>, Failure> {
    let mut tools = Vec::new();
    let mut add = |name: &str, does, command: &Installed, traces: &[&PathBuf]| {
        tools.extend(traces.iter().map(|&trace| Tool {
            name: name.to_owned(),
            does,
            command: command.clone(),
            trace: trace.clone(),
            is_baseline: name == BASELINE,
        }));
    };
    let (gzip, text) = (&files.gzip, &files.text);
    let summary = Ok(vec![program("kinetoscope"), "summary".to_owned()]);
    add(BASELINE, "loads, links, summarises with findings", &summary, &[gzip, text]);
    add("`gzip -dc`", "decompresses only", &Ok(vec!["gzip".to_owned(), "-dc".to_owned()]), &[gzip]);
    for (crate_name, program, does) in PARSERS {
        let name = format!("{crate_name} {}", locked(crate_name)?);
        add(&name, does, &parser(program, false), &[text]);
        add(&format!("{name}, built for this processor"), does, &parser(program, true), &[text]);
    }
    let name = format!("{}, `json.load`", python::version());
    add(&name, "parses JSON only, into Python objects", &python::json(), &[gzip, text]);
    let name = format!("DuckDB {}", python::DUCKDB_VERSION);
    for (mode, does) in QUERIES {
        add(&name, does, &with(python::duckdb(), &[mode]), &[gzip, text]);
    }
    let name = format!("Perfetto {}, WebAssembly in Node", perfetto::VERSION);
    add(&name, "loads until it is queryable, counts slices", &trace_processor(), &[gzip, text]);
    let (name, hta) = (format!("HTA {}", python::HTA_VERSION), python::hta());
    add(&name, "loads", &hta, &[gzip, text]);
    add(&name, "loads, temporal breakdown", &with(hta.clone(), &["get_temporal_breakdown"]), &[gzip]);
    Ok(tools)
}

const BASELINE: &str = "`kinetoscope summary`";

/// Crates that parse JSON, their programs in `tests/peers`, and what these do.
const PARSERS: [(&str, &str, &str); 2] = [
    ("simd-json", "simd-json-tape", "parses JSON only, into its tape"),
    ("sonic-rs", "sonic-rs-value", "parses JSON only, into its `Value`"),
];

/// The modes of the script for `DuckDB`.
const QUERIES: [(&str, &str); 2] = [
    ("auto", "loads, counts and sums by category; it finds all fields"),
    ("columns", "loads, counts and sums by category; two fields are declared"),
];

fn with(command: Installed, arguments: &[&str]) -> Installed {
    let mut command = command?;
    command.extend(arguments.iter().map(|&argument| argument.to_owned()));
    Ok(command)
}

/// Builds a program of `tests/peers`: for any processor of its kind, or for the one of this machine.
fn parser(name: &str, is_native: bool) -> Installed {
    let folder = target().join(if is_native { "peers-native" } else { "peers" });
    let mut build = cargo(&["build", "--release", "--locked", "--quiet", "--bin", name, "--target-dir"]);
    build.arg(&folder).current_dir(root().join("tests/peers"));
    if is_native {
        build.env("RUSTFLAGS", "-C target-cpu=native");
    }
    run(&mut build)?;
    Ok(vec![path(&folder.join("release").join(name))?])
}

/// Returns the version of a crate in the lock file of `tests/peers`.
fn locked(name: &str) -> Result<String, Failure> {
    let lock = fs::read_to_string(root().join("tests/peers/Cargo.lock")).map_err(|e| e.to_string())?;
    let after = lock.split_once(&format!("name = \"{name}\"\nversion = \"")).map(|(_, after)| after);
    let version = after.and_then(|after| after.split('"').next());
    version.map(str::to_owned).ok_or_else(|| format!("the lock file lacks {name}"))
}

fn trace_processor() -> Installed {
    let script = path(&root().join("tests/js/perfetto-bench.js"))?;
    Ok(vec!["node".to_owned(), script, path(&perfetto::processor()?)?])
}
