//! What a program says about the nodes of CUDA graphs: annotations, and the stacks that added them. A node is known by the id of
//! its graph and its own id, in one number.

use super::text::{cut_last, member, names, number};
use super::traceback::{Line, user_frame};
use crate::base::index::Keyed;
use crate::trace::capture::NODE_ID;
use crate::trace::read::pickle::{Pickle, Value};
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::FieldPlace;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde_json::Value as Json;

/// What is said about a node.
#[derive(Clone, Debug, Default)]
pub(super) struct GraphNode {
    /// The annotation as JSON.
    pub(super) annotation: Option<String>,
    /// The innermost line of the program that added the node.
    pub(super) line: Option<Line>,
}

/// The nodes that files describe.
pub(super) type GraphNodes = Keyed<GraphNode>;

const GRAPH_ID: &str = "graph id";

/// The number of the graph and the node that device work is of.
pub(super) fn node_key(table: &Table, work: Row) -> Option<i64> {
    let number = |key| table.field_named(work, FieldPlace::Args, key).and_then(|value| value.as_i64());
    let node = number(NODE_ID).filter(|&node| node > 0)?;
    let graph = number(GRAPH_ID).filter(|_| node <= i64::from(u32::MAX));
    Some(graph.map_or(node, |graph| graph << 32 | node))
}

/// Reads a file in which the numbers of nodes are keys: annotations as PyTorch has them, or stacks. Returns whether it is one.
pub(super) fn read(nodes: &mut GraphNodes, file: &Json) -> bool {
    let keys = names(file);
    let numbers: Vec<i64> = keys.iter().map_while(|key| key.parse().ok()).collect();
    if keys.is_empty() || numbers.len() < keys.len() {
        return false;
    }
    for (key, number) in keys.into_iter().zip(numbers) {
        let node = nodes.entry((number, 0));
        match member(file, key) {
            Some(Json::String(text)) if is_stack(text) => node.line = user_frame(text),
            other => node.annotation = other.map(ToString::to_string),
        }
    }
    true
}

/// `/home/me/train.py:12:forward` in each line.
fn is_stack(text: &str) -> bool {
    let is_frame = |line| {
        let place = cut_last(line, b':').and_then(|(place, _)| cut_last(place, b':'));
        place.is_some_and(|(_, line)| number(line).is_some())
    };
    text.lines().all(is_frame)
}

/// The depth of values in an annotation, and the number of values in a file, that are read.
const MOST_DEPTH: usize = 4;
const MOST_VALUES: usize = 1 << 20;

/// A pickled dictionary whose keys are numbers of nodes, as JSON.
pub(super) fn from_pickle(pickle: &Pickle) -> Option<Json> {
    let Value::Dict(items) = pickle.root() else { return None };
    let mut room = MOST_VALUES;
    let mut found = serde_json::Map::new();
    for (key, value) in items {
        let Value::Int(key) = pickle.get(*key) else { return None };
        found.insert(key.to_string(), json_of(pickle, pickle.get(*value), MOST_DEPTH, &mut room)?);
    }
    Some(Json::Object(found))
}

fn json_of(pickle: &Pickle, value: &Value, depth: usize, room: &mut usize) -> Option<Json> {
    *room = room.checked_sub(1)?;
    let mut inner = |id: u32| json_of(pickle, pickle.get(id), depth.checked_sub(1)?, room);
    Some(match value {
        Value::None => Json::Null,
        Value::Bool(flag) => (*flag).into(),
        Value::Int(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::Text(text) => text.as_str().into(),
        Value::List(items) => {
            Json::Array(items.iter().map(|&item| inner(item)).collect::<Option<Vec<Json>>>()?)
        }
        Value::Dict(items) => {
            let mut object = serde_json::Map::new();
            for &(key, value) in items {
                let Value::Text(key) = pickle.get(key) else { continue };
                object.insert(key.clone(), inner(value)?);
            }
            Json::Object(object)
        }
    })
}
