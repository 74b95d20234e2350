//! Exports of a trace, one piece at a time.

use js_sys::Uint8Array;
use kinetoscope_core::queries::writing::Writing;
use kinetoscope_core::trace::Trace;
use std::rc::Rc;
use wasm_bindgen::prelude::wasm_bindgen;

/// An export in progress.
#[wasm_bindgen]
pub struct EngineWriting {
    trace: Rc<Trace>,
    writing: Writing,
    piece: Vec<u8>,
    more: bool,
}

impl EngineWriting {
    pub(crate) fn new(trace: Rc<Trace>, writing: Writing) -> EngineWriting {
        EngineWriting { trace, writing, piece: Vec::new(), more: true }
    }
}

#[wasm_bindgen]
impl EngineWriting {
    /// The next bytes; `undefined` after the last ones.
    #[wasm_bindgen(js_name = "next")]
    pub fn next_piece(&mut self) -> Option<Uint8Array> {
        if !self.more {
            return None;
        }
        self.piece.clear();
        self.more = self.writing.next(&self.trace, &mut self.piece);
        Some(Uint8Array::from(self.piece.as_slice()))
    }
}
