//! The steps `dimensions`, how processor time and memory of every command grow with unkind traces, and `mutants`, what random changes of
//! inputs do.

use crate::shell::{Failure, cargo, run, target};
use crate::tally::Tally;
use std::process::Command;

/// The mutants of each kind of input.
const MUTANTS: &str = "20000";

pub(crate) fn mutants() -> Result<Tally, Failure> {
    build("kinetoscope-tests", "mutants")?;
    run(Command::new(target().join("release/mutants")).arg(MUTANTS))?;
    Ok(Tally::PASSED)
}

fn build(package: &str, program: &str) -> Result<(), Failure> {
    run(&mut cargo(&["build", "--release", "--quiet", "-p", package, "--bin", program]))
}

pub(crate) fn check() -> Result<Tally, Failure> {
    build("kinetoscope-cli", "kinetoscope")?;
    build("kinetoscope-tests", "dimensions")?;
    let built = target().join("release");
    run(Command::new(built.join("dimensions")).arg(built.join("kinetoscope")))?;
    Ok(Tally::PASSED)
}
