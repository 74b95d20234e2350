//! Files and what they import: circles, and imports that go up.

use std::collections::BTreeMap;

/// The files of a folder, by their paths in it, and the files that each imports.
pub(super) type Graph = BTreeMap<String, Vec<String>>;

/// A circle, as the files on it in the order of their imports; `None` where there is none.
pub(super) fn circle(graph: &Graph) -> Option<Vec<String>> {
    let mut done: BTreeMap<&str, bool> = BTreeMap::new();
    graph.keys().find_map(|file| walk(graph, file, &mut Vec::new(), &mut done))
}

/// Follows the imports of a file; `done` is false for files on the way, true for those that lead to no circle.
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

/// The imports between the rooms of a folder that do not go down. `floors` are the rooms, lowest first; rooms of one floor do
/// not know each other. A room is a file or a folder, without an extension.
pub(super) fn upward(graph: &Graph, floors: &[&[&str]]) -> Vec<String> {
    let floor = |room: &str| floors.iter().position(|rooms| rooms.contains(&room));
    let mut faults = Vec::new();
    for (file, imports) in graph {
        let own = room(file);
        let Some(own_floor) = floor(own) else {
            faults.push(format!("{file}: {own} is on no floor"));
            continue;
        };
        for other in imports.iter().filter(|other| room(other) != own) {
            if floor(room(other)).is_none_or(|other| other >= own_floor) {
                faults.push(format!("{file} may not import {other}"));
            }
        }
    }
    faults
}

/// The first part of a path, without an extension.
pub(super) fn room(path: &str) -> &str {
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
    fn circles_are_found_and_diamonds_are_none() {
        let diamond =
            graph(&[("a.rs", &["b.rs", "c.rs"]), ("b.rs", &["d.rs"]), ("c.rs", &["d.rs"]), ("d.rs", &[])]);
        assert_eq!(circle(&diamond), None);
        let closed = graph(&[("a.rs", &["b.rs"]), ("b.rs", &["c.rs"]), ("c.rs", &["b.rs"])]);
        assert_eq!(circle(&closed), Some(vec!["b.rs".to_owned(), "c.rs".to_owned()]));
    }

    #[test]
    fn imports_go_down_and_not_aside() {
        let floors: &[&[&str]] = &[&["ground"], &["left", "right"]];
        let good =
            graph(&[("left.rs", &["ground/a.rs"]), ("ground/a.rs", &["ground/b.rs"]), ("right.rs", &[])]);
        assert_eq!(upward(&good, floors), Vec::<String>::new());
        let bad = graph(&[("ground/a.rs", &["left.rs"]), ("left.rs", &["right.rs"]), ("new.rs", &[])]);
        assert_eq!(upward(&bad, floors).len(), 3);
    }
}
