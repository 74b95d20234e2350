//! Checks the features of the published crates: none, each alone, and combinations that programs use. Lints are errors,
//! so that code which is used only with another feature is found.

use crate::shell::{Failure, cargo, root, run};
use crate::tally::Tally;
use std::fs;

/// The package, its folder, and the feature sets that are checked in addition to none, each and all.
const CRATES: [(&str, &str, &[&str]); 5] = [
    ("kinetoscope-stream", "core/stream", &[]),
    ("kinetoscope-core", "core", &[]),
    ("kinetoscope", "native", &["record,analysis", "analysis,tracing"]),
    ("kinetoscope-tables", "native/tables", &[]),
    ("kinetoscope-cli", "native/cli", &[]),
];

/// Features that take minutes to compile: `cargo xtask test sql-lints` checks them.
const APART: [&str; 2] = ["cloud", "sql"];

/// Checks every crate without its development dependencies, because their features could enable what the crate lacks.
pub(crate) fn check() -> Result<Tally, Failure> {
    for (package, folder, sets) in CRATES {
        let manifest = root().join(folder).join("Cargo.toml");
        let text = fs::read_to_string(&manifest).map_err(|e| format!("{}: {e}", manifest.display()))?;
        let mut names = features(&text);
        if names.is_empty() {
            return Err(format!("{package}: no features in {}", manifest.display()));
        }
        names.retain(|name| !APART.contains(&name.as_str()));
        check_set(package, "")?;
        for set in names.iter().map(String::as_str).chain(sets.iter().copied()) {
            check_set(package, set)?;
        }
        if names.len() > 1 {
            check_set(package, &names.join(","))?;
        }
    }
    Ok(Tally { passed: CRATES.len(), ..Tally::default() })
}

fn check_set(package: &str, set: &str) -> Result<(), Failure> {
    let mut clippy = cargo(&["clippy", "--quiet", "--no-deps", "--no-default-features", "-p", package]);
    clippy.args(["--features", set, "--", "-D", "warnings"]);
    run(&mut clippy).map_err(|e| format!("{package} with features [{set}]: {e}"))
}

/// Returns the names in the table `[features]` of a manifest, without `default`, which is a set of the others.
fn features(manifest: &str) -> Vec<String> {
    let table = manifest.lines().skip_while(|line| *line != "[features]").skip(1);
    let entries = table.take_while(|line| !line.starts_with('['));
    let names = entries.filter_map(|line| Some(line.split_once(" = ")?.0)).filter(|n| !n.starts_with('#'));
    names.filter(|name| *name != "default").map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::features;

    #[test]
    fn features_are_read_only_from_the_features_table() {
        let manifest = "[package]\nname = \"a\"\n\n[features]\ndefault = [\"b\"]\n# c = d\nb = []\ne = [\"dep:f\"]\n\n\
                        [dependencies]\nf = \"1\"\n";
        assert_eq!(features(manifest), ["b", "e"]);
    }
}
