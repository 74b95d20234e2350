//! Runs of several ranks: time and memory against limits, and next to HTA on the same traces.

use super::{Figures, once, path, program, python};
use crate::native;
use crate::shell::{Failure, run, target};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Prints the table of runs of several ranks. Returns an error if a limit is exceeded.
pub(crate) fn measure_ranks() -> Result<(), Failure> {
    native::release_binaries()?;
    println!("| run | command | time | peak memory |");
    println!("|---|---|---:|---:|");
    let mut faults = Vec::new();
    let large = row(64, 200_000, &mut faults, Some((60.0, 400)))?;
    let twice = row(128, 200_000, &mut faults, None)?;
    row(256, 200_000, &mut faults, None)?;
    let growth = twice.megabytes as f64 / large.megabytes as f64;
    println!("| | memory of 128 ranks against that of 64 | | {growth:.2} |");
    if growth > 1.1 {
        faults.push(format!("128 ranks take {growth:.2} times the memory of 64"));
    }
    summaries(&mut faults)?;
    next_to_hta()?;
    if faults.is_empty() { Ok(()) } else { Err(faults.join("; ")) }
}

/// Returns the folder of a generated run; it is generated once.
fn generated(ranks: usize, events: u64) -> Result<PathBuf, Failure> {
    let folder = target().join("bench").join(format!("run-{ranks}-{events}"));
    if !folder.is_dir() {
        let part = folder.with_extension("part");
        run(Command::new(program("generate-run")).args([
            path(&part)?,
            ranks.to_string(),
            events.to_string(),
        ]))?;
        fs::rename(&part, &folder).map_err(|e| e.to_string())?;
    }
    Ok(folder)
}

fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum::<u64>() / 1_000_000
}

/// Measures `kinetoscope ranks` and prints a row. `limits` are seconds and MB.
fn row(
    ranks: usize,
    events: u64,
    faults: &mut Vec<String>,
    limits: Option<(f64, u64)>,
) -> Result<Figures, Failure> {
    let folder = generated(ranks, events)?;
    let (seconds, megabytes) = once(&program("kinetoscope"), &["ranks", &path(&folder)?])?;
    let figures = Figures { seconds, megabytes };
    print(&format!("{ranks} ranks × {events} events, {} MB as .json.gz", size(&folder)), "ranks", &figures);
    check(&figures, &format!("{ranks} ranks"), limits, faults);
    Ok(figures)
}

fn print(what: &str, command: &str, figures: &Figures) {
    println!("| {what} | `kinetoscope {command}` | {:.2} s | {} MB |", figures.seconds, figures.megabytes);
}

fn check(figures: &Figures, what: &str, limits: Option<(f64, u64)>, faults: &mut Vec<String>) {
    let Some((seconds, megabytes)) = limits else { return };
    if figures.seconds > seconds || figures.megabytes > megabytes {
        faults.push(format!(
            "{what}: {:.2} s and {} MB of {seconds} s and {megabytes} MB",
            figures.seconds, figures.megabytes
        ));
    }
}

/// Measures 1,024 summaries: merging them, and the answer from the merged file.
fn summaries(faults: &mut Vec<String>) -> Result<(), Failure> {
    let traces = generated(1024, 20_000)?;
    let folder = traces.with_file_name("summaries-1024");
    if !folder.is_dir() {
        let part = folder.with_extension("part");
        fs::create_dir_all(&part).map_err(|e| e.to_string())?;
        once(&program("kinetoscope"), &["summarize", &path(&traces)?, "-o", &path(&part)?])?;
        fs::rename(&part, &folder).map_err(|e| e.to_string())?;
    }
    let merged = path(&folder.with_extension("ksum"))?;
    let (seconds, megabytes) = once(&program("kinetoscope"), &["summarize", &path(&folder)?, "-o", &merged])?;
    let merging = Figures { seconds, megabytes };
    let what = format!("1024 summaries, {} MB", size(&folder));
    print(&what, "summarize", &merging);
    let (seconds, megabytes) = once(&program("kinetoscope"), &["ranks", &merged])?;
    let answer = Figures { seconds, megabytes };
    print("the merged file", "ranks", &answer);
    let both = Figures {
        seconds: merging.seconds + answer.seconds,
        megabytes: merging.megabytes.max(answer.megabytes),
    };
    check(&both, "1024 summaries", Some((5.0, 500)), faults);
    Ok(())
}

/// Measures HTA, from the package `traceinsight`, next to `kinetoscope ranks`, on the same 8 ranks in turn.
fn next_to_hta() -> Result<(), Failure> {
    let folder = generated(8, 200_000)?;
    let (hta, traces) = (python::hta()?, path(&folder)?);
    let analyses = ["get_temporal_breakdown", "get_comm_comp_overlap"];
    let command: Vec<&str> = hta.iter().map(String::as_str).chain(analyses).chain([&*traces]).collect();
    let mut ratios = Vec::new();
    let (mut theirs, mut ours) = ((0.0, 0), (0.0, 0));
    for _ in 0..3 {
        theirs = once(command[0], &command[1..])?;
        ours = once(&program("kinetoscope"), &["ranks", &traces])?;
        ratios.push(theirs.0 / ours.0);
    }
    let what = format!("8 ranks × 200000 events, {} MB as .json.gz", size(&folder));
    println!(
        "| {what} | HTA {}: load, temporal breakdown, overlap | {:.2} s | {} MB |",
        python::HTA_VERSION,
        theirs.0,
        theirs.1
    );
    println!("| the same | `kinetoscope ranks` | {:.2} s | {} MB |", ours.0, ours.1);
    println!("| | ratio of times, median of 3 pairs | {:.1} | |", super::median(&mut ratios));
    Ok(())
}
