//! `cargo xtask …`: everything that takes more than one command.

mod api;
mod bench;
mod book;
mod browser;
mod cost;
mod cudarc;
mod cupti;
mod dependencies;
mod dimensions;
mod examples;
mod features;
mod fuzz;
mod imports;
mod msrv;
mod native;
mod npm;
mod package;
mod page;
mod perfetto;
mod plan;
mod python;
mod release;
mod rust_tests;
mod schedule;
mod seed;
mod shell;
mod silent;
mod sql;
mod steps;
mod tally;
mod targets;
mod toolchain;
mod tools;
mod words;

use schedule::Step;
use shell::Failure;
use std::process::ExitCode;

const HELP: &str = "cargo xtask COMMAND

  test                 run the checks of every change
  test slow            run the checks that take longer: CUPTI's libraries, Perfetto's trace processor, candle,
                       OpenTelemetry, wgpu, other systems, fuzzing with a fresh seed, ThreadSanitizer, the page from a
                       file and in Firefox, large traces, and others
  test STEP…           run single steps of either, such as `test lints`; `test help` lists the steps
  fuzz [SECONDS]       build and run the fuzz targets with a fresh seed, for SECONDS in all (default 60)
  package              build the npm package in wasm/js
  page                 build the page in web/dist: a folder, and one file with everything inline
  book                 build the book in target/book, and in web/dist/book if the page was built
  test-page [ARGS]     test the page in Chromium; ARGS are passed to Playwright
  screenshots          render the pictures of the README again
  release --dry-run    package everything, install it from the packages into empty projects, run it; publish nothing
  test-gpu [FOLDER]    run the checks that need a GPU: activities, counts, times, CUDA graphs, overhead, and a
                       comparison with torch.profiler; recordings and traces are written to FOLDER
  overhead             measure the cost of a recorded span, compared with other tracers, and that of the crates
  bench [EVENTS]       measure complete processes on a generated trace (default 2000000 events), and each analysis of it
  bench diff           measure the comparison of two traces against the summary of one
  bench ranks          measure runs of several ranks, next to HTA
  bench peers [EVENTS] measure other tools next to `kinetoscope summary`, on the same trace (default 2000000 events)
  bench-analyses       measure only the analyses, of 2000000 events
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number = |default: u64| arguments.get(1).map_or(Ok(default), |text| count(text));
    let result = match words[..] {
        ["test"] => schedule::run(&plan::TEST),
        ["test", "slow"] => schedule::run(&plan::SLOW),
        ["test", name] => chosen(&[name]).and_then(|steps| run_step(&steps[0])),
        ["test", ref names @ ..] => chosen(names).and_then(|steps| schedule::run(&steps)),
        ["fuzz", ..] => number(60).and_then(fuzz::fresh).map(drop),
        ["package"] => package::build(),
        ["page"] => page::run_all().map(drop),
        ["test-page", ..] => page::test_with(&arguments[1..]),
        ["screenshots"] => page::screenshots(),
        ["test-gpu", ..] => steps::test_gpu(&arguments[1..]),
        ["release", ..] => release::run_all(&arguments[1..]),
        ["overhead"] => steps::overhead().and_then(|()| cost::print_table()),
        ["bench-analyses"] => bench::measure_analyses(2_000_000),
        ["bench", "diff"] => bench::measure_diff(2_000_000),
        ["bench", "ranks"] => bench::measure_ranks(),
        ["bench", "peers"] => bench::measure_peers(2_000_000),
        ["bench", "peers", events] => count(events).and_then(bench::measure_peers),
        ["bench", ..] => number(2_000_000).and_then(bench::measure_all),
        [name] => match plan::find(name) {
            Some(step) => run_step(step),
            None => return help(),
        },
        _ => return help(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

fn count(text: &str) -> Result<u64, Failure> {
    text.parse().map_err(|e| format!("{text}: {e}"))
}

fn help() -> ExitCode {
    print!("{HELP}");
    ExitCode::from(2)
}

/// Runs one step in this process and prints its tally.
fn run_step(step: &Step) -> Result<(), Failure> {
    let tally = (step.run)()?;
    println!("{tally}");
    if tally.failed == 0 { Ok(()) } else { Err(format!("{} failed", step.name)) }
}

/// Returns the steps of these names.
fn chosen(names: &[&str]) -> Result<Vec<Step>, Failure> {
    names.iter().map(|name| plan::find(name).copied().ok_or_else(|| no_step(name))).collect()
}

fn no_step(name: &str) -> Failure {
    let names = |steps: &[Step]| steps.iter().map(|step| step.name).collect::<Vec<_>>().join(" ");
    format!("there is no step {name}\n  test: {}\n  test slow: {}", names(&plan::TEST), names(&plan::SLOW))
}
