//! The ranks of a run: summaries, the answers about all of them, and merging their traces.

use crate::convert::{columns, failure, options, rows, text};
use crate::trace::EngineTrace;
use js_sys::{Array, Object, Uint8Array};
use kinetoscope_core::base::error::Error;
use kinetoscope_core::base::rows::{Cell, CellType, Column, Rows};
use kinetoscope_core::output::document;
use kinetoscope_core::output::write::merge::Merger;
use kinetoscope_core::queries::{Answer, Request, query};
use kinetoscope_core::runs::ranks::alignment::Alignment;
use kinetoscope_core::runs::ranks::file::Summaries;
use kinetoscope_core::runs::ranks::query::RanksOptions;
use kinetoscope_core::runs::ranks::run::{Note, NoteCode, Run};
use std::cell::OnceCell;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// The query about a run.
const QUERY: &str = "ranks";

/// The ranks of a run.
#[wasm_bindgen]
#[derive(Default)]
pub struct EngineRun {
    summaries: Summaries,
    notes: Vec<Note>,
    run: Run,
    /// The answer without options, computed on first use. Several views of it are requested one after the other.
    all: OnceCell<Rows>,
}

impl EngineRun {
    fn answer(&self, object: JsValue, for_reading: bool) -> Result<Answer, JsValue> {
        let query = query(QUERY).map_err(|e| failure(&e))?;
        let options = options(query.options, object)?;
        let request = Request::new(&options).for_reading(for_reading).compile_by(crate::expression::compile);
        self.run.answer(request).map_err(|e| failure(&e))
    }

    /// Returns the rows of some kinds, or those of all kinds.
    fn rows_of_kinds(&self, object: JsValue, kinds: Option<&[String]>) -> Result<Rows, JsValue> {
        let has_options = object.is_object() && Object::keys(&Object::from(object.clone())).length() > 0;
        let filtered = if has_options { Some(self.answer(object, false)?.rows) } else { None };
        let all = match &filtered {
            Some(rows) => rows,
            None => self.all.get_or_init(|| self.run.rows(&RanksOptions::default())),
        };
        let Some(kinds) = kinds else { return Ok(all.clone()) };
        check_kinds(&all.columns, kinds)?;
        let is_wanted = |row: &&Vec<Cell>| {
            let kind = if let Some(Cell::Text(kind)) = row.first() { &**kind } else { "" };
            kinds.iter().any(|wanted| wanted == kind)
        };
        let mut rows = Rows::new(&all.columns);
        rows.rows = all.rows.iter().filter(is_wanted).cloned().collect();
        Ok(rows)
    }
}

/// Checks that each of `kinds` is a kind of row.
fn check_kinds(columns: &[Column], kinds: &[String]) -> Result<(), JsValue> {
    let known = columns.iter().find_map(|column| match column.kind {
        CellType::Word(vocabulary) if column.key == "kind" => Some(vocabulary.words),
        _ => None,
    });
    let known = known.unwrap_or_default();
    match kinds.iter().find(|kind| !known.contains(&kind.as_str())) {
        None if !kinds.is_empty() => Ok(()),
        other => {
            let other = other.map_or("none is given".to_owned(), |kind| format!("there is no kind {kind}"));
            Err(failure(&Error::BadOption(format!("kinds: {other}; the kinds are: {}", known.join(", ")))))
        }
    }
}

#[wasm_bindgen]
impl EngineRun {
    /// Creates a run without ranks.
    #[wasm_bindgen(constructor)]
    pub fn new() -> EngineRun {
        EngineRun::default()
    }

    /// Adds the summaries in a file of summaries.
    ///
    /// # Errors
    /// Returns an error if the file is damaged or of a newer version.
    pub fn add(&mut self, file: &[u8]) -> Result<(), JsValue> {
        self.summaries.read(file).map_err(|e| failure(&e))
    }

    /// Adds a note about a source that has no summary. `is_other` if it is a file of another kind.
    pub fn note(&mut self, is_other: bool, message: String) {
        let code = if is_other { NoteCode::Skipped } else { NoteCode::Unreadable };
        self.notes.push(Note::new(code, message));
    }

    /// Matches the ranks. Returns their number.
    pub fn finish(&mut self) -> usize {
        self.run = Run::new(self.summaries.clone(), core::mem::take(&mut self.notes));
        self.all = OnceCell::new();
        self.run.len()
    }

