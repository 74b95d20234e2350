//! The imports of a Rust crate, found in its source text: every path that begins with `crate` or `super`.

use super::graph::Graph;
use super::tokens::tokens;
use crate::shell::{Failure, sources_of};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Returns the files of a crate and the files that each uses.
pub(super) fn graph(folder: &Path) -> Result<Graph, Failure> {
    let mut texts = BTreeMap::new();
    for path in sources_of(folder, &["rs"])? {
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let inside = path.strip_prefix(folder).map_err(|e| e.to_string())?;
        texts.insert(inside.to_string_lossy().into_owned(), text);
    }
    let modules: BTreeMap<Vec<&str>, &String> = texts.keys().map(|file| (module(file), file)).collect();
    let imports = |(file, text): (&String, &String)| {
        let mut found: Vec<String> = paths(&module(file), &tokens(text))
            .iter()
            .filter_map(|path| (0..=path.len()).rev().find_map(|length| modules.get(&path[..length])))
            .filter(|&&other| other != file)
            .map(|&other| other.clone())
            .collect();
        found.sort();
        found.dedup();
        (file.clone(), found)
    };
    Ok(texts.iter().map(imports).collect())
}

/// Returns the module path of a file; empty for the root of the crate.
fn module(file: &str) -> Vec<&str> {
    let path = file.strip_suffix(".rs").unwrap_or(file);
    if ["lib", "main"].contains(&path) { Vec::new() } else { path.split('/').collect() }
}

/// Returns every path that begins in this crate, from its root. `module` is the file's module.
fn paths<'a>(module: &[&'a str], tokens: &[&'a str]) -> Vec<Vec<&'a str>> {
    let mut found = Vec::new();
    // The number of open braces, and the number at which each inline module began.
    let (mut braces, mut inline): (usize, Vec<(usize, &str)>) = (0, Vec::new());
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            "{" => {
                if at >= 2 && tokens[at - 2] == "mod" {
                    inline.push((braces, tokens[at - 1]));
                }
                braces += 1;
            }
            "}" => {
                braces = braces.saturating_sub(1);
                inline.retain(|(began, _)| *began < braces);
            }
            // The tests of a file may use modules above it.
            "crate" | "super" if inline.iter().any(|(_, name)| *name == "tests") => {}
            "crate" | "super" if at == 0 || !["::", "$"].contains(&tokens[at - 1]) => {
                let mut base: Vec<&str> =
                    module.iter().copied().chain(inline.iter().map(|(_, name)| *name)).collect();
                let mut behind = at;
                while tokens.get(behind) == Some(&"super") {
                    base.pop();
                    behind += 2;
                }
                if *token == "crate" {
                    base.clear();
                    behind += 2;
                }
                // `pub(crate)` and `pub(super)` are not paths.
                if tokens.get(behind - 1) == Some(&"::") {
                    expand(&base, &tokens[behind..], &mut found);
                }
            }
            _ => {}
        }
    }
    found
}

/// Adds the paths that continue `base`, several if braces follow. Returns the number of tokens that they take.
fn expand<'a>(base: &[&'a str], tokens: &[&'a str], found: &mut Vec<Vec<&'a str>>) -> usize {
    let mut path = base.to_vec();
    let mut at = 0;
    loop {
        match tokens.get(at) {
            Some(&"{") => {
                at += 1;
                while tokens.get(at).is_some_and(|token| *token != "}") {
                    at += if tokens[at] == "," { 1 } else { expand(&path, &tokens[at..], found).max(1) };
                }
                return at + 1;
            }
            Some(&word) if word.chars().all(|c| c.is_alphanumeric() || c == '_') => path.push(word),
            _ => break,
        }
        at += 1;
        if tokens.get(at) != Some(&"::") {
            break;
        }
        at += 1;
    }
    found.push(path);
    // `as NAME` belongs to the path.
    if tokens.get(at) == Some(&"as") { at + 2 } else { at }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_start_at_the_root_of_the_crate() {
        let source =
            "use crate::a::{b::C, d::{self, E as F}}; use super::g; pub(crate) fn f() { crate::h::i() }
            macro_rules! m { () => { $crate::not } } mod inner { use super::super::k::L; } mod tests { use super::*; }";
        let found: Vec<String> =
            paths(&["own", "file"], &tokens(source)).iter().map(|path| path.join("::")).collect();
        let expected = ["a::b::C", "a::d::self", "a::d::E", "own::g", "h::i", "own::k::L"];
        assert_eq!(found, expected);
    }
}
