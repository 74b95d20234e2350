//! What the recorder costs a program: crates, processor time of a first build, and bytes of the binary. Builds programs that
//! record a span, each from nothing.

use crate::shell::{Failure, cargo, root, target};
use crate::tally::{Tally, skip};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A program: its row in the table, its dependency, and what its `main` does.
struct Program {
    row: &'static str,
    dependency: &'static str,
    main: &'static str,
}

const EMPTY: Program = Program { row: "an empty program", dependency: "", main: "" };

const OFF: &str = "drop(kinetoscope::scope!(\"span\"));";

const ON: &str = "let mut profiler = kinetoscope::Profiler::builder().file(\"/dev/null\").start().unwrap();
    drop(kinetoscope::scope!(\"span\"));
    profiler.stop().unwrap();";

const TABLE: &str = "let mut profiler = kinetoscope::Profiler::builder().start().unwrap();
    drop(kinetoscope::scope!(\"span\"));
    let recording = profiler.stop().unwrap().unwrap();
    println!(\"{}\", recording.table().unwrap());";

const RECORD: Program =
    Program { row: "`kinetoscope` with `record` only", dependency: "features = [\"record\"]", main: ON };

const PROGRAMS: [Program; 4] = [
    Program {
        row: "`kinetoscope` without default features: spans compile to nothing",
        dependency: "features = []",
        main: OFF,
    },
    RECORD,
    Program {
        row: "`kinetoscope`: the recorder, call stacks, attributes",
        dependency: "features = [\"macros\", \"record\", \"stacks\"]",
        main: ON,
    },
    Program {
        row: "`kinetoscope` with `analysis`",
        dependency: "features = [\"macros\", \"record\", \"stacks\", \"analysis\"]",
        main: TABLE,
    },
];

/// The limits of a program with the feature `record` only: crates, and bytes above an empty program.
const MOST_CRATES: usize = 15;
const MOST_BYTES: u64 = 300_000;

/// What a program cost.
struct Cost {
    crates: usize,
    /// Processor seconds of a first build in the debug and the release profile.
    seconds: [f64; 2],
    bytes: u64,
}

/// Prints the table of the book.
pub(crate) fn print_table() -> Result<(), Failure> {
    let empty = measure(&EMPTY, &["dev", "release"])?;
    println!("| | crates | debug | release | KB |\n|---|---:|---:|---:|---:|");
    for program in &PROGRAMS {
        let cost = measure(program, &["dev", "release"])?;
        let [debug, release] = cost.seconds;
        let bytes = cost.bytes.saturating_sub(empty.bytes);
        println!("| {} | {} | {debug:.1} | {release:.1} | {} |", program.row, cost.crates, bytes / 1000);
    }
    Ok(())
}

/// Checks the limits of a program with the feature `record` only.
pub(crate) fn check() -> Result<Tally, Failure> {
    if !cfg!(target_os = "linux") {
        return Ok(skip("cost", "the limits are those of Linux"));
    }
    let (empty, cost) = (measure(&EMPTY, &["release"])?, measure(&RECORD, &["release"])?);
    let bytes = cost.bytes.saturating_sub(empty.bytes);
    let seconds = cost.seconds[1];
    println!("{} crates, {seconds:.1} s of processor time, {bytes} bytes", cost.crates);
    if cost.crates > MOST_CRATES || bytes > MOST_BYTES {
        return Err(format!("more than {MOST_CRATES} crates or {MOST_BYTES} bytes"));
    }
    Ok(Tally::PASSED)
}

fn measure(program: &Program, profiles: &[&str]) -> Result<Cost, Failure> {
    let folder = target().join("xtask/cost");
    let _ = fs::remove_dir_all(&folder);
    write_crate(&folder, program)?;
    let mut cost = Cost { crates: crates(&folder)?, seconds: [0.0; 2], bytes: 0 };
    for profile in profiles {
        let seconds = build(&folder, profile)?;
        cost.seconds[usize::from(*profile == "release")] = seconds;
    }
    let binary = folder.join("target/release").join(format!("cost{}", std::env::consts::EXE_SUFFIX));
    cost.bytes = fs::metadata(&binary).map_err(|e| format!("{}: {e}", binary.display()))?.len();
    Ok(cost)
}

fn write_crate(folder: &Path, program: &Program) -> Result<(), Failure> {
    let dependency = match program.dependency {
        "" => String::new(),
        of => format!(
            "kinetoscope = {{ path = '{}', default-features = false, {of} }}\n",
            root().join("native").display()
        ),
    };
    let manifest = format!(
        "[package]\nname = \"cost\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[profile.release]\n\
         strip = true\n\n[dependencies]\n{dependency}"
    );
    let write = |name: &str, text: &str| -> Result<(), Failure> {
        let path: PathBuf = folder.join(name);
        fs::create_dir_all(path.parent().unwrap_or(folder)).map_err(|e| e.to_string())?;
        fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))
    };
    write("Cargo.toml", &manifest)?;
    write("src/main.rs", &format!("fn main() {{\n    {}\n}}\n", program.main))?;
    // The same versions of the dependencies as in the repository.
    let lock = fs::read_to_string(root().join("Cargo.lock")).map_err(|e| e.to_string())?;
    write("Cargo.lock", &lock)?;
    output(cargo(&["fetch", "--quiet"]).current_dir(folder)).map(drop)
}

/// The number of crates that are compiled for the program, build dependencies included.
fn crates(folder: &Path) -> Result<usize, Failure> {
    let tree = output(cargo(&["tree", "--prefix", "none", "-e", "normal,build"]).current_dir(folder))?;
    let text = String::from_utf8_lossy(&tree.stdout).into_owned();
    let names: BTreeSet<&str> = text.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    // Without the program itself.
    Ok(names.iter().filter(|name| !name.is_empty()).count().saturating_sub(1))
}

/// Builds the program. Returns the processor seconds.
fn build(folder: &Path, profile: &str) -> Result<f64, Failure> {
    let mut build = Command::new("bash");
    build.args([
        "-c",
        "TIMEFORMAT=%U; time cargo build --quiet --profile \"$0\" --target-dir target",
        profile,
    ]);
    let output = output(build.current_dir(folder).env_remove("RUSTFLAGS"))?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let seconds = text.lines().last().and_then(|line| line.trim().parse().ok());
    seconds.ok_or_else(|| format!("no time in: {text}"))
}

fn output(command: &mut Command) -> Result<Output, Failure> {
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    if output.status.success() {
        return Ok(output);
    }
    Err(format!("{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr)))
}
