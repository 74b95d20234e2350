//! The pipeline from bytes to a [`Trace`]: unpack → decode → read → dialect → pair → tree → link.

pub mod attribution;
pub(crate) mod capture;
pub(crate) mod dialect;
pub mod execution;
pub(crate) mod iterations;
pub mod kernel_rules;
pub(crate) mod link;
pub(crate) mod pair;
pub mod provenance;
pub mod read;
pub mod records;
pub(crate) mod samples;
pub mod step_rules;
pub mod table;
pub mod tree;
pub mod versions;

use self::attribution::Attribution;
use self::execution::{ExecutionNode, ExecutionTrace};
use self::kernel_rules::KernelRules;
use self::link::{Ids, Links, link};
use self::pair::{Pairs, durations_of_asyncs, pair_spans};
use self::provenance::Provenance;
use self::read::chrome::Reader;
use self::read::encoding::Decoder;
use self::read::limits::Limits;
use self::read::perfetto::{HEAD, Perfetto, is_perfetto};
use self::read::recording::{Recording, is_recording};
use self::read::segment::Segment;
use self::read::snapshot::{self, is_pickle};
use self::read::unpack::Unpacker;
use self::samples::{Samples, edit, lines};
use self::step_rules::StepRules;
use self::table::bounds::bound_times;
use self::table::category::Category;
use self::table::events::{Row, Table};
use self::table::merged::merged;
use self::table::metadata::Source;
use self::tree::Tree;
use self::versions::{Rules, is_python_export, widens_annotations};
use crate::base::diagnostics::{Code, Diagnostics};
use crate::base::error::Error;
use crate::base::join::Join;
use crate::base::time;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;
use kinetoscope_stream::block::MAGIC;

/// The bytes that [`Trace::read`] reads at once.
const PIECE: usize = 1 << 20;

/// A trace that was read: events, pairs, nesting, links, and diagnostics.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Trace {
    /// Every event.
    pub table: Table,
    /// Begin events with their ends, flow starts with their ends.
    pub pairs: Pairs,
    /// The nested spans of every lane.
    pub tree: Tree,
    /// Launches, operators and device work.
    pub links: Links,
    /// What was repaired, guessed or dropped.
    pub diagnostics: Diagnostics,
    /// The start of the recording, in ns after the table's base. It is the origin that the source states, else the
    /// start of the profiler's own span or instant event, else that of the first event or sample.
    pub start_ns: i64,
    pub(crate) rules: &'static Rules,
    /// Whether the rules were chosen.
    pub(crate) has_chosen_rules: bool,
    /// The rules of the user for the categories of kernels, which come before the built-in ones.
    pub kernel_rules: KernelRules,
    /// The rules for the names of iterations, with those of the user.
    pub step_rules: StepRules,
    /// The execution trace of the same program, if one was joined.
    pub execution: Option<Box<ExecutionTrace>>,
    /// The captures that were joined.
    pub(crate) attribution: Option<Box<Attribution>>,
    /// What files next to the trace say about its kernels.
    pub(crate) provenance: Option<Box<Provenance>>,
    /// The samples of call stacks that are no events of the recorder.
    pub(crate) samples: Samples,
    /// Whether the annotations of streams are 1 ns longer at each end than PyTorch's events.
    pub(crate) has_wide_annotations: bool,
}

impl Trace {
    /// Whether there is anything in the file that a question can be about: an event, or a sample of a call stack. Metadata
    /// events are none, unless they are segments of a memory snapshot or nodes of an execution trace.
    pub fn has_events(&self) -> bool {
        let metadata = &self.table.metadata;
        let is_other = metadata.source != Source::Chrome || metadata.text(snapshot::SOURCE).is_some();
        let is_event = |row: Row| is_other || self.table.ph(row) != b'M';
        self.table.rows().any(is_event) || !self.samples.list().is_empty()
    }

