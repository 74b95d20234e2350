//! Checks that the recorder leaves the choice of the CUDA version to the program: builds three programs that choose it
//! in different ways and compares the version that `cudarc` was built for.

use crate::shell::{Failure, cargo, root, target};
use crate::tally::Tally;
use std::fs;
use std::path::Path;

/// Major and minor version.
type Version = (u32, u32);

/// The program, the cargo command, and the version that it selects; `None` is the newest that `cudarc` supports.
const PROGRAMS: [(&str, &str, Option<Version>); 3] = [
    ("alone", "build", None),
    ("selects", "build", Some((12, 8))),
    // Linking needs the toolkit.
    ("build-system", "check", Some((12, 6))),
];

/// A script that prints what `nvcc --version` of the toolkit 12.6 prints.
const NVCC: &str = "#!/bin/sh\nprintf 'a\\nb\\nc\\nCuda compilation tools, release 12.6, V12.6.20\\n'\n";

/// Builds the programs of `tests/cudarc`.
pub(crate) fn check() -> Result<Tally, Failure> {
    let folder = root().join("tests/cudarc");
    let built = target().join("cudarc");
    let tools = built.join("nvcc");
    write_nvcc(&tools).map_err(|e| format!("{}: {e}", tools.display()))?;
    for (program, action, version) in PROGRAMS {
        let path = std::env::var("PATH").unwrap_or_default();
        let path = if program == "build-system" { format!("{}:{path}", tools.display()) } else { path };
        let output = cargo(&[action, "--quiet", "--locked", "-p", program, "--message-format=json"])
            .arg("--target-dir")
            .arg(&built)
            .current_dir(&folder)
            .env("PATH", path)
            .output()
            .map_err(|e| e.to_string())?;
        if !output.status.success() {
            return Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr)));
        }
        expect(program, &String::from_utf8_lossy(&output.stdout), version)?;
    }
    Ok(Tally { passed: PROGRAMS.len(), ..Tally::default() })
}

fn write_nvcc(folder: &Path) -> std::io::Result<()> {
    let file = folder.join("nvcc");
    fs::create_dir_all(folder)?;
    fs::write(&file, NVCC)?;
    #[cfg(unix)]
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    Ok(())
}

/// Checks cargo's message about `cudarc`'s build script: the version that it found, and that it does not link CUPTI.
fn expect(program: &str, messages: &str, version: Option<Version>) -> Result<(), Failure> {
    let is_cudarc = |line: &&str| line.contains("build-script-executed") && line.contains("#cudarc@");
    let built = messages.lines().find(is_cudarc).ok_or_else(|| format!("{program}: cudarc was not built"))?;
    if built.contains("cupti") {
        return Err(format!("{program}: links CUPTI"));
    }
    let has = |name: &str, number: u32| built.contains(&format!("[\"{name}\",\"{number}\"]"));
    match version {
        Some((major, minor)) if !(has("CUDA_MAJOR_VERSION", major) && has("CUDA_MINOR_VERSION", minor)) => {
            Err(format!("{program}: cudarc was not built for CUDA {major}.{minor}: {built}"))
        }
        _ => Ok(()),
    }
}
