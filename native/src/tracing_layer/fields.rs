//! The fields of spans and events of `tracing`, which become arguments.

use super::callsite::{Callsite, callsite};
use crate::hot::local::unrecorded;
use crate::spans::args::Args;
use crate::spans::value::Value;
use std::fmt::Debug;
use tracing_core::Metadata;
use tracing_core::field::{Field, Visit};

/// The value of a field, which is kept until its span is entered.
#[derive(Clone, Debug)]
pub(super) enum FieldValue {
    Int(i128),
    Float(f64),
    Bool(bool),
    Text(String),
}

impl FieldValue {
    fn put(&self, key: u32, args: &mut Args) {
        match self {
            FieldValue::Int(value) => value.put(key, args),
            FieldValue::Float(value) => value.put(key, args),
            FieldValue::Bool(value) => value.put(key, args),
            FieldValue::Text(value) => value.put(key, args),
        }
    }
}

/// The fields of a span or an event.
pub(super) struct Fields {
    pub(super) callsite: &'static Callsite,
    values: Vec<(u32, FieldValue)>,
    /// The arguments that a function of the program added.
    added: Option<Box<Args>>,
    task: Option<TaskName>,
}

impl Fields {
    pub(super) fn new(metadata: &'static Metadata<'static>) -> Fields {
        let task = TaskName::is_of(metadata).then(TaskName::default);
        Fields { callsite: callsite(metadata), values: Vec::new(), added: None, task }
    }

    /// Adds the fields to a record.
    pub(super) fn put(&self, args: &mut Args) {
        self.values.iter().for_each(|(key, value)| value.put(*key, args));
        if let Some(added) = &self.added {
            args.extend(added);
        }
    }

    /// Sets the arguments that are not fields.
    pub(super) fn set_added(&mut self, added: Args) {
        unrecorded(|| self.added = Some(Box::new(added)));
    }

    /// Returns the arguments of a record with the name and without the fields.
    pub(super) fn name(&self, state: u32) -> Args {
        let mut args = Args::new(state);
        if let Some(task) = &self.task {
            unrecorded(|| args.name(task.text()));
        }
        args
    }

    /// Returns the arguments of a record with the name and the fields.
    pub(super) fn args(&self, state: u32) -> Args {
        let mut args = self.name(state);
        unrecorded(|| self.put(&mut args));
        args
    }

    /// Sets the values of fields that were recorded later.
    pub(super) fn update(&mut self, mut newer: Fields) {
        self.values.retain(|(key, _)| newer.values.iter().all(|(other, _)| other != key));
        self.values.append(&mut newer.values);
    }

    fn keep(&mut self, field: &Field, value: FieldValue) {
        if let Some(task) = &mut self.task {
            task.keep(field.name(), &value);
        }
        let key = self.callsite.key(field);
        self.values.retain(|(known, _)| *known != key);
        self.values.push((key, value));
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.keep(field, FieldValue::Text(format!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.keep(field, FieldValue::Text(value.to_owned()));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.keep(field, FieldValue::Int(value.into()));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.keep(field, FieldValue::Int(value.into()));
    }

    fn record_i128(&mut self, field: &Field, value: i128) {
        self.keep(field, FieldValue::Int(value));
    }

    fn record_u128(&mut self, field: &Field, value: u128) {
        let value =
            i128::try_from(value).map_or_else(|_| FieldValue::Text(value.to_string()), FieldValue::Int);
        self.keep(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.keep(field, FieldValue::Float(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.keep(field, FieldValue::Bool(value));
    }
}

/// The name of a task of tokio, which has a span for each task if it is built with its feature `tracing`: the name that
/// the program gave it, or the place where it was spawned.
#[derive(Default)]
struct TaskName {
    name: String,
    file: String,
    line: i128,
}

impl TaskName {
    fn is_of(metadata: &Metadata<'_>) -> bool {
        metadata.name() == "runtime.spawn" && metadata.target() == "tokio::task"
    }

    fn keep(&mut self, field: &str, value: &FieldValue) {
        match (field, value) {
            ("task.name", FieldValue::Text(name)) => self.name.clone_from(name),
            ("loc.file", FieldValue::Text(file)) => self.file.clone_from(file),
            ("loc.line", FieldValue::Int(line)) => self.line = *line,
            _ => {}
        }
    }

    fn text(&self) -> String {
        if self.name.is_empty() { format!("task {}:{}", self.file, self.line) } else { self.name.clone() }
    }
}
