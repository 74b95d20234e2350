//! Builds and tests the npm package: the engine as WebAssembly, its glue, and the TypeScript API.

use crate::shell::{Failure, copy, is_current, root, run, sources_of, target};
use crate::tally::{Tally, run_counted};
use crate::{browser, npm, toolchain, tools};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The inlining thresholds of LLVM: of functions, and of those with `#[inline]`, which are the small functions of the hot loops.
/// With 100 and 325 the engine is 38 KB larger after gzip, and `summary` takes a twentieth less time.
const INLINING: [&str; 2] = ["-Cllvm-args=-inline-threshold=60", "-Cllvm-args=-inlinehint-threshold=225"];

/// A feature that every WebAssembly engine has had since 2023.
const SIMD: &str = "-Ctarget-feature=+simd128";

/// An engine of the package.
struct Engine {
    /// The name of the `.wasm` in the package.
    file: &'static str,
    /// The name of the glue in the sources of the package.
    glue: &'static str,
    /// Cargo's arguments that select its features.
    features: &'static [&'static str],
    /// The size limit of the `.wasm` after gzip, in bytes.
    largest: u64,
}

const ENGINES: [Engine; 2] = [
    Engine { file: "kinetoscope.wasm", glue: "engine", features: &[], largest: 1_139_000 },
    Engine { file: "lite.wasm", glue: "lite", features: &["--no-default-features"], largest: 647_000 },
];

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
    for engine in &ENGINES {
        engine.build(&dist)?;
    }
    run(npm::script(&folder(), "build")?.arg("--silent"))?;
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&root().join(licence), &folder().join(licence))?;
    }
    ENGINES.iter().try_for_each(|engine| engine.check_size(&dist))
}

/// Builds the package unless it exists and is newer than its sources.
pub(crate) fn build_if_stale() -> Result<(), Failure> {
    let built = folder().join("dist/engine/wasm-text.js");
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
    let page_sources = sources_of(&folder().join("src"), &["ts"])?;
    sources.extend(
        page_sources.into_iter().filter(|path| !path.components().any(|part| part.as_os_str() == "glue")),
    );
    if is_current(&built, &sources) { Ok(()) } else { build() }
}

/// The step that builds the package.
pub(crate) fn step() -> Result<Tally, Failure> {
    build_if_stale()?;
    Ok(Tally::PASSED)
}

/// Runs the tests of the package: agreement with the native engine and of `kinetoscope/lite`, runs of several ranks, installation, examples, the book, damaged input,
/// sources, gates, values, workers, threads, outlines, tables as Arrow streams.
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
    let suites = [
        "agreement",
        "lite",
        "ranks",
        "diff",
        "trend",
        "install",
        "recipes",
        "examples",
        "book",
        "robustness",
        "sources",
        "gates",
        "growth",
        "stream",
        "values",
        "workers",
        "threads",
        "failures",
        "outline",
        "arrow",
    ];
    run_counted(node.args(suites.map(|suite| format!("{suite}.test.js"))).current_dir(tests))
}

impl Engine {
    /// Builds the `.wasm` into `dist` and the glue into the sources of the package.
    fn build(&self, dist: &Path) -> Result<(), Failure> {
        let built = self.compile()?;
        optimize(&built.join("engine_bg.wasm"), &dist.join(self.file))?;
        for ending in [".js", ".d.ts"] {
            let glue = folder().join(format!("src/generated/glue/{}{ending}", self.glue));
            copy(&built.join(format!("engine{ending}")), &glue)?;
        }
        Ok(())
    }

    /// Compiles the engine and generates its glue. Returns the folder of the result.
    fn compile(&self) -> Result<PathBuf, Failure> {
        let built = target().join("wasm");
        let mut cargo = toolchain::wasm(&[INLINING[0], INLINING[1], SIMD])?;
        cargo.args(["build", "-p", "kinetoscope-wasm", "--lib", "--profile", "wasm", "--quiet"]);
        cargo.args(self.features).args(["--target", toolchain::WASM, "--target-dir"]);
        run(cargo.arg(&built))?;
        let out = built.join("glue");
        let compiled = built.join(toolchain::WASM).join("wasm/kinetoscope_wasm.wasm");
        run(Command::new(tools::bindgen()?).arg(compiled).arg(&out))?;
        Ok(out)
    }

    /// Prints the size, plain and after gzip. Returns an error if it exceeds the limit.
    fn check_size(&self, dist: &Path) -> Result<(), Failure> {
        let wasm = dist.join(self.file);
        let bytes = fs::metadata(&wasm).map_err(|e| format!("{}: {e}", wasm.display()))?.len();
        let packed = tools::gzip_length(&wasm)?;
        println!("{}: {bytes} bytes, {packed} after gzip", self.file);
        if packed > self.largest {
            return Err(format!("{} is {packed} bytes after gzip; the limit is {}", self.file, self.largest));
        }
        Ok(())
    }
}

fn optimize(input: &Path, output: &Path) -> Result<(), Failure> {
    let mut optimizer = npm::program(&folder(), "wasm-opt")?;
    let features = ["--enable-bulk-memory", "--enable-nontrapping-float-to-int", "--enable-simd"];
    // The first kilobyte of memory contains only the far end of the stack, as Rust lays it out.
    let size = ["-O3", "--low-memory-unused"];
    // Instances of one generic function are next to each other in the order of names, which gzip profits from.
    let order = ["--reorder-functions-by-name", "--strip-debug"];
    let unused = ["--strip-producers", "--strip-target-features"];
    run(optimizer.arg(input).arg("-o").arg(output).args(size).args(order).args(unused).args(features))
}
