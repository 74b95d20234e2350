//! Checks the architecture: a list of which module may import which. No import goes to a higher layer, and no imports
//! form a cycle.

mod graph;
mod rust;
mod tokens;
mod typescript;

use crate::shell::{Failure, root, sources_of};
use crate::tally::Tally;
use graph::{Graph, cycle, module_of, upward};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The modules of a folder by layer, lowest first.
type Layers = &'static [&'static [&'static str]];

/// Folders whose imports form no cycle. Where layers are listed, a module imports only modules of lower layers.
const RUST: [(&str, Layers); 15] = [
    ("core/stream/src", &[&["activity", "block", "record"], &["records"], &["ring"], &["lib"]]),
    (
        "core/src",
        &[
            &["base"],
            &["trace"],
            &["analysis"],
            &["outline"],
            &["runs"],
            &["output"],
            &["queries"],
            &["internals", "lib"],
        ],
    ),
    (
        "core/src/base",
        &[
            &["varints", "without_comments", "words"],
            &[
                "demangle",
                "diagnostics",
                "error",
                "escape",
                "handle",
                "index",
                "join",
                "maxima",
                "order",
                "random",
                "time",
                "units",
            ],
            &["names", "rows"],
            &["page"],
        ],
    ),
    (
        "core/src/trace",
        &[
            &["table"],
            &["dialect", "read", "tree"],
            &["kernel_rules", "samples", "step_rules", "versions"],
            &["pair"],
            &["link"],
            &["capture", "execution", "iterations"],
            &["attribution", "provenance"],
            &["records"],
        ],
    ),
    (
        "core/src/analysis",
        &[
            &["children", "context", "formulas", "intervals", "query"],
            &["tasks", "torch"],
            &["device"],
            &["replay"],
            &["timeline"],
            &["serving"],
            &["overview"],
        ],
    ),
    ("core/src/runs", &[&["ranks"], &["compare"], &["budget"], &["history"]]),
    ("core/src/output", &[&["document", "write"]]),
    (
        "native/src",
        &[
            &["activity", "hot", "io_error", "json", "worker"],
            &["replace"],
            &["error"],
            &["files", "memory", "mirror", "schedule", "steps"],
            &["options"],
            &["device"],
            &["spans"],
            &["metrics", "sampling"],
            &["output"],
            &["profiler"],
            &["benchmark", "control", "tracing_layer"],
            &["environment"],
            &["lib"],
        ],
    ),
    (
        "native/cli/src",
        &[
            &["failure", "steps_from", "terminal"],
            &["print", "progress", "random"],
            &["joins"],
            &["reading"],
            &["args"],
            &["named_files"],
            &["destinations"],
            &["answer", "view"],
            &["audit", "outline", "trend"],
            &["budgets"],
            &["diff", "files", "ranks", "tables"],
            &["main"],
        ],
    ),
    (
        "native/tables/src",
        &[&["error", "values"], &["arrow", "place"], &["dataset", "remote"], &["sql"], &["lib"]],
    ),
    ("native/macros/src", &[&["options"], &["instrument"], &["lib"]]),
    (
        "wasm/src",
        &[
            &["convert", "expression", "growth", "queries", "writing"],
            &["streaming"],
            &["feeding", "repairing", "trace"],
            &["budgets", "comparing", "ranks", "reading", "trending"],
            &["outlines", "segments"],
            &["outlining"],
            &["lib"],
        ],
    ),
    ("xtask/src", &[]),
    ("tests/src", &[]),
    ("tests/gpu/src", &[]),
];

/// The same for TypeScript.
const TYPESCRIPT: [(&str, Layers); 2] = [
    (
        "web/src",
        &[
            &["engine", "strings", "styles"],
            &["model"],
            &["drawing", "state"],
            &["components"],
            &["views"],
            &["app"],
            &["main"],
        ],
    ),
    (
        "wasm/js/src",
        &[
            &["generated"],
            &["base"],
            &["engine"],
            &["parse-worker"],
            &["options"],
            &["reading"],
            &["client"],
            &["worker"],
            &["entry"],
        ],
    ),
];

/// The crates of this repository that a crate may name, by the folder of its sources.
const CRATES: [(&str, &[&str]); 9] = [
    ("core/stream/src", &[]),
    ("core/src", &["kinetoscope_stream"]),
    ("native/src", &["kinetoscope_stream", "kinetoscope_core", "kinetoscope_macros", "kinetoscope"]),
    ("native/macros/src", &[]),
    ("native/cli/src", &["kinetoscope_core", "kinetoscope", "kinetoscope_tables"]),
    ("native/tables/src", &["kinetoscope_core", "kinetoscope"]),
    ("wasm/src", &["kinetoscope_core"]),
    ("xtask/src", &[]),
    ("tests", &["kinetoscope_stream", "kinetoscope_core", "kinetoscope", "kinetoscope_tests"]),
];

/// Crates that never use std, whatever their features.
const WITHOUT_STD: [&str; 2] = ["core/stream/src", "core/src"];

/// Checks every source file.
pub(crate) fn check() -> Result<Tally, Failure> {
    let mut faults = Vec::new();
    let mut crates = Crates::default();
    for (folder, layers) in RUST {
        faults.extend(structure(folder, &crates.graph_of(folder)?, layers)?);
    }
    for (folder, layers) in TYPESCRIPT {
        faults.extend(structure(folder, &typescript::graph(&root().join(folder))?, layers)?);
    }
    for (folder, allowed) in CRATES {
        for path in sources_of(&root().join(folder), &["rs"])? {
            let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            faults.extend(crate_faults(folder, allowed, &path, &text));
        }
    }
    if faults.is_empty() { Ok(Tally::PASSED) } else { Err(faults.join("\n")) }
}

/// The imports of each Rust crate whose sources were read.
#[derive(Default)]
struct Crates(BTreeMap<PathBuf, Graph>);

impl Crates {
    /// The imports between the files of a folder of a crate. Their paths begin at the root of the crate.
    fn graph_of(&mut self, folder: &str) -> Result<Graph, Failure> {
        let (before, inside) = folder.split_once("/src/").unwrap_or((folder.trim_end_matches("/src"), ""));
        let sources = root().join(before).join("src");
        if !self.0.contains_key(&sources) {
            self.0.insert(sources.clone(), rust::graph(&sources)?);
        }
        let complete = &self.0[&sources];
        Ok(if inside.is_empty() { complete.clone() } else { within(complete, inside) })
    }
}

/// Returns the files of a folder and what they import from it.
fn within(graph: &Graph, folder: &str) -> Graph {
    let inside = |file: &String| Some(file.strip_prefix(folder)?.strip_prefix('/')?.to_owned());
    let files = graph.iter().filter_map(|(file, imports)| Some((inside(file)?, imports)));
    files.map(|(file, imports)| (file, imports.iter().filter_map(inside).collect())).collect()
}

/// Returns the faults in the imports between the files of a folder.
fn structure(folder: &str, graph: &Graph, layers: Layers) -> Result<Vec<String>, Failure> {
    if graph.len() < 3 {
        return Err(format!("{folder}: only {} source files were found", graph.len()));
    }
    let mut faults = Vec::new();
    if let Some(files) = cycle(graph) {
        faults.push(format!("{folder}: an import cycle: {}", files.join(" → ")));
    }
    // The file named after the folder declares the modules and is not one of them.
    let named = Path::new(folder).file_name().map(|name| name.to_string_lossy().into_owned());
    let parent = named.unwrap_or_default();
    let inside: Graph = graph.clone().into_iter().filter(|(file, _)| module_of(file) != parent).collect();
    if !layers.is_empty() {
        faults.extend(upward(&inside, layers).into_iter().map(|fault| format!("{folder}: {fault}")));
    }
    Ok(faults)
}

fn crate_faults(folder: &str, allowed: &[&str], path: &Path, text: &str) -> Vec<String> {
    let tokens = tokens::tokens(text);
    let mut faults = Vec::new();
    for (at, pair) in tokens.windows(2).enumerate() {
        let begins = pair[1] == "::" && (at == 0 || tokens[at - 1] != "::");
        let name = pair[0];
        if begins && name.starts_with("kinetoscope") && !allowed.contains(&name) {
            faults.push(format!("{}: {folder} may not use {name}", path.display()));
        }
        if begins && name == "std" && WITHOUT_STD.contains(&folder) {
            faults.push(format!("{}: {folder} may not use std", path.display()));
        }
        let is_usual = ["super", "Category", "prelude"].contains(&name);
        if begins && tokens.get(at + 2) == Some(&"*") && tokens.get(at + 3) == Some(&";") && !is_usual {
            faults.push(format!("{}: glob import of {name}", path.display()));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_its_files_and_what_they_import_from_it() {
        let imports = |files: &[&str]| files.iter().map(|file| (*file).to_owned()).collect();
        let graph = Graph::from([
            ("lib.rs".to_owned(), imports(&["runs.rs"])),
            ("runs.rs".to_owned(), imports(&[])),
            ("runs/ranks.rs".to_owned(), imports(&["runs/compare.rs", "base/time.rs", "runs.rs"])),
            ("runs/compare.rs".to_owned(), imports(&[])),
        ]);
        let expected =
            [("compare.rs".to_owned(), imports(&[])), ("ranks.rs".to_owned(), imports(&["compare.rs"]))];
        assert_eq!(within(&graph, "runs"), Graph::from(expected));
        assert_eq!(upward(&within(&graph, "runs"), &[&["ranks"], &["compare"]]).len(), 1);
    }
}
