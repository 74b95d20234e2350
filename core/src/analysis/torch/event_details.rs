//! The fields of PyTorch's `FunctionEvent` that only the query `events` shows: inputs, ids and kernels.

use super::event_ids::device;
use super::function_events::{EventKind, FunctionEvent, FunctionEvents};
use super::node_rows::arguments;
use crate::base::index::Index;
use crate::base::order::sort_by_key;
use crate::base::rows::{Column, record};
use crate::trace::Trace;
use crate::trace::execution::Side;
use crate::trace::link;
use crate::trace::table::category::Category;
use crate::trace::table::events::Row;
use crate::trace::table::fields::Value;
use crate::trace::table::layout::{FieldPlace, Key};
use crate::trace::table::metadata::Source;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use serde_json::Value as Json;

record! {
    /// A kernel of an event.
    pub(super) static KERNEL = "EventKernel": fn kernel(name: &str, device: i64, duration_ns: i64) [
        Column::text("name", "", "The name of the device work.") => name,
        Column::int("device", "", "The number of its device.") => device,
        Column::ns("duration_ns", "", "Its duration.") => duration_ns,
    ]
}

/// PyTorch's number of flows from forward to backward operators.
const FORWARD_BACKWARD: i64 = 1;

/// Finds the details of events.
pub(super) struct Details<'a> {
    pub(super) trace: &'a Trace,
    pub(super) events: &'a FunctionEvents,
    /// Device work with its owner, sorted by owner: the row of an operator, or the id that profiling results link by.
    work: Vec<(i64, FunctionEvent)>,
    /// The flows of traces, by track and start of their operators: number and whether it starts there.
    flow_of: Index,
    flows: Vec<(i64, bool)>,
    /// The device time of every event, in ns.
    pub(super) totals: Vec<i64>,
}

impl<'a> Details<'a> {
    pub(super) fn new(trace: &'a Trace, events: &'a FunctionEvents) -> Self {
        let totals = events.device_totals_ns();
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
        for event in self.events.events().filter(|&event| self.events.kind(event) == EventKind::Device) {
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

    /// The inputs or outputs in the execution trace that was joined.
    pub(super) fn node(&self, event: FunctionEvent, side: Side) -> Json {
        let node = self.trace.node(self.events.row(event));
        node.map_or_else(|| Json::Array(Vec::new()), |node| arguments(&node, side))
    }

    /// A value that only profiling results have.
    pub(super) fn result(&self, event: FunctionEvent, key: &str) -> Option<Json> {
        let is_result =
            self.events.source == Source::KinetoEvents && self.events.kind(event) != EventKind::Memory;
        json(
            self.trace
                .table
                .field_named(self.events.row(event), FieldPlace::Top, key)
                .filter(|_| is_result)?,
        )
    }

    /// An id: from a member of profiling results, else the external id of traces.
    pub(super) fn id(&self, event: FunctionEvent, member: &str) -> i64 {
        if self.events.kind(event) == EventKind::Memory {
            return 0;
        }
        let external_id = || self.trace.table.int(self.events.row(event), Key::ExternalId);
        let of_trace = || external_id().filter(|_| self.is_trace());
        let of_result = self.result(event, member).and_then(|value| value.as_i64());
        of_result.or_else(of_trace).unwrap_or(0)
    }

    /// The correlation id of the operator that caused device work.
    pub(super) fn linked(&self, event: FunctionEvent) -> i64 {
        let is_device = self.events.kind(event) == EventKind::Device;
        if self.is_trace() && !is_device {
            return 0;
        }
        self.id(event, "linked_correlation_id")
    }

    pub(super) fn kernels(&self, event: FunctionEvent) -> Vec<Json> {
        let (table, events) = (&self.trace.table, self.events);
        if !events.has_kernels(event) {
            return Vec::new();
        }
        let row = events.row_of_kernels(table, event);
        let owner =
            if self.is_trace() { Some(i64::from(row)) } else { self.trace.rules.launcher_id(table, row) };
        let first = owner.map_or(self.work.len(), |owner| self.work.partition_point(|work| work.0 < owner));
        let owner_work = self.work[first..].iter().take_while(|work| Some(work.0) == owner);
        let linked = owner_work.map(|&(_, work)| {
            let device = device(table, events, work).0;
            kernel(events.name(work), device, events.duration_ns(table, work))
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
        ns.map(|ns| kernel(self.events.trace_name(table, event), 0, ns))
    }

    /// The values of the inputs that are no tensors, and null for tensors.
    pub(super) fn inputs(&self, event: FunctionEvent) -> Json {
        let (table, row) = (&self.trace.table, self.events.row(event));
        if self.events.kind(event) == EventKind::Memory || self.events.source == Source::LegacyRecords {
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
    pub(super) fn activity_type(&self, event: FunctionEvent) -> Option<String> {
        if self.events.kind(event) == EventKind::Memory {
            return None;
        }
        if self.is_trace() {
            return Some(self.trace.table.cat(self.events.row(event)).to_owned());
        }
        self.result(event, "activity_type")?.as_str().map(ToOwned::to_owned)
    }

    /// A list about the inputs, which profiling results have as a member; null for memory events, which have none.
    pub(super) fn list(&self, event: FunctionEvent, key: Key, member: &str) -> Json {
        if self.events.kind(event) == EventKind::Memory || self.events.source == Source::LegacyRecords {
            return Json::Null;
        }
        let of_trace = || self.trace.table.field(self.events.row(event), key).filter(|_| self.is_trace());
        let value = self.result(event, member).or_else(|| of_trace().and_then(json));
        value.filter(Json::is_array).unwrap_or_else(|| Json::Array(Vec::new()))
    }

    /// The arguments of calls and device work, without their external ids. PyTorch's events have them if its configuration
    /// exposes them.
    pub(super) fn metadata(&self, event: FunctionEvent) -> Json {
        let (table, row) = (&self.trace.table, self.events.row(event));
        let category = table.category(row);
        if self.events.kind(event) == EventKind::Memory || !self.is_trace() {
            return self.result(event, "typed_metadata").filter(|value| !is_empty(value)).unwrap_or_default();
        }
        if !(category.is_launch_call() || category.is_on_device()) {
            return Json::Null;
        }
        let external_id = table.layout(row).find(Key::ExternalId).map(|field| field.key);
        let args = table.all_fields(row).filter(|(field, _)| field.place == FieldPlace::Args);
        let args = args.filter(|(field, _)| Some(field.key) != external_id);
        let mut members = serde_json::Map::new();
        for (field, value) in args {
            members.extend(json(value).map(|value| (table.names.get(field.key).to_owned(), value)));
        }
        Json::Object(members)
    }

    pub(super) fn flow(&self, event: FunctionEvent) -> Json {
        let (table, row) = (&self.trace.table, self.events.row(event));
        if self.events.kind(event) == EventKind::Memory || self.events.source == Source::LegacyRecords {
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
    pub(super) fn python_ids(&self, event: FunctionEvent) -> Json {
        let row = self.events.row(event);
        let of_trace = |key: &str| self.trace.table.field_named(row, FieldPlace::Args, key)?.as_i64();
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
