//! Reading an outline.

use super::{Block, Outline, OutlinePart, Times};
use crate::base::diagnostics::Diagnostics;
use crate::base::error::Error;
use crate::trace::TextReader;
use crate::trace::read::limits::Limits;
use crate::trace::samples::lines;
use crate::trace::table::metadata::Source;
use alloc::string::ToString;
use core::mem::take;
use core::ops::Range;

/// Reads the outline of a trace from chunks of decompressed text.
#[derive(Clone, Debug, Default)]
pub struct OutlineReader {
    text: TextReader,
    /// The number of bytes of text so far.
    offset: u64,
    outline: Outline,
    /// The number and the times of the events since the last block.
    between: (usize, Times),
}

impl OutlineReader {
    /// Creates a reader with these limits.
    pub fn new(limits: Limits) -> OutlineReader {
        OutlineReader { text: TextReader::new(limits), ..OutlineReader::default() }
    }

    /// The number of events so far.
    pub fn events(&self) -> u64 {
        self.outline.events()
    }

    /// The outline of the events so far.
    pub fn outline(&self) -> &Outline {
        &self.outline
    }

    /// Whether [`OutlineReader::feed_parsed`] uses parts.
    pub fn takes_parts(&self) -> bool {
        self.text.takes_segments()
    }

    /// Reads the next chunk of text.
    ///
    /// # Errors
    /// As [`TextReader::feed`], and [`Error::Unfit`] if the input is not a Chrome trace.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<(), Error> {
        self.text.feed(chunk)?;
        self.offset += chunk.len() as u64;
        self.fold()
    }

    /// Does the same with the result of [`OutlinePart::parse`] for this chunk and the same limits. Returns whether that saved parsing its
    /// events again.
    ///
    /// # Errors
    /// As [`OutlineReader::feed`].
    pub fn feed_parsed(&mut self, chunk: &[u8], part: &OutlinePart) -> Result<bool, Error> {
        let Range { start, end } = part.range;
        let (before, rest) = chunk.split_at_checked(start).unwrap_or((chunk, &[]));
        self.feed(before)?;
        let passes = end <= chunk.len() && self.splice(part);
        self.feed(if passes { &chunk[end..] } else { rest })?;
        Ok(passes)
    }

    /// Takes a part without its text, if the reader is where its first event begins. Returns whether it did; if not, the text must be
    /// passed.
    pub fn splice(&mut self, part: &OutlinePart) -> bool {
        let (bytes, rows) = (part.range.len() as u64, part.outline.elements());
        let passes = self.text.pass_over(bytes, rows, &part.diagnostics);
        if passes {
            self.add_block(part);
        }
        passes
    }

    fn add_block(&mut self, part: &OutlinePart) {
        let range = self.offset..self.offset + part.range.len() as u64;
        self.offset = range.end;
        self.outline.append(&part.outline);
        let (events, time) = (part.outline.elements(), part.outline.times());
        self.outline.blocks.push(Block { range, events, time, before: take(&mut self.between) });
    }

    /// Takes the events that were read as text.
    fn fold(&mut self) -> Result<(), Error> {
        if self.text.is_binary() || self.text.table().metadata.source != Source::Chrome {
            return Err(unfit());
        }
        if !self.text.table().is_empty() {
            let outline = Outline::from_table(self.text.table());
            self.outline.append(&outline);
            self.between.0 += outline.elements();
            self.between.1.add(outline.times());
            self.text.clear_events();
        }
        Ok(())
    }

    /// Ends the text.
    ///
    /// # Errors
    /// As [`TextReader::finish`], and [`Error::Unfit`] if the input is not a Chrome trace.
    pub fn finish(self) -> Result<(Outline, Diagnostics), Error> {
        let OutlineReader { text, mut outline, .. } = self;
        let (table, mut diagnostics) = text.finish()?;
        if table.metadata.source != Source::Chrome {
            return Err(unfit());
        }
        outline.append(&Outline::from_table(&table));
        lines::are_no_events(&mut diagnostics, outline.lines);
        Ok((outline, diagnostics))
    }
}

/// The error for other formats.
fn unfit() -> Error {
    Error::Unfit(
        "an outline is of a Chrome trace: this is another format, which is read as a whole".to_string(),
    )
}
