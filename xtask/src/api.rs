//! Compares the public items of the published libraries with the lists in `tests/data/public-api`. A difference is
//! either a mistake or intended: `BLESS=1 cargo xtask api` rewrites the lists.

use crate::shell::{Failure, cargo, root, run, target};
use crate::tally::Tally;
use std::fs;
use std::path::{Path, PathBuf};

const CRATES: [&str; 3] = ["kinetoscope-stream", "kinetoscope-core", "kinetoscope"];

/// The maximum number of lines printed per difference.
const SHOWN: usize = 40;

/// Compares the lists of all crates, built with all their features.
pub(crate) fn check() -> Result<Tally, Failure> {
    let is_blessed = std::env::var_os("BLESS").is_some_and(|value| value == "1");
    let mut faults = Vec::new();
    for package in CRATES {
        let expected = root().join("tests/data/public-api").join(format!("{package}.txt"));
        let items = items(&rustdoc_json(package)?)?;
        if is_blessed {
            write(&expected, &items)?;
            continue;
        }
        let before = fs::read_to_string(&expected)
            .map_err(|e| format!("{}: {e}; `BLESS=1 cargo xtask api` writes it", expected.display()))?;
        let difference = difference(&before, &items);
        if !difference.is_empty() {
            faults.push(format!("{package}: {} public items changed", difference.len()));
            faults.extend(difference.into_iter().take(SHOWN));
        }
    }
    if faults.is_empty() {
        Ok(Tally { passed: CRATES.len(), ..Tally::default() })
    } else {
        Err(faults.join("\n"))
    }
}

/// Writes rustdoc's JSON for a crate and returns its path. The format is unstable, so `RUSTC_BOOTSTRAP` makes the
/// stable compiler accept it. The target folder is separate because some build scripts then run again.
fn rustdoc_json(package: &str) -> Result<PathBuf, Failure> {
    let built = target().join("api");
    let mut rustdoc = cargo(&["rustdoc", "--quiet", "--lib", "--all-features", "--locked", "-p", package]);
    rustdoc.arg("--target-dir").arg(&built).env("RUSTC_BOOTSTRAP", "1");
    run(rustdoc.args(["--", "-Z", "unstable-options", "--output-format", "json"]))?;
    Ok(built.join("doc").join(format!("{}.json", package.replace('-', "_"))))
}

/// Returns the public items in rustdoc's JSON file, one per line.
fn items(json: &Path) -> Result<String, Failure> {
    let mut list = cargo(&["run", "--quiet", "--locked", "--manifest-path", "tests/public-api/Cargo.toml"]);
    list.arg("--target-dir").arg(target().join("api/tool")).arg("--").arg(json);
    let output = list.output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() && !text.is_empty() {
        return Ok(text);
    }
    Err(format!("{}: {}", json.display(), String::from_utf8_lossy(&output.stderr)))
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(path);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, text));
    written.map_err(|e| format!("{}: {e}", path.display()))
}

/// Returns the lines that only one of the two lists has: `-` for removed, `+` for added.
fn difference(before: &str, after: &str) -> Vec<String> {
    let missing = |sign: char, from: &str, other: &str| -> Vec<String> {
        let known: std::collections::HashSet<&str> = other.lines().collect();
        from.lines().filter(|line| !known.contains(line)).map(|line| format!("  {sign} {line}")).collect()
    };
    let mut all = missing('-', before, after);
    all.extend(missing('+', after, before));
    all
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn differences_list_removed_and_added_items() {
        assert_eq!(difference("a\nb\n", "b\nc\n"), ["  - a", "  + c"]);
        assert!(difference("a\nb\n", "a\nb\n").is_empty());
    }
}
