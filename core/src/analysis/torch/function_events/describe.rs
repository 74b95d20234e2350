//! Names, overloads, shapes and FLOPs of function events.

use super::EventKind;
use super::build::Builder;
use crate::analysis::formulas::{self, Inputs};
use crate::analysis::torch::overloads::Overloads;
use crate::base::demangle::rewrite_name;
use crate::base::index::Index;
use crate::base::names::NameId;
use crate::trace::table::events::Row;
use crate::trace::table::layout::Key;
use crate::trace::table::metadata::Source;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use serde_json::Value;

impl Builder<'_> {
    /// Rewrites every distinct name once. Splits overload names off if the trace was recorded with them.
    pub(super) fn name_events(&mut self) {
        let table = self.table;
        let overloads = Overloads::new(table);
        let memory = table.names.find("[memory]").unwrap_or_default();
        let mut known: [Vec<Option<NameId>>; 2] =
            [vec![None; table.names.len()], vec![None; table.names.len()]];
        let mut keys = Vec::with_capacity(self.out.len());
        for event in self.out.events() {
            let row = self.out.row(event);
            let split = overloads.split(table, row);
            // In PyTorch, the allocations of legacy records have this name, whatever the record contains.
            let is_memory =
                self.out.kind(event) == EventKind::Memory && self.out.source == Source::LegacyRecords;
            let name = if is_memory { memory } else { table.name_id(row) };
            let key = known[usize::from(split.is_some())][name.0 as usize].get_or_insert_with(|| {
                let text = table.names.get(name);
                let name = match split {
                    Some((name, _)) => name.to_owned(),
                    None => rewrite_name(text),
                };
                self.out.names.intern(&name)
            });
            keys.push(*key);
        }
        self.out.keys = keys;
        self.out.split = overloads;
        self.name_overloads(overloads);
    }

    /// Sets overload names: in a trace, the part after the dot of an operator's name.
    fn name_overloads(&mut self, overloads: Overloads) {
        let table = self.table;
        let is_given = table.layouts.all().iter().any(|l| l.find(Key::OverloadName).is_some());
        if !(overloads.are_split() || is_given && table.metadata.source == Source::KinetoEvents) {
            return;
        }
        for event in self.out.events() {
            let row = self.out.row(event);
            let overload = if overloads.are_split() {
                overloads.split(table, row).map(|(_, overload)| overload)
            } else {
                table.field(row, Key::OverloadName).and_then(|v| v.as_str()).filter(|text| !text.is_empty())
            };
            let Some(overload) = overload else { continue };
            let id = self.out.overloads.intern(overload).0;
            self.out.overload_of.set((i64::from(row), 0), id);
        }
    }

    /// Sets shapes, and FLOPs if they were recorded.
    pub(super) fn describe_inputs(&mut self) {
        let table = self.table;
        if table.layouts.all().iter().any(|l| l.find(Key::Flops).is_some()) {
            let flops = |row: Row| table.int(row, Key::Flops).unwrap_or(0);
            self.out.flops = self.out.rows.iter().map(|&row| flops(row)).collect();
            // A profiling result does not say whether FLOPs were recorded.
            if table.metadata.flag("with_flops").is_none() {
                self.out.with_flops = self.out.flops.iter().any(|&flops| flops != 0);
            }
        }
        if table.layouts.all().iter().all(|l| l.find(Key::InputDims).is_none()) {
            return;
        }
        let mut known = Index::default();
        let mut shape_of = vec![NameId::EMPTY; self.out.len()];
        let estimates = self.out.with_flops && table.metadata.source == Source::Chrome;
        let mut flops = core::mem::take(&mut self.out.flops);
        flops.resize(if estimates { self.out.len() } else { flops.len() }, 0);
        for event in self.out.events() {
            let (at, row) = (event.index(), self.out.row(event));
            if self.out.kind(event) == EventKind::Memory && self.out.source == Source::LegacyRecords {
                shape_of[at] = self.out.shapes.intern("None");
                continue;
            }
            let text = |key| table.field(row, key).and_then(|v| v.as_json());
            let Some(dims) = text(Key::InputDims) else { continue };
            // Equal strings of a trace are stored once, so the address identifies the text.
            let key = (dims.as_ptr() as i64, dims.len() as i64);
            shape_of[at] = known.get(key).map_or_else(
                || {
                    let shapes = input_shapes(dims);
                    let shape = if shapes == "[]" { NameId::EMPTY } else { self.out.shapes.intern(&shapes) };
                    known.set(key, shape.0);
                    shape
                },
                NameId,
            );
            if estimates && flops[at] == 0 {
                let inputs = Inputs::parse(Some(dims), text(Key::InputType), text(Key::ConcreteInputs));
                flops[at] = formulas::estimate(self.out.name(event), &inputs);
            }
        }
        self.out.shape_of = shape_of;
        self.out.flops = flops;
    }
}

/// Returns the `input_shapes` of an event as Python writes them; a list of tensors becomes `[]`.
fn input_shapes(dims: &str) -> String {
    let Ok(Value::Array(inputs)) = serde_json::from_str(dims) else { return "[]".to_owned() };
    let parts: Vec<String> = inputs
        .iter()
        .map(|input| match input {
            Value::Array(sizes) if sizes.iter().any(Value::is_array) => "[]".to_owned(),
            Value::Array(sizes) => {
                let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
                format!("[{}]", sizes.join(", "))
            }
            other => other.to_string(),
        })
        .collect();
    format!("[{}]", parts.join(", "))
}
