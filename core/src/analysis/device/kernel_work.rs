//! Operations and bytes of kernels: those of the operator, if it launched no other kernel.

use super::classes::Classes;
use super::models::Device;
use super::peak::{Least, Peak};
use crate::analysis::formulas::{self, Inputs, Work};
use crate::base::index::Index;
use crate::trace::Trace;
use crate::trace::table::events::Row;
use crate::trace::table::layout::Key;
use alloc::vec::Vec;

/// The work of kernels.
pub(crate) struct KernelWork<'a> {
    trace: &'a Trace,
    /// The peak figures of the devices that work, if they are known and the same.
    peak: Option<Peak>,
    /// The number of kernels that each row launched, of the trace and of the captures that are joined to it.
    kernels: Vec<(&'a Trace, Vec<u32>)>,
    /// The numbers of types and values, and the results by name and inputs of the operator.
    values: Index,
    known: Index,
    work: Vec<Option<Work>>,
}

impl<'a> KernelWork<'a> {
    pub(crate) fn new(trace: &'a Trace) -> Self {
        let count = |trace: &Trace, ops: &mut dyn Iterator<Item = Row>| {
            let mut kernels = alloc::vec![0; trace.table.len()];
            ops.for_each(|op| kernels[op.index()] += 1);
            kernels
        };
        let own = count(trace, &mut trace.links.op_of.iter().map(|link| link.1));
        let mut kernels = alloc::vec![(trace, own)];
        kernels.extend(trace.replayed().map(|replayed| {
            let mut ops = replayed.captures.nodes.iter().filter_map(|node| node.op);
            (replayed.trace, count(replayed.trace, &mut ops))
        }));
        let peak = Device::used(trace).and_then(|device| Some(device.model?.peak));
        KernelWork {
            trace,
            peak,
            kernels,
            values: Index::default(),
            known: Index::default(),
            work: Vec::new(),
        }
    }

    fn of(&mut self, row: Row) -> Option<Work> {
        let owner = self.trace.owner(row)?;
        let from = self.kernels.iter().position(|(trace, _)| core::ptr::eq(*trace, owner.trace))?;
        let op = owner.op.filter(|op| self.kernels[from].1[op.index()] == 1)?;
        let table = &owner.trace.table;
        let text = |key| table.field(op, key).and_then(|v| v.as_json());
        let dims = text(Key::InputDims)?;
        // Equal strings of a trace are stored once, so the address identifies the text.
        let address = |text: Option<&str>| text.map_or(0, |text| text.as_ptr() as i64);
        let values = (address(text(Key::InputType)), address(text(Key::ConcreteInputs)));
        let values = self.values.get_or_insert(values, self.values.len() as u32);
        // The addresses of texts are of one trace each.
        let name = (i64::from(table.name_id(op).0) << 32) | i64::from(values);
        let at = self.known.get_or_insert((name, dims.as_ptr() as i64), self.work.len() as u32) as usize;
        if at == self.work.len() {
            let inputs = Inputs::parse(Some(dims), text(Key::InputType), text(Key::ConcreteInputs));
            self.work.push(formulas::work(table.name(op), &inputs));
        }
        self.work[at]
    }

    /// Returns the floating point operations of a kernel; `None` if its operator has several, or no formula.
    pub(crate) fn flops(&mut self, row: Row) -> Option<i64> {
        Some(self.of(row)?.flops)
    }

    /// Returns whether an activity uses tensor cores: by its name, or because nothing else is as fast; `None` if neither shows it.
    pub(crate) fn tensor_cores(&mut self, classes: &Classes<'_>, row: Row) -> Option<bool> {
        classes.tensor_cores(row).or_else(|| {
            let needs = |peak: Peak, work| peak.needs_tensor_cores(&work, self.trace.table.dur(row));
            needs(self.peak?, self.of(row)?).then_some(true)
        })
    }

    /// Returns the least time of a kernel on its device; `None` if its work or the device is not known.
    pub(crate) fn least(&mut self, classes: &Classes<'_>, row: Row) -> Option<Least> {
        let (peak, work) = (self.peak?, self.of(row)?);
        let uses_tf32 = peak.has_tf32() && self.tensor_cores(classes, row) == Some(true);
        peak.least(&work, uses_tf32)
    }
}