    /// The rules of PyTorch that analyses use: those that were chosen, else those of the version that wrote the trace.
    pub fn rules(&self) -> &'static Rules {
        self.rules
    }

    /// Uses these rules of PyTorch instead of those that the file shows.
    pub fn choose_rules(&mut self, rules: &'static Rules) {
        (self.rules, self.has_chosen_rules) = (rules, true);
    }

    /// Joins the execution trace that was recorded at the same time: its nodes describe the inputs and outputs of the
    /// events with their `Record function id`. Returns how many events have a node. The diagnostics of `other` are added.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] if `other` is no execution trace, or has a node of none of the events.
    pub fn join(&mut self, other: Trace) -> Result<usize, Error> {
        let wrong = |what: &str| Error::BadOption(what.into());
        let execution =
            ExecutionTrace::from_table(other.table).ok_or_else(|| wrong("this is no execution trace"))?;
        let table = &self.table;
        let joined = table.rows().filter(|&row| execution.node(table, row).is_some()).count();
        if joined == 0 {
            return Err(wrong(
                "no event of the trace has the name and the Record function id of a node; is it of another recording?",
            ));
        }
        self.diagnostics.append(&other.diagnostics);
        self.execution = Some(Box::new(execution));
        Ok(joined)
    }

    /// Returns the node of an event in the execution trace that was joined.
    pub fn node(&self, event: Row) -> Option<ExecutionNode<'_>> {
        self.execution.as_ref()?.node(&self.table, event)
    }

    /// Pairs, nests and links the events of a table.
    pub fn new(table: Table, diagnostics: Diagnostics) -> Trace {
        Trace::new_by(table, diagnostics, Join::SEQUENTIAL)
    }

    /// Does the same with tasks that `join` runs.
    pub fn new_by(mut table: Table, mut diagnostics: Diagnostics, join: Join) -> Trace {
        dialect::apply(&mut table, &mut diagnostics);
        let samples = Samples::new(&mut table, &mut diagnostics);
        table.metadata.merged = merged(&table);
        let join = join.for_events(table.len());
        let mut spans = pair_spans(&mut table, &mut diagnostics);
        bound_times(&mut table, &mut diagnostics);
        let (mut tree, mut pairs, mut ids, mut start_ns, mut is_export) = Default::default();
        let mut unpaired = Diagnostics::default();
        join.run(&mut [
            &mut || tree = tree::build(&table, &mut diagnostics),
            &mut || pairs = core::mem::take(&mut spans).pair_rest(&table, &mut unpaired),
            &mut || ids = Ids::new(&table),
            &mut || {
                start_ns = table.metadata.origin.unwrap_or_else(|| window_start(&table, &samples));
                is_export = is_python_export(&table);
            },
        ]);
        diagnostics.append(&unpaired);
        let is_own = |&row: &Row| table.category(row) == Category::Window;
        let asyncs = pairs.asyncs_count(&table);
        if tree.rows().iter().all(is_own) && asyncs > 0 {
            let mut ids = durations_of_asyncs(&mut table, &pairs);
            bound_times(&mut table, &mut diagnostics);
            // The spans of the recorder itself are in groups of their own.
            ids.extend(tree.rows().iter().copied().zip((0..u32::MAX).rev()));
            tree = tree::build_asynchronous(&table, &ids);
        } else {
            diagnostics.record_many(Code::AsyncApart, asyncs as u64, None, b"");
        }
        let links = link(&table, &tree, &pairs, ids, &mut diagnostics, join);
        let rules = Rules::for_trace(&table);
        if is_export {
            diagnostics.record(Code::StartUnknown, None, b"");
        }
        Trace {
            has_wide_annotations: widens_annotations(&table, is_export),
            table,
            pairs,
            tree,
            links,
            diagnostics,
            start_ns,
            samples,
            rules,
            has_chosen_rules: false,
            kernel_rules: KernelRules::default(),
            step_rules: StepRules::default(),
            execution: None,
            attribution: None,
            provenance: None,
        }
    }

    /// Reads a complete trace from memory.
    ///
    /// # Errors
    /// As [`TraceReader::feed`] and [`TraceReader::finish`].
    pub fn read(bytes: &[u8]) -> Result<Trace, Error> {
        let mut reader = TraceReader::default();
        // In pieces, because the reader copies the unread part of each.
        for piece in bytes.chunks(PIECE) {
            reader.feed(piece)?;
        }
        reader.finish()
    }
}

/// The name of the instant event with which PyTorch's profiler marks its start.
pub(crate) const START_MARKER: &str = "Iteration Start: PyTorch Profiler";

fn window_start(table: &Table, samples: &Samples) -> i64 {
    let times = || table.rows().filter(|&row| table.ts(row) != time::NONE);
    let instant = table.names.find(START_MARKER);
    let is_marker =
        |&row: &Row| table.category(row) == Category::Window || Some(table.name_id(row)) == instant;
    let events = || times().filter(|&row| table.ph(row) != b'M').map(|row| table.ts(row)).min();
    let samples_only = || samples.span().map(|span| span.0);
    let first = || events().into_iter().chain(edit::start_of(table)).min().or_else(samples_only);
    times().find(is_marker).map(|row| table.ts(row)).or_else(first).unwrap_or(0)
}

/// A format that is not text.
#[derive(Clone, Debug)]
enum Binary {
    Recording(Box<Recording>),
    Perfetto(Box<Perfetto>),
}

impl Binary {
    /// Recognises the format of the first bytes.
    fn detect(head: &[u8], limits: Limits) -> Option<Binary> {
        if is_recording(head) {
            Some(Binary::Recording(Box::new(Recording::new(limits))))
        } else if is_perfetto(head) {
            Some(Binary::Perfetto(Box::new(Perfetto::new(limits))))
        } else {
            None
        }
    }

