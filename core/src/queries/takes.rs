//! What an option of a command takes.

use crate::words::Vocabulary;

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing: it is given or not.
    Nothing,
    /// A number of rows or levels; negative for all.
    Count,
    /// A percentage.
    Percent,
    /// Any text.
    Text,
    /// The text of a file: its content; on a command line its path.
    File,
    /// One of some words.
    Word(Vocabulary),
    /// A column that torch's table is sorted by.
    SortBy,
    /// A width in characters, or `none`.
    Width,
    /// Any of `shape`, `stack:N`, `overload`, `module`.
    Groups,
    /// A time with its unit: `10us`, `1.5ms`, `2s`, `800ns`.
    Duration,
    /// Two times as in `1.5ms..20ms`.
    Times,
    /// A number or two, as in `3-5`.
    Range,
    /// Texts between commas.
    Texts,
    /// Numbers between commas.
    Numbers,
}
