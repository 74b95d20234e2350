//! A finished recording.

use crate::error::RecordError;
use crate::output::statistics::Statistics;
use std::fs;
use std::path::Path;
#[cfg(feature = "analysis")]
use {
    crate::files::output::Output,
    kinetoscope_core::analysis::device::memory::Memory,
    kinetoscope_core::analysis::torch::averages::{Average, GroupBy, key_averages, total_average},
    kinetoscope_core::analysis::torch::function_events::FunctionEvents,
    kinetoscope_core::analysis::torch::stacks::{Metric, export},
    kinetoscope_core::report::table_options::TableOptions,
    kinetoscope_core::report::torch_table::{Recorded, render},
    kinetoscope_core::trace::Trace,
    kinetoscope_core::write::chrome,
    kinetoscope_core::write::memory_timeline::MemoryTimeline,
    std::fmt::Write,
};

/// A finished recording: its bytes and, with the feature `analysis`, the trace that was read from them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Recording {
    /// The recorder's statistics about this recording.
    pub statistics: Statistics,
    /// The profiler's step number when the recording was finished.
    pub step: u64,
    /// The trace, as it is read from the bytes.
    #[cfg(feature = "analysis")]
    pub trace: Trace,
    bytes: Vec<u8>,
}

impl Recording {
    /// Creates a recording. With the feature `analysis`, the trace is read from the bytes.
    #[cfg_attr(not(feature = "analysis"), allow(clippy::unnecessary_wraps))]
    pub(crate) fn new(bytes: Vec<u8>, statistics: Statistics, step: u64) -> Result<Recording, RecordError> {
        Ok(Recording {
            statistics,
            step,
            #[cfg(feature = "analysis")]
            trace: Trace::read(&bytes)?,
            bytes,
        })
    }

    /// Returns the bytes in the recorder's format, which [`save`](Recording::save) writes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Writes the recording to a file in the recorder's format (`.ktrace`), which the command line, the page and the
    /// engine read.
    ///
    /// # Errors
    /// Returns [`RecordError::Io`] if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), RecordError> {
        Ok(fs::write(path, &self.bytes)?)
    }
}

/// Needs the feature `analysis`.
#[cfg(feature = "analysis")]
impl Recording {
    /// Returns PyTorch's `events()`.
    pub fn events(&self) -> FunctionEvents {
        FunctionEvents::new(&self.trace)
    }

    /// Returns PyTorch's `key_averages()`.
    pub fn key_averages(&self, by: GroupBy) -> Vec<Average> {
        key_averages(&self.events(), &self.trace.table, by)
    }

    /// Returns PyTorch's `total_average()`.
    pub fn total_average(&self) -> Average {
        total_average(&self.events(), &self.trace.table)
    }

    /// Returns PyTorch's `key_averages().table()`, and a line with the number of lost spans and events if there are any.
    pub fn table(&self, by: GroupBy, options: &TableOptions) -> String {
        let events = self.events();
        let rows = key_averages(&events, &self.trace.table, by);
        let mut table = render(&rows, Recorded::of(&events), options);
        if self.statistics.dropped > 0 {
            let _ = writeln!(
                table,
                "{} spans or events were lost: these figures are too low",
                self.statistics.dropped
            );
        }
        table
    }

    /// Writes a Chrome trace in the form of Kineto's. It is compressed if the name ends in `.gz`.
    ///
    /// # Errors
    /// Returns [`RecordError::Io`] if the file cannot be written.
    pub fn export_chrome_trace(&self, path: impl AsRef<Path>) -> Result<(), RecordError> {
        let output = Output::create(Some(path.as_ref()))?;
        let written = chrome::write(&self.trace.table, output, |_| true);
        Ok(written.map_err(|_| std::io::Error::other("the trace could not be written"))?.finish()?)
    }

    /// Writes PyTorch's `export_stacks()`: one line for each stack, which ends with the metric in whole microseconds.
    /// Needs `with_stack`.
    ///
    /// # Errors
    /// Returns [`RecordError::Io`] if the file cannot be written.
    pub fn export_stacks(&self, path: impl AsRef<Path>, metric: Metric) -> Result<(), RecordError> {
        let text = export(&self.events(), &self.trace.table, metric);
        write(path.as_ref(), &text)
    }

    /// Writes PyTorch's `export_memory_timeline()`: an HTML page if the name ends in `.html`, raw entries if it ends in
    /// `raw.json.gz`, otherwise JSON. The device is `cpu` or, for example, `cuda:0`. Needs `profile_memory`.
    ///
    /// # Errors
    /// Returns [`RecordError::Io`] if the file cannot be written, and [`RecordError::Trace`] if the device has no
    /// memory events.
    pub fn export_memory_timeline(
        &self,
        path: impl AsRef<Path>,
        device: Option<&str>,
    ) -> Result<(), RecordError> {
        let path = path.as_ref();
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
}

#[cfg(feature = "analysis")]
fn write(path: &Path, text: &str) -> Result<(), RecordError> {
    let mut output = Output::create(Some(path))?;
    let _ = output.write_str(text);
    Ok(output.finish()?)
}
