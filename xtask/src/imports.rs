//! The architecture as a list: who may import whom. Nothing imports upward, and no imports form a circle.

mod graph;
mod rust;
mod tokens;
mod typescript;

use crate::shell::{Failure, root, sources_of};
use crate::tally::Tally;
use graph::{Graph, circle, room, upward};
use std::fs;
use std::path::Path;

/// The rooms of a folder by floor, lowest first.
type Floors = &'static [&'static [&'static str]];

/// Folders whose imports form no circle. Where the rooms are listed, they use only rooms of lower floors.
const RUST: [(&str, Floors); 9] = [
    ("core/stream/src", &[&["activity", "block", "record"], &["lib"]]),
    (
        "core/src",
        &[
            &["words"],
            &["demangle", "diagnostics", "error", "handle", "index", "order", "random", "time", "units"],
            &["names", "rows"],
            &["table"],
            &["dialect", "read", "tree"],
            &["pair"],
            &["link"],
            &["trace"],
            &["analysis", "records"],
            &["report", "write"],
            &["queries"],
            &["internals", "lib"],
        ],
    ),
    (
        "core/src/analysis",
        &[&["children", "flops", "intervals"], &["torch"], &["device"], &["timeline"], &["overview"]],
    ),
    (
        "native/src",
        &[
            &["error", "hot", "io_error"],
            &["files", "memory", "mirror", "schedule", "steps"],
            &["options"],
            &["device"],
            &["spans"],
            &["metrics"],
            &["output"],
            &["profiler"],
            &["tracing_layer"],
            &["lib"],
        ],
    ),
    (
        "native/cli/src",
        &[
            &["failure"],
            &["args", "progress", "random"],
            &["destinations"],
            &["answer", "view"],
            &["audit"],
            &["files"],
            &["main"],
        ],
    ),
    ("wasm/src", &[&["convert", "writing"], &["repairing", "trace"], &["reading"], &["lib"]]),
    ("xtask/src", &[]),
    ("tests/src", &[]),
    ("tests/gpu/src", &[]),
];

/// The same for TypeScript.
const TYPESCRIPT: [(&str, Floors); 2] = [
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
    ("wasm/js/src", &[]),
];

/// The crates of this repository that a crate may name, by its folder.
const CRATES: [(&str, &[&str]); 7] = [
    ("core/stream/src", &[]),
    ("core/src", &["kinetoscope_stream"]),
    ("native/src", &["kinetoscope_stream", "kinetoscope_core", "kinetoscope"]),
    ("native/cli/src", &["kinetoscope_core", "kinetoscope"]),
    ("wasm/src", &["kinetoscope_core"]),
    ("xtask/src", &[]),
    ("tests", &["kinetoscope_stream", "kinetoscope_core", "kinetoscope", "kinetoscope_tests"]),
];

/// Crates that have no std, by no feature.
const WITHOUT_STD: [&str; 2] = ["core/stream/src", "core/src"];

/// Checks every source file.
pub(crate) fn check() -> Result<Tally, Failure> {
    let mut faults = Vec::new();
    for (folder, floors) in RUST {
        faults.extend(structure(folder, &rust::graph(&root().join(folder))?, floors)?);
    }
    for (folder, floors) in TYPESCRIPT {
        faults.extend(structure(folder, &typescript::graph(&root().join(folder))?, floors)?);
    }
    for (folder, allowed) in CRATES {
        for path in sources_of(&root().join(folder), &["rs"])? {
            let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            faults.extend(crate_faults(folder, allowed, &path, &text));
        }
    }
    if faults.is_empty() { Ok(Tally::PASSED) } else { Err(faults.join("\n")) }
}

/// What is wrong with how the files of a folder import each other.
fn structure(folder: &str, graph: &Graph, floors: Floors) -> Result<Vec<String>, Failure> {
    if graph.len() < 3 {
        return Err(format!("{folder}: only {} files were found to check", graph.len()));
    }
    let mut faults = Vec::new();
    if let Some(files) = circle(graph) {
        faults.push(format!("{folder}: a circle of imports: {}", files.join(" → ")));
    }
    // The file that names the modules of a room is the room's own.
    let named = Path::new(folder).file_name().map(|name| name.to_string_lossy().into_owned());
    let parent = named.unwrap_or_default();
    let inside: Graph = graph.clone().into_iter().filter(|(file, _)| room(file) != parent).collect();
    if !floors.is_empty() {
        faults.extend(upward(&inside, floors).into_iter().map(|fault| format!("{folder}: {fault}")));
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
            faults.push(format!("{}: {folder} has no std", path.display()));
        }
        let is_usual = ["super", "Category", "prelude"].contains(&name);
        if begins && tokens.get(at + 2) == Some(&"*") && tokens.get(at + 3) == Some(&";") && !is_usual {
            faults.push(format!("{}: imports everything of {name}", path.display()));
        }
    }
    faults
}
