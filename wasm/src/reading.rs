//! Reading a trace in chunks.

use crate::convert::{failure, rows};
use crate::growth::Growth;
use crate::trace::EngineTrace;
use js_sys::Array;
use kinetoscope_core::analysis::overview::preview::Preview;
use kinetoscope_core::error::Error;
use kinetoscope_core::kernel_rules::KernelRules;
use kinetoscope_core::read::limits::Limits;
use kinetoscope_core::read::unpack::Unpacker;
use kinetoscope_core::trace::{TextReader, Trace};
use kinetoscope_core::versions::Rules;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// A trace that is being read.
///
/// Pass the bytes of the file to [`Reading::feed`], or the text to [`Reading::feed_text`] if the platform decompresses.
/// If the platform fails on damaged compressed bytes, call [`Reading::start_over`] and pass the complete file to
/// [`Reading::feed`]. This reads the text that the platform did not return, and counts the damage.
#[wasm_bindgen]
pub struct Reading {
    pub(crate) unpacker: Unpacker,
    pub(crate) text: Text,
    preview: Preview,
    pub(crate) growth: Growth,
}

pub(crate) struct Text {
    pub(crate) reader: TextReader,
    pub(crate) bytes: u64,
    /// The number of bytes of text that were read already and are skipped.
    pub(crate) skip: u64,
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
    /// Creates a reader. Reading stops before the trace would hold more than `memory_limit` bytes.
    #[wasm_bindgen(constructor)]
    pub fn new(memory_limit: f64) -> Reading {
        let limits = Limits::default().with_memory_bytes(memory_limit as usize);
        let text = Text { reader: TextReader::new(limits), bytes: 0, skip: 0 };
        Reading {
            unpacker: Unpacker::default(),
            text,
            preview: Preview::default(),
            growth: Growth::default(),
        }
    }

    /// Reads the next chunk of the file.
    ///
    /// # Errors
    /// Returns an error if the bytes cannot become a trace.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<(), JsValue> {
        self.growth.step();
        self.unpacker.feed(chunk, &mut |text: &[u8]| self.text.feed(text)).map_err(|e| failure(&e))
    }

    /// Reads the next chunk of decompressed text.
    ///
    /// # Errors
    /// Returns an error if the bytes cannot become a trace.
    pub fn feed_text(&mut self, text: &[u8]) -> Result<(), JsValue> {
        self.growth.step();
        self.text.feed(text).map_err(|e| failure(&e))
    }

    /// Prepares for the file to be passed again from its first byte. The text that was read already is skipped.
    pub fn start_over(&mut self) {
        self.unpacker = Unpacker::default();
        self.text.skip = self.text.bytes;
    }

    /// The number of bytes of text read so far.
    pub fn text_bytes(&self) -> f64 {
        self.text.bytes as f64
    }

    /// The number of events read so far.
    pub fn events(&self) -> usize {
        self.text.reader.table().len()
    }

    /// Whether the memory limit was reached. Further input is ignored.
    pub fn is_full(&self) -> bool {
        self.text.reader.is_full()
    }

    /// The preview of the events so far, as one row.
    ///
    /// # Errors
    /// As [`rows`].
    pub fn preview(&mut self) -> Result<Array, JsValue> {
        let table = self.text.reader.table();
        self.preview.update(table);
        rows(&self.preview.rows(table))
    }

    /// Ends the input, then pairs, nests and links the events. `torch_version` replaces the version of PyTorch that
    /// the trace shows. `kernel_rules` are lines of rules for the categories of kernels, before the built-in ones.
    ///
    /// # Errors
    /// Returns an error if the input has no trace, the version is none, or a rule is malformed.
    pub fn finish(
        self,
        torch_version: Option<String>,
        kernel_rules: Option<String>,
    ) -> Result<EngineTrace, JsValue> {
        let rules =
            torch_version.map(|version| Rules::of_version(&version)).transpose().map_err(|e| failure(&e))?;
        let kernel_rules = KernelRules::parse(&kernel_rules.unwrap_or_default()).map_err(|e| failure(&e))?;
        let Reading { unpacker, mut text, .. } = self;
        let unpacking = unpacker.finish(&mut |plain: &[u8]| text.feed(plain)).map_err(|e| failure(&e))?;
        let (table, mut diagnostics) = text.reader.finish().map_err(|e| failure(&e))?;
        diagnostics.append(&unpacking);
        let mut trace = Trace::new(table, diagnostics);
        trace.rules = rules.unwrap_or(trace.rules);
        trace.kernel_rules = kernel_rules;
        Ok(EngineTrace::new(trace))
    }
}
