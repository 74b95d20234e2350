//! PyTorch's times of function events, in its floating point arithmetic.

use super::function_events::{EventKind, FunctionEvent, FunctionEvents};
use crate::trace::table::events::Table;
use alloc::vec::Vec;

/// Times in microseconds, computed in PyTorch's floating point arithmetic: starts and ends are rounded to `f64` before
/// they are subtracted and summed. They differ from the exact nanoseconds by less than 1e-6 us, which decides how ties
/// in the last printed digit are rounded; only PyTorch's tables use them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TorchTimes {
    /// `cpu_time_total`.
    pub cpu_time_total: f64,
    /// `self_cpu_time_total`.
    pub self_cpu_time_total: f64,
    /// `device_time_total`.
    pub device_time_total: f64,
    /// `self_device_time_total`.
    pub self_device_time_total: f64,
}

/// Computes PyTorch's times of every event.
pub(super) struct TorchClock<'a> {
    events: &'a FunctionEvents,
    table: &'a Table,
    /// The sum of the times of each event's children; empty in a clock that gives no times.
    below: Vec<f64>,
    /// Device times with and without children; empty without a device.
    device: Vec<(f64, f64)>,
}

impl<'a> TorchClock<'a> {
    pub(super) fn new(events: &'a FunctionEvents, table: &'a Table) -> Self {
        let device = events.device_times_us(table);
        let mut clock = TorchClock { events, table, below: alloc::vec![0.0; events.len()], device };
        for event in events.events() {
            if let Some(parent) = events.parent(event) {
                clock.below[parent.index()] += clock.cpu(event);
            }
        }
        clock
    }

    /// Returns a clock whose times are all 0, for answers that only need exact nanoseconds.
    pub(super) fn stopped(events: &'a FunctionEvents, table: &'a Table) -> Self {
        TorchClock { events, table, below: Vec::new(), device: Vec::new() }
    }

    /// Returns whether the clock gives times.
    pub(super) fn has_times(&self) -> bool {
        self.below.len() == self.events.len()
    }

    pub(super) fn events(&self) -> &'a FunctionEvents {
        self.events
    }

    pub(super) fn table(&self) -> &'a Table {
        self.table
    }

    fn cpu(&self, event: FunctionEvent) -> f64 {
        if self.events.kind(event) == EventKind::Device {
            return 0.0;
        }
        self.events.torch_duration_us(self.table, event)
    }

    pub(super) fn times(&self, event: FunctionEvent) -> TorchTimes {
        let Some(below) = self.below.get(event.index()) else { return TorchTimes::default() };
        let cpu = self.cpu(event);
        let device = self.device.get(event.index()).copied().unwrap_or_default();
        TorchTimes {
            cpu_time_total: cpu,
            self_cpu_time_total: if self.events.is_async(event) { 0.0 } else { cpu - below },
            device_time_total: device.0,
            self_device_time_total: device.1,
        }
    }
}