    /// All summaries as one file.
    pub fn file(&self) -> Uint8Array {
        Uint8Array::from(self.summaries.to_file().as_slice())
    }

    /// The rows of the query `ranks`, of all kinds or of these.
    ///
    /// # Errors
    /// Returns an error if an option is invalid or there is no such kind.
    #[expect(clippy::needless_pass_by_value, reason = "wasm-bindgen passes strings by value")]
    pub fn rows(&self, options: JsValue, kinds: Option<Vec<String>>) -> Result<Array, JsValue> {
        rows(&self.rows_of_kinds(options, kinds.as_deref())?)
    }

    /// The same as columns.
    ///
    /// # Errors
    /// As [`EngineRun::rows`].
    #[expect(clippy::needless_pass_by_value, reason = "wasm-bindgen passes strings by value")]
    pub fn columns(&self, options: JsValue, kinds: Option<Vec<String>>) -> Result<Object, JsValue> {
        columns(&self.rows_of_kinds(options, kinds.as_deref())?)
    }

    /// The text that `kinetoscope ranks` prints.
    ///
    /// # Errors
    /// As [`EngineRun::rows`].
    pub fn table(&self, options: JsValue) -> Result<String, JsValue> {
        text(self.answer(options, true)?.to_text(None))
    }

    /// The document that `kinetoscope ranks --format json` prints.
    ///
    /// # Errors
    /// As [`EngineRun::rows`].
    pub fn json(&self, options: JsValue) -> Result<String, JsValue> {
        text(document::run(QUERY, &self.run, &self.answer(options, false)?.rows))
    }

    /// Begins to merge the traces of all ranks, or of these.
    ///
    /// # Errors
    /// Returns an error if the run does not have one of the ranks, or none is given.
    pub fn merging(&self, ranks: Option<Vec<f64>>) -> Result<EngineMerging, JsValue> {
        let mut alignments = self.run.alignments();
        if let Some(ranks) = ranks {
            let ranks: Vec<i64> = ranks.into_iter().map(|rank| rank as i64).collect();
            let refused = |what: String| failure(&Error::BadOption(format!("ranks: {what}")));
            if ranks.is_empty() {
                return Err(refused("none is given".to_owned()));
            }
            if let Some(rank) =
                ranks.iter().find(|&&rank| alignments.iter().all(|alignment| alignment.rank != rank))
            {
                return Err(refused(format!("there is no trace of rank {rank}")));
            }
            alignments.retain(|alignment| ranks.contains(&alignment.rank));
        }
        Ok(EngineMerging { alignments, merger: Merger::default() })
    }
}

/// A merged trace that is being written.
#[wasm_bindgen]
pub struct EngineMerging {
    alignments: Vec<Alignment>,
    merger: Merger,
}

#[wasm_bindgen]
impl EngineMerging {
    /// Whether the trace of a source is merged.
    #[expect(clippy::needless_pass_by_value, reason = "wasm-bindgen passes strings by value")]
    pub fn includes(&self, source: String) -> bool {
        self.alignments.iter().any(|alignment| alignment.source == source)
    }

    /// Writes the events of a trace. Returns the pieces.
    ///
    /// # Errors
    /// Returns an error if the trace is no Chrome trace.
    #[expect(clippy::needless_pass_by_value, reason = "wasm-bindgen passes strings by value")]
    pub fn add(&mut self, trace: &EngineTrace, source: String) -> Result<Array, JsValue> {
        let pieces = Array::new();
        if let Some(alignment) = self.alignments.iter().find(|alignment| alignment.source == source) {
            let merged = self.merger.add(trace.trace(), alignment, &mut |piece| push(&pieces, piece));
            merged.map_err(|e| failure(&e))?;
        }
        Ok(pieces)
    }

    /// Ends the document. Returns the last pieces.
    ///
    /// # Errors
    /// Returns an error if no trace was added.
    pub fn finish(self) -> Result<Array, JsValue> {
        let pieces = Array::new();
        self.merger.finish(&mut |piece| push(&pieces, piece)).map_err(|e| failure(&e))?;
        Ok(pieces)
    }
}

fn push(pieces: &Array, piece: &[u8]) -> bool {
    if !piece.is_empty() {
        pieces.push(&Uint8Array::from(piece));
    }
    true
}
