//! Builds and tests the npm package: the engine as WebAssembly, its glue, and the TypeScript API.

use crate::shell::{Failure, copy, is_current, root, run, sources_of, target};
use crate::tally::{Tally, run_counted};
use crate::{browser, npm, toolchain, tools};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The engine is compiled for the smallest size, which would not inline even the smallest functions of its hot loops.
/// A threshold of 60 would make it 5 KB larger after gzip, and reading takes as long; with 40 it takes 16 % longer.
const INLINING: &str = "-Cllvm-args=-inline-threshold=50";

/// A feature that every WebAssembly engine has had since 2023.
const SIMD: &str = "-Ctarget-feature=+simd128";

/// The size limit of the `.wasm` after gzip, in bytes.
const LARGEST: u64 = 775_000;

/// Returns the folder of the package.
pub(crate) fn folder() -> PathBuf {
    root().join("wasm/js")
}

/// Builds the package into `wasm/js/dist` and prints its size.
pub(crate) fn build() -> Result<(), Failure> {
    let dist = folder().join("dist");
    let _ = fs::remove_dir_all(&dist);
    fs::create_dir_all(&dist).map_err(|e| format!("{}: {e}", dist.display()))?;
    npm::install(&folder())?;
    let built = compile()?;
    optimize(&built.join("engine_bg.wasm"), &dist.join("kinetoscope.wasm"))?;
    for file in ["engine.js", "engine.d.ts"] {
        copy(&built.join(file), &folder().join("src/glue").join(file))?;
    }
    run(npm::script(&folder(), "build")?.arg("--silent"))?;
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&root().join(licence), &folder().join(licence))?;
    }
    check_size(&dist.join("kinetoscope.wasm"))
}

/// Builds the package unless it exists and is newer than its sources.
pub(crate) fn build_if_stale() -> Result<(), Failure> {
    let built = folder().join("dist/wasm-text.js");
    let mut sources =
        vec![root().join("Cargo.toml"), root().join("Cargo.lock"), root().join("wasm/Cargo.toml")];
    sources.extend(
        ["build.js", "package.json", "package-lock.json", "tsconfig.json"].map(|name| folder().join(name)),
    );
    sources.push(root().join("xtask/src/package.rs"));
    for core in ["core", "wasm/src", "wasm/bindgen"] {
        sources.extend(sources_of(&root().join(core), &["rs", "toml", "csv", "txt"])?);
    }
    // The build itself writes the glue.
    let own = sources_of(&folder().join("src"), &["ts"])?;
    sources.extend(own.into_iter().filter(|path| !path.components().any(|part| part.as_os_str() == "glue")));
    if is_current(&built, &sources) { Ok(()) } else { build() }
}

/// The step that builds the package.
pub(crate) fn step() -> Result<Tally, Failure> {
    build_if_stale()?;
    Ok(Tally::PASSED)
}

/// Runs the tests of the package: agreement with the native engine, runs of several ranks, installation, examples, the book, damaged input.
pub(crate) fn test() -> Result<Tally, Failure> {
    let tests = root().join("tests/js");
    npm::install(&tests)?;
    let mut node = Command::new("node");
    browser::locate(&mut node)?;
    node.args([
        "--test",
        "--test-concurrency=2",
        "--test-reporter=spec",
        "--test-reporter-destination=stderr",
    ]);
    node.args(["--test-reporter=./count.js", "--test-reporter-destination=stdout"]);
    let suites = ["agreement", "ranks", "diff", "trend", "install", "examples", "book", "robustness"];
    run_counted(node.args(suites.map(|suite| format!("{suite}.test.js"))).current_dir(tests))
}

/// Compiles the engine and generates its glue. Returns the folder of the result.
fn compile() -> Result<PathBuf, Failure> {
    let built = target().join("wasm");
    let mut cargo = toolchain::wasm(&[INLINING, SIMD])?;
    cargo.args(["build", "-p", "kinetoscope-wasm", "--lib", "--profile", "wasm", "--quiet"]);
    cargo.args(["--target", toolchain::WASM, "--target-dir"]);
    run(cargo.arg(&built))?;
    let out = built.join("glue");
    let compiled = built.join(toolchain::WASM).join("wasm/kinetoscope_wasm.wasm");
    run(Command::new(tools::bindgen()?).arg(compiled).arg(&out))?;
    Ok(out)
}

fn optimize(input: &Path, output: &Path) -> Result<(), Failure> {
    let mut optimizer = npm::program(&folder(), "wasm-opt")?;
    let features = ["--enable-bulk-memory", "--enable-nontrapping-float-to-int", "--enable-simd"];
    // The first kilobyte of memory contains only the far end of the stack, as Rust lays it out.
    let size = ["-O3", "--low-memory-unused", "--strip-debug"];
    run(optimizer.arg(input).arg("-o").arg(output).args(size).args(features))
}

/// Prints the size of the engine, plain and after gzip. Returns an error if it exceeds the limit.
fn check_size(wasm: &Path) -> Result<(), Failure> {
    let bytes = fs::metadata(wasm).map_err(|e| format!("{}: {e}", wasm.display()))?.len();
    let packed = tools::gzip_length(wasm)?;
    println!("kinetoscope.wasm: {bytes} bytes, {packed} after gzip");
    if packed > LARGEST {
        return Err(format!("kinetoscope.wasm is {packed} bytes after gzip; the limit is {LARGEST}"));
    }
    Ok(())
}
