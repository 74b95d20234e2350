//! Reading with several threads: the phases on one thread, and what they would take with more.

use super::{Failure, RUNS, measure, median, path, program};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What is measured of the text: the summary, the totals, and the summary of half a second.
const COMMANDS: [&[&str]; 3] = [&["summary"], &["outline"], &["summary", "--window", "5s..5.5s"]];

/// Measures commands that read the text, which is not compressed.
pub(super) fn plain(trace: &Path) -> Result<(), Failure> {
    let text = unpacked(trace)?;
    let bytes = fs::metadata(&text).map_err(|e| e.to_string())?.len();
    let file = path(&text)?;
    for command in COMMANDS {
        let arguments = [command, &[&file]].concat();
        let ended = measure(&program("kinetoscope"), &arguments)?;
        println!(
            "| the same as .json | `kinetoscope {}`; {:.2} GB/s | {:.2} s | {} MB |",
            command.join(" "),
            bytes as f64 / ended.seconds / 1e9,
            ended.seconds,
            ended.megabytes
        );
    }
    fs::remove_file(&text).map_err(|e| e.to_string())
}

/// Writes the text of a trace next to it.
pub(super) fn unpacked(trace: &Path) -> Result<PathBuf, Failure> {
    let text = trace.with_file_name("unpacked.json");
    let out = fs::File::create(&text).map_err(|e| e.to_string())?;
    crate::shell::run(Command::new("gzip").arg("-dc").arg(trace).stdout(out))?;
    Ok(text)
}

/// Prints the phases of reading on one thread, and the time that they would take with threads that parse at the same time.
pub(super) fn phases(trace: &Path) -> Result<(), Failure> {
    let runs: Vec<[f64; 8]> = (0..RUNS).map(|_| phases_once(trace)).collect::<Result<_, _>>()?;
    let of = |phase: usize| median(&mut runs.iter().map(|run| run[phase]).collect::<Vec<f64>>());
    let [decompressing, parsing, longest, joining, linking] = [0, 1, 2, 3, 4].map(of);
    println!("\n| phase of reading, one thread | time | |");
    println!("|---|---:|---|");
    println!("| decompressing | {decompressing:.2} s | one thread |");
    println!("| parsing | {parsing:.2} s | in pieces |");
    println!("| joining the pieces | {joining:.2} s | one thread, at the same time as parsing |");
    println!("| pairing, nesting, linking | {linking:.2} s | partly in parallel |");
    let all = parsing + joining + linking;
    for (threads, linked) in [(2.0, of(5)), (4.0, of(6)), (8.0, of(7))] {
        let parsed = (parsing / threads).max(decompressing).max(joining) + longest;
        println!(
            "| until it is linked, {threads} threads | {:.2} s | computed; pairing, nesting and linking take {linked:.2} s: with and without \
             joining {:.0} and {:.0} % of reading without decompressing |",
            parsed + linked,
            (joining + linked) / all * 100.0,
            linked / all * 100.0
        );
    }
    Ok(())
}

fn phases_once(trace: &Path) -> Result<[f64; 8], Failure> {
    let mut command = Command::new(program("reading-phases"));
    let output = command.arg(trace).stderr(Stdio::inherit()).output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let phases = numbers.first_chunk::<8>().copied();
    phases.ok_or_else(|| format!("unexpected output of reading-phases: {text}"))
}
