//! Conversion between values of the engine and JavaScript values.

use js_sys::{Array, Float64Array, JSON, Object, Reflect, Uint8Array, Uint32Array};
use kinetoscope_core::analysis::query::options::{Opt, Options};
use kinetoscope_core::base::diagnostics::Diagnostics;
use kinetoscope_core::base::error::Error;
use kinetoscope_core::base::names::Names;
use kinetoscope_core::base::rows::{Cell, CellType, Rows};
use serde::Serialize;
use wasm_bindgen::JsValue;

/// An error in its JavaScript form.
#[derive(Serialize)]
struct Failure {
    code: &'static str,
    message: String,
    #[serde(rename = "byteOffset")]
    byte_offset: Option<f64>,
}

/// Creates the object that is thrown for an error.
pub fn failure(error: &Error) -> JsValue {
    let failure = Failure {
        code: error.code().as_str(),
        message: error.to_string(),
        byte_offset: error.offset().map(|offset| offset as f64),
    };
    to_js(&failure)
}

/// The maximum length of a text for one string: V8's limit, in characters.
const LONGEST: usize = (1 << 29) - 24;

/// Returns a text, unless it is too long for one string.
///
/// # Errors
/// Returns an error with the code `too_large` if it is too long.
pub fn text(text: String) -> Result<String, JsValue> {
    if text.len() <= LONGEST {
        return Ok(text);
    }
    let message = format!("{} bytes do not fit into one string; request columns or fewer rows", text.len());
    Err(to_js(&Failure { code: "too_large", message, byte_offset: None }))
}

/// Converts plain data to a JavaScript value.
pub fn to_js(value: &impl Serialize) -> JsValue {
    value.serialize(&serde_wasm_bindgen::Serializer::json_compatible()).unwrap_or(JsValue::UNDEFINED)
}

/// One diagnostic.
#[derive(Serialize)]
struct Diagnostic<'a> {
    code: &'static str,
    severity: &'static str,
    count: u64,
    first_offset: Option<u64>,
    example: &'a str,
    description: &'static str,
}

/// Converts diagnostics to an array of plain objects.
pub fn diagnostics(diagnostics: &Diagnostics) -> JsValue {
    let findings = diagnostics.findings().iter();
    let lines: Vec<Diagnostic<'_>> = findings
        .map(|f| Diagnostic {
            code: f.code.as_str(),
            severity: f.code.severity().as_str(),
            count: f.count,
            first_offset: f.first_offset,
            example: &f.example,
            description: f.code.description(),
        })
        .collect();
    to_js(&lines)
}

/// Parses the options of a query from a plain object.
///
/// # Errors
/// As [`Options::from_json`].
pub fn options(declared: &[Opt], object: JsValue) -> Result<Options, JsValue> {
    let value = if object.is_undefined() {
        Ok(serde_json::Value::Null)
    } else {
        check_numbers(&object)?;
        serde_wasm_bindgen::from_value(object)
    };
    let value =
        value.map_err(|e| failure(&Error::BadOption(format!("the options must be a plain object: {e}"))))?;
    Options::from_json(declared, &value).map_err(|e| failure(&e))
}

/// Checks that no member of an object is NaN or infinite. JSON has no such numbers: the member would be left out.
fn check_numbers(object: &JsValue) -> Result<(), JsValue> {
    let Some(object) = Object::try_from(object) else { return Ok(()) };
    let is_wrong = |value: &JsValue| value.as_f64().is_some_and(|number| !number.is_finite());
    for entry in Object::entries(object) {
        let [key, value] = [0, 1].map(|at| Array::from(&entry).get(at));
        if is_wrong(&value)
            || Array::is_array(&value) && Array::from(&value).iter().any(|item| is_wrong(&item))
        {
            let key = key.as_string().unwrap_or_default();
            return Err(failure(&Error::BadOption(format!("{key}: expected a finite number"))));
        }
    }
    Ok(())
}

/// Sets a member of a new plain object.
pub fn set(object: &Object, key: &str, value: &JsValue) {
    // Setting a member of a new plain object cannot fail.
    let _ = Reflect::set(object, &JsValue::from_str(key), value);
}

/// The number of rows per call of `JSON.parse`, which creates objects faster than individual calls do.
const ROWS_AT_ONCE: usize = 16 << 10;

