//! The graph of imports between files: cycles, and imports of higher layers.

use std::collections::BTreeMap;

/// The files of a folder, by their paths in it, and the files that each imports.
pub(super) type Graph = BTreeMap<String, Vec<String>>;

/// Returns a cycle as its files in the order of their imports, or `None` if there is none.
pub(super) fn cycle(graph: &Graph) -> Option<Vec<String>> {
    let mut done: BTreeMap<&str, bool> = BTreeMap::new();
    graph.keys().find_map(|file| walk(graph, file, &mut Vec::new(), &mut done))
}

/// Follows the imports of a file; `done` is false for files on the current path, true for files that lead to no cycle.
fn walk<'a>(
    graph: &'a Graph,
    file: &'a str,
    way: &mut Vec<&'a str>,
    done: &mut BTreeMap<&'a str, bool>,
) -> Option<Vec<String>> {
    match done.get(file) {
        Some(true) => return None,
        Some(false) => {
            let start = way.iter().position(|on_way| *on_way == file).unwrap_or(0);
            return Some(way[start..].iter().map(|&on_way| on_way.to_owned()).collect());
        }
        None => {}
    }
    done.insert(file, false);
    way.push(file);
    let found = graph.get(file).into_iter().flatten().find_map(|other| walk(graph, other, way, done));
    way.pop();
    done.insert(file, true);
    found
}

/// Returns the imports between the modules of a folder that do not go to a lower layer. `layers` are the modules,
/// lowest first; modules of one layer do not import each other. A module is a file or a folder, without an extension.
pub(super) fn upward(graph: &Graph, layers: &[&[&str]]) -> Vec<String> {
    let layer = |module: &str| layers.iter().position(|modules| modules.contains(&module));
    let mut faults = Vec::new();
    for (file, imports) in graph {
        let module = module_of(file);
        let Some(own_layer) = layer(module) else {
            faults.push(format!("{file}: {module} is in no layer"));
            continue;
        };
        for other in imports.iter().filter(|other| module_of(other) != module) {
            if layer(module_of(other)).is_none_or(|other| other >= own_layer) {
                faults.push(format!("{file} may not import {other}"));
            }
        }
    }
    faults
}

/// Returns the first component of a path, without an extension.
pub(super) fn module_of(path: &str) -> &str {
    let first = path.split('/').next().unwrap_or(path);
    first.split('.').next().unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(imports: &[(&str, &[&str])]) -> Graph {
        imports.iter().map(|(file, to)| ((*file).into(), to.iter().map(|t| (*t).into()).collect())).collect()
    }

    #[test]
    fn cycles_are_found_and_diamonds_are_not_cycles() {
        let diamond =
            graph(&[("a.rs", &["b.rs", "c.rs"]), ("b.rs", &["d.rs"]), ("c.rs", &["d.rs"]), ("d.rs", &[])]);
        assert_eq!(cycle(&diamond), None);
        let closed = graph(&[("a.rs", &["b.rs"]), ("b.rs", &["c.rs"]), ("c.rs", &["b.rs"])]);
        assert_eq!(cycle(&closed), Some(vec!["b.rs".to_owned(), "c.rs".to_owned()]));
    }

    #[test]
    fn imports_within_a_layer_or_upward_are_faults() {
        let layers: &[&[&str]] = &[&["base"], &["left", "right"]];
        let good = graph(&[("left.rs", &["base/a.rs"]), ("base/a.rs", &["base/b.rs"]), ("right.rs", &[])]);
        assert_eq!(upward(&good, layers), Vec::<String>::new());
        let bad = graph(&[("base/a.rs", &["left.rs"]), ("left.rs", &["right.rs"]), ("new.rs", &[])]);
        assert_eq!(upward(&bad, layers).len(), 3);
    }
}
