//! Repairing a damaged trace in one pass.

use crate::convert::failure;
use js_sys::Uint8Array;
use kinetoscope_core::output::write::repair::Repairer;
use kinetoscope_core::trace::read::unpack::Unpacker;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// A repair in progress.
#[wasm_bindgen]
pub struct Repairing {
    repairer: Repairer<String>,
}

impl Default for Repairing {
    fn default() -> Self {
        Repairing { repairer: Repairer::new(Unpacker::default(), String::new()) }
    }
}

#[wasm_bindgen]
impl Repairing {
    /// Creates a repair.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Repairing {
        Repairing::default()
    }

    /// Reads the next chunk of the file and returns the text of the events that it completes.
    ///
    /// # Errors
    /// Returns an error if the bytes cannot become a trace.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<Uint8Array, JsValue> {
        self.repairer.feed(chunk).map_err(|e| failure(&e))?;
        let text = self.repairer.output();
        let bytes = Uint8Array::from(text.as_bytes());
        text.clear();
        Ok(bytes)
    }

    /// Ends the input and returns the rest of the text.
    ///
    /// # Errors
    /// Returns an error if the input has no trace.
    pub fn finish(self) -> Result<Uint8Array, JsValue> {
        let (text, _) = self.repairer.finish().map_err(|e| failure(&e))?;
        Ok(Uint8Array::from(text.as_bytes()))
    }
}
