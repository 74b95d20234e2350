//! The `kinetoscope` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    kinetoscope::cli::main()
}
