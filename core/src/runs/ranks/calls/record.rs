//! The arguments of collectives: those of `record_param_comms`, of kernels of NCCL, and of the backend's own spans.

use super::Call;
use super::groups::{Group, Groups, ranks_in};
use crate::analysis::device::collectives::message_bytes;
use crate::analysis::device::operation::Operation;
use crate::analysis::formulas::Inputs;
use crate::base::names::{NameId, Names};
use crate::trace::table::events::{Row, Table};
use crate::trace::table::fields::Value;
use crate::trace::table::layout::{FieldPlace, Key};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The keys of the arguments, where the trace has them.
pub(super) struct Fields {
    keys: [Option<NameId>; 11],
}

#[derive(Clone, Copy)]
enum Argument {
    Name,
    Group,
    Description,
    Ranks,
    Seq,
    Id,
    Source,
    Destination,
    Type,
    In,
    Out,
}

const KEYS: [&str; 11] = [
    "Collective name",
    "Process Group Name",
    "Process Group Description",
    "Process Group Ranks",
    "Seq",
    "Comms Id",
    "Src Rank",
    "Dst Rank",
    "dtype",
    "In msg nelems",
    "Out msg nelems",
];

impl Fields {
    pub(super) fn new(names: &Names) -> Fields {
        Fields { keys: KEYS.map(|key| names.find(key)) }
    }

    /// Whether an event has the arguments of a collective.
    pub(super) fn has(&self, table: &Table, row: Row) -> bool {
        let name = self.keys[Argument::Name as usize];
        name.is_some() && table.layout(row).fields.iter().any(|field| Some(field.key) == name)
    }

    fn get<'a>(&self, table: &'a Table, row: Row, argument: Argument) -> Option<Value<'a>> {
        table.field_with(row, FieldPlace::Args, self.keys[argument as usize]?)
    }

    fn int(&self, table: &Table, row: Row, argument: Argument) -> Option<i64> {
        self.get(table, row, argument)?.as_i64()
    }

    fn text(&self, table: &Table, row: Row, argument: Argument) -> String {
        match self.get(table, row, argument) {
            Some(Value::Text(text) | Value::Number(text)) => text.into(),
            Some(Value::Int(number)) => number.to_string(),
            _ => String::new(),
        }
    }

    /// Returns what the arguments of an event say about a call, and its group if they name one. `known` is the group that is
    /// known otherwise.
    pub(super) fn read(
        &self,
        table: &Table,
        row: Row,
        groups: &mut Groups,
        known: Option<u32>,
    ) -> (Call, Option<u32>) {
        let text = |argument| self.text(table, row, argument);
        let int = |argument| self.int(table, row, argument);
        let named = self.get(table, row, Argument::Group).map(|_| {
            let ranks = ranks_in(&text(Argument::Ranks));
            let (name, description) = (text(Argument::Group), text(Argument::Description));
            groups.index(Group { name, description, ranks, is_named: true })
        });
        let operation = Operation::from_name(&text(Argument::Name));
        let side = match operation {
            Operation::Send => int(Argument::Destination),
            Operation::Receive => int(Argument::Source),
            _ => None,
        };
        let group = named.or(known).map(|group| groups.get(group));
        let call = Call {
            operation: Some(operation),
            seq: int(Argument::Seq),
            comms_id: self.get(table, row, Argument::Id).and_then(|id| number_of(&id)),
            peer: side.map(|rank| group.map_or(rank, |group| global(group, rank))),
            bytes: message_bytes([int(Argument::In), int(Argument::Out)], &text(Argument::Type)),
            ..Call::default()
        };
        (call, named)
    }
}

/// The rank in the run of a rank in its group.
pub(super) fn global(group: &Group, rank: i64) -> i64 {
    usize::try_from(rank).ok().and_then(|at| group.ranks.get(at).copied()).unwrap_or(rank)
}

/// A number for an id, which is one or a text.
fn number_of(id: &Value<'_>) -> Option<i64> {
    match *id {
        Value::Int(number) => Some(number),
        // Ids beyond `i64`.
        Value::Text(text) | Value::Number(text) => Some(text.parse::<i64>().unwrap_or_else(|_| {
            text.bytes().fold(0x1505, |hash: i64, byte| hash.wrapping_mul(33) ^ i64::from(byte))
        })),
        _ => None,
    }
}

/// The sizes of the tensors of an event.
pub(super) struct Tensors {
    /// The sizes of each.
    pub(super) shapes: Vec<Vec<i64>>,
    /// The number of elements of each.
    pub(super) elements: Vec<i64>,
    /// The sum of their sizes, if their types are known.
    pub(super) bytes: Option<i64>,
    /// The recorded value of each input that is not a tensor.
    pub(super) concrete: Vec<serde_json::Value>,
}

/// Returns the tensors among the inputs of an event, those in lists of tensors too. A tensor without dimensions has one
/// element.
pub(super) fn tensors(table: &Table, row: Row) -> Tensors {
    let text = |key| table.field(row, key).and_then(|value: Value<'_>| value.as_json());
    let inputs = Inputs::parse(None, text(Key::InputType), text(Key::ConcreteInputs));
    let dims: Option<Vec<serde_json::Value>> =
        text(Key::InputDims).and_then(|dims| serde_json::from_str(dims).ok());
    let (mut shapes, mut types) = (Vec::new(), Vec::new());
    for (dims, kind) in dims.iter().flatten().zip(&inputs.types) {
        match kind.as_str().unwrap_or_default() {
            "" | "Scalar" | "ScalarList" => {}
            "TensorList" => {
                // The lists of some collectives are lists of lists.
                let before = shapes.len();
                lists(dims, &mut shapes);
                types.resize(types.len() + shapes.len() - before, kind.clone());
            }
            _ => {
                shapes.push(numbers(dims));
                types.push(kind.clone());
            }
        }
    }
    let count = |dims: &Vec<i64>| dims.iter().fold(1i64, |n, &dim| n.saturating_mul(dim.max(0)));
    let elements = shapes.iter().map(count).collect();
    let inputs = Inputs { dims: shapes, types, ..inputs };
    Tensors { elements, bytes: inputs.all_bytes(), shapes: inputs.dims, concrete: inputs.concrete }
}

fn numbers(dims: &serde_json::Value) -> Vec<i64> {
    let items = dims.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().map_while(serde_json::Value::as_i64).collect()
}

/// Collects the dimensions of each tensor in a list, which may be in a list of lists.
fn lists(value: &serde_json::Value, out: &mut Vec<Vec<i64>>) {
    for item in value.as_array().into_iter().flatten() {
        match item.as_array() {
            Some(items) if items.iter().any(serde_json::Value::is_array) => lists(item, out),
            _ => out.push(numbers(item)),
        }
    }
}
