//! Writes a trace piece by piece, so that the complete output is never held in memory.

use crate::trace::Trace;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// Output that is written piece by piece.
pub(super) trait Pieces {
    /// Appends the next piece to `out` and returns whether another one follows.
    fn next(&mut self, trace: &Trace, out: &mut Vec<u8>) -> bool;
}

/// Text that is written piece by piece.
pub(super) trait TextPieces {
    /// Appends the next piece to `out` and returns whether another one follows.
    fn next(&mut self, trace: &Trace, out: &mut String) -> bool;
}

/// Text as bytes.
struct Text<P> {
    pieces: P,
    piece: String,
}

impl<P: TextPieces> Pieces for Text<P> {
    fn next(&mut self, trace: &Trace, out: &mut Vec<u8>) -> bool {
        self.piece.clear();
        let more = self.pieces.next(trace, &mut self.piece);
        out.extend_from_slice(self.piece.as_bytes());
        more
    }
}

/// An export in progress.
pub struct Writing {
    pieces: Box<dyn Pieces>,
    /// The number of events that are written; `None` if that is all of them.
    pub kept: Option<usize>,
    /// What to tell the user about an option that has no effect.
    pub hint: Option<String>,
}

impl Writing {
    pub(super) fn new(pieces: impl Pieces + 'static) -> Writing {
        Writing { pieces: Box::new(pieces), kept: None, hint: None }
    }

    pub(super) fn text(pieces: impl TextPieces + 'static) -> Writing {
        Writing::new(Text { pieces, piece: String::new() })
    }

    /// Returns the same export with the number of events that are written.
    pub(super) fn keeping(self, kept: Option<usize>) -> Writing {
        Writing { kept, ..self }
    }

    /// Returns the same export with a hint.
    pub(super) fn with_hint(self, hint: Option<String>) -> Writing {
        Writing { hint, ..self }
    }

    /// Appends the next piece, of about [`PIECE`] bytes, to `out` and returns whether another one follows. `trace` must
    /// be the trace that the export was started with.
    pub fn next(&mut self, trace: &Trace, out: &mut Vec<u8>) -> bool {
        self.pieces.next(trace, out)
    }
}

/// The approximate size of a piece, in bytes.
pub const PIECE: usize = 256 << 10;

/// A text that is already complete.
pub(super) struct CompleteText {
    text: String,
    written: usize,
}

impl CompleteText {
    pub(super) fn new(text: String) -> CompleteText {
        CompleteText { text, written: 0 }
    }
}

impl Pieces for CompleteText {
    fn next(&mut self, _: &Trace, out: &mut Vec<u8>) -> bool {
        let end = self.text.len().min(self.written + PIECE);
        out.extend_from_slice(&self.text.as_bytes()[self.written..end]);
        self.written = end;
        end < self.text.len()
    }
}
