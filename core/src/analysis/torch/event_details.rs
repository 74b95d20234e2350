//! The fields of PyTorch's `FunctionEvent` that only the query `events` shows: inputs, ids and kernels.

use super::event_ids::{EventIds, device};
use super::function_events::{FunctionEvent, FunctionEvents, Kind};
use super::node_rows::arguments;
use crate::base::index::Index;
use crate::base::order::sort_by_key;
use crate::base::rows::{Cell, Column, Record};
use crate::trace::Trace;
use crate::trace::execution::Side;
use crate::trace::link;
use crate::trace::table::category::Category;
use crate::trace::table::events::Row;
use crate::trace::table::fields::Value;
use crate::trace::table::layout::{Field, Key, Place};
use crate::trace::table::metadata::Source;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use serde_json::Value as Json;

/// A kernel of an event.
pub(super) static KERNEL: Record = Record {
    name: "EventKernel",
    members: &[
        Column::text("name", "", "The name of the device work."),
        Column::int("device", "", "The number of its device."),
        Column::ns("duration_ns", "", "Its duration."),
    ],
};

/// PyTorch's number of flows from forward to backward operators.
const FORWARD_BACKWARD: i64 = 1;

/// Finds the details of events.
pub(super) struct Details<'a> {
    trace: &'a Trace,
    events: &'a FunctionEvents,
    /// Device work with its owner, sorted by owner: the row of an operator, or the id that profiling results link by.
    work: Vec<(i64, FunctionEvent)>,
    /// The flows of traces, by track and start of their operators: number and whether it starts there.
    flow_of: Index,
    flows: Vec<(i64, bool)>,
    /// The device time of every event, in ns.
    totals: &'a [i64],
}

impl<'a> Details<'a> {
    pub(super) fn new(trace: &'a Trace, events: &'a FunctionEvents, totals: &'a [i64]) -> Self {
        let mut details =
            Details { trace, events, work: Vec::new(), flow_of: Index::default(), flows: Vec::new(), totals };
        details.find_work();
        if details.is_trace() {
            details.find_flows();
        }
        details
    }

    fn is_trace(&self) -> bool {
        self.events.source == Source::Chrome
    }

    fn find_work(&mut self) {
        let table = &self.trace.table;
        for event in self.events.events().filter(|&event| self.events.kind(event) == Kind::Device) {
            let row = self.events.row(event);
            let owner = if self.is_trace() {
                let op = self.trace.links.op(row).filter(|_| table.category(row).is_device_work());
                op.map(i64::from)
            } else {
                self.events.linked_id(table, event)
            };
            self.work.extend(owner.map(|owner| (owner, event)));
        }
        sort_by_key(&mut self.work, |&(owner, event)| (owner, i64::from(self.events.row(event))));
    }

    fn find_flows(&mut self) {
        let table = &self.trace.table;
        let is_known = |row: Row| link::FORWARD_BACKWARD.contains(&table.cat(row));
        for &(start, end) in self.trace.pairs.flows.iter().filter(|flow| is_known(flow.0)) {
            let Some(id) = table.int(start, Key::Id) else { continue };
            for (row, is_start) in [(start, true), (end, false)] {
                let next = self.flows.len() as u32;
                self.flow_of.set((i64::from(table.track_id(row).0), table.ts(row)), next);
                self.flows.push((id, is_start));
            }
        }
    }

    /// The cells of an event, in the order of the columns that follow `device_type`.
    pub(super) fn cells(&self, event: FunctionEvent, ids: EventIds) -> Vec<Cell> {
        vec![
            Cell::Int(ids.device_index),
            Cell::Int(ids.device_resource_id),
            self.events.device_of(event).into(),
            Cell::Int(self.events.node_id(&self.trace.table, event).unwrap_or(-1)),
            self.id(event, "external_id"),
            self.linked(event),
            Cell::Json(self.kernels(event).into()),
            Cell::Json(self.inputs(event)),
            Cell::Json(self.result(event, "kwinputs").filter(Json::is_object).unwrap_or_default()),
            self.node(event, Side::Inputs),
            self.node(event, Side::Outputs),
            Cell::Json(self.flow(event)),
            Cell::Json(self.python_ids(event)),
            self.activity_type(event),
            Cell::Json(self.list(event, Key::InputType, "dtypes")),
            Cell::Json(self.list(event, Key::InputDims, "structured_input_shapes")),
            Cell::Json(self.list(event, Key::InputStrides, "structured_input_strides")),
            Cell::Json(self.metadata(event)),
            Cell::Bool(self.events.is_python_function(&self.trace.table, event)),
        ]
    }

