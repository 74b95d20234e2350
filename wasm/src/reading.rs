//! Bytes into a trace, in chunks.

use crate::convert::{failure, rows};
use crate::trace::EngineTrace;
use js_sys::Array;
use kinetoscope_core::analysis::overview::preview::Preview;
use kinetoscope_core::error::Error;
use kinetoscope_core::read::limits::Limits;
use kinetoscope_core::read::unpack::Unpacker;
use kinetoscope_core::trace::{TextReader, Trace};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// A trace that is being read.
///
/// The bytes of the file are fed to [`Reading::feed`]; where the platform has undone the compression, the text is fed to
/// [`Reading::feed_text`]. When the platform gives up on damaged compressed bytes, [`Reading::start_over`] and the whole
/// file again to [`Reading::feed`] read what the platform kept for itself, and count the damage.
#[wasm_bindgen]
pub struct Reading {
    unpacker: Unpacker,
    text: Text,
    preview: Preview,
}

struct Text {
    reader: TextReader,
    bytes: u64,
    /// How much of the text was read already, and is passed over.
    skip: u64,
}

impl Text {
    fn feed(&mut self, text: &[u8]) -> Result<(), Error> {
        let skip = self.skip.min(text.len() as u64) as usize;
        self.skip -= skip as u64;
        let text = &text[skip..];
        self.bytes += text.len() as u64;
        self.reader.feed(text)
    }
}

#[wasm_bindgen]
impl Reading {
    /// Begins; reading stops before the trace would hold more than so many bytes of memory.
    #[wasm_bindgen(constructor)]
    pub fn new(memory_limit: f64) -> Reading {
        let limits = Limits::default().with_memory_bytes(memory_limit as usize);
        let text = Text { reader: TextReader::new(limits), bytes: 0, skip: 0 };
        Reading { unpacker: Unpacker::default(), text, preview: Preview::default() }
    }

    /// Reads one more chunk of the file.
    ///
    /// # Errors
    /// When the bytes cannot become a trace.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<(), JsValue> {
        self.unpacker.feed(chunk, &mut |text: &[u8]| self.text.feed(text)).map_err(|e| failure(&e))
    }

    /// Reads one more chunk of decompressed text.
    ///
    /// # Errors
    /// When the bytes cannot become a trace.
    pub fn feed_text(&mut self, text: &[u8]) -> Result<(), JsValue> {
        self.text.feed(text).map_err(|e| failure(&e))
    }

    /// The file will be fed again from its first byte; the text that was read already is passed over.
    pub fn start_over(&mut self) {
        self.unpacker = Unpacker::default();
        self.text.skip = self.text.bytes;
    }

    /// Bytes of text read so far.
    pub fn text_bytes(&self) -> f64 {
        self.text.bytes as f64
    }

    /// Events read so far.
    pub fn events(&self) -> usize {
        self.text.reader.table().len()
    }

    /// The memory limit was reached: nothing more will be read.
    pub fn is_full(&self) -> bool {
        self.text.reader.is_full()
    }

    /// The numbers so far, as one row.
    ///
    /// # Errors
    /// As [`rows`].
    pub fn preview(&mut self) -> Result<Array, JsValue> {
        let table = self.text.reader.table();
        self.preview.update(table);
        rows(&self.preview.rows(table))
    }

    /// Ends the input and does everything that needs the whole of it.
    ///
    /// # Errors
    /// When no trace was found.
    pub fn finish(self) -> Result<EngineTrace, JsValue> {
        let Reading { unpacker, mut text, .. } = self;
        let unpacking = unpacker.finish(&mut |plain: &[u8]| text.feed(plain)).map_err(|e| failure(&e))?;
        let (table, mut diagnostics) = text.reader.finish().map_err(|e| failure(&e))?;
        diagnostics.append(&unpacking);
        Ok(EngineTrace::new(Trace::new(table, diagnostics)))
    }
}