/// Converts rows to plain objects. A Unix time in ns becomes a text, and so does an integer that a number cannot represent: a number
/// would lose digits, and JSON has no `BigInt`.
///
/// # Errors
/// Returns the errors of `JSON.parse`. Rows do not cause any.
pub fn rows(rows: &Rows) -> Result<Array, JsValue> {
    let mut out = Array::new();
    for start in (0..rows.rows.len()).step_by(ROWS_AT_ONCE) {
        let end = rows.rows.len().min(start + ROWS_AT_ONCE);
        let objects: Vec<String> = (start..end).map(|at| rows.json_row(at)).collect();
        out = out.concat(&Array::from(&JSON::parse(&exact(format!("[{}]", objects.join(","))))?));
    }
    for (at, column) in rows.columns.iter().enumerate().filter(|(_, c)| c.kind == CellType::UnixNs) {
        for (object, row) in out.iter().zip(&rows.rows) {
            if let Cell::UnixNs(ns) = row[at] {
                set(&Object::from(object), column.key, &JsValue::from(ns.to_string()));
            }
        }
    }
    Ok(out)
}

/// The integers of JSON that a number cannot represent as texts of their digits. Valid JSON has a string, a number or a bracket between any
/// two others.
fn exact(json: String) -> String {
    /// The fewest digits of such an integer.
    const DIGITS: usize = 16;
    /// The largest integer below which numbers represent all.
    const SAFE: u64 = (1 << 53) - 1;
    let bytes = json.as_bytes();
    let is_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
    let (mut out, mut written, mut at) = (String::new(), 0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'-' | b'0'..=b'9' => {
                let end = at + bytes[at..].iter().take_while(|byte| is_number(byte)).count();
                let token = &json[at..end];
                let digits = token.trim_start_matches('-');
                let is_far = digits.len() >= DIGITS
                    && digits.bytes().all(|byte| byte.is_ascii_digit())
                    && !digits.parse().is_ok_and(|number: u64| number <= SAFE);
                if is_far {
                    for part in [&json[written..at], "\"", token, "\""] {
                        out += part;
                    }
                    written = end;
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    if written == 0 { json } else { out + &json[written..] }
}

/// Converts rows to columns: `{ length, columns: { key: array } }`.
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

/// Converts one column: texts to codes into a dictionary, Unix times to texts, other numbers to a `Float64Array`
/// with NaN for null, booleans to a `Uint8Array` with 2 for null, anything else to an array of values.
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
                if let Cell::UnixNs(ns) = cell { JsValue::from(ns.to_string()) } else { JsValue::NULL }
            };
            cells.map(time).collect::<Array>().into()
        }
        CellType::Json(_) | CellType::Any => {
            let out = Array::new();
            for cell in cells {
                out.push(&JSON::parse(&kinetoscope_core::base::rows::json(cell))?);
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

/// Creates `{ dictionary: string[], codes: Uint32Array }`. The code 0xffffffff means null.
fn dictionary<'a>(cells: impl Iterator<Item = &'a Cell>) -> Object {
    let mut names = Names::default();
    // The code of each name. `names` also has the empty string, which may not be in the column.
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

/// Creates a `Float64Array`.
pub fn floats(values: impl Iterator<Item = f64>) -> JsValue {
    Float64Array::from(&*values.collect::<Vec<f64>>()).into()
}

/// Creates a `Uint32Array`.
pub fn ints(values: impl Iterator<Item = u32>) -> JsValue {
    Uint32Array::from(&*values.collect::<Vec<u32>>()).into()
}

/// Creates an object with these members.
pub fn arrays(members: &[(&str, JsValue)]) -> Object {
    let out = Object::new();
    for (key, value) in members {
        set(&out, key, value);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::exact;

    #[test]
    fn integers_that_numbers_cannot_represent_become_texts() {
        let json = r#"[{"a":9007199254740993,"b":-9007199254740993,"c":9007199254740991,"d":"x \" 9007199254740993",
            "e":[1.7976931348623157e308,12345678901234567890123,0.9007199254740993,-1]}]"#;
        let expected = r#"[{"a":"9007199254740993","b":"-9007199254740993","c":9007199254740991,"d":"x \" 9007199254740993",
            "e":[1.7976931348623157e308,"12345678901234567890123",0.9007199254740993,-1]}]"#;
        assert_eq!(exact(json.into()), expected);
        assert_eq!(exact("[]".into()), "[]");
    }
}