    /// The inputs or outputs in the execution trace that was joined.
    fn node(&self, event: FunctionEvent, side: Side) -> Cell {
        let node = self.trace.node(self.events.row(event));
        node.map_or_else(|| Cell::Json(Vec::<Json>::new().into()), |node| arguments(&node, side))
    }

    /// A value that only profiling results have.
    fn result(&self, event: FunctionEvent, key: &str) -> Option<Json> {
        let is_result = self.events.source == Source::KinetoEvents && self.events.kind(event) != Kind::Memory;
        json(self.trace.table.field_named(self.events.row(event), Place::Top, key).filter(|_| is_result)?)
    }

    /// An id: from a member of profiling results, else the external id of traces.
    fn id(&self, event: FunctionEvent, member: &str) -> Cell {
        if self.events.kind(event) == Kind::Memory {
            return Cell::Int(0);
        }
        let external_id = || self.trace.table.int(self.events.row(event), Key::ExternalId);
        let of_trace = || external_id().filter(|_| self.is_trace());
        let of_result = self.result(event, member).and_then(|value| value.as_i64());
        Cell::Int(of_result.or_else(of_trace).unwrap_or(0))
    }

    /// The correlation id of the operator that caused device work.
    fn linked(&self, event: FunctionEvent) -> Cell {
        let is_device = self.events.kind(event) == Kind::Device;
        if self.is_trace() && !is_device {
            return Cell::Int(0);
        }
        self.id(event, "linked_correlation_id")
    }

    fn kernels(&self, event: FunctionEvent) -> Vec<Json> {
        let (table, events) = (&self.trace.table, self.events);
        if !events.has_kernels(event) {
            return Vec::new();
        }
        let row = events.row_of_kernels(table, event);
        let owner =
            if self.is_trace() { Some(i64::from(row)) } else { self.trace.rules.launcher_id(table, row) };
        let first = owner.map_or(self.work.len(), |owner| self.work.partition_point(|work| work.0 < owner));
        let own = self.work[first..].iter().take_while(|work| Some(work.0) == owner);
        let linked = own.map(|&(_, work)| {
            let (name, device) = (events.name(work), device(table, events, work).0);
            let duration = Cell::Ns(events.duration_ns(table, work));
            KERNEL.object(vec![name.into(), Cell::Int(device), duration])
        });
        self.measured(event).into_iter().chain(linked).collect()
    }

    /// The time between the device events around an operator.
    fn measured(&self, event: FunctionEvent) -> Option<Json> {
        let table = &self.trace.table;
        let ns = match self.events.source {
            Source::LegacyRecords => Some(self.totals[event.index()]).filter(|&ns| ns != 0),
            Source::KinetoEvents => self.events.measured_time(table, event).map(|(ns, _)| ns),
            Source::Chrome | Source::ExecutionTrace => None,
        };
        let name = self.events.trace_name(table, event);
        ns.map(|ns| KERNEL.object(vec![name.into(), Cell::Int(0), Cell::Ns(ns)]))
    }

    /// The values of the inputs that are no tensors, and null for tensors.
    fn inputs(&self, event: FunctionEvent) -> Json {
        let (table, row) = (&self.trace.table, self.events.row(event));
        if self.events.kind(event) == Kind::Memory || self.events.source == Source::LegacyRecords {
            return Json::Null;
        }
        let value = table.field(row, Key::ConcreteInputs).and_then(json);
        match value {
            Some(Json::Array(inputs)) if self.is_trace() => inputs.into_iter().map(python_value).collect(),
            Some(value) if value.is_array() => value,
            Some(_) => Json::Null,
            None => Json::Array(Vec::new()),
        }
    }

    /// Kineto's type of the activity: the category of a trace.
    fn activity_type(&self, event: FunctionEvent) -> Cell {
        let (table, row) = (&self.trace.table, self.events.row(event));
        if self.events.kind(event) == Kind::Memory {
            return Cell::Null;
        }
        if self.is_trace() {
            return table.cat(row).into();
        }
        self.result(event, "activity_type").as_ref().and_then(Json::as_str).into()
    }

    /// A list about the inputs, which profiling results have as a member; null for memory events, which have none.
    fn list(&self, event: FunctionEvent, key: Key, member: &str) -> Json {
        if self.events.kind(event) == Kind::Memory || self.events.source == Source::LegacyRecords {
            return Json::Null;
        }
        let of_trace = || self.trace.table.field(self.events.row(event), key).filter(|_| self.is_trace());
        let value = self.result(event, member).or_else(|| of_trace().and_then(json));
        value.filter(Json::is_array).unwrap_or_else(|| Json::Array(Vec::new()))
    }

