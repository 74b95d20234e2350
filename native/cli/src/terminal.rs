//! The terminal.

use std::io::stdout;
use std::path::Path;
use terminal_size::{Width, terminal_size_of};

/// The width of the terminal in characters, if it is where an answer goes: not to a file, and standard output is one.
pub(crate) fn width(output: Option<&Path>) -> Option<usize> {
    let (Width(width), _) = terminal_size_of(stdout()).filter(|_| output.is_none())?;
    Some(usize::from(width))
}
