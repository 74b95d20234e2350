//! Writes the result of a command.

use crate::failure::Failure;
use kinetoscope::files::Output;
use std::fmt::Write;
use std::path::Path;

/// Writes a text to a file, or to standard output without a path.
pub(crate) fn print(text: &str, path: Option<&Path>) -> Result<(), Failure> {
    print_all(&[(text, path)])
}

/// Writes several texts. No file is replaced unless all of them can be written.
pub(crate) fn print_all(texts: &[(&str, Option<&Path>)]) -> Result<(), Failure> {
    let mut outputs = Vec::with_capacity(texts.len());
    for (text, path) in texts {
        let mut output = Output::create(*path)?;
        // `finish` returns the error.
        if output.write_str(text).is_err() || !output.write_through() {
            return Ok(output.finish()?);
        }
        outputs.push(output);
    }
    Ok(outputs.into_iter().try_for_each(Output::finish)?)
}
