//! The page: a folder for any static host and one file that holds everything, with their sizes.

use crate::shell::{Failure, root, run};
use crate::{browser, native, npm, package, tools};
use std::fs;
use std::path::{Path, PathBuf};

/// The most that a first visit loads, after gzip, in bytes.
const FIRST_LOAD: u64 = 900_000;

/// The largest page that is one file, in bytes.
const ONE_FILE: u64 = 2_500_000;

fn folder() -> PathBuf {
    root().join("web")
}

/// Builds the page into `web/dist`, after its types and the tests of its model, gives it to the binary, and prints its
/// sizes.
pub(crate) fn run_all() -> Result<(), Failure> {
    package::need()?;
    npm::install(&folder())?;
    for script in ["check", "test", "build"] {
        run(npm::script(&folder(), script)?.arg("--silent"))?;
    }
    let single = folder().join("dist/kinetoscope.html");
    fs::copy(&single, root().join("native/cli/page/kinetoscope.html"))
        .map_err(|e| format!("{}: {e}", single.display()))?;
    sizes(&folder().join("dist"))
}

/// Runs the tests of the page in Chromium, over HTTP and from a file, against the binary that serves it.
pub(crate) fn test(arguments: &[String]) -> Result<(), Failure> {
    let tests = root().join("tests/browser");
    npm::install(&tests)?;
    let mut playwright = npm::program(&tests, "playwright")?;
    playwright.arg("test").args(arguments).current_dir(&tests);
    browser::give(&mut playwright)?;
    browser::font()?;
    // The binary serves the page that was there when it was built.
    native::release_binaries()?;
    run(&mut playwright)
}

fn sizes(dist: &Path) -> Result<(), Failure> {
    let mut first = tools::gzip_length(&dist.join("index.html"))?;
    let mut engines = Vec::new();
    for entry in fs::read_dir(dist.join("assets")).map_err(|e| e.to_string())? {
        let path = entry.map_err(|e| e.to_string())?.path();
        match path.extension().and_then(|e| e.to_str()) {
            Some("js" | "css") => first += tools::gzip_length(&path)?,
            // One of the two is loaded.
            Some("wasm") => engines.push(tools::gzip_length(&path)?),
            _ => {}
        }
    }
    first += engines.into_iter().max().ok_or("the page has no engine")?;
    let single = fs::metadata(dist.join("kinetoscope.html")).map_err(|e| e.to_string())?.len();
    println!("| page | bytes |\n|---|---:|");
    println!("| first load of the folder, after gzip | {first} |\n| kinetoscope.html | {single} |");
    if first > FIRST_LOAD || single > ONE_FILE {
        return Err(format!("the limits are {FIRST_LOAD} and {ONE_FILE} bytes"));
    }
    Ok(())
}
