//! Debug annotations: the arguments of events.

use super::sequence::{Interned, Sequence};
use super::wire::{Damaged, Value, fields};
use crate::base::names::Names;
use crate::trace::table::append::RowBuilder;
use crate::trace::table::layout::FieldPlace::Args;
use alloc::borrow::{Cow, ToOwned};
use alloc::format;
use alloc::string::{String, ToString};

/// The deepest nesting of a value that is read.
const DEEPEST: usize = 64;

/// An argument of an event.
pub(super) struct Argument<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) value: Content<'a>,
}

/// The value of an argument.
pub(super) enum Content<'a> {
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(Cow<'a, str>),
    Null,
    /// A number as JSON.
    Number(String),
    /// A list or an object as JSON.
    Json(String),
}

/// What an annotation's names and texts refer to.
#[derive(Clone, Copy)]
pub(super) struct Texts<'a> {
    pub(super) sequence: &'a Sequence,
    pub(super) names: &'a Names,
}

impl<'a> Texts<'a> {
    fn get(self, kind: Interned, id: u64) -> Cow<'a, str> {
        let name = self.sequence.text(kind, id);
        Cow::Borrowed(name.map_or("", |name| self.names.get(name)))
    }
}

/// Reads an annotation.
pub(super) fn argument<'a>(message: &'a [u8], texts: Texts<'a>) -> Result<Argument<'a>, Damaged> {
    nested(message, texts, 0)
}

fn nested<'a>(message: &'a [u8], texts: Texts<'a>, depth: usize) -> Result<Argument<'a>, Damaged> {
    let mut name = Cow::Borrowed("");
    let mut value = None;
    let (mut list, mut object) = (None, None);
    for field in fields(message) {
        match field? {
            (1, id) => name = texts.get(Interned::ArgumentName, id.number()),
            (10, text) => name = text.text(),
            (2, flag) => value = Some(Content::Bool(flag.number() != 0)),
            (3, number) => value = Some(unsigned(number.number())),
            (4, number) => value = Some(Content::Int(number.int())),
            (5, number) => value = Some(Content::Double(number.double())),
            (6, text) => value = Some(Content::Text(text.text())),
            (7, pointer) => value = Some(Content::Text(Cow::Owned(format!("0x{:x}", pointer.number())))),
            (9, json) => value = Some(written(json.text())),
            (17, id) => value = Some(Content::Text(texts.get(Interned::ArgumentText, id.number()))),
            (11, entry) => add(object.get_or_insert_default(), entry, texts, depth, true)?,
            (12, element) => add(list.get_or_insert_default(), element, texts, depth, false)?,
            _ => {}
        }
    }
    let value = match (value, list, object) {
        (_, _, Some(entries)) => Content::Json(format!("{{{entries}}}")),
        (Some(value), None, None) => value,
        // An empty list has no elements to write.
        (_, list, None) => Content::Json(format!("[{}]", list.unwrap_or_default())),
    };
    Ok(Argument { name, value })
}

/// Reads a value that was written as JSON. A text that is no JSON stays a text.
fn written(text: Cow<'_, str>) -> Content<'_> {
    use serde_json::Value;
    match serde_json::from_str(&text) {
        Ok(Value::Null) => Content::Null,
        Ok(Value::Bool(flag)) => Content::Bool(flag),
        Ok(Value::String(text)) => Content::Text(text.into()),
        Ok(Value::Number(_)) => Content::Number(text.trim().to_owned()),
        Ok(Value::Array(_) | Value::Object(_)) => Content::Json(text.into_owned()),
        Err(_) => Content::Text(text),
    }
}

fn unsigned(number: u64) -> Content<'static> {
    i64::try_from(number).map_or_else(|_| Content::Number(format!("{number}")), Content::Int)
}

/// Appends an element of a list, or an entry of an object, to its JSON.
fn add<'a>(
    json: &mut String,
    element: Value<'a>,
    texts: Texts<'a>,
    depth: usize,
    is_named: bool,
) -> Result<(), Damaged> {
    if depth >= DEEPEST {
        return Err(Damaged);
    }
    let Argument { name, value } = nested(element.bytes(), texts, depth + 1)?;
    if !json.is_empty() {
        json.push(',');
    }
    if is_named {
        json.push_str(&quoted(&name));
        json.push(':');
    }
    json.push_str(&value.into_json());
    Ok(())
}

/// A text as JSON.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl Content<'_> {
    fn into_json(self) -> String {
        match self {
            Content::Bool(flag) => if flag { "true" } else { "false" }.to_owned(),
            Content::Int(number) => format!("{number}"),
            Content::Double(number) if number.is_finite() => format!("{number:?}"),
            Content::Double(number) => format!("\"{number}\""),
            Content::Text(text) => quoted(&text),
            Content::Null => "null".to_owned(),
            Content::Number(json) | Content::Json(json) => json,
        }
    }
}

/// Adds a field to the arguments of a row.
pub(super) fn with<'a>(row: RowBuilder<'a>, name: &str, value: Content<'_>) -> RowBuilder<'a> {
    match value {
        Content::Bool(flag) => row.bool(Args, name, flag),
        Content::Int(number) => row.int(Args, name, number),
        Content::Text(text) => row.text(Args, name, &text),
        Content::Double(number) if number.is_finite() => row.number(Args, name, &format!("{number:?}")),
        Content::Double(number) => row.text(Args, name, &format!("{number}")),
        Content::Null => row.null(Args, name),
        Content::Number(number) => row.number(Args, name, &number),
        Content::Json(json) => row.json(Args, name, &json),
    }
}
