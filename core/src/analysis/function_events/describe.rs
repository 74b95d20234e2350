//! Names, overloads, shapes and FLOPs of function events.

use super::build::Builder;
use super::{NONE, rewrite_name};
use crate::analysis::flops::{self, Inputs};
use crate::table::category::Category;
use crate::table::events::Table;
use crate::table::layout::Key;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use serde_json::Value;

impl Builder<'_> {
    /// Rewrites every name once; splits overload names off when the trace was recorded with them.
    pub(super) fn name_events(&mut self) {
        let table = self.table;
        let split = has_overload_names(table);
        let mut index: HashMap<String, u32, FixedState> = HashMap::default();
        let mut known: [Vec<u32>; 2] = [vec![NONE; table.names.len()], vec![NONE; table.names.len()]];
        let mut keys = Vec::with_capacity(self.out.rows.len());
        for at in 0..self.out.rows.len() {
            let row = self.out.rows[at];
            let is_op = split && table.category(row) == Category::CpuOp;
            let name_id = table.name_id(row).0;
            let memo = &mut known[usize::from(is_op)][name_id as usize];
            if *memo == NONE {
                let (name, overload) = match split_overload(table.name(row)).filter(|_| is_op) {
                    Some((name, overload)) => (name.to_owned(), Some(overload)),
                    None => (rewrite_name(table.name(row)), None),
                };
                if let Some(overload) = overload {
                    self.out.overloads.insert(name_id, overload.to_owned());
                }
                let next = index.len() as u32;
                *memo = *index.entry(name.clone()).or_insert(next);
                if *memo == next {
                    self.out.names.push(name);
                }
            }
            if is_op && self.out.overloads.contains_key(&name_id) {
                self.out.overload_of.insert(row, name_id);
            }
            keys.push(*memo);
        }
        self.out.keys = keys;
    }

    /// Shapes, and FLOPs where they were recorded.
    pub(super) fn describe_inputs(&mut self) {
        let table = self.table;
        if table.layouts.all().iter().all(|l| l.find(Key::InputDims).is_none()) {
            return;
        }
        let mut known: HashMap<&str, u32, FixedState> = HashMap::default();
        let mut index: HashMap<String, u32, FixedState> = HashMap::default();
        index.insert("[]".to_owned(), 0);
        let mut shape_of = vec![0; self.out.rows.len()];
        let mut flops = if self.out.with_flops { vec![0; self.out.rows.len()] } else { Vec::new() };
        for at in 0..self.out.rows.len() {
            let row = self.out.rows[at];
            let text = |key| table.field(row, key).and_then(|v| v.as_json());
            let Some(dims) = text(Key::InputDims) else { continue };
            shape_of[at] = *known.entry(dims).or_insert_with(|| {
                let shapes = input_shapes(dims);
                let next = index.len() as u32;
                let id = *index.entry(shapes.clone()).or_insert(next);
                if id == next {
                    self.out.shapes.push(shapes);
                }
                id
            });
            if self.out.with_flops {
                let inputs = Inputs::parse(Some(dims), text(Key::InputType), text(Key::ConcreteInputs));
                flops[at] = flops::estimate(self.out.name(at), &inputs);
            }
        }
        self.out.shape_of = shape_of;
        self.out.flops = flops;
    }
}

/// A trace does not say that overload names were captured, but without them no `aten::` operator has a dot.
fn has_overload_names(table: &Table) -> bool {
    table.rows().any(|row| {
        table.category(row) == Category::CpuOp
            && table.name(row).starts_with("aten::")
            && split_overload(table.name(row)).is_some()
    })
}

fn split_overload(name: &str) -> Option<(&str, &str)> {
    let (name, overload) = name.rsplit_once('.')?;
    let word = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let (space, op) = name.split_once("::")?;
    (word(space) && word(op) && word(overload)).then_some((name, overload))
}

/// The `input_shapes` of an event, as Python writes them: a list of tensors becomes `[]`.
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
