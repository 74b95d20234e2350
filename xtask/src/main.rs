//! `cargo xtask …`: everything that is more than one command.

mod api;
mod bench;
mod browser;
mod cudarc;
mod cupti;
mod features;
mod fuzz;
mod imports;
mod msrv;
mod native;
mod npm;
mod package;
mod page;
mod release;
mod shell;
mod silent;
mod steps;
mod targets;
mod toolchain;
mod tools;

use std::process::ExitCode;

const HELP: &str = "cargo xtask COMMAND

  test                 everything that must hold: imports, format, lints, docs, no_std, tests, fuzz targets, README, npm, page
  imports              who may import whom
  no-std               core alone on x86_64-unknown-none
  silent               what spans leave behind where the recorder is compiled out: nothing
  cupti                the real CUPTI of CUDA 12.0 to 13.1, fetched as Python wheels, steps over records; needs no GPU
  cudarc               programs that choose the version of CUDA themselves build with the recorder
  features             each feature of the published crates alone, and sets of them
  msrv                 the oldest Rust: what dependencies declare, and a build where that toolchain is installed
  targets              the published crates on Windows, macOS and aarch64, as far as `cargo check` goes
  api                  the public items of the libraries, compared with tests/data/public-api (BLESS=1 writes them anew)
  release --dry-run    package everything, install it from the packages into empty projects, run it; publishes nothing
  test-gpu [FOLDER]    what needs a GPU: every kind of activity, counts, times, graphs, overhead, torch.profiler beside it
  overhead             what a recorded span costs, beside other tracers
  fuzz [SECONDS]       build the fuzz targets and run each for a while (default 60 in all)
  package              build the npm package in wasm/js
  page                 build the page in web/dist: a folder, and one file with everything inline
  test-page [ARGS]     its tests in Chromium; ARGS are Playwright's
  screenshots          make the pictures of the README anew
  test-package         its tests, once it and the release binary are built
  bench [EVENTS]       whole-process figures on a generated trace (default 2000000), as the README shows them
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |default: u64| arguments.get(1).map_or(Ok(default), |n| n.parse::<u64>());
    let result = match arguments.first().map(String::as_str) {
        Some("test") => steps::test(),
        Some("features") => features::check(),
        Some("msrv") => msrv::check(),
        Some("targets") => targets::check(),
        Some("api") => api::check(),
        Some("release") => release::run_all(&arguments[1..]),
        Some("imports") => imports::check(),
        Some("no-std") => toolchain::check_no_std(),
        Some("silent") => silent::check(),
        Some("cudarc") => cudarc::check(),
        Some("cupti") => cupti::test(),
        Some("test-gpu") => steps::test_gpu(&arguments[1..]),
        Some("overhead") => steps::overhead(),
        Some("package") => package::run_all(),
        Some("page") => page::run_all(),
        Some("test-page") => page::test(&arguments[1..]),
        Some("screenshots") => page::test(&["--config=pictures.config.ts".to_owned()]),
        Some("test-package") => package::test(),
        Some("fuzz") => number(60).map_err(|e| e.to_string()).and_then(|seconds| fuzz::run(seconds, None)),
        Some("bench") => number(2_000_000).map_err(|e| e.to_string()).and_then(bench::measure_all),
        _ => {
            print!("{HELP}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
