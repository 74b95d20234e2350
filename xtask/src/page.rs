//! Builds and tests the page: a folder for any static host, and one file that contains everything. Checks their sizes.

use crate::shell::{Failure, is_current, root, run, sources_of};
use crate::tally::{Tally, run_counted};
use crate::{browser, native, npm, package, rust_tests, tools};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The maximum size of a first visit's download, after gzip, in bytes.
const FIRST_LOAD: u64 = 1_333_000;

/// The maximum size of the single-file page, in bytes.
const ONE_FILE: u64 = 4_514_000;

/// The maximum size of what the view SQL loads, after gzip, in bytes.
const SQL: u64 = 8_500_000;

fn folder() -> PathBuf {
    root().join("web")
}

fn tests() -> PathBuf {
    root().join("tests/browser")
}

/// Checks the page's types and format, tests its model, and builds it into `web/dist`.
pub(crate) fn run_all() -> Result<Tally, Failure> {
    package::build_if_stale()?;
    npm::install(&folder())?;
    run(npm::script(&folder(), "check")?.arg("--silent"))?;
    npm::install(&tests())?;
    run(npm::program(&tests(), "tsc")?.arg("--noEmit").current_dir(tests()))?;
    let mut sum = run_counted(npm::script(&folder(), "test")?.arg("--silent"))?;
    build_if_stale()?;
    sum.add(Tally::PASSED);
    Ok(sum)
}

/// Builds the page unless it exists and is newer than its sources, and copies it to where the binary includes it.
fn build_if_stale() -> Result<(), Failure> {
    let single = folder().join("dist/kinetoscope.html");
    let mut sources = sources_of(&folder().join("src"), &["ts", "tsx", "css"])?;
    sources.extend(sources_of(&package::folder().join("dist"), &["js", "wasm"])?);
    let files = ["index.html", "package-lock.json", "vite.config.ts", "content-policy.ts", "offline.ts"];
    sources.extend(files.map(|name| folder().join(name)));
    sources.push(root().join("tests/data/candle/training.pt.trace.json.gz"));
    sources.extend(sources_of(&root().join("native/tables"), &["sql"])?);
    if !is_current(&single, &sources) {
        run(npm::script(&folder(), "build")?.arg("--silent"))?;
    }
    let included = native::page_in_command_line();
    let page = fs::read(&single).map_err(|e| format!("{}: {e}", single.display()))?;
    // A new file makes cargo compile the binary again, so the file is written only if it differs.
    if !fs::read(&included).is_ok_and(|there| there == page) {
        fs::write(&included, page).map_err(|e| format!("{}: {e}", included.display()))?;
    }
    sizes(&folder().join("dist"))
}

/// Playwright's arguments for each selection of tests.
const OVER_HTTP: [&str; 2] = ["--project=http", "--project=file-smoke"];
const FROM_A_FILE: [&str; 1] = ["--project=file"];
const IN_FIREFOX: [&str; 2] = ["--project=firefox", "--workers=1"];
const SPEED: [&str; 2] = ["--project=speed", "--workers=1"];

/// Runs all tests over HTTP, and the smoke tests from a file.
pub(crate) fn test() -> Result<Tally, Failure> {
    run_counted(&mut playwright(&OVER_HTTP.map(str::to_owned))?)
}

/// Runs all tests from a file.
pub(crate) fn test_from_a_file() -> Result<Tally, Failure> {
    run_counted(&mut playwright(&FROM_A_FILE.map(str::to_owned))?)
}

/// Opens traces and views in Firefox.
pub(crate) fn test_in_firefox() -> Result<Tally, Failure> {
    let mut playwright = playwright(&IN_FIREFOX.map(str::to_owned))?;
    browser::locate_firefox(&mut playwright)?;
    run_counted(&mut playwright)
}

/// Runs the speed tests, with traces of 60 MB, 500 MB and 2 GB.
pub(crate) fn test_speed() -> Result<Tally, Failure> {
    native::release_binaries()?;
    run_counted(&mut playwright(&SPEED.map(str::to_owned))?)
}

/// Runs Playwright with the arguments of the command line.
pub(crate) fn test_with(arguments: &[String]) -> Result<(), Failure> {
    run(&mut playwright(arguments)?)
}

/// Renders the pictures of the README again.
pub(crate) fn screenshots() -> Result<(), Failure> {
    native::release_binaries()?;
    test_with(&["--config=pictures.config.ts".to_owned()])
}

/// Builds the page and the binary that serves it, and returns the command that runs Playwright in Chromium.
fn playwright(arguments: &[String]) -> Result<Command, Failure> {
    npm::install(&tests())?;
    package::build_if_stale()?;
    npm::install(&folder())?;
    build_if_stale()?;
    rust_tests::build()?;
    let mut playwright = npm::program(&tests(), "playwright")?;
    playwright.arg("test").args(arguments).current_dir(tests());
    browser::locate(&mut playwright)?;
    Ok(playwright)
}

fn sizes(dist: &Path) -> Result<(), Failure> {
    let first = tools::gzip_length(&dist.join("index.html"))? + packed(&dist.join("assets"))?;
    let sql = packed(&dist.join("sql"))?;
    let single = fs::metadata(dist.join("kinetoscope.html")).map_err(|e| e.to_string())?.len();
    println!("| page | bytes |\n|---|---:|");
    println!(
        "| first load of the folder, after gzip | {first} |\n| what the view SQL loads, after gzip | {sql} |"
    );
    println!("| kinetoscope.html | {single} |");
    if first > FIRST_LOAD || sql > SQL || single > ONE_FILE {
        return Err(format!(
            "the limits are {FIRST_LOAD} bytes for the first load, {SQL} for SQL and {ONE_FILE} for kinetoscope.html"
        ));
    }
    Ok(())
}

/// Returns the size of the code in a folder after gzip.
fn packed(folder: &Path) -> Result<u64, Failure> {
    let mut sum = 0;
    for entry in fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))? {
        let path = entry.map_err(|e| e.to_string())?.path();
        if path.extension().is_some_and(|e| ["js", "css", "wasm"].iter().any(|wanted| e == *wanted)) {
            sum += tools::gzip_length(&path)?;
        }
    }
    Ok(sum)
}
