//! A comparison as rows.

use super::change::call_ns;
use super::columns::{COLUMNS, PLACE};
use super::kinds::{Change, Part, RowKind};
use super::lines::Line;
use super::verdict::Factor;
use super::{Comparison, Finding};
use crate::base::rows::{Cell, CellType, Column, Rows};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use serde_json::Value;

/// Returns the rows, the most important first.
pub(super) fn rows(comparison: &Comparison) -> Rows {
    let mut rows = Rows::new(COLUMNS);
    for finding in &comparison.findings {
        rows.push(cells(comparison, finding));
    }
    for note in &comparison.notes {
        rows.push(COLUMNS.iter().map(|column| note_cell(column, note)).collect());
    }
    rows
}

fn note_cell(column: &Column, note: &str) -> Cell {
    match column.key {
        "kind" => RowKind::Note.as_str().into(),
        "name" => "".into(),
        "change" => Change::Same.as_str().into(),
        "message" => note.into(),
        _ if matches!(column.kind, CellType::Json(_)) => Cell::Json(Value::Array(vec![])),
        _ => Cell::Null,
    }
}

/// The common factor of the rows that a line is one of.
fn factor_of<'a>(comparison: &'a Comparison, line: &Line) -> Option<&'a Factor> {
    match line.part? {
        Part::Wall => comparison.factors[0].as_ref(),
        Part::DeviceBusy => comparison.factors[1].as_ref(),
        Part::DeviceIdle => None,
    }
}

fn cells(comparison: &Comparison, finding: &Finding) -> Vec<Cell> {
    let Finding { line, change, why } = finding;
    let is_time = line.kind != RowKind::Memory;
    let time = |ns: i64| if is_time { Cell::Ns(ns) } else { Cell::Null };
    let bytes = |bytes: i64| if is_time { Cell::Null } else { Cell::Bytes(bytes) };
    let rounded = |ns: f64| time(libm::rint(ns) as i64);
    let interval = line.verdict.interval;
    let has_steps = line.samples.iter().all(|samples| !samples.is_empty());
    let has_calls = line.counts != [0, 0];
    let is_total = line.kind == RowKind::Total;
    let texts = |names: &[String]| Cell::Json(names.iter().map(|name| Value::from(name.as_str())).collect());
    let count = |side: usize| if has_calls { Cell::Int(line.counts[side]) } else { Cell::Null };
    let per_call = |side: usize| call_ns(line, side).map_or(Cell::Null, Cell::Ns);
    let sum = |side: usize| if has_calls { Cell::Ns(line.sums[side]) } else { Cell::Null };
    let steps = |side: usize| if is_total { comparison.steps[side].into() } else { Cell::Null };
    let aligned = |side: usize| if is_total { Cell::Share(comparison.aligned[side]) } else { Cell::Null };
    let speed = line.factor;
    let places = line.places.iter().map(|(name, ns)| PLACE.object(vec![name.as_str().into(), Cell::Ns(*ns)]));
    vec![
        line.kind.as_str().into(),
        line.name.as_str().into(),
        change.as_str().into(),
        line.verdict.is_significant.map_or(Cell::Null, Cell::Bool),
        time(line.contribution()),
        interval.map_or(Cell::Null, |interval| rounded(interval.0)),
        interval.map_or(Cell::Null, |interval| rounded(interval.1)),
        if has_steps { rounded(line.verdict.median) } else { Cell::Null },
        factor_of(comparison, line).map_or(Cell::Null, |factor| Cell::Ns(factor.without(line.values))),
        line.verdict.probability.map_or(Cell::Null, Cell::Float),
        time(line.values[0]),
        time(line.values[1]),
        count(0),
        count(1),
        per_call(0),
        per_call(1),
        sum(0),
        sum(1),
        bytes(line.values[0]),
        bytes(line.values[1]),
        steps(0),
        steps(1),
        aligned(0),
        aligned(1),
        speed.map_or(Cell::Null, |factor| Cell::Float(factor.ratio())),
        speed.map_or(Cell::Null, |factor| Cell::Share(factor.spread)),
        speed.map(|factor| factor.lines).into(),
        line.part.map(Part::as_str).into(),
        why.as_ref().map(|why| why.0.as_str()).into(),
        why.as_ref().map(|why| why.1.as_str()).into(),
        texts(&line.names[0]),
        texts(&line.names[1]),
        Cell::Json(places.collect()),
    ]
}
