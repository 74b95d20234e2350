//! Measurements of complete processes: each command runs several times, alternating with its baseline; prints medians
//! and their ratio.

mod analyses;
mod diff;
mod node;
mod peers;
mod process;
mod python;
mod ranks;
mod reading;

pub(crate) use analyses::measure_analyses;
pub(crate) use diff::measure_diff;
pub(crate) use peers::measure_peers;
pub(crate) use ranks::measure_ranks;

use crate::shell::{Failure, root, run, target};
use crate::{native, npm, package};
use process::{Ended, ended, once};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const RUNS: usize = 5;

/// Prints the tables of the book's page about performance.
pub(crate) fn measure_all(events: u64) -> Result<(), Failure> {
    native::release_binaries()?;
    package::build()?;
    npm::install(&root().join("tests/js"))?;
    let small = generated(events, 1)?;
    let gzip = measure("gzip", &["-dc", &path(&small)?])?;
    let summary = measure(&program("kinetoscope"), &["summary", &path(&small)?])?;
    let pairs = paired(&small)?;
    println!("| trace | command | median | peak memory |");
    println!("|---|---|---:|---:|");
    let megabytes = |p: &Path| fs::metadata(p).map_or(0, |m| m.len() / 1_000_000);
    println!(
        "| {events} events, {} MB as .json.gz | `gzip -dc` to /dev/null | {:.2} s | {} MB |",
        megabytes(&small),
        gzip.seconds,
        gzip.megabytes
    );
    println!("| the same | `kinetoscope summary` | {:.2} s | {} MB |", summary.seconds, summary.megabytes);
    println!("| | ratio, median of {RUNS} pairs | {pairs:.2} | |");
    reading::plain(&small)?;
    perfetto(&small)?;
    let large = generated(events * 10, 1)?;
    let ten = measure(&program("kinetoscope"), &["summary", &path(&large)?])?;
    let per_event = |seconds: f64, events: u64| seconds * 1e9 / events as f64;
    println!(
        "| {} events, {} MB as .json.gz | `kinetoscope summary` | {:.2} s | {} MB |",
        events * 10,
        megabytes(&large),
        ten.seconds,
        ten.megabytes
    );
    println!(
        "| | time per event, ten times the events | {:.0} ns against {:.0} ns: {:.2} | |",
        per_event(ten.seconds, events * 10),
        per_event(summary.seconds, events),
        per_event(ten.seconds, events * 10) / per_event(summary.seconds, events)
    );
    node::measure(&small)?;
    records()?;
    let tiny = generated(3_500, 1)?;
    let measured = measure(&program("kinetoscope"), &["summary", &path(&tiny)?])?;
    println!(
        "| 3500 events, 1 MB of text | `kinetoscope summary` | {:.0} ms | {} MB |",
        measured.seconds * 1e3,
        measured.megabytes
    );
    reading::phases(&small)?;
    analyses::measure(&small)
}

/// Measures legacy records. Ten million of them must be paired, nested and averaged in 3 s and 100 bytes each, for
/// every shape.
fn records() -> Result<(), Failure> {
    for shape in ["typical", "one-name", "deep"] {
        let mut runs: Vec<(f64, f64)> =
            (0..3).map(|_| pair_records("10000000", shape)).collect::<Result<_, _>>()?;
        runs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let ((seconds, bytes), tenth) = (runs[1], pair_records("1000000", shape)?.0);
        println!(
            "| 10000000 legacy records, {shape} | pair, nest, average; time against 10 × 1000000: {:.2} | {seconds:.2} s | {bytes:.0} bytes a record |",
            seconds / tenth / 10.0
        );
        if seconds > 3.0 || bytes > 100.0 {
            return Err("legacy records exceed 3 s or 100 bytes each".to_owned());
        }
    }
    Ok(())
}

/// Returns seconds and bytes per record, as `pair-records` prints them.
fn pair_records(count: &str, shape: &str) -> Result<(f64, f64), Failure> {
    let output =
        Command::new(program("pair-records")).args([count, shape]).output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let before =
        |mark: &str| -> Option<f64> { text.split(mark).next()?.split_whitespace().last()?.parse().ok() };
    before(" s (").zip(before(" bytes")).ok_or_else(|| format!("unexpected output of pair-records: {text}"))
}

fn path(path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| "the path is not UTF-8".to_owned())
}

fn program(name: &str) -> String {
    target().join("release").join(name).display().to_string()
}

/// Returns the trace of this many events that a seed generates; it is generated once.
fn generated(events: u64, seed: u64) -> Result<PathBuf, Failure> {
    let folder = target().join("bench");
    fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let file = folder.join(format!("generated-{events}-{seed}.json.gz"));
    if file.exists() {
        return Ok(file);
    }
    let part = file.with_extension("part");
    let mut generator = Command::new(program("generate-trace"));
    let mut generator = generator
        .args([events.to_string(), seed.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| e.to_string())?;
    let text = generator.stdout.take().ok_or("the generator has no output")?;
    let out = fs::File::create(&part).map_err(|e| e.to_string())?;
    run(Command::new("gzip").arg("-c").stdin(text).stdout(out))?;
    let status = generator.wait().map_err(|e| e.to_string())?;
    if !status.success() {
        return Err(format!("the generator failed: {status}"));
    }
    fs::rename(&part, &file).map_err(|e| e.to_string())?;
    Ok(file)
}

struct Figures {
    seconds: f64,
    megabytes: u64,
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn measure(program: &str, arguments: &[&str]) -> Result<Figures, Failure> {
    once(program, arguments)?;
    let runs: Vec<(f64, u64)> = (0..RUNS).map(|_| once(program, arguments)).collect::<Result<_, _>>()?;
    let mut seconds: Vec<f64> = runs.iter().map(|r| r.0).collect();
    Ok(Figures { seconds: median(&mut seconds), megabytes: runs.iter().map(|r| r.1).max().unwrap_or(0) })
}

/// Returns the median ratio of the times of `kinetoscope summary` and `gzip`, which run alternately.
fn paired(trace: &Path) -> Result<f64, Failure> {
    let trace = path(trace)?;
    let mut ratios = Vec::new();
    for _ in 0..RUNS {
        let ours = once(&program("kinetoscope"), &["summary", &trace])?.0;
        ratios.push(ours / once("gzip", &["-dc", &trace])?.0);
    }
    Ok(median(&mut ratios))
}

/// Measures the summary of the trace as Perfetto's protobuf against that of the JSON.
fn perfetto(trace: &Path) -> Result<(), Failure> {
    let exported = path(&trace.with_file_name("exported.pftrace.gz"))?;
    once(&program("kinetoscope"), &["export", "pftrace", &path(trace)?, "-o", &exported])?;
    let (mut seconds, mut ratios) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let ours = once(&program("kinetoscope"), &["summary", &exported])?.0;
        ratios.push(ours / once(&program("kinetoscope"), &["summary", &path(trace)?])?.0);
        seconds.push(ours);
    }
    let (seconds, ratio) = (median(&mut seconds), median(&mut ratios));
    println!(
        "| the same as .pftrace.gz | `kinetoscope summary`; time against JSON: {ratio:.2} | {seconds:.2} s | |"
    );
    Ok(())
}
