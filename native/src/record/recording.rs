//! What a profiler recorded: a trace as any other, with torch's questions at hand.

use super::error::RecordError;
use super::session::Statistics;
use crate::output::Output;
use kinetoscope_core::analysis::device::memory::Memory;
use kinetoscope_core::analysis::torch::averages::{Average, GroupBy, key_averages, total_average};
use kinetoscope_core::analysis::torch::function_events::FunctionEvents;
use kinetoscope_core::analysis::torch::stacks::{Metric, export};
use kinetoscope_core::report::torch_table::{Recorded, TableOptions, render};
use kinetoscope_core::trace::Trace;
use kinetoscope_core::write::chrome;
use kinetoscope_core::write::memory_timeline::MemoryTimeline;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// What was recorded.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The trace: what a file of it gives when it is read.
    pub trace: Trace,
    /// What the recorder tells about itself.
    pub statistics: Statistics,
    /// The step of the profiler at whose end it was handed over.
    pub step: u64,
    pub(super) bytes: Vec<u8>,
}

impl Recording {
    pub(super) fn new(bytes: Vec<u8>, statistics: Statistics, step: u64) -> Result<Recording, RecordError> {
        Ok(Recording { trace: Trace::read(&bytes)?, statistics, step, bytes })
    }

    /// torch's `events()`.
    pub fn events(&self) -> FunctionEvents {
        FunctionEvents::new(&self.trace)
    }

    /// torch's `key_averages()`.
    pub fn key_averages(&self, by: GroupBy) -> Vec<Average> {
        key_averages(&self.events(), &self.trace.table, by)
    }

    /// torch's `total_average()`.
    pub fn total_average(&self) -> Average {
        total_average(&self.events(), &self.trace.table)
    }

    /// torch's `key_averages().table()`.
    ///
    /// # Errors
    /// [`RecordError::Trace`] when the options name a column that is not there.
    pub fn table(&self, by: GroupBy, options: &TableOptions) -> Result<String, RecordError> {
        let events = self.events();
        let rows = key_averages(&events, &self.trace.table, by);
        Ok(render(&rows, Recorded::of(&events), options)?)
    }

    /// The recording as the recorder wrote it; `kinetoscope` reads it as any trace.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Writes a Chrome trace as Kineto does; compressed where the name ends in `.gz`.
    ///
    /// # Errors
    /// Those of the file.
    pub fn export_chrome_trace(&self, path: &Path) -> Result<(), RecordError> {
        let output = Output::create(Some(path))?;
        let written = chrome::write(&self.trace.table, output, |_| true);
        Ok(written.map_err(|_| std::io::Error::other("the trace could not be written"))?.finish()?)
    }

    /// Writes torch's `export_stacks()`: a line a stack, with the metric in whole microseconds at its end. Needs
    /// `with_stack`.
    ///
    /// # Errors
    /// Those of the file.
    pub fn export_stacks(&self, path: &Path, metric: Metric) -> Result<(), RecordError> {
        let text = export(&self.events(), &self.trace.table, metric);
        write(path, &text)
    }

    /// Writes torch's `export_memory_timeline()`: a page for a name in `.html`, raw entries for one in `raw.json.gz`,
    /// JSON for any other. The device is `cpu` or `cuda:0`. Needs `profile_memory`.
    ///
    /// # Errors
    /// Those of the file, and [`RecordError::Trace`] when the device has no memory events.
    pub fn export_memory_timeline(&self, path: &Path, device: Option<&str>) -> Result<(), RecordError> {
        let memory = Memory::new(&self.trace);
        let timeline = MemoryTimeline::new(&self.trace, &memory, device)?;
        let name = path.to_string_lossy();
        let text = if name.ends_with(".html") {
            timeline.html()
        } else if name.ends_with("raw.json.gz") {
            timeline.raw()
        } else {
            timeline.json()
        };
        write(path, &text)
    }

    /// Writes the recording as the recorder has it, which is the fastest to write and to read.
    ///
    /// # Errors
    /// Those of the file.
    pub fn save(&self, path: &Path) -> Result<(), RecordError> {
        Ok(fs::write(path, &self.bytes)?)
    }
}

fn write(path: &Path, text: &str) -> Result<(), RecordError> {
    let mut output = Output::create(Some(path))?;
    let _ = output.write_str(text);
    Ok(output.finish()?)
}
