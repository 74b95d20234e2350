//! The imports of a TypeScript folder, found in its source text: every relative path that is imported or exported from.

use super::graph::Graph;
use crate::shell::{Failure, sources_of};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path};

/// Returns the files of a folder and the files that each imports.
pub(super) fn graph(folder: &Path) -> Result<Graph, Failure> {
    let paths = sources_of(folder, &["ts", "tsx", "cts"])?;
    let inside = |path: &Path| path.strip_prefix(folder).map(|p| p.to_string_lossy().into_owned());
    let files: BTreeSet<String> =
        paths.iter().map(|path| inside(path)).collect::<Result<_, _>>().map_err(|e| e.to_string())?;
    let mut graph = Graph::new();
    for file in &files {
        let text = fs::read_to_string(folder.join(file)).map_err(|e| format!("{file}: {e}"))?;
        let imports = text.lines().filter_map(imported).filter_map(|place| resolve(&files, file, place));
        let imports: BTreeSet<String> = imports.filter(|other| other != file).collect();
        graph.insert(file.clone(), imports.into_iter().collect());
    }
    Ok(graph)
}

/// Returns the relative path in a line that imports. A statement over several lines has it in the last line.
fn imported(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let is_comment = line.starts_with("//") || line.starts_with('*');
    let marks = ["import \"", " from \"", "import(\"", "require(\""];
    let behind = marks.iter().find_map(|mark| line.split_once(mark).map(|(_, behind)| behind))?;
    behind.split('"').next().filter(|place| place.starts_with('.') && !is_comment)
}

/// Returns the file that a relative path names, or `None` for a file that is not a source, such as a style sheet.
fn resolve(files: &BTreeSet<String>, from: &str, place: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for step in Path::new(place).components() {
        match step {
            Component::ParentDir => drop(parts.pop()),
            Component::Normal(name) => parts.push(name.to_str()?),
            _ => {}
        }
    }
    let path = parts.join("/");
    let plain = path.strip_suffix(".js").or_else(|| path.strip_suffix(".cjs")).unwrap_or(&path);
    let endings = ["", ".ts", ".tsx", ".cts", "/index.ts", "/index.tsx"];
    endings.iter().map(|ending| format!("{plain}{ending}")).find(|file| files.contains(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_resolve_to_files() {
        let files = ["model/a.ts", "views/b/index.tsx"].map(str::to_owned).into();
        let of = |line| imported(line).and_then(|place| resolve(&files, "views/c.ts", place));
        assert_eq!(of("import { A } from \"../model/a.js\";").as_deref(), Some("model/a.ts"));
        assert_eq!(of("} from \"./b\";").as_deref(), Some("views/b/index.tsx"));
        assert_eq!(of("// from \"./b\""), None);
        assert_eq!(of("import \"./style.css\";"), None);
    }
}
