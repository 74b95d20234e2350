//! What becomes of each text, for whoever counts it.

use alloc::string::String;

/// Where in the trace a text is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'a> {
    place: &'static str,
    /// The public key that the text is under; empty for none, and for a key that is hidden.
    key: &'a str,
    is_key: bool,
}

impl<'a> Field<'a> {
    pub(super) fn new(place: &'static str, key: &'a str) -> Field<'a> {
        Field { place, key, is_key: false }
    }

    /// The keys in this place.
    pub(super) fn keys(self) -> Field<'a> {
        Field { is_key: true, ..self }
    }

    pub(super) fn name(self) -> String {
        let Field { place, key, is_key } = self;
        let dot = if key.is_empty() { "" } else { "." };
        let keys = if is_key { " (key)" } else { "" };
        [place, dot, key, keys].concat()
    }
}

/// A piece of a text. All pieces of a text, one after the other, are the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// Kept as it is.
    Keep(&'a str),
    /// Replaced.
    Hide(&'a str),
}

/// Receives what is kept and what is hidden; `()` drops it.
pub(crate) trait Audit {
    /// Every text is to be shown, also one that was shown before.
    const COUNTS: bool = false;
    /// A text that a rule has read.
    fn judged(&mut self, _: Field<'_>, _rule: &'static str, _: &[Part<'_>]) {}
    /// A number that is kept.
    fn number(&mut self, _: Field<'_>) {}
    /// A text or number that is hidden as a whole.
    fn hidden(&mut self, _: Field<'_>) {}
}

impl Audit for () {}
