//! The public items of the published libraries, compared with lists in `tests/data/public-api`. A difference is either a
//! mistake or wanted: `BLESS=1 cargo xtask api` writes the lists anew.

use crate::shell::{Failure, cargo, root, run, target};
use crate::tally::Tally;
use std::fs;
use std::path::{Path, PathBuf};

const CRATES: [&str; 3] = ["kinetoscope-stream", "kinetoscope-core", "kinetoscope"];

/// The most lines that a difference prints.
const SHOWN: usize = 40;

/// Compares the lists of all crates, with all their features.
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
        let before =
            fs::read_to_string(&expected).map_err(|e| format!("{}: {e}; see BLESS=1", expected.display()))?;
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

/// Has rustdoc write what it knows of a crate. The format is unstable, so the stable compiler is made to accept it; a target
/// folder of its own, since some build scripts then run anew.
fn rustdoc_json(package: &str) -> Result<PathBuf, Failure> {
    let built = target().join("api");
    let mut rustdoc = cargo(&["rustdoc", "--quiet", "--lib", "--all-features", "--locked", "-p", package]);
    rustdoc.arg("--target-dir").arg(&built).env("RUSTC_BOOTSTRAP", "1");
    run(rustdoc.args(["--", "-Z", "unstable-options", "--output-format", "json"]))?;
    Ok(built.join("doc").join(format!("{}.json", package.replace('-', "_"))))
}

/// The public items in rustdoc's file, one a line.
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

/// Lines of one list that the other lacks: `-` is gone, `+` is new.
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
    fn a_difference_names_what_is_gone_and_what_is_new() {
        assert_eq!(difference("a\nb\n", "b\nc\n"), ["  - a", "  + c"]);
        assert!(difference("a\nb\n", "a\nb\n").is_empty());
    }
}
