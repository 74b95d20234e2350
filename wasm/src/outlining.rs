//! Outlines of traces that may be larger than memory, and reading windows of them.

use crate::convert::{diagnostics, failure, rows, text};
use crate::feeding::{Feeding, ReadsText, feeding_methods};
use crate::reading::{finish, limits};
use crate::trace::EngineTrace;
use js_sys::{Array, Float32Array, Uint8Array};
use kinetoscope_core::diagnostics::Diagnostics;
use kinetoscope_core::error::Error;
use kinetoscope_core::outline::{Outline, OutlineReader, Part, WindowReader};
use kinetoscope_core::read::limits::Limits;
use kinetoscope_core::report::document::Document;
use kinetoscope_core::table::tracks::TrackId;
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
        match Part::parse(piece, Limits::default()) {
            Some(part) => drop(reader.feed_parsed(piece, &part)?),
            None => reader.feed(piece)?,
        }
        piece.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<(Outline, Diagnostics), Error> {
        self.flush()?;
        self.reader.finish()
    }
}

/// The totals of a piece of text, for [`Outlining::splice`] in the engine of another thread.
#[wasm_bindgen]
pub struct ParsedPart {
    part: Part,
}

/// Parses the events in a piece of text that may be cut anywhere. Returns `undefined` if none is found.
#[wasm_bindgen]
pub fn parse_part(text: &[u8]) -> Option<ParsedPart> {
    Part::parse(text, Limits::default()).map(|part| ParsedPart { part })
}

#[wasm_bindgen]
impl ParsedPart {
    /// The position in the text at which the first event begins.
    pub fn start(&self) -> usize {
        self.part.range().start
    }

    /// The position in the text after the last event.
    pub fn end(&self) -> usize {
        self.part.range().end
    }

    /// The totals, encoded.
    pub fn encode(&self) -> Uint8Array {
        Uint8Array::from(self.part.encode().as_slice())
    }
}

impl ReadsText for InPieces {
    fn feed(&mut self, text: &[u8]) -> Result<(), Error> {
        if self.piece.is_empty() && !self.reader.takes_parts() {
            return self.reader.feed(text);
        }
        self.piece.extend_from_slice(text);
        if self.piece.len() < PIECE { Ok(()) } else { self.flush() }
    }
}

impl ReadsText for WindowReader {
    fn feed(&mut self, text: &[u8]) -> Result<(), Error> {
        self.feed(text)
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
        self.feeding.growth.step();
        let part = Part::decode(part)
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
        let read = || -> Result<EngineOutline, Error> {
            let (reader, unpacking) = self.feeding.finish()?;
            let (outline, mut diagnostics) = reader.finish()?;
            diagnostics.append(&unpacking);
            Ok(EngineOutline { outline, diagnostics })
        };
        read().map_err(|e| failure(&e))
    }
}

/// The outline of a trace.
#[wasm_bindgen]
pub struct EngineOutline {
    outline: Outline,
    diagnostics: Diagnostics,
}

#[wasm_bindgen]
impl EngineOutline {
    /// The number of events.
    pub fn events(&self) -> f64 {
        self.outline.events() as f64
    }

    /// The earliest start and the latest end of the events, in ns after the start of the recording; 0 and 0 if none has a time.
    pub fn time(&self) -> Vec<f64> {
        let start = self.outline.start_ns();
        let (first, last) = self.outline.all().time.unwrap_or((start, start));
        [first, last].map(|ns| ns.saturating_sub(start) as f64).to_vec()
    }

    /// The totals, at most `limit` of each kind.
    ///
    /// # Errors
    /// As [`rows`].
    pub fn rows(&self, limit: Option<usize>) -> Result<Array, JsValue> {
        rows(&self.outline.rows(limit))
    }

    /// The document that `kinetoscope outline --format json` prints.
    ///
    /// # Errors
    /// Returns an error if the text is too long.
    pub fn json(&self, name: &str, limit: Option<usize>) -> Result<String, JsValue> {
        let mut document = Document::new("outline");
        document.add_outline(name, &self.outline, &self.diagnostics, &self.outline.rows(limit));
        text(document.finish())
    }

    /// The tracks.
    ///
    /// # Errors
    /// As [`rows`].
    pub fn tracks(&self) -> Result<Array, JsValue> {
        rows(&self.outline.track_rows())
    }

    /// The diagnostics of the file.
    pub fn diagnostics(&self) -> JsValue {
        diagnostics(&self.diagnostics)
    }

    /// The mean number of events of a track that last in each pixel between two times.
    ///
    /// # Errors
    /// Returns an error if there is no such track.
    pub fn density(&self, track: u32, start: f64, end: f64, pixels: u32) -> Result<Float32Array, JsValue> {
        let tracks = self.outline.track_count();
        if track as usize >= tracks {
            return Err(failure(&Error::BadOption(format!("track {track}: the trace has {tracks} tracks"))));
        }
        let means = self.outline.density(TrackId(track), (start as i64, end as i64), pixels as usize);
        Ok(Float32Array::from(means.as_slice()))
    }

    /// About how many events begin between two times.
    pub fn events_within(&self, start: f64, end: f64) -> f64 {
        self.outline.events_within((start as i64, end as i64)) as f64
    }

    /// Begins to read the events that overlap a window, between two times. Reading stops before the trace would hold more than
    /// `memory_limit` bytes.
    pub fn window(&self, start: f64, end: f64, memory_limit: f64) -> WindowReading {
        let window = (start as i64, end as i64);
        WindowReading {
            feeding: Feeding::new(WindowReader::new(&self.outline, window, limits(memory_limit))),
        }
    }
}

/// A window that is being read, in the same way as [`Reading`](crate::reading::Reading).
#[wasm_bindgen]
pub struct WindowReading {
    feeding: Feeding<WindowReader>,
}

feeding_methods!(WindowReading);

#[wasm_bindgen]
impl WindowReading {
    /// The number of events so far, with those that were passed over.
    pub fn events(&self) -> usize {
        self.feeding.reader.events()
    }

    /// Whether the memory limit was reached. Further input is ignored.
    pub fn is_full(&self) -> bool {
        self.feeding.reader.is_full()
    }

    /// The number of following bytes of the file that need not be passed: call [`WindowReading::skip`] instead. Always 0 if the file is
    /// compressed.
    pub fn skippable(&self) -> f64 {
        if self.feeding.unpacker.is_plain() { self.feeding.reader.skippable() as f64 } else { 0.0 }
    }

    /// Continues after the bytes that need not be passed.
    pub fn skip(&mut self) {
        let bytes = self.feeding.reader.skippable();
        self.feeding.reader.skip(bytes);
        self.feeding.bytes += bytes;
    }

    /// Ends the input, as [`Reading::finish`](crate::reading::Reading::finish).
    ///
    /// # Errors
    /// Returns an error if the file is not that of the outline, the version is none, or a rule is malformed.
    pub fn finish(
        self,
        torch_version: Option<String>,
        kernel_rules: Option<String>,
    ) -> Result<EngineTrace, JsValue> {
        finish(torch_version, kernel_rules, || {
            let (reader, unpacking) = self.feeding.finish()?;
            let (table, mut diagnostics) = reader.finish()?;
            diagnostics.append(&unpacking);
            Ok((table, diagnostics))
        })
        .map_err(|e| failure(&e))
    }
}
