//! Checks that need a GPU: `cargo xtask test-gpu [FOLDER]`. Prints the measurements; recordings and traces are written
//! to the folder. If Python has torch, `torch.profiler` records the same kernels for comparison.

mod checks;
mod trace;
mod work;

use checks::CHECKS;
use kinetoscope::device::probe;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::{env, fs};
use work::Work;

fn main() -> ExitCode {
    let folder = PathBuf::from(env::args().nth(1).unwrap_or_else(|| "target/gpu".to_owned()));
    match probe() {
        Ok(devices) => println!("{} devices, the first: {:?}", devices.len(), devices[0]),
        Err(reason) => {
            eprintln!("No device can be recorded: {reason}.");
            return ExitCode::FAILURE;
        }
    }
    let work = match fs::create_dir_all(&folder)
        .map_err(|e| e.to_string())
        .and_then(|()| Work::new().map_err(|e| e.to_string()))
    {
        Ok(work) => work,
        Err(reason) => {
            eprintln!("The checks cannot run: {reason}.");
            return ExitCode::FAILURE;
        }
    };
    let mut failed = 0;
    for (name, check) in CHECKS {
        match check(&work, &folder) {
            Ok(measured) => println!("ok      {name}: {measured}"),
            Err(reason) => {
                failed += 1;
                println!("FAILED  {name}: {reason}");
            }
        }
    }
    failed += u32::from(!matches_torch(&folder));
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs `torch.profiler` on the same kernels; false if its results differ.
fn matches_torch(folder: &PathBuf) -> bool {
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
