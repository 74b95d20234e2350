//! PyTorch's execution traces: operators with their tensors and arguments, without times.
//!
//! A node is one record function. Its `rf_id` is the `Record function id` of the event in the trace that was recorded at
//! the same time, so that both can be joined. Since schema 1.0.2, most numbers of a node are in its list `attrs`.

use crate::base::index::Index;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::fields::Value;
use crate::trace::table::layout::{FieldPlace, Key};
use crate::trace::table::metadata::Source;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use serde_json::Value as Json;

/// The attribute with the modules around a node, which only execution traces of this project have.
pub(crate) const MODULES: &str = "module_hierarchy";

/// An execution trace.
#[derive(Clone, Debug)]
pub struct ExecutionTrace {
    table: Table,
    /// The row of each `rf_id`.
    nodes: Index,
}

/// A node of an execution trace.
#[derive(Clone, Debug)]
pub struct ExecutionNode<'a> {
    table: &'a Table,
    row: Row,
    /// The list of the numbers and texts of newer schemas.
    attributes: Json,
}

/// Arguments or results of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The arguments.
    Inputs,
    /// The results.
    Outputs,
}

impl ExecutionTrace {
    /// Returns the execution trace in a table; `None` if the table is of something else.
    pub fn from_table(table: Table) -> Option<ExecutionTrace> {
        let mut nodes = Index::default();
        for node in nodes_of(&table)? {
            if let Some(id) = node.rf_id() {
                nodes.set((id, 0), node.row.index() as u32);
            }
        }
        Some(ExecutionTrace { table, nodes })
    }

    /// Returns the node of an event of a trace.
    pub fn node(&self, trace: &Table, event: Row) -> Option<ExecutionNode<'_>> {
        let id = trace.int(event, Key::RecordFunctionId).filter(|&id| id != 0)?;
        let row = Row::new(self.nodes.get((id, 0))? as usize);
        let node = ExecutionNode::new(&self.table, row);
        (node.name() == trace.name(event)).then_some(node)
    }
}

/// Returns the nodes of an execution trace; `None` if the table is of something else.
pub fn nodes_of(table: &Table) -> Option<impl Iterator<Item = ExecutionNode<'_>>> {
    let is_one = table.metadata.source == Source::ExecutionTrace;
    is_one.then(|| table.rows().map(|row| ExecutionNode::new(table, row)))
}

impl<'a> ExecutionNode<'a> {
    fn new(table: &'a Table, row: Row) -> ExecutionNode<'a> {
        let attributes = table.field_named(row, FieldPlace::Top, "attrs").and_then(|value| value.as_json());
        let attributes = attributes.and_then(|text| serde_json::from_str(text).ok());
        ExecutionNode { table, row, attributes: attributes.unwrap_or(Json::Null) }
    }

    /// Returns the name.
    pub fn name(&self) -> &'a str {
        self.table.name(self.row)
    }

    /// Returns a member of the node itself, or else of its list `attrs`, as a number.
    pub fn int(&self, key: &str) -> Option<i64> {
        let member = self.member(key).and_then(|value| value.as_i64());
        member.or_else(|| self.attribute(key)?.as_i64())
    }

    /// Returns the number of the record function.
    pub fn rf_id(&self) -> Option<i64> {
        self.int("rf_id").filter(|&id| id != 0)
    }

    /// Returns the number of the thread.
    pub fn thread(&self) -> Option<i64> {
        // Older schemas have it in the node, where it is read as the thread of an event.
        let event_thread = self.table.names.get(self.table.track(self.row).tid).parse().ok();
        self.int("tid").or(event_thread)
    }

    /// Returns the id of the parent node.
    pub fn parent(&self) -> Option<i64> {
        self.int("ctrl_deps").or_else(|| self.int("parent"))
    }

    /// Returns the schema of the operator: its name with types of arguments and results; empty for annotations.
    pub fn schema(&self) -> String {
        let member = self.member("op_schema").and_then(|value| value.as_str());
        let listed = || self.attribute("op_schema").and_then(Json::as_str);
        member.or_else(listed).unwrap_or("").to_owned()
    }

    /// Returns the modules around the node, in the form of PyTorch's `Module Hierarchy`.
    pub fn modules(&self) -> Option<String> {
        self.attribute(MODULES).and_then(Json::as_str).map(ToOwned::to_owned)
    }

    fn member(&self, key: &str) -> Option<Value<'a>> {
        self.table.field_named(self.row, FieldPlace::Top, key)
    }

    fn attribute(&self, key: &str) -> Option<&Json> {
        let list = self.attributes.as_array()?;
        list.iter().find(|attribute| attribute.get("name").and_then(Json::as_str) == Some(key))?.get("value")
    }

    /// Returns the lists `values`, `shapes`, `types` and `strides` of the arguments or results. A tensor's value is a
    /// list: its id, the id of its storage, its offset in it, the number and size of its elements in bytes, and the
    /// device. Schemas before 1.1.1 have no strides.
    pub fn lists(&self, side: Side) -> [Vec<Json>; 4] {
        let (key, prefix) = match side {
            Side::Inputs => ("inputs", "input"),
            Side::Outputs => ("outputs", "output"),
        };
        let json = |key: &str| -> Json {
            let text = self.member(key).and_then(|value| value.as_json());
            text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Json::Null)
        };
        let list = |json: Json| if let Json::Array(list) = json { list } else { Vec::new() };
        match json(key) {
            Json::Object(mut lists) => ["values", "shapes", "types", "strides"]
                .map(|key| list(lists.remove(key).unwrap_or(Json::Null))),
            values => [
                list(values),
                list(json(&[prefix, "_shapes"].concat())),
                list(json(&[prefix, "_types"].concat())),
                Vec::new(),
            ],
        }
    }
}
