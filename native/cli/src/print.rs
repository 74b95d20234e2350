//! Writes the result of a command.

use crate::failure::Failure;
use kinetoscope::files::Output;
use std::fmt::Write;
use std::path::Path;

/// Writes a text to a file, or to standard output without a path.
pub(crate) fn print(text: &str, path: Option<&Path>) -> Result<(), Failure> {
    let mut output = Output::create(path)?;
    let _ = output.write_str(text);
    Ok(output.finish()?)
}
