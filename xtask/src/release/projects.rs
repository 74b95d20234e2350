//! Builds and runs empty projects that depend on one crate each, as packaged.

use super::Row;
use super::crates::Package;
use crate::shell::{Failure, cargo, root, run};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The maximum number of the recorder's dependencies.
const MOST: usize = 25;

/// Crates that the recorder must not depend on by default.
const HEAVY: [&str; 4] = ["clap", "axum", "tokio", "kinetoscope-core"];

/// A program of `tests/release` and what it needs to run.
struct Project {
    source: &'static str,
    package: &'static str,
    /// Settings of the dependency in addition to its version.
    settings: &'static str,
    /// The argument: a file of the repository.
    argument: Option<&'static str>,
    /// The end of its output.
    output: &'static str,
}

const PROJECTS: [Project; 4] = [
    Project {
        source: "stream",
        package: "kinetoscope-stream",
        settings: "",
        argument: Some("tests/data/healthy/recording.ktrace"),
        output: "recording: true\n",
    },
    Project {
        source: "engine",
        package: "kinetoscope-core",
        settings: "",
        argument: Some("tests/data/healthy/recording.ktrace"),
        output: " events\n",
    },
    Project {
        source: "recorder",
        package: "kinetoscope",
        settings: "",
        argument: None,
        output: "2 records\n",
    },
    Project {
        source: "library",
        package: "kinetoscope",
        settings: ", default-features = false",
        argument: None,
        output: "recording: false\n",
    },
];

/// Builds and runs all projects; returns a row of the table for each crate.
pub(super) fn build_all(place: &Path, packages: &[Package]) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for project in &PROJECTS {
        let folder = create(place, project)?;
        let start = Instant::now();
        run(cargo(&["build", "--quiet"])
            .current_dir(&folder)
            .env("CARGO_TARGET_DIR", build(place, project)))?;
        let seconds = start.elapsed().as_secs_f64();
        execute(place, project, &folder)?;
        let dependencies = dependencies(&folder, project.package)?;
        check(project, &dependencies)?;
        let package = packages.iter().find(|package| package.name == project.package);
        let package = package.ok_or_else(|| format!("{} was not packaged", project.package))?;
        let name = format!("{}{}", project.package, project.settings);
        let (files, bytes) = (package.files, package.bytes);
        rows.push(Row { name, files, bytes, dependencies: dependencies.len(), seconds });
    }
    Ok(rows)
}

/// Returns the path of the recording that the recorder's project wrote.
pub(super) fn recording(place: &Path) -> PathBuf {
    place.join("projects/recorder/run.ktrace")
}

fn build(place: &Path, project: &Project) -> PathBuf {
    place.join("build").join(project.source)
}

fn create(place: &Path, project: &Project) -> Result<PathBuf, Failure> {
    let Project { source, package, settings, .. } = project;
    let folder = place.join("projects").join(source);
    let version = super::crates::VERSION;
    let manifest = format!(
        "[package]\nname = \"{source}\"\nedition = \"2024\"\n\n\
         [dependencies]\n{package} = {{ version = \"{version}\"{settings} }}\n"
    );
    let from = root().join("tests/release").join(format!("{source}.rs"));
    let write = || {
        fs::create_dir_all(folder.join("src"))?;
        fs::write(folder.join("Cargo.toml"), manifest)?;
        fs::copy(from, folder.join("src/main.rs"))
    };
    write().map_err(|e| format!("{}: {e}", folder.display()))?;
    Ok(folder)
}

fn execute(place: &Path, project: &Project, folder: &Path) -> Result<(), Failure> {
    let program = build(place, project).join("debug").join(project.source);
    let mut command = Command::new(program.with_extension(std::env::consts::EXE_EXTENSION));
    let argument = project.argument.map(|path| root().join(path));
    let output =
        command.args(argument).current_dir(folder).output().map_err(|e| format!("{command:?}: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && text.ends_with(project.output) {
        return Ok(());
    }
    Err(format!("{}: {text}{}", project.source, String::from_utf8_lossy(&output.stderr)))
}

/// Returns the dependencies of a package, each as name and version.
pub(super) fn dependencies(folder: &Path, package: &str) -> Result<BTreeSet<String>, Failure> {
    let mut tree =
        cargo(&["tree", "--quiet", "-e", "normal", "--prefix", "none", "--no-dedupe", "-p", package]);
    let output = tree.current_dir(folder).output().map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(format!("cargo tree: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let names = text.lines().map(|line| line.split(" (").next().unwrap_or(line).to_owned());
    Ok(names.filter(|name| !is_of(name, package)).collect())
}

fn is_of(dependency: &str, package: &str) -> bool {
    dependency.split(' ').next() == Some(package)
}

/// Checks that the recorder has few dependencies, and that disabled spans depend on the recording format only.
fn check(project: &Project, dependencies: &BTreeSet<String>) -> Result<(), Failure> {
    let all = || dependencies.iter().cloned().collect::<Vec<_>>().join(", ");
    let is_wrong = match project.source {
        "recorder" => {
            let is_heavy = |name: &String| HEAVY.iter().any(|heavy| is_of(name, heavy));
            dependencies.len() > MOST || dependencies.iter().any(is_heavy)
        }
        "library" => dependencies.len() != 1 || !dependencies.iter().all(|d| is_of(d, "kinetoscope-stream")),
        _ => dependencies.is_empty(),
    };
    if is_wrong {
        Err(format!("{} has {} dependencies: {}", project.source, dependencies.len(), all()))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{PROJECTS, check};

    #[test]
    fn a_recorder_with_a_runtime_or_too_many_dependencies_is_refused() {
        let recorder = PROJECTS.iter().find(|project| project.source == "recorder").expect("a recorder");
        let set = |names: &[&str]| names.iter().map(|name| format!("{name} v1.0.0")).collect();
        assert_eq!(check(recorder, &set(&["libc", "tokio-macros"])), Ok(()));
        assert!(check(recorder, &set(&["libc", "tokio"])).is_err());
        let many: Vec<String> = (0..26).map(|n| format!("a{n}")).collect();
        assert!(check(recorder, &set(&many.iter().map(String::as_str).collect::<Vec<_>>())).is_err());
    }
}
