//! A finished recording.

use crate::error::RecordError;
use crate::output::content::Content;
use crate::output::statistics::Statistics;
use std::path::Path;
#[cfg(feature = "analysis")]
use {
    crate::files::output::Output,
    crate::profiler::post_processing::PostProcessing,
    kinetoscope_core::analysis::device::memory::Memory,
    kinetoscope_core::analysis::query::group_by::GroupBy,
    kinetoscope_core::analysis::torch::averages::{Average, key_averages, total_average},
    kinetoscope_core::analysis::torch::function_events::FunctionEvents,
    kinetoscope_core::analysis::torch::stacks::{Metric, export},
    kinetoscope_core::analysis::torch::table_options::TableOptions,
    kinetoscope_core::analysis::torch::torch_table::{Recorded, render},
    kinetoscope_core::output::write::chrome,
    kinetoscope_core::output::write::memory_timeline::MemoryTimeline,
    kinetoscope_core::trace::{TextReader, Trace},
    std::fmt::Write,
    std::io::Read,
    std::sync::OnceLock,
    std::time::Instant,
};

/// A finished recording. One that was written to a file stays there: it is read only when it is used.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Recording {
    /// The recorder's statistics about this recording.
    pub statistics: Statistics,
    /// The profiler's step number when the recording was finished.
    pub step: u64,
    content: Content,
    #[cfg(feature = "analysis")]
    trace: OnceLock<Trace>,
    #[cfg(feature = "analysis")]
    post_processing: PostProcessing,
}

impl Recording {
    pub(crate) fn new(content: Content, statistics: Statistics, step: u64) -> Recording {
        Recording {
            statistics,
            step,
            content,
            #[cfg(feature = "analysis")]
            trace: OnceLock::new(),
            #[cfg(feature = "analysis")]
            post_processing: PostProcessing::default(),
        }
    }

    /// Returns the same recording with options about its results.
    #[cfg(feature = "analysis")]
    pub(crate) fn processed(self, options: &PostProcessing) -> Recording {
        Recording { post_processing: options.clone(), ..self }
    }

    /// Returns the bytes in the recorder's format, which [`save`](Recording::save) writes.
    ///
    /// # Errors
    /// Returns [`RecordError::Io`] if the recording is in a file that cannot be read.
    pub fn bytes(&self) -> Result<Vec<u8>, RecordError> {
        Ok(self.content.bytes()?)
    }

    /// Writes the recording to a file in the recorder's format (`.ktrace`), which the command line, the page and the
    /// engine read. A new file can be read by its owner only, whatever the umask is.
    ///
    /// # Errors
    /// Returns [`RecordError::Io`] if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), RecordError> {
        Ok(self.content.save(path.as_ref())?)
    }
}

/// The number of bytes that are read at once.
#[cfg(feature = "analysis")]
const PIECE: usize = 256 << 10;

/// Needs the feature `analysis`. Each method reads the recording when the first one is called, and returns the errors of
/// [`Recording::trace`].
#[cfg(feature = "analysis")]
impl Recording {
    /// Returns the trace. It is read at the first call.
    ///
    /// # Errors
    /// Returns [`RecordError::Io`] if the recording is in a file that cannot be read, and [`RecordError::Trace`] if the
    /// recording is not a trace, for example because it was written to `/dev/null`.
    pub fn trace(&self) -> Result<&Trace, RecordError> {
        if let Some(known) = self.trace.get() {
            return Ok(known);
        }
        let (mut reader, mut text, mut piece) =
            (self.content.reader()?, TextReader::default(), vec![0; PIECE]);
        loop {
            match reader.read(&mut piece)? {
                0 => break,
                length => text.feed(&piece[..length])?,
            }
        }
        let (table, diagnostics) = text.finish()?;
        Ok(self.trace.get_or_init(|| Trace::new(table, diagnostics)))
    }

    /// Returns PyTorch's `events()`. With a
    /// [`post_processing_timeout`](crate::ProfilerBuilder::post_processing_timeout) these are the events that were
    /// collected in time, in each call again.
    ///
    /// # Errors
    /// Those of [`Recording::trace`].
    pub fn events(&self) -> Result<FunctionEvents, RecordError> {
        let trace = self.trace()?;
        let Some(timeout) = self.post_processing.timeout else { return Ok(FunctionEvents::new(trace)) };
        let begin = Instant::now();
        Ok(FunctionEvents::new_until(trace, || begin.elapsed() >= timeout))
    }

    /// Returns PyTorch's `key_averages()`.
    ///
    /// # Errors
    /// Those of [`Recording::trace`].
    pub fn key_averages(&self, by: GroupBy) -> Result<Vec<Average>, RecordError> {
        Ok(key_averages(&self.events()?, &self.trace()?.table, by))
    }

    /// Returns PyTorch's `total_average()`.
    ///
    /// # Errors
    /// Those of [`Recording::trace`].
    pub fn total_average(&self) -> Result<Average, RecordError> {
        Ok(total_average(&self.events()?, &self.trace()?.table))
    }

    /// Returns PyTorch's `key_averages().table()`, and a line with the number of lost spans and events if there are any.
    ///
    /// # Errors
    /// Those of [`Recording::trace`].
    pub fn table(&self) -> Result<String, RecordError> {
        self.table_with(GroupBy::default(), &TableOptions::default())
    }

    /// As [`table`](Self::table), with other groups and options.
    ///
    /// # Errors
    /// Those of [`Recording::trace`].
    pub fn table_with(&self, by: GroupBy, options: &TableOptions) -> Result<String, RecordError> {
        let events = self.events()?;
        let rows = key_averages(&events, &self.trace()?.table, by);
        let mut table = render(&rows, Recorded::new(&events), options);
        let lost = self.statistics.dropped;
        if lost > 0 {
            let _ = writeln!(table, "{lost} spans or events were lost: these figures are too low");
        }
        Ok(table)
    }

    /// Writes a Chrome trace in the form of Kineto's. It is compressed if the name ends in `.gz`. What
    /// [`activity_types`](crate::ProfilerBuilder::activity_types) and
    /// [`forward_backward_arrows`](crate::ProfilerBuilder::forward_backward_arrows) leave out is not in it.
    ///
    /// # Errors
    /// Returns [`RecordError::Io`] if the file cannot be written.
    pub fn export_chrome_trace(&self, path: impl AsRef<Path>) -> Result<(), RecordError> {
        let mut output = Output::create(Some(path.as_ref()))?;
        // `finish` returns the error of a write.
        let trace = self.trace()?;
        let _ = chrome::write(&trace.table, &mut output, self.post_processing.exported(trace));
        Ok(output.finish()?)
    }

    /// Writes PyTorch's `export_stacks()`: one line for each stack, which ends with the metric in whole microseconds.
    /// The file is empty if no event has a stack.
    ///
    /// # Errors
    /// Returns [`RecordError::NoStacks`] if the recording was made without `with_stack`; no file is written then. Returns
    /// [`RecordError::Io`] if the file cannot be written.
    pub fn export_stacks(&self, path: impl AsRef<Path>, metric: Metric) -> Result<(), RecordError> {
        if self.trace()?.table.metadata.flag("with_stack") != Some(true) {
            return Err(RecordError::NoStacks);
        }
        let text = export(&self.events()?, &self.trace()?.table, metric);
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
        let trace = self.trace()?;
        let memory = Memory::new(trace);
        let timeline = MemoryTimeline::new(trace, &memory, device)?;
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
