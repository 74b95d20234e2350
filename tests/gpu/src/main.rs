//! Checks that need a GPU: `cargo xtask test-gpu [FOLDER]`. Prints what each measured; recordings and traces stay in the
//! folder. Where Python has torch, `torch.profiler` looks at the same kernels.

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
            eprintln!("Nothing can be checked: {reason}.");
            return ExitCode::FAILURE;
        }
    };
    let mut failed = 0;
    for (name, check) in CHECKS {
        match check(&work, &folder) {
            Ok(told) => println!("ok      {name}: {told}"),
            Err(reason) => {
                failed += 1;
                println!("FAILED  {name}: {reason}");
            }
        }
    }
    failed += u32::from(!beside_torch(&folder));
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// `torch.profiler` on the same kernels; false where it sees others.
fn beside_torch(folder: &PathBuf) -> bool {
    let has_torch =
        Command::new("python3").args(["-c", "import torch; assert torch.cuda.is_available()"]).output();
    if !has_torch.is_ok_and(|output| output.status.success()) {
        println!("SKIPPED torch.profiler on the same kernels: Python has no torch with CUDA here");
        return true;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/beside_torch.py");
    let kernels = concat!(env!("CARGO_MANIFEST_DIR"), "/src/kernels.ptx");
    let status = Command::new("python3").arg(script).arg(kernels).arg(folder).status();
    status.is_ok_and(|status| status.success())
}
