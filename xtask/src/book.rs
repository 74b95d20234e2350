//! Builds the book, which is the pages of `docs` as a static site, and copies it into the folder of the page.

use crate::shell::{Failure, cache, cargo, root, run, target};
use crate::tally::Tally;
use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the book in `target/book`, and copies it to `web/dist/book` if the page was built. Its examples, links and
/// generated pages are checked by the test `book` of kinetoscope-cli.
pub(crate) fn build() -> Result<Tally, Failure> {
    let out = target().join("book");
    run(Command::new(builder()?).arg(root().join("docs")).arg(&out))?;
    println!("{}", out.join("index.html").display());
    let page = root().join("web/dist");
    if page.is_dir() {
        copy(&out, &page.join("book"))?;
    }
    Ok(Tally::PASSED)
}

/// Compiles the program that builds the book, in the cache, and returns its path.
fn builder() -> Result<PathBuf, Failure> {
    let built = cache().join("book");
    let mut build = cargo(&["build", "--locked", "--quiet", "--target-dir"]);
    run(build.arg(&built).current_dir(root().join("docs/builder")))?;
    Ok(built.join("debug").join(format!("kinetoscope-book{EXE_SUFFIX}")))
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let failure = |error: std::io::Error| format!("{}: {error}", from.display());
    fs::create_dir_all(to).map_err(failure)?;
    for entry in fs::read_dir(from).map_err(failure)? {
        let path = entry.map_err(failure)?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &target)?;
        } else {
            fs::copy(&path, &target).map_err(failure)?;
        }
    }
    Ok(())
}
