//! Writing a trace a piece at a time, so that nobody holds the whole text.

use crate::trace::Trace;
use alloc::boxed::Box;
use alloc::string::String;

/// What can be written a piece at a time.
pub(super) trait Pieces {
    /// Appends the next piece to `out`, and tells whether another one follows.
    fn next(&mut self, trace: &Trace, out: &mut String) -> bool;
}

/// A writing that has begun.
pub struct Writing {
    pieces: Box<dyn Pieces>,
    /// How many events are written, where not all of them are.
    pub kept: Option<usize>,
}

impl Writing {
    pub(super) fn new(pieces: impl Pieces + 'static) -> Writing {
        Writing { pieces: Box::new(pieces), kept: None }
    }

    /// As it is, with the number of events that are written.
    pub(super) fn keeping(self, kept: Option<usize>) -> Writing {
        Writing { kept, ..self }
    }

    /// Appends the next piece, of about [`PIECE`] bytes, to `out`, and tells whether another one follows. The trace is
    /// the one that the writing began with.
    pub fn next(&mut self, trace: &Trace, out: &mut String) -> bool {
        self.pieces.next(trace, out)
    }
}

/// About how long a piece is, in bytes.
pub const PIECE: usize = 256 << 10;

/// A text that is there already.
pub(super) struct Whole {
    text: String,
    written: usize,
}

impl Whole {
    pub(super) fn new(text: String) -> Whole {
        Whole { text, written: 0 }
    }
}

impl Pieces for Whole {
    fn next(&mut self, _: &Trace, out: &mut String) -> bool {
        let mut end = self.text.len().min(self.written + PIECE);
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        out.push_str(&self.text[self.written..end]);
        self.written = end;
        end < self.text.len()
    }
}
