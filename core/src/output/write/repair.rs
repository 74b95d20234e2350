//! Repairs a malformed trace in one pass. Of JSON, only the current event and the distinct texts are held in
//! memory; a binary trace is held as a whole.

use super::chrome::{ChromeWriter, Keep};
use crate::base::diagnostics::Diagnostics;
use crate::base::error::Error;
use crate::trace::TextReader;
use crate::trace::read::unpack::Unpacker;
use core::fmt::Write;

/// What a repair did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// The number of events written.
    pub events: u64,
    /// The diagnostics of the input.
    pub diagnostics: Diagnostics,
}

/// Repairs a trace that is fed in chunks.
pub struct Repairer<W: Write> {
    unpacker: Unpacker,
    text: TextReader,
    writer: ChromeWriter<W, Keep>,
    failed: bool,
}

impl<W: Write> Repairer<W> {
    /// Creates a repairer that decompresses with `unpacker` and writes to `out`.
    pub fn new(unpacker: Unpacker, out: W) -> Self {
        Repairer { unpacker, text: TextReader::default(), writer: ChromeWriter::new(out), failed: false }
    }

    /// Reads the next chunk and writes the events that it completes.
    ///
    /// # Errors
    /// Returns [`Error::NotATrace`] as soon as the bytes cannot become a trace.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<(), Error> {
        let (text, writer, failed) = (&mut self.text, &mut self.writer, &mut self.failed);
        self.unpacker.feed(chunk, &mut |plain| {
            text.feed(plain)?;
            drain(text, writer, failed);
            Ok(())
        })
    }

    /// The output.
    pub fn output(&mut self) -> &mut W {
        self.writer.output()
    }

    /// Ends the input and the output.
    ///
    /// # Errors
    /// Returns [`Error::Empty`] or [`Error::NotATrace`] if the input has no trace, and [`Error::Output`] if writing
    /// failed.
    pub fn finish(mut self) -> Result<(W, Repaired), Error> {
        let (text, writer, failed) = (&mut self.text, &mut self.writer, &mut self.failed);
        let unpacking = self.unpacker.finish(&mut |plain: &[u8]| {
            text.feed(plain)?;
            drain(text, writer, failed);
            Ok(())
        })?;
        let (table, mut diagnostics) = self.text.finish()?;
        diagnostics.append(&unpacking);
        for row in table.rows() {
            self.failed |= self.writer.event(&table, row).is_err();
        }
        let events = self.writer.events();
        let out = self.writer.finish(&table).map_err(|_| Error::Output)?;
        if self.failed { Err(Error::Output) } else { Ok((out, Repaired { events, diagnostics })) }
    }
}

/// Writes the events that were read, and forgets them. Events of binary formats can change until the end of the input.
fn drain<W: Write>(text: &mut TextReader, writer: &mut ChromeWriter<W, Keep>, failed: &mut bool) {
    if text.is_binary() {
        return;
    }
    let table = text.table();
    for row in table.rows() {
        *failed |= writer.event(table, row).is_err();
    }
    text.clear_events();
}
