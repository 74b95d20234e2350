//! Builds the book, which is the pages of `docs` as a static site, and copies it into the folder of the page.

use crate::shell::{Failure, copy, root, run, target};
use crate::tally::Tally;
use crate::tools;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Builds the book in `target/book`, and copies it to `web/dist/book` if the page was built. Its examples, links and
/// generated pages are checked by the test `book` of kinetoscope-cli.
pub(crate) fn build() -> Result<Tally, Failure> {
    let out = target().join("book");
    run(Command::new(tools::book_builder()?).arg(root().join("docs")).arg(&out))?;
    println!("{}", out.join("index.html").display());
    let page = root().join("web/dist");
    if page.is_dir() {
        copy_folder(&out, &page.join("book"))?;
    }
    Ok(Tally::PASSED)
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), Failure> {
    let failure = |error: std::io::Error| format!("{}: {error}", from.display());
    for entry in fs::read_dir(from).map_err(failure)? {
        let entry = entry.map_err(failure)?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_folder(&path, &target)?;
        } else {
            copy(&path, &target)?;
        }
    }
    Ok(())
}
