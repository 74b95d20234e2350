//! The kinds of values that options take.

use crate::base::words::Vocabulary;

/// The kind of value that an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// No value: a flag.
    Nothing,
    /// A number of rows or levels; -1 means all.
    Count,
    /// A percentage from 0 to 100.
    Percent,
    /// Any text.
    Text,
    /// The content of a text file; on a command line, its path.
    File,
    /// A word of a vocabulary.
    Word(Vocabulary),
    /// A column of PyTorch's table to sort by.
    SortBy,
    /// A width in characters, or `none`.
    Width,
    /// Any of `shape`, `stack:N`, `overload`, `module`.
    Groups,
    /// A time with its unit: `10us`, `1.5ms`, `2s`, `800ns`.
    Duration,
    /// A range of time such as `1.5ms..20ms`.
    Times,
    /// A number, or a range such as `3-5` with the smaller number first.
    Range,
    /// Texts separated by commas.
    Texts,
    /// Numbers separated by commas.
    Numbers,
}
