//! Checks that spans leave no code when the recorder is compiled out: compares the instructions of functions with and
//! without spans.

use crate::shell::{Failure, cargo, root, run, target};
use crate::tally::Tally;
use std::collections::BTreeMap;
use std::fs;

/// The minimum number of function pairs.
const FUNCTIONS: usize = 5;

/// Compiles `tests/silent` and compares each `spanned_…` with its `plain_…`.
pub(crate) fn check() -> Result<Tally, Failure> {
    let folder = root().join("tests/silent");
    let built = target().join("silent");
    let mut build = cargo(&["rustc", "--release", "--quiet", "--target-dir"]);
    run(build.arg(&built).args(["--", "--emit=asm"]).current_dir(&folder))?;
    let assembly = built.join("release/deps");
    let files = fs::read_dir(&assembly).map_err(|e| e.to_string())?.filter_map(Result::ok);
    let file = files
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "s"))
        .max_by_key(|path| fs::metadata(path).and_then(|m| m.modified()).ok())
        .ok_or("no assembly was written")?;
    let text = fs::read_to_string(file).map_err(|e| e.to_string())?;
    let functions = functions(&text);
    let kinds: Vec<&str> = functions.keys().filter_map(|name| name.strip_prefix("spanned_")).collect();
    for kind in &kinds {
        let (with, without) =
            (&functions[&format!("spanned_{kind}")], functions.get(&format!("plain_{kind}")));
        if with.is_empty() || Some(with) != without {
            return Err(format!("spanned_{kind} differs from plain_{kind}:\n{}", with.join("\n")));
        }
    }
    if kinds.len() < FUNCTIONS {
        return Err(format!("only {} pairs of functions were compared", kinds.len()));
    }
    Ok(Tally { passed: kinds.len(), ..Tally::default() })
}

/// Returns the instructions of each function, without labels and directives. The compiler merges identical functions
/// and writes an alias (`name = other`).
fn functions(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut functions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut current = String::new();
    for line in text.lines().map(str::trim) {
        if let Some(label) = line.strip_suffix(':') {
            // Local labels begin with a dot; the last one follows the end of the function.
            if !label.starts_with('.') || label.starts_with(".Lfunc_end") {
                label.trim_start_matches('.').clone_into(&mut current);
            }
        } else if !line.is_empty() && !line.starts_with(['.', '#']) {
            functions.entry(current.clone()).or_default().push(without_labels(line));
        }
    }
    for line in text.lines() {
        if let Some((name, same)) = line.trim().split_once(" = ")
            && let Some(body) = functions.get(same).cloned()
        {
            functions.insert(name.to_owned(), body);
        }
    }
    functions
}

/// Replaces the labels in an instruction, which are numbered over the complete file.
fn without_labels(instruction: &str) -> String {
    let is_label = |word: &str| word.starts_with(".LBB") || word.starts_with(".LCPI");
    let words = instruction.split_whitespace().map(|word| if is_label(word) { ".L" } else { word });
    words.collect::<Vec<_>>().join(" ")
}