    fn table(&self) -> &Table {
        match self {
            Binary::Recording(recording) => recording.table(),
            Binary::Perfetto(perfetto) => perfetto.table(),
        }
    }

    fn is_full(&self) -> bool {
        match self {
            Binary::Recording(recording) => recording.is_full(),
            Binary::Perfetto(perfetto) => perfetto.is_full(),
        }
    }

    fn feed(&mut self, chunk: &[u8]) {
        match self {
            Binary::Recording(recording) => recording.feed(chunk),
            Binary::Perfetto(perfetto) => perfetto.feed(chunk),
        }
    }

    fn finish(self) -> Result<(Table, Diagnostics), Error> {
        match self {
            Binary::Recording(recording) => recording.finish(),
            Binary::Perfetto(perfetto) => perfetto.finish(),
        }
    }
}

/// Whether the format is not clear from the first bytes.
fn needs_more(head: &[u8]) -> bool {
    head.len() < 2
        || (head.len() < MAGIC.len() && is_recording(head))
        || (head.len() < HEAD && head[0] == b'\n')
}

/// Reads decompressed text in chunks. Its input is the output of an [`Unpacker`].
#[derive(Clone, Debug, Default)]
pub struct TextReader {
    decoder: Decoder,
    reader: Reader,
    buffer: Vec<u8>,
    /// The first bytes while the format is unknown; all bytes if the input is a pickle.
    pickle: Vec<u8>,
    binary: Option<Binary>,
    is_text: bool,
    limits: Limits,
    diagnostics: Diagnostics,
}

impl TextReader {
    /// Creates a reader with these limits.
    pub fn new(limits: Limits) -> Self {
        TextReader { reader: Reader::new(limits), limits, ..TextReader::default() }
    }

    /// The events read so far.
    pub fn table(&self) -> &Table {
        self.binary.as_ref().map_or_else(|| self.reader.table(), Binary::table)
    }

    /// Whether the memory limit was reached. Further input is ignored.
    pub fn is_full(&self) -> bool {
        self.binary.as_ref().map_or_else(|| self.reader.is_full(), Binary::is_full)
    }

    /// Whether the input is a recording or a Perfetto trace.
    pub(crate) fn is_binary(&self) -> bool {
        self.binary.is_some()
    }

    /// Passes over a part of the text with this many events, if the reader is where the first of them begins. Returns whether it did. Then
    /// continue with the text after the part, else with that of the part.
    pub(crate) fn pass_over(&mut self, bytes: u64, events: usize, diagnostics: &Diagnostics) -> bool {
        self.takes_segments() && self.reader.pass_over(bytes, events, diagnostics)
    }

    /// Removes some of the events read so far.
    pub(crate) fn retain(&mut self, retain: impl FnOnce(&mut Table)) {
        self.reader.retain(retain);
    }

    /// The number of events read so far, with those that were removed or passed over.
    pub(crate) fn events_read(&self) -> usize {
        self.reader.events_read()
    }

    /// Removes the events read so far. The strings and layouts that they refer to stay.
    pub(crate) fn clear_events(&mut self) {
        self.reader.clear_events();
    }

