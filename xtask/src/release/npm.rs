//! Packs the npm package and installs it into an empty folder.

use super::{Row, crates, length};
use crate::package;
use crate::shell::{Failure, root};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

const PROGRAM: &str = r#"
import { open } from "kinetoscope";
const trace = await open(process.argv[1]);
console.log(trace.length);
trace.dispose();
"#;

/// Packs and installs the package, and counts the events of a trace with it in Node.
pub(super) fn install(place: &Path) -> Result<Row, Failure> {
    let tarball = place.join(format!("kinetoscope-{}.tgz", crates::VERSION));
    npm(&package::folder(), &["pack", "--pack-destination", &place.to_string_lossy()])?;
    let files = crates::files(&tarball, "package/")?.len();
    let project = place.join("projects/npm");
    fs::create_dir_all(&project).map_err(|e| format!("{}: {e}", project.display()))?;
    fs::write(project.join("package.json"), "{ \"private\": true }").map_err(|e| e.to_string())?;
    let start = Instant::now();
    npm(&project, &["install", &tarball.to_string_lossy()])?;
    let seconds = start.elapsed().as_secs_f64();
    let trace = root().join("tests/data/healthy/small_gpu_trace.json");
    let mut node = Command::new("node");
    node.args(["--no-warnings", "--input-type=module", "--eval", PROGRAM]).arg(trace).current_dir(&project);
    let events = output(&mut node)?;
    if events.trim().parse::<u32>().is_ok_and(|events| events > 0) {
        let dependencies = dependencies(&project)?;
        return Ok(Row {
            name: "kinetoscope (npm)".to_owned(),
            files,
            bytes: length(&tarball)?,
            dependencies,
            seconds,
        });
    }
    Err(format!("Node printed `{events}` instead of a number of events"))
}

/// Returns the number of installed packages, without the package itself.
fn dependencies(project: &Path) -> Result<usize, Failure> {
    let modules = project.join("node_modules");
    let entries = fs::read_dir(&modules).map_err(|e| format!("{}: {e}", modules.display()))?;
    let names = entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()));
    Ok(names.filter(|name| !name.starts_with('.') && name != "kinetoscope").count())
}

fn npm(folder: &Path, arguments: &[&str]) -> Result<String, Failure> {
    let mut npm = Command::new("npm");
    output(npm.args(arguments).args(["--loglevel=error", "--no-audit", "--no-fund"]).current_dir(folder))
}

fn output(command: &mut Command) -> Result<String, Failure> {
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)))
}
