//! Reading the outline of a trace that may be larger than memory.

use crate::convert::{failure, rows};
use crate::feeding::{Feeding, ReadsText, feeding_methods};
use crate::outlines::EngineOutline;
use crate::segments::ParsedPiece;
use js_sys::Array;
use kinetoscope_core::base::diagnostics::Diagnostics;
use kinetoscope_core::base::error::Error;
use kinetoscope_core::outline::{Outline, OutlinePart, OutlineReader};
use kinetoscope_core::trace::read::limits::Limits;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// The size of a piece of text in bytes. A window reads or passes over complete pieces.
const PIECE: usize = 1 << 20;

/// Reads an outline in pieces, which are larger than most chunks.
#[derive(Default)]
struct InPieces {
    reader: OutlineReader,
    piece: Vec<u8>,
}

impl InPieces {
    fn flush(&mut self) -> Result<(), Error> {
        let InPieces { reader, piece } = self;
        match OutlinePart::parse(piece, Limits::default()) {
            Some(part) => drop(reader.feed_parsed(piece, &part)?),
            None => reader.feed(piece)?,
        }
        piece.clear();
        Ok(())
    }
}

/// Parses the events in a piece of text that may be cut anywhere to their totals, for [`Outlining::splice`] in the engine of another
/// thread. Returns `undefined` if none is found.
#[wasm_bindgen]
pub fn parse_part(text: &[u8]) -> Option<ParsedPiece> {
    OutlinePart::parse(text, Limits::default()).map(|part| ParsedPiece::new(part.range(), &part.encode()))
}

impl ReadsText for InPieces {
    type Read = Outline;

    fn feed(&mut self, text: &[u8]) -> Result<(), Error> {
        if self.piece.is_empty() && !self.reader.takes_parts() {
            return self.reader.feed(text);
        }
        self.piece.extend_from_slice(text);
        if self.piece.len() < PIECE { Ok(()) } else { self.flush() }
    }

    fn finish(mut self) -> Result<(Outline, Diagnostics), Error> {
        self.flush()?;
        self.reader.finish()
    }
}

/// An outline that is being read, in the same way as [`Reading`](crate::reading::Reading).
#[wasm_bindgen]
#[derive(Default)]
pub struct Outlining {
    feeding: Feeding<InPieces>,
}

feeding_methods!(Outlining);

#[wasm_bindgen]
impl Outlining {
    /// Creates a reader.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Outlining {
        Outlining::default()
    }

    /// The number of events read so far.
    pub fn events(&self) -> f64 {
        self.feeding.reader.reader.events() as f64
    }

    /// The totals so far, at most `limit` of each kind.
    ///
    /// # Errors
    /// As [`rows`].
    pub fn totals(&self, limit: usize) -> Result<Array, JsValue> {
        rows(&self.feeding.reader.reader.outline().rows(Some(limit)))
    }

    /// Whether the following text can be passed in pieces with [`Outlining::splice`].
    pub fn takes_segments(&self) -> bool {
        let Feeding { reader, unpacker, skip, .. } = &self.feeding;
        reader.reader.takes_parts() && *skip == 0 && !unpacker.is_compressed()
    }

    /// Takes the totals of a part without its text, as [`Reading::splice`](crate::reading::Reading::splice).
    ///
    /// # Errors
    /// Returns an error if the bytes are not those of a part.
    pub fn splice(&mut self, part: &[u8]) -> Result<bool, JsValue> {
        let part = OutlinePart::decode(part)
            .ok_or_else(|| failure(&Error::BadOption("the bytes are not those of a part".to_owned())))?;
        let InPieces { reader, piece } = &mut self.feeding.reader;
        reader.feed(piece).map_err(|e| failure(&e))?;
        piece.clear();
        let is_spliced = reader.splice(&part);
        if is_spliced {
            self.feeding.bytes += part.range().len() as u64;
        }
        Ok(is_spliced)
    }

    /// Whether the memory limit was reached: never.
    pub fn is_full(&self) -> bool {
        false
    }

    /// Ends the input.
    ///
    /// # Errors
    /// Returns an error if the input is not a Chrome trace.
    pub fn finish(self) -> Result<EngineOutline, JsValue> {
        let (outline, diagnostics) = self.feeding.finish().map_err(|e| failure(&e))?;
        Ok(EngineOutline::new(outline, diagnostics))
    }
}
