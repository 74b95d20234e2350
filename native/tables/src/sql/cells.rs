//! The rows of an answer as JSON values, and which of them are numbers.

use super::Answer;
use crate::error::Error;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, DataType};
use datafusion::arrow::compute::cast;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::common::DataFusionError;
use datafusion::common::cast::{
    as_boolean_array, as_float64_array, as_int64_array, as_list_array, as_map_array, as_string_array,
    as_struct_array, as_uint64_array,
};
use serde_json::{Map, Value};

impl Answer {
    /// Calls `each` with the values of every row, in the order of the columns. Integers and numbers are numbers; lists, maps and
    /// structures are JSON; dates and other types are texts.
    ///
    /// # Errors
    /// Returns [`Error::Format`] for a type that has no text.
    pub fn for_each_row(&self, mut each: impl FnMut(Vec<Value>)) -> Result<(), Error> {
        for batch in &self.batches {
            let mut columns = Vec::new();
            for column in batch.columns() {
                columns.push(values(column).map_err(|error| Error::Format(error.to_string()))?.into_iter());
            }
            for _ in 0..batch.num_rows() {
                each(columns.iter_mut().map(|column| column.next().unwrap_or_default()).collect());
            }
        }
        Ok(())
    }
}

fn values(array: &ArrayRef) -> Result<Vec<Value>, DataFusionError> {
    Ok(match array.data_type() {
        DataType::UInt64 => as_uint64_array(array)?.iter().map(Value::from).collect(),
        kind if kind.is_integer() => {
            as_int64_array(&cast(array, &DataType::Int64)?)?.iter().map(Value::from).collect()
        }
        kind if kind.is_floating() => {
            as_float64_array(&cast(array, &DataType::Float64)?)?.iter().map(float).collect()
        }
        DataType::Boolean => as_boolean_array(array)?.iter().map(Value::from).collect(),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Dictionary(..) => {
            as_string_array(&cast(array, &DataType::Utf8)?)?.iter().map(Value::from).collect()
        }
        DataType::List(_) => {
            let list = |list: Option<ArrayRef>| {
                list.map_or(Ok(Value::Null), |list| Ok(Value::Array(values(&list)?)))
            };
            as_list_array(array)?.iter().map(list).collect::<Result<_, DataFusionError>>()?
        }
        DataType::Map(..) => {
            let maps = as_map_array(array)?;
            let map = |at: usize| {
                if maps.is_null(at) {
                    return Ok(Value::Null);
                }
                let entries = maps.value(at);
                let text = |key: Value| key.as_str().map_or_else(|| key.to_string(), str::to_owned);
                let keys = values(entries.column(0))?.into_iter().map(text);
                Ok(Value::Object(keys.zip(values(entries.column(1))?).collect()))
            };
            (0..maps.len()).map(map).collect::<Result<_, DataFusionError>>()?
        }
        DataType::Struct(fields) => {
            let structs = as_struct_array(array)?;
            let mut rows: Vec<Map<String, Value>> = vec![Map::new(); structs.len()];
            for (field, column) in fields.iter().zip(structs.columns()) {
                for (row, value) in rows.iter_mut().zip(values(column)?) {
                    row.insert(field.name().clone(), value);
                }
            }
            let is_none = |at: usize| structs.is_null(at);
            rows.into_iter()
                .enumerate()
                .map(|(at, row)| if is_none(at) { Value::Null } else { row.into() })
                .collect()
        }
        _ => texts(array)?,
    })
}

/// A number; JSON has no infinite ones.
fn float(value: Option<f64>) -> Value {
    match value {
        Some(number) if !number.is_finite() => number.to_string().into(),
        other => other.into(),
    }
}

fn texts(array: &ArrayRef) -> Result<Vec<Value>, ArrowError> {
    let options = FormatOptions::default();
    let formatter = ArrayFormatter::try_new(array, &options)?;
    Ok((0..array.len())
        .map(|at| if array.is_null(at) { Value::Null } else { formatter.value(at).to_string().into() })
        .collect())
}
