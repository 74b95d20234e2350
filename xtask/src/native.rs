//! The native programs.

use crate::shell::{Failure, cargo, run};

/// Builds the command line and the programs of the tests as users have them.
pub(crate) fn release_binaries() -> Result<(), Failure> {
    let packages = ["-p", "kinetoscope-cli", "-p", "kinetoscope-tests"];
    run(cargo(&["build", "--release", "--quiet", "--bins"]).args(packages))
}
