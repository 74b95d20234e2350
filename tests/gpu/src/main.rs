//! Checks that need a GPU: `cargo xtask test-gpu [FOLDER]`. Prints the measurements; recordings and traces are written
//! to the folder. If Python has torch, `torch.profiler` records the same kernels for comparison.
//!
//! Each check runs in a process of its own, so that one that does not end, or crashes, does not keep the others from
//! running.

mod checks;
mod child;
mod trace;
mod work;

use checks::CHECKS;
use kinetoscope::device::probe;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};
use work::Work;

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| "target/gpu".to_owned()));
    if let Some(name) = arguments.next() {
        return run_one(&name, &folder);
    }
    match probe() {
        Ok(devices) => println!("{} devices, the first: {:?}", devices.len(), devices[0]),
        Err(reason) => {
            eprintln!("No device can be recorded: {reason}.");
            return ExitCode::FAILURE;
        }
    }
    if let Err(reason) = fs::create_dir_all(&folder) {
        eprintln!("The checks cannot run: {reason}.");
        return ExitCode::FAILURE;
    }
    let failed = CHECKS.iter().filter(|(name, _)| !child::passes(name, &folder)).count();
    if matches_torch(&folder) && failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs one check in this process and prints its measurements, or the reason why it fails.
fn run_one(name: &str, folder: &Path) -> ExitCode {
    let Some((_, check)) = CHECKS.iter().find(|(known, _)| *known == name) else {
        println!("no check has this name");
        return ExitCode::FAILURE;
    };
    match Work::new().map_err(Box::<dyn Error>::from).and_then(|work| check(&work, folder)) {
        Ok(measured) => {
            println!("{measured}");
            ExitCode::SUCCESS
        }
        Err(reason) => {
            println!("{reason}");
            ExitCode::FAILURE
        }
    }
}

/// Runs `torch.profiler` on the same kernels; false if its results differ.
fn matches_torch(folder: &Path) -> bool {
    let has_torch =
        Command::new("python3").args(["-c", "import torch; assert torch.cuda.is_available()"]).output();
    if !has_torch.is_ok_and(|output| output.status.success()) {
        println!("SKIPPED torch.profiler on the same kernels: Python has no torch with CUDA");
        return true;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/compare_with_torch.py");
    let kernels = concat!(env!("CARGO_MANIFEST_DIR"), "/src/kernels.ptx");
    let status = Command::new("python3").arg(script).arg(kernels).arg(folder).status();
    status.is_ok_and(|status| status.success())
}