    /// Reads the next chunk of decompressed text.
    ///
    /// # Errors
    /// Returns [`Error::NotATrace`] as soon as the bytes cannot become a trace.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<(), Error> {
        if let Some(binary) = &mut self.binary {
            binary.feed(chunk);
            return Ok(());
        }
        if self.is_text {
            let text = self.decoder.feed(chunk, &mut self.buffer, &mut self.diagnostics);
            return self.reader.feed(text);
        }
        if self.pickle.is_empty() && !needs_more(chunk) && !is_pickle(chunk) {
            return self.begin(chunk);
        }
        self.pickle.extend_from_slice(chunk);
        if needs_more(&self.pickle) {
            return Ok(());
        }
        if is_pickle(&self.pickle) {
            return self.check_size();
        }
        let head = core::mem::take(&mut self.pickle);
        self.begin(&head)
    }

    /// Reads the first bytes, which show that the input is no pickle.
    fn begin(&mut self, head: &[u8]) -> Result<(), Error> {
        self.binary = Binary::detect(head, self.limits);
        self.is_text = self.binary.is_none();
        self.feed(head)
    }

    /// Does the same with the result of [`Segment::parse`] for this chunk and the same limits. Returns whether that saved parsing its
    /// events again.
    ///
    /// # Errors
    /// As [`TextReader::feed`].
    pub fn feed_parsed(&mut self, chunk: &[u8], segment: &Segment) -> Result<bool, Error> {
        let Range { start, end } = segment.range();
        let (before, rest) = chunk.split_at_checked(start).unwrap_or((chunk, &[]));
        self.feed(before)?;
        let is_spliced = end <= chunk.len() && self.splice(segment);
        self.feed(if is_spliced { &chunk[end..] } else { rest })?;
        Ok(is_spliced)
    }

    /// Appends the events of a segment without their text, if the reader is where its first event begins. Returns whether it did. Then
    /// continue with the text after the segment, else with that of the segment.
    ///
    /// The segment must come from the text that follows. [`TextReader::feed_parsed`] does all of this.
    pub fn splice(&mut self, segment: &Segment) -> bool {
        self.takes_segments() && self.reader.splice(segment)
    }

    /// Whether [`TextReader::splice`] uses segments: whether the input is a Chrome trace in UTF-8.
    pub fn takes_segments(&self) -> bool {
        self.is_text && self.decoder.is_utf8()
    }

    /// Checks the size of a pickle against the memory limit. A pickle is held in memory, and its values take about
    /// three times its size.
    fn check_size(&self) -> Result<(), Error> {
        if self.pickle.len() <= self.limits.memory_bytes / 4 {
            return Ok(());
        }
        let (looks_like, hint) = ("a memory snapshot that does not fit into the memory limit", "");
        Err(Error::NotATrace { looks_like, hint, offset: self.pickle.len() as u64 })
    }

    /// Ends the text and returns the table and the diagnostics.
    ///
    /// # Errors
    /// Returns [`Error::Empty`] or [`Error::NotATrace`] if the input has no trace.
    pub fn finish(mut self) -> Result<(Table, Diagnostics), Error> {
        if self.binary.is_none() && is_perfetto(&self.pickle) {
            self.binary = Binary::detect(&self.pickle, self.limits);
            let head = core::mem::take(&mut self.pickle);
            self.feed(&head)?;
        }
        if let Some(binary) = self.binary {
            return binary.finish();
        }
        if is_pickle(&self.pickle) {
            return snapshot::read(&self.pickle, self.limits);
        }
        if !self.is_text {
            self.is_text = true;
            let head = core::mem::take(&mut self.pickle);
            self.feed(&head)?;
        }
        self.buffer.clear();
        self.decoder.finish(&mut self.buffer, &mut self.diagnostics);
        self.reader.feed(&self.buffer)?;
        let (mut table, diagnostics) = self.reader.finish()?;
        self.diagnostics.append(&diagnostics);
        lines::adopt(&mut table, &mut self.diagnostics);
        Ok((table, self.diagnostics))
    }
}

/// Reads a [`Trace`] from chunks of any size: plain, gzip or zstd.
#[derive(Default)]
pub struct TraceReader {
    unpacker: Unpacker,
    text: TextReader,
}

impl TraceReader {
    /// Creates a reader that decompresses with `unpacker`.
    pub fn new(unpacker: Unpacker) -> Self {
        TraceReader { unpacker, ..TraceReader::default() }
    }

    /// Reads the next chunk.
    ///
    /// # Errors
    /// Returns [`Error::NotATrace`] as soon as the bytes cannot become a trace.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<(), Error> {
        self.unpacker.feed(chunk, &mut |text| self.text.feed(text))
    }

    /// Ends the input, then pairs, nests and links the events.
    ///
    /// # Errors
    /// Returns [`Error::Empty`] or [`Error::NotATrace`] if the input has no trace.
    pub fn finish(mut self) -> Result<Trace, Error> {
        let unpacking = self.unpacker.finish(&mut |text: &[u8]| self.text.feed(text))?;
        let (table, mut diagnostics) = self.text.finish()?;
        diagnostics.append(&unpacking);
        Ok(Trace::new(table, diagnostics))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::table::append::RowBuilder;

    #[test]
    fn times_beyond_the_limits_are_left_out_and_counted() {
        let mut table = Table::default();
        let name = table.names.intern("a");
        for (ts, dur) in [(i64::MAX, i64::MAX), (i64::MIN + 1, -5), (7, time::NONE)] {
            let row = RowBuilder::new(&mut table, b'X', "cpu_op").finish("a", 0, ("1", "1"));
            let track = table.track_id(row);
            RowBuilder::new(&mut table, b'X', "cpu_op").finish_on(name, (ts, dur), track);
        }
        let trace = Trace::new(table, Diagnostics::default());
        let times: Vec<_> =
            [1, 3, 5].map(Row::new).map(|row| (trace.table.ts(row), trace.table.dur(row))).into();
        assert_eq!(times, [(time::NONE, time::LONGEST), (time::NONE, 0), (7, time::NONE)]);
        assert_eq!(trace.diagnostics.count(Code::TimeOutOfRange), 2);
    }
}
