//! Lines of Python programs in the texts of stacks.

use super::text::{cut, cut_last, number};
use alloc::string::{String, ToString};
use core::fmt;

/// A line of a Python program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Line {
    pub(crate) file: String,
    pub(crate) number: u32,
    /// The function around it.
    pub(crate) function: String,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.number)
    }
}

impl Line {
    fn new(file: &str, line: &str, function: &str) -> Option<Line> {
        Some(Line { file: file.into(), number: number(line)?, function: function.trim().to_string() })
    }

    fn is_of_user(&self) -> bool {
        !is_torch_frame(&self.file)
    }
}

/// Returns whether a frame is PyTorch's own code, by its path.
pub(crate) fn is_torch_frame(frame: &str) -> bool {
    frame.starts_with("torch/")
        || ["site-packages/torch/", "site-packages\\torch\\"].iter().any(|part| frame.contains(part))
}

/// The innermost line of a traceback that is not of PyTorch; `None` if all are. The outermost frame comes first:
/// `  File "case_a.py", line 26, in forward`.
pub(super) fn user_line(stack: &str) -> Option<Line> {
    let line_of = |text: &str| {
        let (file, rest) = cut(text.trim_start().strip_prefix("File \"")?, "\", line ")?;
        let (line, function) = cut(rest, ", in ").unwrap_or((rest, ""));
        Line::new(file, line, function)
    };
    stack.lines().rev().filter_map(line_of).find(Line::is_of_user)
}

/// The same of a stack whose innermost frame comes first: `/home/me/train.py:12:forward`.
pub(super) fn user_frame(stack: &str) -> Option<Line> {
    let line_of = |text: &str| {
        let (place, function) = cut_last(text, b':')?;
        let (file, line) = cut_last(place, b':')?;
        Line::new(file, line, function)
    };
    stack.lines().filter_map(line_of).find(Line::is_of_user)
}

/// A line in a comment of a graph: `case_a.py:14 in forward`; `None` if it is PyTorch's.
pub(super) fn line_of_comment(text: &str) -> Option<Line> {
    let (place, function) = cut(text, " in ").unwrap_or((text, ""));
    let (file, line) = cut_last(place, b':')?;
    Line::new(file, line, function).filter(Line::is_of_user)
}
