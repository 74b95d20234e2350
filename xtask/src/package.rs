//! The npm package: the engine compiled twice (baseline, SIMD), its glue, and the TypeScript around it.

use crate::shell::{Failure, is_current, root, run, sources_of, target};
use crate::tally::{Tally, run_counted};
use crate::{browser, npm, toolchain, tools};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The two builds: the name of the `.wasm` in the package, and what the compiler and wasm-opt are told.
const BUILDS: [(&str, &str, &[&str]); 2] = [
    (
        "kinetoscope.wasm",
        "-Cllvm-args=-inline-threshold=75",
        &["--enable-bulk-memory", "--enable-nontrapping-float-to-int"],
    ),
    (
        "kinetoscope-simd.wasm",
        "-Ctarget-feature=+simd128",
        &["--enable-bulk-memory", "--enable-nontrapping-float-to-int", "--enable-simd"],
    ),
];

/// The engine is compiled for the smallest size, which would leave even the smallest functions of its hot loops uninlined:
/// with this it takes 15 KB more after gzip and two thirds of the time.
const INLINING: &str = "-Cllvm-args=-inline-threshold=75";

/// The largest `.wasm` after gzip, in bytes. 400,000 is the aim: redaction's rules and the export of execution traces took more
/// than was free.
const LARGEST: u64 = 416_000;

/// The folder of the package.
pub(crate) fn folder() -> PathBuf {
    root().join("wasm/js")
}

/// Builds the package into `wasm/js/dist` and prints the table of its sizes.
pub(crate) fn build() -> Result<(), Failure> {
    let dist = folder().join("dist");
    let _ = fs::remove_dir_all(&dist);
    fs::create_dir_all(&dist).map_err(|e| format!("{}: {e}", dist.display()))?;
    npm::install(&folder())?;
    let mut glue: Option<String> = None;
    for (name, flags, features) in BUILDS {
        let built = compile(name, flags)?;
        optimize(&built.join("engine_bg.wasm"), &dist.join(name), features)?;
        let text = read(&built.join("engine.js"))?;
        if glue.as_ref().is_some_and(|other| *other != text) {
            return Err("the two builds of the engine need different glue".to_owned());
        }
        glue = Some(text);
        for file in ["engine.js", "engine.d.ts"] {
            copy(&built.join(file), &folder().join("src/glue").join(file))?;
        }
    }
    run(npm::script(&folder(), "build")?.arg("--silent"))?;
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&root().join(licence), &folder().join(licence))?;
    }
    sizes(&dist)
}

/// Builds the package unless it is there and newer than what it is made of.
pub(crate) fn need() -> Result<(), Failure> {
    let built = folder().join("dist/wasm-text.js");
    let mut sources =
        vec![root().join("Cargo.toml"), root().join("Cargo.lock"), root().join("wasm/Cargo.toml")];
    sources.extend(
        ["build.js", "package.json", "package-lock.json", "tsconfig.json"].map(|name| folder().join(name)),
    );
    sources.push(root().join("xtask/src/package.rs"));
    for core in ["core", "wasm/src"] {
        sources.extend(sources_of(&root().join(core), &["rs", "toml", "csv", "txt"])?);
    }
    // The build itself writes the glue.
    let own = sources_of(&folder().join("src"), &["ts"])?;
    sources.extend(own.into_iter().filter(|path| !path.components().any(|part| part.as_os_str() == "glue")));
    if is_current(&built, &sources) { Ok(()) } else { build() }
}

/// The step that builds the package.
pub(crate) fn step() -> Result<Tally, Failure> {
    need()?;
    Ok(Tally::PASSED)
}

/// Runs the tests of the package: agreement with the native engine, damaged input, installation, Chromium, the examples.
pub(crate) fn test() -> Result<Tally, Failure> {
    let tests = root().join("tests/js");
    npm::install(&tests)?;
    let mut node = Command::new("node");
    browser::give(&mut node)?;
    node.args([
        "--test",
        "--test-concurrency=2",
        "--test-reporter=spec",
        "--test-reporter-destination=stderr",
    ]);
    node.args(["--test-reporter=./count.js", "--test-reporter-destination=stdout"]);
    let suites = ["agreement", "install", "examples", "robustness"];
    run_counted(node.args(suites.map(|suite| format!("{suite}.test.js"))).current_dir(tests))
}

/// Runs wasm-pack with the toolchain that has WebAssembly's std.
fn compile(name: &str, flags: &str) -> Result<PathBuf, Failure> {
    let out = target().join("wasm-pack").join(name.trim_end_matches(".wasm"));
    let mut pack = tools::wasm_pack(toolchain::wasm()?)?;
    pack.args(["build", "wasm", "--mode", "no-install", "--target", "web", "--no-pack", "--no-opt"])
        .args(["--out-name", "engine", "--profile", "wasm", "--out-dir"])
        .arg(&out)
        .args(["--", "--quiet"])
        .env("RUSTFLAGS", format!("{INLINING} {flags}"))
        .env("CARGO_TARGET_DIR", target().join("wasm"))
        .env("RUST_LOG", "warn")
        .current_dir(root());
    run(&mut pack)?;
    Ok(out)
}

fn optimize(input: &Path, output: &Path, features: &[&str]) -> Result<(), Failure> {
    let mut optimizer = npm::program(&folder(), "wasm-opt")?;
    run(optimizer.arg(input).arg("-o").arg(output).args(["-O3", "--strip-debug"]).args(features))
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let folder = to.parent().unwrap_or(to);
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    fs::copy(from, to).map(drop).map_err(|e| format!("{}: {e}", from.display()))
}

/// Prints what each file takes, plain and after gzip; too large a `.wasm` is an error.
fn sizes(dist: &Path) -> Result<(), Failure> {
    println!("| file | bytes | after gzip |");
    println!("|---|---:|---:|");
    for (name, _, _) in BUILDS {
        let path = dist.join(name);
        let bytes = fs::metadata(&path).map_err(|e| e.to_string())?.len();
        let packed = tools::gzip_length(&path)?;
        println!("| {name} | {bytes} | {packed} |");
        if packed > LARGEST {
            return Err(format!("{name} takes {packed} bytes after gzip, more than {LARGEST}"));
        }
    }
    Ok(())
}