    /// The arguments of calls and device work, without their external ids. PyTorch's events have them if its configuration
    /// exposes them.
    fn metadata(&self, event: FunctionEvent) -> Json {
        let (table, row) = (&self.trace.table, self.events.row(event));
        let category = table.category(row);
        if self.events.kind(event) == Kind::Memory || !self.is_trace() {
            return self.result(event, "typed_metadata").filter(|value| !is_empty(value)).unwrap_or_default();
        }
        if !(category.is_launch_call() || category.is_on_device()) {
            return Json::Null;
        }
        let external_id = table.layout(row).find(Key::ExternalId).map(|field| field.key);
        let args = table.all_fields(row).filter(|(field, _)| field.place == Place::Args);
        let args = args.filter(|(field, _)| Some(field.key) != external_id);
        let member =
            |(field, value): (&Field, Value<'_>)| Some((table.names.get(field.key).to_owned(), json(value)?));
        Json::Object(args.filter_map(member).collect())
    }

    fn flow(&self, event: FunctionEvent) -> Json {
        let (table, row) = (&self.trace.table, self.events.row(event));
        if self.events.kind(event) == Kind::Memory || self.events.source == Source::LegacyRecords {
            return Json::Array(vec![Json::Null; 3]);
        }
        if !self.is_trace() {
            return ["flow_id", "flow_type", "flow_start"]
                .map(|key| self.result(event, key).unwrap_or_default())
                .into_iter()
                .collect();
        }
        let here = (i64::from(table.track_id(row).0), table.ts(row));
        let at = self.flow_of.get(here).filter(|_| table.category(row) == Category::CpuOp);
        let (id, kind, is_start) = at.map_or((0, 0, false), |at| {
            let (id, is_start) = self.flows[at as usize];
            (id, FORWARD_BACKWARD, is_start)
        });
        Json::Array(vec![id.into(), kind.into(), is_start.into()])
    }

    /// The ids of a Python call, of its parent and of its module; -1 for none.
    fn python_ids(&self, event: FunctionEvent) -> Json {
        let row = self.events.row(event);
        let of_trace = |key: &str| self.trace.table.field_named(row, Place::Args, key)?.as_i64();
        let ids = [
            ("python_id", "Python id"),
            ("python_parent_id", "Python parent id"),
            ("python_module_id", "Python module id"),
        ];
        let id = |(member, key): (&str, &str)| {
            let of_result = self.result(event, member).and_then(|value| value.as_i64());
            of_result.or_else(|| of_trace(key).filter(|_| self.is_trace())).unwrap_or(-1)
        };
        ids.into_iter().map(id).collect()
    }
}

fn is_empty(value: &Json) -> bool {
    value.as_object().is_none_or(serde_json::Map::is_empty)
}

/// A value as JSON. Texts that are lists or objects are parsed.
fn json(value: Value<'_>) -> Option<Json> {
    match value {
        Value::Null => Some(Json::Null),
        Value::Bool(flag) => Some(flag.into()),
        Value::Int(number) => Some(number.into()),
        Value::Decimal { .. } => value.as_f64().map(Json::from),
        Value::Text(text) => Some(text.into()),
        Value::Number(text) | Value::Json(text) => serde_json::from_str(text).ok(),
    }
}

/// An input as traces write it, in Python's notation: empty for a tensor.
fn python_value(text: Json) -> Json {
    match text.as_str() {
        Some("") => Json::Null,
        Some(value) => serde_json::from_str(&from_python(value)).unwrap_or(text),
        None => text,
    }
}

/// Python's words and numbers such as `2.` as JSON.
fn from_python(value: &str) -> String {
    let tokens = value.split_inclusive(|c: char| "[], ".contains(c));
    tokens
        .map(|token| {
            let word = token.trim_end_matches(|c: char| "[], ".contains(c));
            let rest = &token[word.len()..];
            match word {
                "True" => "true".to_owned() + rest,
                "False" => "false".to_owned() + rest,
                "None" => "null".to_owned() + rest,
                // JSON has no such numbers.
                "inf" | "-inf" | "nan" => format!("{{\"float\":\"{word}\"}}{rest}"),
                number if number.ends_with('.') => format!("{number}0{rest}"),
                _ => token.to_owned(),
            }
        })
        .collect()
}
