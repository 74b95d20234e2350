//! Answers that are written in pieces, because they do not fit into one string.

use crate::convert::failure;
use js_sys::Uint8Array;
use kinetoscope_core::base::error::Error;
use kinetoscope_core::base::rows::{Cell, Rows};
use std::mem::take;
use std::vec::IntoIter;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// The number of rows in a piece.
const ROWS: usize = 1 << 10;

/// What the document ends with after its rows.
const END: &str = "\n]}\n";

#[derive(Clone, Copy)]
enum Form {
    Json,
    Csv,
}

/// An answer in progress. Rows that were written are freed.
#[wasm_bindgen]
pub struct EngineAnswer {
    form: Form,
    /// The text before the next rows.
    before: String,
    columns: Rows,
    rows: IntoIter<Vec<Cell>>,
    ended: bool,
}

impl EngineAnswer {
    /// Begins to write an answer as `json` or `csv`. `document` is the document of the query without rows.
    pub(crate) fn new(
        rows: Rows,
        form: &str,
        document: impl FnOnce(&Rows) -> String,
    ) -> Result<Self, JsValue> {
        let columns = Rows::new(&rows.columns);
        let (form, before) = match form {
            "json" => (Form::Json, document(&columns).trim_end_matches(END).to_owned()),
            "csv" => (Form::Csv, columns.to_csv()),
            _ => return Err(failure(&Error::BadOption(format!("format: expected json or csv, not {form}")))),
        };
        Ok(EngineAnswer { form, before, columns, rows: rows.rows.into_iter(), ended: false })
    }

    fn text_of(&mut self, piece: &Rows) -> String {
        match self.form {
            Form::Json => {
                let objects: Vec<String> = (0..piece.rows.len()).map(|at| piece.json_row(at)).collect();
                objects.join(",\n")
            }
            Form::Csv => piece.to_csv().split_off(self.columns.to_csv().len()),
        }
    }
}

#[wasm_bindgen]
impl EngineAnswer {
    /// The next bytes; `undefined` after the last ones.
    #[wasm_bindgen(js_name = "next")]
    pub fn next_piece(&mut self) -> Option<Uint8Array> {
        if self.ended {
            return None;
        }
        let mut piece = self.columns.clone();
        piece.rows.extend(self.rows.by_ref().take(ROWS));
        let mut text = take(&mut self.before) + &self.text_of(&piece);
        self.ended = self.rows.as_slice().is_empty();
        match (self.form, self.ended) {
            (Form::Json, false) => self.before.push_str(",\n"),
            (Form::Json, true) => text += END,
            (Form::Csv, _) => {}
        }
        Some(Uint8Array::from(text.as_bytes()))
    }
}
