//! The inputs or outputs of a node: values, shapes, types and strides, each a list with an element for each of them.
//!
//! Traces have the values of arguments as texts: numbers, `True` and `False`, and lists. What else they have a text for
//! is written as that text.

use crate::trace::Trace;
use crate::trace::execution::{ExecutionNode, Side};
use crate::trace::table::events::Row;
use crate::trace::table::layout::{FieldPlace, Key};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use serde_json::Value;

/// The names of the arguments of an event with the shapes, types, values and strides of inputs.
pub(super) const INPUTS: [&str; 4] = ["Input Dims", "Input type", "Concrete Inputs", "Input Strides"];
/// The same of outputs, which have no values.
pub(super) const OUTPUTS: [&str; 4] = ["Output Dims", "Output type", "", "Output Strides"];

/// The inputs or outputs of a node.
#[derive(Debug, Default)]
pub(super) struct Values {
    values: Vec<Value>,
    shapes: Vec<Value>,
    types: Vec<Value>,
    strides: Vec<Value>,
}

impl Values {
    /// Returns those of a node of the execution trace that was joined.
    pub(super) fn from_node(node: &ExecutionNode<'_>, side: Side) -> Values {
        let [values, shapes, types, strides] = node.lists(side);
        Values { values, shapes, types, strides }
    }

    /// Returns those that the arguments `names` of an event describe.
    pub(super) fn from_event(trace: &Trace, row: Row, names: [&str; 4]) -> Values {
        let list = |name| -> Vec<Value> {
            let key = if name == INPUTS[0] { trace.table.field(row, Key::InputDims) } else { None };
            let value = key.or_else(|| trace.table.field_named(row, FieldPlace::Args, name));
            value.and_then(|value| serde_json::from_str(value.as_json()?).ok()).unwrap_or_default()
        };
        let [shapes, types, concrete, strides] = names.map(list);
        let ids = list("Tensor ids");
        let mut made = Values::default();
        for at in 0..shapes.len().max(concrete.len()).max(ids.len()) {
            let text = |list: &[Value]| list.get(at).and_then(Value::as_str).unwrap_or("").to_owned();
            let id = ids.get(at).and_then(Value::as_array).filter(|id| !id.is_empty());
            made.push(argument(shapes.get(at), &text(&types), &text(&concrete), id), strides.get(at));
        }
        made
    }

    fn push(&mut self, argument: Argument, stride: Option<&Value>) {
        let stride = match stride {
            // What is no tensor has strides like its shape: an empty list for each element of a list.
            _ if !argument.kind.contains("Tensor") => argument.shape.clone(),
            Some(stride) => stride.clone(),
            None => Value::Array(Vec::new()),
        };
        self.values.push(argument.value);
        self.shapes.push(argument.shape);
        self.types.push(argument.kind.into());
        self.strides.push(stride);
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lists = [&self.shapes, &self.strides, &self.types, &self.values];
        let mut separator = "{";
        for (name, list) in ["shapes", "strides", "types", "values"].into_iter().zip(lists) {
            write!(f, "{separator}\"{name}\":[")?;
            for (at, value) in list.iter().enumerate() {
                write!(f, "{}{value}", if at == 0 { "" } else { "," })?;
            }
            f.write_str("]")?;
            separator = ",";
        }
        f.write_str("}")
    }
}

/// An input or output.
struct Argument {
    value: Value,
    shape: Value,
    kind: String,
}

impl Argument {
    /// One that is not a tensor, and whose shape is empty.
    fn plain(value: impl Into<Value>, kind: &str) -> Argument {
        Argument { value: value.into(), shape: Value::Array(Vec::new()), kind: kind.into() }
    }
}

/// Returns the input or output with this shape, type and text.
fn argument(shape: Option<&Value>, dtype: &str, concrete: &str, id: Option<&Vec<Value>>) -> Argument {
    if !concrete.is_empty() {
        return list(concrete).unwrap_or_else(|| scalar(concrete));
    }
    let sizes = shape.and_then(Value::as_array);
    // A tensor without dimensions has a type; what is neither tensor nor text has none.
    let is_tensor =
        id.is_some() || !matches!(dtype, "" | "Scalar" | "ScalarList" | "TensorList" | "GenericList");
    match sizes.filter(|sizes| !sizes.is_empty() || is_tensor) {
        Some(sizes) => {
            let (value, kind) = tensor(sizes, dtype, id);
            Argument { value, shape: Value::from(sizes.clone()), kind }
        }
        None => Argument::plain("<None>", "None"),
    }
}

fn scalar(text: &str) -> Argument {
    match text {
        "True" => return Argument::plain(true, "Bool"),
        "False" => return Argument::plain(false, "Bool"),
        _ => {}
    }
    if let Ok(number) = text.parse::<i64>() {
        return Argument::plain(number, "Int");
    }
    if let Ok(number) = text.parse::<u64>() {
        return Argument::plain(number, "Int");
    }
    match text.parse::<f64>() {
        // JSON has no infinite numbers.
        Ok(number) if number.is_finite() => Argument::plain(number, "Double"),
        Ok(_) => Argument::plain(text, "Double"),
        Err(_) => Argument::plain(text, "String"),
    }
}

/// Returns the list of numbers or truth values with this text; `None` if it is something else.
fn list(text: &str) -> Option<Argument> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let elements = inner.split(',').map(str::trim).filter(|element| !element.is_empty());
    let elements: Vec<Argument> = elements.map(scalar).collect();
    if elements.iter().any(|element| element.kind == "String") {
        return None;
    }
    let kinds: Vec<&str> = elements.iter().map(|element| element.kind.as_str()).collect();
    let kind = format!("GenericList[{}]", kinds.join(","));
    let shape = elements.iter().map(|element| element.shape.clone()).collect();
    Some(Argument { kind, shape, value: elements.into_iter().map(|element| element.value).collect() })
}

/// The value and the type of a tensor, or of a list of tensors. The id is tensor, storage, offset and device.
fn tensor(sizes: &[Value], dtype: &str, id: Option<&Vec<Value>>) -> (Value, String) {
    if sizes.iter().any(Value::is_array) {
        let each = sizes.iter().filter_map(Value::as_array).map(|sizes| tensor(sizes, dtype, None));
        let (values, kinds): (Vec<Value>, Vec<String>) = each.unzip();
        return (Value::from(values), format!("GenericList[{}]", kinds.join(",")));
    }
    let elements = sizes.iter().filter_map(Value::as_u64).fold(1, u64::saturating_mul);
    let part = |at: usize, none: Value| id.and_then(|id| id.get(at).cloned()).unwrap_or(none);
    let place = [0, 1, 2].map(|at| part(at, Value::from(0)));
    let size = [elements, item_size(dtype)].map(Value::from);
    let value = place.into_iter().chain(size).chain([part(3, Value::from("cpu"))]).collect();
    (value, format!("Tensor({dtype})"))
}

/// The size of an element in bytes, by PyTorch's name of its data type.
fn item_size(dtype: &str) -> u64 {
    match dtype {
        "double" | "long int" | "long" => 8,
        "c10::Half" | "c10::BFloat16" | "short" => 2,
        "unsigned char" | "signed char" | "bool" => 1,
        _ => 4,
    }
}
