//! Redaction of kernel names, as written by C++ and by kernel generators.

use super::grammar::is_one_of;
use super::outcome::TextPart::{self, Hide, Keep};
use super::vocabulary::{Context, Vocabulary};
use alloc::vec::Vec;

/// Characters between the identifiers and numbers of a name.
const BETWEEN: &[u8] = b" <>()[]{}:,*&#-+=!|~";

/// Words that may precede the first identifier.
const BEFORE: &str = "void const static anonymous namespace";

impl Vocabulary {
    /// Redacts the name of a kernel. If its first identifier is public, other identifiers are hidden one by one, and so
    /// are numbers that are not template arguments. Otherwise the complete name is hidden.
    pub(super) fn kernel<'a>(&self, text: &'a str) -> Option<Vec<TextPart<'a>>> {
        let mut reader = Reader::new(self);
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(&first) = rest.as_bytes().first() {
            let length = rest.bytes().take_while(|&b| is_name(b) == is_name(first)).count();
            let (run, tail) = rest.split_at(length);
            rest = tail;
            let public = if is_name(first) { reader.name(run)? } else { reader.between(run)? };
            let (public, private) = run.split_at(public);
            parts.push(Keep(public));
            if !private.is_empty() {
                parts.push(Hide(private));
            }
        }
        reader.has_head.then_some(parts)
    }

    /// The number of public bytes of an identifier: all, none, or a prefix up to a `_` of a generated name.
    fn beginning(&self, context: &mut Context, name: &str) -> usize {
        let before = *context;
        let mut public = |end: usize| {
            let mut behind = before;
            let is_public = self.goes_on(&mut behind, &name[..end]);
            if is_public {
                *context = behind;
            }
            is_public.then_some(end)
        };
        if let Some(end) = public(name.len()) {
            return end;
        }
        let ends = name.match_indices('_').map(|(at, _)| at + 1).filter(|_| is_generated(name));
        ends.map_while(public).last().unwrap_or(0)
    }
}

/// Reads a name from left to right. Each method returns the number of public bytes of a run; `None` hides the complete
/// name.
struct Reader<'v> {
    vocabulary: &'v Vocabulary,
    context: Context,
    /// Whether a public identifier was read.
    has_head: bool,
    /// Whether the current identifier is inside a hidden namespace, which hides it too.
    is_inside_hidden: bool,
    /// The number of open `<`.
    depth: usize,
    /// The last byte between identifiers.
    last: u8,
}

impl<'v> Reader<'v> {
    fn new(vocabulary: &'v Vocabulary) -> Reader<'v> {
        let context = Context::default();
        Reader { vocabulary, context, has_head: false, is_inside_hidden: false, depth: 0, last: b' ' }
    }

    fn between(&mut self, run: &str) -> Option<usize> {
        for byte in run.bytes() {
            match byte {
                b'<' => self.depth += 1,
                b'>' => self.depth = self.depth.saturating_sub(1),
                b',' => self.context.digits = 0,
                _ if !BETWEEN.contains(&byte) => return None,
                _ => {}
            }
            self.last = byte;
        }
        self.is_inside_hidden &= run == "::";
        Some(run.len())
    }

    fn name(&mut self, run: &str) -> Option<usize> {
        let is_number = run.as_bytes()[0].is_ascii_digit();
        let is_argument = self.depth > 0 || self.last == b'#';
        let public = if self.is_inside_hidden || is_number && !is_argument {
            0
        } else {
            self.vocabulary.beginning(&mut self.context, run)
        };
        self.is_inside_hidden = public == 0;
        self.has_head |= public > 0 && !is_number && !is_one_of(run, BEFORE);
        (self.has_head || public > 0).then_some(public)
    }
}

/// Whether a kernel generator made the name. A call on the CPU that starts such a kernel has the same name.
pub(super) fn is_generated(name: &str) -> bool {
    name.starts_with("triton_") || name.starts_with("Cijk_")
}

/// Whether a byte belongs to a C++ identifier or to a non-ASCII character.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || !byte.is_ascii()
}
