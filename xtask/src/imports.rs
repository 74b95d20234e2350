//! The architecture as a list: who may import whom. Nothing imports upward.

use crate::shell::{Failure, root, sources_of};
use std::fs;
use std::path::{Path, PathBuf};

/// The layers of core, lowest first. A module may use the layers above it in this list and its own.
const CORE: [&[&str]; 20] = [
    &["time"],
    &["order"],
    &["index"],
    &["names", "demangle"],
    &["error"],
    &["diagnostics"],
    &["units"],
    &["rows"],
    &["table"],
    &["read"],
    &["dialect"],
    &["pair"],
    &["tree"],
    &["link"],
    &["trace"],
    &["records"],
    &["analysis"],
    &["report", "write"],
    &["verbs"],
    &["schedule", "stats"],
];

/// The crates that each folder may use.
const CRATES: [(&str, &[&str]); 7] = [
    ("core/stream/src", &[]),
    ("core/src", &["kinetoscope_stream"]),
    ("native/src", &["kinetoscope_stream", "kinetoscope_core", "kinetoscope"]),
    ("native/cli/src", &["kinetoscope_core", "kinetoscope"]),
    ("wasm/src", &["kinetoscope_core"]),
    ("xtask/src", &[]),
    ("tests", &["kinetoscope_stream", "kinetoscope_core", "kinetoscope", "kinetoscope_tests"]),
];

/// The folders and files of the page, and which of them each may use besides itself.
const PAGE: [(&str, &[&str]); 10] = [
    ("strings", &["model"]),
    ("model", &["strings"]),
    ("engine", &[]),
    ("drawing", &["model"]),
    ("state", &["engine", "model", "strings"]),
    ("components", &["drawing", "state", "model", "strings"]),
    ("views", &["components", "drawing", "state", "model", "strings"]),
    ("app", &["views", "components", "state", "model", "strings"]),
    ("main", &["app", "engine", "state", "styles"]),
    ("styles", &[]),
];

/// Checks every source file.
pub(crate) fn check() -> Result<(), Failure> {
    let mut faults = Vec::new();
    let mut files = 0;
    for (folder, allowed) in CRATES {
        for path in sources(&root().join(folder))? {
            let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            files += 1;
            for (number, line) in text.lines().enumerate() {
                if let Some(fault) = fault(folder, &path, line.trim(), allowed) {
                    faults.push(format!("{}:{}: {fault}", path.display(), number + 1));
                }
            }
        }
    }
    for path in sources_of(&root().join("web/src"), &["ts", "tsx"])? {
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        faults.extend(text.lines().filter_map(|line| page_fault(&path, line)));
    }
    if files < 20 {
        return Err(format!("only {files} files were found to check"));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

fn fault(folder: &str, path: &Path, line: &str, allowed: &[&str]) -> Option<String> {
    let line = line.strip_prefix("pub ").unwrap_or(line);
    if line.starts_with("//") {
        return None;
    }
    let usual = ["super::*;", "Category::*;", "prelude::*;"].iter().any(|end| line.ends_with(end));
    if line.starts_with("use ") && line.ends_with("::*;") && !usual {
        return Some(format!("`{line}` imports everything"));
    }
    if folder == "core/src" && (has_path(line, "std") || line.contains("extern crate std")) {
        return Some(format!("core never uses std: `{line}`"));
    }
    for name in ["kinetoscope_core", "kinetoscope_tests", "kinetoscope"] {
        if has_path(line, name) && !allowed.contains(&name) {
            return Some(format!("{folder} may not use {name}"));
        }
    }
    if folder == "core/src" { layer_fault(path, line) } else { None }
}

/// Whether a path in the line begins with this crate.
fn has_path(line: &str, name: &str) -> bool {
    let start = |at: usize| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
    line.match_indices(&format!("{name}::")).any(|(at, _)| start(at))
}

fn layer(name: &str) -> Option<usize> {
    CORE.iter().position(|layer| layer.contains(&name))
}

fn layer_fault(path: &Path, line: &str) -> Option<String> {
    let inside = path.strip_prefix(root().join("core/src")).ok()?;
    let first = inside.components().next()?.as_os_str().to_string_lossy().into_owned();
    let own = first.trim_end_matches(".rs");
    if own == "lib" {
        return None;
    }
    let Some(own_layer) = layer(own) else { return Some(format!("module {own} is in no layer")) };
    for (at, _) in line.match_indices("crate::") {
        let name: String = line[at + 7..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let Some(other) = layer(&name) else { return Some(format!("`crate::{name}` is in no layer")) };
        if other > own_layer || (other == own_layer && name != own) {
            return Some(format!("{own} may not use {name}"));
        }
    }
    None
}

/// A line of the page that imports from where its folder may not.
fn page_fault(path: &Path, line: &str) -> Option<String> {
    let folder = root().join("web/src");
    let own = part(path.strip_prefix(&folder).ok()?)?;
    let (before, quoted) =
        line.split_once(if line.starts_with("import \"") { "import \"" } else { " from \"" })?;
    let place = quoted.split('"').next().filter(|p| p.starts_with('.') && !before.starts_with("//"))?;
    let mut target = path.parent()?.to_path_buf();
    for step in Path::new(place).components() {
        match step {
            std::path::Component::ParentDir => drop(target.pop()),
            std::path::Component::Normal(name) => target.push(name),
            _ => {}
        }
    }
    let used = part(target.strip_prefix(&folder).ok()?)?;
    let allowed = PAGE.iter().find(|(name, _)| *name == own).map(|(_, allowed)| *allowed);
    if used == own || allowed.is_some_and(|allowed| allowed.contains(&used.as_str())) {
        return None;
    }
    Some(format!("{}: web/src/{own} may not use {used}", path.display()))
}

/// The first part of a path, without an extension.
fn part(path: &Path) -> Option<String> {
    let first = path.components().next()?.as_os_str().to_string_lossy();
    Some(first.split('.').next().unwrap_or_default().to_owned())
}

fn sources(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    sources_of(folder, &["rs"])
}
