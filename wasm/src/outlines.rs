//! The outline of a trace that may be larger than memory, and reading windows of the trace.

use crate::convert::{diagnostics, failure, rows, text};
use crate::feeding::{Feeding, ReadsText, feeding_methods};
use crate::reading::{ChosenRules, finish, limits};
use crate::trace::EngineTrace;
use js_sys::{Array, Float32Array, Function};
use kinetoscope_core::base::diagnostics::Diagnostics;
use kinetoscope_core::base::error::Error;
use kinetoscope_core::outline::{Outline, WindowReader};
use kinetoscope_core::output::document::Document;
use kinetoscope_core::trace::table::events::Table;
use kinetoscope_core::trace::table::tracks::TrackId;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

impl ReadsText for WindowReader {
    type Read = Table;

    fn feed(&mut self, text: &[u8]) -> Result<(), Error> {
        self.feed(text)
    }

    fn finish(self) -> Result<(Table, Diagnostics), Error> {
        self.finish()
    }
}

/// The outline of a trace.
#[wasm_bindgen]
pub struct EngineOutline {
    outline: Outline,
    diagnostics: Diagnostics,
}

impl EngineOutline {
    pub(crate) fn new(outline: Outline, diagnostics: Diagnostics) -> EngineOutline {
        EngineOutline { outline, diagnostics }
    }
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
            of_text: self.diagnostics.clone(),
        }
    }
}

/// A window that is being read, in the same way as [`Reading`](crate::reading::Reading).
#[wasm_bindgen]
pub struct WindowReading {
    feeding: Feeding<WindowReader>,
    /// The diagnostics of the complete text.
    of_text: Diagnostics,
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
        step_rules: Option<String>,
        steps_from: Option<Function>,
    ) -> Result<EngineTrace, JsValue> {
        let rules = ChosenRules { torch_version, kernel_rules, step_rules, steps_from };
        finish(rules, self.feeding, &self.of_text).map_err(|e| failure(&e))
    }
}
