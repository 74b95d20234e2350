//! The book in `docs`: its examples give the printed output, its generated pages are current, and its links lead somewhere.
//! `BLESS=1 cargo test -p kinetoscope-cli --test book` writes the outputs and the generated pages.

mod commands;
mod console;
mod diagnostics;
mod links;
mod schema;

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the repository")
}

fn source() -> PathBuf {
    root().join("docs/src")
}

fn is_blessing() -> bool {
    std::env::var_os("BLESS").is_some()
}

/// Compares a page with what it should be, or writes it.
fn check(path: &Path, expected: &str) {
    if is_blessing() {
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, expected).expect("a page");
    }
    let committed = fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == expected,
        "{} is not current: run `BLESS=1 cargo test -p kinetoscope-cli --test book`\n{}",
        path.display(),
        first_difference(&committed, expected)
    );
}

fn first_difference(committed: &str, expected: &str) -> String {
    let mut expected_lines = expected.lines();
    for (number, line) in committed.lines().enumerate() {
        let next = expected_lines.next();
        if next != Some(line) {
            return format!("line {}: {line:?}, expected {next:?}", number + 1);
        }
    }
    format!("missing: {:?}", expected_lines.next())
}

/// Every file below a folder, in the order of their paths.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn pages() -> impl Iterator<Item = PathBuf> {
    files(&source()).into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "md"))
}

/// One test, since the generated pages are written before the others are read.
#[test]
fn the_book_is_current() {
    diagnostics::check_page();
    commands::check_pages();
    schema::check_page();
    // The examples of the commands were run above.
    for page in pages().filter(|page| !page.starts_with(source().join("reference/commands"))) {
        let text = fs::read_to_string(&page).expect("a page");
        check(&page, &console::with_outputs(&text));
    }
    let readme = root().join("README.md");
    links::check_all(pages().chain([readme]));
}
