//! Other tools next to `kinetoscope summary`, on the same trace in turn. A tool that fails is a row of the table.

mod tools;

use super::{Ended, RUNS, ended, generated, median, path, reading};
use crate::native;
use crate::shell::Failure;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use tools::Tool;

/// A tool that takes longer than this, in seconds, runs fewer times.
const LONG: f64 = 10.0;
const LONG_RUNS: usize = 3;

/// The most seconds that a run may take, and the most bytes that a process may allocate.
const MOST_SECONDS: &str = "300";
const MOST_BYTES: &str = "--data=16000000000";

/// The files with the trace, compressed and as text.
struct Files {
    gzip: PathBuf,
    text: PathBuf,
}

/// The runs of a tool.
#[derive(Default)]
struct Runs {
    seconds: Vec<f64>,
    processor: Vec<f64>,
    /// The times, divided by that of the baseline for the same file in the same round.
    ratios: Vec<f64>,
    megabytes: u64,
    failure: Option<Failure>,
}

/// Prints the table of other tools for a trace of this many events.
pub(crate) fn measure_peers(events: u64) -> Result<(), Failure> {
    native::release_binaries()?;
    let gzip = generated(events, 1)?;
    let files = Files { text: reading::unpacked(&gzip)?, gzip };
    let tools = tools::list(&files)?;
    let mut runs: Vec<Runs> = tools.iter().map(|_| Runs::default()).collect();
    for round in 1..=RUNS {
        eprintln!("round {round} of {RUNS}");
        measure_round(&tools, &mut runs);
    }
    let size = |file| fs::metadata(file).map_or(0, |data| data.len() / 1_000_000);
    println!("{events} events, {} MB as .json, {} MB as .json.gz\n", size(&files.text), size(&files.gzip));
    println!(
        "| tool | what it does | file | runs | median | ratio to `summary` | processor time | peak memory |"
    );
    println!("|---|---|---|---:|---:|---:|---:|---:|");
    for (tool, runs) in tools.iter().zip(&mut runs) {
        println!("| {} | {} | {} | {} |", tool.name, tool.does, extension(tool), row(runs));
    }
    fs::remove_file(&files.text).map_err(|e| e.to_string())
}

/// Runs every tool once, unless it has failed or had its runs.
fn measure_round(tools: &[Tool], runs: &mut [Runs]) {
    let mut baselines = BTreeMap::new();
    for (tool, runs) in tools.iter().zip(runs) {
        let is_long = runs.seconds.first().is_some_and(|&first| first > LONG);
        if runs.failure.is_some() || is_long && runs.seconds.len() == LONG_RUNS {
            continue;
        }
        match limited(tool) {
            Ok(ended) => {
                eprintln!("{}, {}: {:.2} s", tool.name, extension(tool), ended.seconds);
                if tool.is_baseline {
                    baselines.insert(&tool.trace, ended.seconds);
                }
                runs.seconds.push(ended.seconds);
                runs.processor.push(ended.processor);
                runs.ratios.extend(baselines.get(&tool.trace).map(|baseline| ended.seconds / baseline));
                runs.megabytes = runs.megabytes.max(ended.megabytes);
            }
            Err(failure) => runs.failure = Some(failure),
        }
    }
}

/// Runs a tool once, within the limits.
fn limited(tool: &Tool) -> Result<Ended, Failure> {
    let command = tool.command.as_ref().map_err(Clone::clone)?;
    let trace = path(&tool.trace)?;
    let mut arguments = vec![MOST_BYTES, "timeout", "--kill-after=5", MOST_SECONDS];
    arguments.extend(command.iter().map(String::as_str));
    arguments.push(&trace);
    let ended = ended("prlimit", &arguments)?;
    if ended.status.success() { Ok(ended) } else { Err(reason(&ended)) }
}

/// Returns why a run failed: the last message of the tool.
fn reason(ended: &Ended) -> Failure {
    if matches!(ended.status.code(), Some(124)) {
        return format!("more than {MOST_SECONDS} s");
    }
    // `time` adds a line about the status and one with its figures.
    let is_own = |line: &&str| {
        !line.starts_with("Command ") && !line.split(' ').all(|word| word.parse::<f64>().is_ok())
    };
    let message = ended.errors.lines().map(str::trim).filter(|line| !line.is_empty()).rfind(is_own);
    let message: String = message.unwrap_or("no message").chars().take(120).collect();
    format!("{} ({}, {} MB)", message.replace('|', "/"), ended.status, ended.megabytes)
}

fn extension(tool: &Tool) -> &'static str {
    if tool.trace.extension().is_some_and(|e| e == "gz") { ".json.gz" } else { ".json" }
}

/// Returns the cells with the figures.
fn row(runs: &mut Runs) -> String {
    if let Some(failure) = &runs.failure {
        return format!("{} | failed: {failure} | | | ", runs.seconds.len());
    }
    let ratio =
        if runs.ratios.is_empty() { String::new() } else { format!("{:.2}", median(&mut runs.ratios)) };
    let [seconds, processor] = [&mut runs.seconds, &mut runs.processor].map(|times| median(times));
    format!("{} | {seconds:.2} s | {ratio} | {processor:.2} s | {} MB", runs.seconds.len(), runs.megabytes)
}
