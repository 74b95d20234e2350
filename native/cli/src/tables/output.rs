//! The answers of SQL as tables, CSV, Markdown and JSON. Columns whose names end in `_ns` or `_bytes` are shown with units in tables.

use crate::args::Format;
use crate::failure::Failure;
use crate::terminal;
use arrow_schema::DataType;
use kinetoscope_core::base::rows::{Cell, CellType, Column, Rows, Shape};
use kinetoscope_tables::sql::Answer;
use serde_json::Value;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// Returns an answer as a text. Tables on a terminal have its width.
pub(super) fn text(answer: &Answer, format: Format, to_terminal: bool) -> Result<String, Failure> {
    let rows = rows(answer)?;
    Ok(match format {
        Format::Csv => rows.to_csv(),
        Format::ExactCsv => rows.to_exact_csv(),
        Format::Md => rows.to_markdown(),
        Format::Json => {
            let lines: Vec<String> = (0..rows.rows.len()).map(|at| rows.json_row(at)).collect();
            document("sql", &lines)
        }
        _ => {
            let width = terminal::width(None).filter(|_| to_terminal);
            let table = rows.to_text_fitting(width);
            let count = rows.rows.len();
            format!("{table}({count} {})\n", if count == 1 { "row" } else { "rows" })
        }
    })
}

/// Returns a document of this name with rows, which are JSON objects.
pub(super) fn document(name: &str, rows: &[String]) -> String {
    format!("{{\"schema\":\"kinetoscope.{name}/1\",\"rows\":[\n{}\n]}}\n", rows.join(",\n"))
}

fn rows(answer: &Answer) -> Result<Rows, Failure> {
    let fields = answer.schema.fields().iter();
    let columns: Vec<Column> = fields.map(|field| column(kept(field.name()), field.data_type())).collect();
    let mut rows = Rows::new(&columns);
    answer.for_each_row(|values| {
        rows.push(
            values
                .into_iter()
                .zip(&columns)
                .map(|(value, column)| cell(value, column.kind))
                .collect::<Vec<Cell>>(),
        );
    })?;
    Ok(rows)
}

fn column(name: &'static str, kind: &DataType) -> Column {
    match kind {
        kind if kind.is_integer() && name.ends_with("_ns") => Column::ns(name, name, ""),
        kind if kind.is_integer() && name.ends_with("_bytes") => Column::bytes(name, name, ""),
        // A cell has 64 bits with a sign.
        DataType::UInt64 => Column::json(name, name, Shape::Any, ""),
        kind if kind.is_integer() => Column::int(name, name, ""),
        kind if kind.is_floating() => Column::float(name, name, ""),
        DataType::Boolean => Column::bool(name, name, ""),
        DataType::List(_) | DataType::Map(..) | DataType::Struct(_) => {
            Column::json(name, name, Shape::Any, "")
        }
        _ => Column::text(name, name, ""),
    }
    .nullable()
}

fn cell(value: Value, kind: CellType) -> Cell {
    let known = match kind {
        CellType::Ns => value.as_i64().map(Cell::Ns),
        CellType::Bytes => value.as_i64().map(Cell::Bytes),
        CellType::Int => value.as_i64().map(Cell::Int),
        CellType::Float => value.as_f64().or_else(|| infinite(&value)).map(Cell::Float),
        CellType::Bool => value.as_bool().map(Cell::Bool),
        CellType::Text => value.as_str().map(Cell::from),
        _ => None,
    };
    match (known, value) {
        (Some(cell), _) => cell,
        (None, Value::Null) => Cell::Null,
        (None, other) => Cell::Json(other),
    }
}

/// A number that JSON does not have, from its text.
fn infinite(value: &Value) -> Option<f64> {
    value.as_str()?.parse().ok()
}

/// The names of columns live as long as the process: a shell sees few different ones.
fn kept(name: &str) -> &'static str {
    static KNOWN: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    if let Some(name) = known.get(name) {
        return name;
    }
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    known.insert(name);
    name
}
