//! The answers of SQL as tables, CSV, Markdown and JSON. Columns whose names end in `_ns` or `_bytes` are shown with units in tables.

use crate::args::Format;
use crate::failure::Failure;
use crate::terminal;
use arrow_schema::DataType;
use kinetoscope_core::rows::{Cell, Column, Rows, Shape};
use kinetoscope_tables::sql::Answer;
use serde_json::Value;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Table,
    Json,
    Csv,
    Markdown,
}

impl Form {
    pub(super) fn of(format: Format) -> Form {
        match format {
            Format::Json => Form::Json,
            Format::Csv => Form::Csv,
            Format::Md => Form::Markdown,
            _ => Form::Table,
        }
    }

    pub(super) fn named(name: &str) -> Option<Form> {
        Some(match name {
            "table" => Form::Table,
            "json" => Form::Json,
            "csv" => Form::Csv,
            "md" => Form::Markdown,
            _ => return None,
        })
    }
}

/// Returns an answer as a text. Tables on a terminal have its width.
pub(super) fn text(answer: &Answer, form: Form, to_terminal: bool) -> Result<String, Failure> {
    let rows = rows(answer)?;
    Ok(match form {
        Form::Table => {
            let width = terminal::width().filter(|_| to_terminal);
            let table = width.map_or_else(|| rows.to_text(), |width| rows.to_text_within(width));
            let count = rows.rows.len();
            format!("{table}({count} {})\n", if count == 1 { "row" } else { "rows" })
        }
        Form::Csv => rows.to_csv(),
        Form::Markdown => rows.to_markdown(),
        Form::Json => {
            let lines: Vec<String> = (0..rows.rows.len()).map(|at| rows.json_row(at)).collect();
            format!("{{\"schema\":\"kinetoscope.sql/1\",\"rows\":[\n{}\n]}}\n", lines.join(",\n"))
        }
    })
}

/// How the values of a column are shown.
#[derive(Clone, Copy)]
enum Kind {
    Ns,
    Bytes,
    Int,
    Float,
    Bool,
    Text,
    Json,
}

fn rows(answer: &Answer) -> Result<Rows, Failure> {
    let kinds: Vec<Kind> =
        answer.schema.fields().iter().map(|field| kind(field.name(), field.data_type())).collect();
    let columns: Vec<Column> = answer
        .schema
        .fields()
        .iter()
        .zip(&kinds)
        .map(|(field, kind)| column(kept(field.name()), *kind))
        .collect();
    let mut rows = Rows::new(&columns);
    answer.for_each_row(|values| {
        rows.push(values.into_iter().zip(&kinds).map(|(value, kind)| cell(value, *kind)).collect());
    })?;
    Ok(rows)
}

fn kind(name: &str, of: &DataType) -> Kind {
    match of {
        kind if kind.is_integer() && name.ends_with("_ns") => Kind::Ns,
        kind if kind.is_integer() && name.ends_with("_bytes") => Kind::Bytes,
        kind if kind.is_integer() => Kind::Int,
        kind if kind.is_floating() => Kind::Float,
        DataType::Boolean => Kind::Bool,
        DataType::List(_) | DataType::Map(..) | DataType::Struct(_) => Kind::Json,
        _ => Kind::Text,
    }
}

fn column(name: &'static str, kind: Kind) -> Column {
    match kind {
        Kind::Ns => Column::ns(name, name, ""),
        Kind::Bytes => Column::bytes(name, name, ""),
        Kind::Int => Column::int(name, name, ""),
        Kind::Float => Column::float(name, name, ""),
        Kind::Bool => Column::bool(name, name, ""),
        Kind::Text => Column::text(name, name, ""),
        Kind::Json => Column::json(name, name, Shape::Any, ""),
    }
    .nullable()
}

fn cell(value: Value, kind: Kind) -> Cell {
    let known = match kind {
        Kind::Ns => value.as_i64().map(Cell::Ns),
        Kind::Bytes => value.as_i64().map(Cell::Bytes),
        Kind::Int => value.as_i64().map(Cell::Int),
        Kind::Float => value.as_f64().map(Cell::Float),
        Kind::Bool => value.as_bool().map(Cell::Bool),
        Kind::Text => value.as_str().map(|text| Cell::Text(text.to_owned())),
        Kind::Json => None,
    };
    match (known, value) {
        (Some(cell), _) => cell,
        (None, Value::Null) => Cell::Null,
        (None, other) => Cell::Json(other),
    }
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
