//! A profile as text, as PyTorch's `print(prof)` prints it.

use super::table_options::TableOptions;
use super::torch_table::{Recorded, render};
use crate::analysis::torch::averages::each_event;
use crate::analysis::torch::function_events::FunctionEvents;
use crate::trace::Trace;
use crate::trace::table::metadata::Source;
use core::fmt;

/// A profile that is still recording, or a finished one.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Profile<'a> {
    /// The profile has not been stopped; the source of its events.
    Unfinished(Source),
    /// A finished profile, shown as a table with one row for each event.
    Finished(&'a Trace),
}

impl fmt::Display for Profile<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Profile::Unfinished(Source::LegacyRecords) => f.write_str("<unfinished profiler_legacy.profile>"),
            Profile::Unfinished(_) => f.write_str("<unfinished torch.autograd.profile>"),
            Profile::Finished(trace) => {
                let events = FunctionEvents::new(trace);
                let recorded = Recorded::new(&events);
                let rows = each_event(&events, &trace.table);
                f.write_str(&render(&rows, recorded, &TableOptions::default()))
            }
        }
    }
}
