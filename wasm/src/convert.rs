//! Values of the engine as values of JavaScript, and back.

use js_sys::{Array, BigInt, Float64Array, JSON, Object, Reflect, Uint8Array, Uint32Array};
use kinetoscope_core::error::Error;
use kinetoscope_core::names::Names;
use kinetoscope_core::queries::options::{Opt, Options};
use kinetoscope_core::rows::{Cell, CellType, Rows};
use serde::Serialize;
use wasm_bindgen::JsValue;

/// An error as JavaScript gets it.
#[derive(Serialize)]
struct Failure {
    code: &'static str,
    message: String,
    #[serde(rename = "byteOffset")]
    byte_offset: Option<f64>,
}

/// The object that is thrown for an error.
pub fn failure(error: &Error) -> JsValue {
    let failure = Failure {
        code: error.code().as_str(),
        message: error.to_string(),
        byte_offset: error.offset().map(|offset| offset as f64),
    };
    to_js(&failure)
}

/// A text that every JavaScript engine has room for in one string: V8's strings end at this many characters.
const LONGEST: usize = (1 << 29) - 24;

/// A text, unless it is too long for one string.
///
/// # Errors
/// With the code `too_large`.
pub fn text(text: String) -> Result<String, JsValue> {
    if text.len() <= LONGEST {
        return Ok(text);
    }
    let message =
        format!("{} bytes do not fit into one string; ask for columns or for fewer rows", text.len());
    Err(to_js(&Failure { code: "too_large", message, byte_offset: None }))
}

/// A value of plain data.
pub fn to_js(value: &impl Serialize) -> JsValue {
    value.serialize(&serde_wasm_bindgen::Serializer::json_compatible()).unwrap_or(JsValue::UNDEFINED)
}

/// The options of a query from a plain object.
///
/// # Errors
/// As [`Options::from_json`].
pub fn options(declared: &[Opt], object: JsValue) -> Result<Options, JsValue> {
    let value = if object.is_undefined() {
        Ok(serde_json::Value::Null)
    } else {
        serde_wasm_bindgen::from_value(object)
    };
    let value = value.map_err(|e| failure(&Error::BadOption(format!("options are a plain object: {e}"))))?;
    Options::from_json(declared, &value).map_err(|e| failure(&e))
}

/// Sets a member of a fresh plain object.
pub fn set(object: &Object, key: &str, value: &JsValue) {
    // Setting a member of a fresh plain object cannot fail.
    let _ = Reflect::set(object, &JsValue::from_str(key), value);
}

/// So many rows become one text for `JSON.parse`, which makes objects faster than calls do.
const ROWS_AT_ONCE: usize = 16 << 10;

/// Rows as plain objects. A Unix time in ns is a `BigInt`.
///
/// # Errors
/// None that rows can cause; those of `JSON.parse`.
pub fn rows(rows: &Rows) -> Result<Array, JsValue> {
    let mut out = Array::new();
    for start in (0..rows.rows.len()).step_by(ROWS_AT_ONCE) {
        let end = rows.rows.len().min(start + ROWS_AT_ONCE);
        let objects: Vec<String> = (start..end).map(|at| rows.json_row(at)).collect();
        out = out.concat(&Array::from(&JSON::parse(&format!("[{}]", objects.join(",")))?));
    }
    for (at, column) in rows.columns.iter().enumerate().filter(|(_, c)| c.kind == CellType::UnixNs) {
        for (object, row) in out.iter().zip(&rows.rows) {
            if let Cell::UnixNs(ns) = row[at] {
                set(&Object::from(object), column.key, &BigInt::from(ns));
            }
        }
    }
    Ok(out)
}

/// Rows as columns: `{ length, columns: { key: array } }`.
///
/// # Errors
/// As [`rows`].
pub fn columns(rows: &Rows) -> Result<Object, JsValue> {
    let columns = Object::new();
    for (at, column) in rows.columns.iter().enumerate() {
        set(&columns, column.key, &self::column(rows, at)?);
    }
    let out = Object::new();
    set(&out, "length", &JsValue::from(rows.rows.len() as u32));
    set(&out, "columns", &columns);
    Ok(out)
}

/// One column: texts as codes into a dictionary, Unix times as `BigInt`s, other numbers as a `Float64Array` in which NaN
/// stands for none, booleans as a `Uint8Array` in which 2 stands for none, anything else as an array of values.
fn column(rows: &Rows, at: usize) -> Result<JsValue, JsValue> {
    let cells = rows.rows.iter().map(|row| &row[at]);
    Ok(match rows.columns[at].kind {
        CellType::Text | CellType::Word(_) => dictionary(cells).into(),
        CellType::Bool => {
            let byte = |cell: &Cell| if let Cell::Bool(b) = cell { u8::from(*b) } else { 2 };
            Uint8Array::from(&*cells.map(byte).collect::<Vec<u8>>()).into()
        }
        CellType::UnixNs => {
            let time = |cell: &Cell| {
                if let Cell::UnixNs(ns) = cell { BigInt::from(*ns).into() } else { JsValue::NULL }
            };
            cells.map(time).collect::<Array>().into()
        }
        CellType::Json(_) | CellType::Any => {
            let out = Array::new();
            for cell in cells {
                out.push(&JSON::parse(&kinetoscope_core::rows::json(cell))?);
            }
            out.into()
        }
        CellType::Ns
        | CellType::Bytes
        | CellType::Int
        | CellType::Amount
        | CellType::Rate
        | CellType::Float
        | CellType::Share => floats(cells.map(number)),
    })
}

fn number(cell: &Cell) -> f64 {
    match cell {
        Cell::Ns(n) | Cell::Bytes(n) | Cell::Int(n) | Cell::Amount(n) => *n as f64,
        Cell::Rate(f) | Cell::Float(f) | Cell::Share(f) => *f,
        _ => f64::NAN,
    }
}

/// `{ dictionary: string[], codes: Uint32Array }`; the code 0xffffffff stands for none.
fn dictionary<'a>(cells: impl Iterator<Item = &'a Cell>) -> Object {
    let mut names = Names::default();
    // The code of each of the names; not all of them are in the column.
    let mut code_of: Vec<u32> = Vec::new();
    let texts = Array::new();
    let mut code = |text: &str| {
        let at = names.intern(text).0 as usize;
        if at >= code_of.len() {
            code_of.resize(at + 1, u32::MAX);
        }
        if code_of[at] == u32::MAX {
            code_of[at] = texts.push(&JsValue::from_str(text)) - 1;
        }
        code_of[at]
    };
    let codes: Vec<u32> =
        cells.map(|cell| if let Cell::Text(text) = cell { code(text) } else { u32::MAX }).collect();
    let out = Object::new();
    set(&out, "dictionary", &texts);
    set(&out, "codes", &Uint32Array::from(&*codes));
    out
}

/// A `Float64Array`.
pub fn floats(values: impl Iterator<Item = f64>) -> JsValue {
    Float64Array::from(&*values.collect::<Vec<f64>>()).into()
}

/// A `Uint32Array`.
pub fn ints(values: impl Iterator<Item = u32>) -> JsValue {
    Uint32Array::from(&*values.collect::<Vec<u32>>()).into()
}

/// An object of typed arrays.
pub fn arrays(members: &[(&str, JsValue)]) -> Object {
    let out = Object::new();
    for (key, value) in members {
        set(&out, key, value);
    }
    out
}
