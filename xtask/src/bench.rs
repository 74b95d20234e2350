//! Measurements of complete processes: each command runs several times, alternating with its baseline; prints medians
//! and their ratio.

use crate::shell::{Failure, root, run, target};
use crate::{native, npm, package};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const RUNS: usize = 5;

/// Prints the table of the README.
pub(crate) fn measure_all(events: u64) -> Result<(), Failure> {
    native::release_binaries()?;
    package::build()?;
    npm::install(&root().join("tests/js"))?;
    let small = generated(events)?;
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
    perfetto(&small)?;
    let large = generated(events * 10)?;
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
    package(&small)?;
    records()?;
    let tiny = generated(3_500)?;
    let one = measure(&program("kinetoscope"), &["summary", &path(&tiny)?])?;
    println!(
        "| 3500 events, 1 MB of text | `kinetoscope summary` | {:.0} ms | {} MB |",
        one.seconds * 1e3,
        one.megabytes
    );
    Ok(())
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

/// Returns a generated trace of this many events; it is generated once.
fn generated(events: u64) -> Result<PathBuf, Failure> {
    let folder = target().join("bench");
    fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let file = folder.join(format!("generated-{events}.json.gz"));
    if file.exists() {
        return Ok(file);
    }
    let part = file.with_extension("part");
    let mut generator = Command::new(program("generate-trace"));
    let mut generator = generator
        .args([events.to_string(), "1".to_owned()])
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

/// Runs a command once. Returns the wall time in seconds and the peak memory that the operating system counted, in MB.
fn once(program: &str, arguments: &[&str]) -> Result<(f64, u64), Failure> {
    let start = Instant::now();
    let output = Command::new("/usr/bin/time")
        .args(["-f", "%M", program])
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .map_err(|e| format!("/usr/bin/time (Debian's package `time`): {e}"))?;
    let seconds = start.elapsed().as_secs_f64();
    if !output.status.success() {
        let _ = std::io::stderr().write_all(&output.stderr);
        return Err(format!("{program} failed: {}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let kilobytes = text.lines().last().and_then(|l| l.trim().parse::<u64>().ok()).unwrap_or(0);
    Ok((seconds, kilobytes * 1024 / 1_000_000))
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

/// The limits of the package: its time and its memory relative to native, and its memory for a trace of 4 GB, in bytes.
const SLOWEST: f64 = 2.5;
const LARGEST: f64 = 1.3;
const HUGE_EVENTS: u64 = 14_000_000;
const HUGE_LIMIT: u64 = 1_500_000_000;

/// Measures the npm package in Node against the same work done natively on one thread.
fn package(trace: &Path) -> Result<(), Failure> {
    let trace = path(trace)?;
    let (mut native, mut node, mut ratios, mut memory) = (Vec::new(), Vec::new(), Vec::new(), (0, 0));
    for _ in 0..RUNS {
        let alone = once(&program("summary-alone"), &[&trace])?;
        let ours = in_node(&trace, &[])?;
        ratios.push(ours.seconds / alone.0);
        native.push(alone.0);
        node.push(ours.seconds);
        memory = (memory.0.max(alone.1), memory.1.max(ours.megabytes));
    }
    let ratio = median(&mut ratios);
    let share = memory.1 as f64 / memory.0 as f64;
    println!("| the same | natively on one thread | {:.2} s | {} MB |", median(&mut native), memory.0);
    println!("| the same | npm package in Node | {:.2} s | {} MB |", median(&mut node), memory.1);
    println!("| | ratio, median of {RUNS} pairs | {ratio:.2} | {share:.2} |");
    if ratio > SLOWEST || share > LARGEST {
        return Err(format!(
            "the package exceeds {SLOWEST} times the native time or {LARGEST} times the native memory"
        ));
    }
    let huge = generated(HUGE_EVENTS)?;
    let figures = in_node(&path(&huge)?, &[&HUGE_LIMIT.to_string()])?;
    println!(
        "| {HUGE_EVENTS} events, 4.1 GB of text | npm package in Node, memoryLimit 1.5 GB | {:.1} s | {} MB |",
        figures.seconds, figures.megabytes
    );
    if figures.megabytes > HUGE_LIMIT / 1_000_000 {
        return Err(format!("{} MB exceed the memory limit", figures.megabytes));
    }
    Ok(())
}

/// Runs `tests/js/bench.js` once; the memory is that of the engine. Returns an error if the trace is not read
/// completely.
fn in_node(trace: &str, arguments: &[&str]) -> Result<Figures, Failure> {
    let mut node = Command::new("node");
    node.args(["tests/js/bench.js", trace]).args(arguments).current_dir(root()).stderr(Stdio::inherit());
    let output = node.output().map_err(|e| format!("node: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let number = |key: &str| -> Option<f64> {
        let rest = text.split_once(&format!("\"{key}\":"))?.1;
        rest.split([',', '}']).next()?.parse().ok()
    };
    match (number("seconds"), number("memory_bytes")) {
        (Some(seconds), Some(bytes)) if output.status.success() && text.contains("\"lost\":[]") => {
            Ok(Figures { seconds, megabytes: bytes as u64 / 1_000_000 })
        }
        _ => Err(format!("bench.js: {}: {text}", output.status)),
    }
}
