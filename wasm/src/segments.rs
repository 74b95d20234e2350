//! Parsing pieces of text in engines of other threads.

use crate::convert::failure;
use crate::feeding::Feeding;
use crate::reading::Reading;
use js_sys::Uint8Array;
use kinetoscope_core::base::error::Error;
use kinetoscope_core::trace::read::limits::Limits;
use kinetoscope_core::trace::read::segment::Segment;
use std::ops::Range;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// What was parsed of a piece of text.
#[wasm_bindgen]
pub struct ParsedPiece {
    range: Range<usize>,
    bytes: Uint8Array,
}

impl ParsedPiece {
    /// Creates it from the part of the text that has the events, and what became of them as bytes.
    pub(crate) fn new(range: Range<usize>, bytes: &[u8]) -> ParsedPiece {
        ParsedPiece { range, bytes: Uint8Array::from(bytes) }
    }
}

#[wasm_bindgen]
impl ParsedPiece {
    /// The position in the text at which the first event begins.
    pub fn start(&self) -> usize {
        self.range.start
    }

    /// The position in the text after the last event.
    pub fn end(&self) -> usize {
        self.range.end
    }

    /// What became of the events, encoded.
    pub fn encoded(&self) -> Uint8Array {
        self.bytes.clone()
    }
}

/// Parses the events in a piece of text that may be cut anywhere, for [`Reading::splice`] in the engine of another thread. Returns
/// `undefined` if none is found.
#[wasm_bindgen]
pub fn parse_segment(text: &[u8]) -> Option<ParsedPiece> {
    let segment = Segment::parse(text, Limits::default())?;
    Some(ParsedPiece::new(segment.range(), &segment.encode()))
}

#[wasm_bindgen]
impl Reading {
    /// Whether the following text can be passed in pieces with [`Reading::splice`].
    pub fn takes_segments(&self) -> bool {
        let Feeding { reader, unpacker, skip, .. } = &self.feeding;
        reader.takes_segments() && *skip == 0 && !unpacker.is_compressed()
    }

    /// Appends the events of a segment without their text, if the reader is where its first event begins. Returns whether it did;
    /// if not, the text must be passed.
    ///
    /// # Errors
    /// Returns an error if the bytes are not those of a segment.
    pub fn splice(&mut self, segment: Vec<u8>) -> Result<bool, JsValue> {
        let segment = Segment::decode(segment)
            .ok_or_else(|| failure(&Error::BadOption("the bytes are not those of a segment".to_owned())))?;
        let is_spliced = self.feeding.reader.splice(&segment);
        if is_spliced {
            self.feeding.bytes += segment.range().len() as u64;
        }
        Ok(is_spliced)
    }
}
