//! The outcome of redaction for each text, and the trait that receives it.

use alloc::string::String;

/// The position of a text in the trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'a> {
    place: &'static str,
    /// The public key of the text; empty if there is none or the key is hidden.
    key: &'a str,
    is_key: bool,
}

impl<'a> Field<'a> {
    pub(super) fn new(place: &'static str, key: &'a str) -> Field<'a> {
        Field { place, key, is_key: false }
    }

    /// The keys at this position.
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

/// A part of a text. The parts of a text in order are the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextPart<'a> {
    /// Kept as it is.
    Keep(&'a str),
    /// Replaced by a pseudonym.
    Hide(&'a str),
}

/// Receives the kept and hidden texts; `()` ignores them.
pub(crate) trait Audit {
    /// Whether repeated texts are reported too.
    const COUNTS: bool = false;
    /// Receives a text that a rule matches.
    fn judged(&mut self, _: Field<'_>, _rule: &'static str, _: &[TextPart<'_>]) {}
    /// Receives a kept number.
    fn number(&mut self, _: Field<'_>) {}
    /// Receives a text or number that is hidden completely.
    fn hidden(&mut self, _: Field<'_>) {}
}

impl Audit for () {}
