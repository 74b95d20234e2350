//! Diagnostics: what was repaired, clipped, guessed or dropped while a trace was read.
//!
//! Invariant: nothing is lost silently. Code that changes or drops something calls [`Diagnostics::record`].

use crate::base::varints::{Reader, Writer};
use crate::base::words::{Vocabulary, words};
use alloc::string::String;
use alloc::vec::Vec;

words! {
    "Severity"
    /// The effect of a diagnostic on the results.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum Severity {
        /// Unusual input that was understood completely.
        Note = "note",
        /// The text was repaired or a value was changed; the event is kept.
        Repaired = "repaired",
        /// Something was dropped.
        Lost = "lost",
    }
}

macro_rules! codes {
    ($($variant:ident $text:literal $severity:ident $doc:literal;)*) => {
        /// The kind of a diagnostic.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $doc] $variant,)*
        }

        impl Code {
            /// Every code, in the order of reports.
            pub const ALL: &'static [Code] = &[$(Code::$variant),*];

            /// The stable names.
            pub const VOCABULARY: Vocabulary = Vocabulary::new("DiagnosticCode", &[$($text),*]);

            /// The stable name, as in the JSON output.
            pub const fn as_str(self) -> &'static str {
                Code::VOCABULARY.words[self as usize]
            }

            /// The effect on the results.
            pub fn severity(self) -> Severity {
                match self { $(Code::$variant => Severity::$severity,)* }
            }

            /// What is wrong and what was done, in words.
            pub fn description(self) -> &'static str {
                match self { $(Code::$variant => $doc.trim_ascii(),)* }
            }
        }
    };
}

codes! {
    CompressedCut "compressed_cut" Lost "The compressed stream ends early. Everything before that point was read.";
    CompressedDamaged "compressed_damaged" Lost "The compressed stream is damaged. Everything before the damage was read.";
    CompressedTrailing "compressed_trailing" Lost "Bytes follow the end of the compressed stream. They were ignored.";
    Utf16 "utf16" Note "The text is UTF-16. It was converted to UTF-8.";
    ByteOrderMark "byte_order_mark" Note "The text begins with a UTF-8 byte order mark. It was ignored.";
    Truncated "truncated" Lost "The file ends inside an event. The incomplete event was dropped.";
    MemoryLimit "memory_limit" Lost "The trace does not fit into the memory limit. Everything before that point was read.";
    RepeatedValues "repeated_values" Lost "A memory snapshot refers to the same values so often that it would take 64 MiB and 32 times its size. Everything before that point was read.";
    OutsideWindow "outside_window" Note "An event or a sample is outside of the window of time that was read. It was left out. Spans that reach beyond the window have their full durations.";
    Unclosed "unclosed" Note "The trace ends without its closing part. Every event in it was read.";
    DamagedEvent "damaged_event" Lost "An event or record is damaged. It was dropped, and reading continued after it.";
    StrayBytes "stray_bytes" Lost "Bytes between events are not part of any event. They were skipped.";
    NotAnObject "not_an_object" Lost "An element of traceEvents is not an object. It was skipped.";
    MissingComma "missing_comma" Repaired "A comma is missing between two elements. Both elements were read.";
    TrailingComma "trailing_comma" Repaired "A comma precedes a closing bracket or another comma, or follows an opening bracket. It was ignored.";
    BareWord "bare_word" Repaired "A value is a word such as NaN, Infinity or N/A, which JSON does not allow. It was kept as a string.";
    BadNumber "bad_number" Repaired "A number is not valid JSON or exceeds the range of a 64-bit float. It was kept as a string.";
    UnescapedQuote "unescaped_quote" Repaired "A double quote inside a string is not escaped. It was kept as part of the string.";
    UnescapedBackslash "unescaped_backslash" Repaired "A backslash inside a string is not escaped. It was kept as part of the string.";
    ControlCharacter "control_character" Repaired "A string contains a raw control character. It was kept as part of the string.";
    InvalidUtf8 "invalid_utf8" Repaired "The text contains bytes that are not valid UTF-8. Each was replaced with U+FFFD.";
    LoneSurrogate "lone_surrogate" Repaired "A string contains half of a surrogate pair. It was replaced with U+FFFD.";
    DuplicateKey "duplicate_key" Note "A key occurs twice in one object. The last value is used. All are kept, except of ph, cat, pid, tid, ts, dur and name.";
    DamagedMetadata "damaged_metadata" Lost "A metadata value is damaged or too long. It was dropped.";
    EventTooLarge "event_too_large" Lost "An event is longer than the limit. It was skipped.";
    NestingTooDeep "nesting_too_deep" Lost "A value is nested deeper than the limit. Its event was skipped.";
    NameTooLong "name_too_long" Lost "A string or nested value is longer than the limit. Its event was skipped.";
    TrailingDocument "trailing_document" Note "Another JSON document follows the first one. Its events were read too.";
    MissingPhase "missing_phase" Repaired "An event has no ph. It was kept without a phase.";
    MissingTime "missing_time" Lost "An event has no valid ts. It was kept without a time, or at time 0 if it is a record of the legacy profiler.";
    MissingDuration "missing_duration" Lost "A complete event has no valid dur. Its duration was set to 0.";
    NegativeDuration "negative_duration" Repaired "A duration is negative. It was set to 0.";
    TimeRounded "time_rounded" Repaired "A time is more precise than a nanosecond. It was rounded.";
    TimeAdjusted "time_adjusted" Repaired "A time was written as a rounded float. It was moved by at most 2 ns, so that spans nest.";
    TimeOutOfRange "time_out_of_range" Lost "A time is out of range. The event was kept without its start, or with the longest duration.";
    UnlikelyUnit "unlikely_unit" Note "Times that are out of range look like those of another unit. Chrome traces have microseconds.";
    Nanoseconds "nanoseconds" Note "All times are nanoseconds since 1970. They were read as such. Chrome traces have microseconds.";
    DurationShortened "duration_shortened" Repaired "All durations together exceed the range of their sum. This one was shortened.";
    SizeClamped "size_clamped" Repaired "A size exceeds 1 PiB. It counts as 1 PiB in sums.";
    UnmatchedBegin "unmatched_begin" Repaired "A begin event has no end event. It ends with the span around it or with its track, and is marked as incomplete.";
    UnmatchedEnd "unmatched_end" Repaired "An end event has no begin event. It was kept and marked as incomplete.";
    MismatchedEnd "mismatched_end" Repaired "The name of an end event differs from those of all open begin events. It was matched to the innermost one.";
    UnmatchedAsync "unmatched_async" Repaired "An asynchronous begin or end event has no partner. It was kept and marked as incomplete; a begin lasts to the end of the recording.";
    AmbiguousFrame "ambiguous_frame" Lost "Several frames of `stackFrames` have the same id and different names, as in documents that follow each other. Stacks have the last one.";
    AmbiguousAsync "ambiguous_async" Lost "An asynchronous end event fits several begin events, and nothing distinguishes them. It was matched to the latest one.";
    UnmatchedFlow "unmatched_flow" Note "A flow event has no partner. It was kept without a link.";
    OverlappingSpans "overlapping_spans" Note "Spans of one track overlap without nesting. They were placed on extra lanes of the track.";
    NotRecorded "not_recorded" Note "Events refer to a kind of activity that the trace has none of. It was not recorded, or a filter left it out. The example is the category of each.";
    KernelWithoutLaunch "kernel_without_launch" Note "A GPU activity has no runtime or driver call with its correlation id. It was kept without a launch.";
    LaunchWithoutKernel "launch_without_kernel" Note "A launch call has no GPU activity with its correlation id. It was kept without a link.";
    RepeatedId "repeated_id" Note "Several calls or operators have the id of a GPU activity. It was linked by its process, its external id and its time.";
    AmbiguousLink "ambiguous_link" Lost "Several calls or operators have the id of a GPU activity, and nothing distinguishes them. The link is a guess.";
    LostSample "lost_sample" Lost "A sample of a call stack is not an object, or is of a V8 profile without a Profile event. It was left out.";
    AsyncApart "async_apart" Note "An asynchronous span is in a trace that has other spans. `tasks` and the timeline show it; call trees, sums by name and `diff` have the other spans only.";
    SampleStack "sample_stack" Lost "A call stack refers to a frame that is missing, or to one that calls itself through its callers. The known frames were kept, else the frame `[unknown]`.";
    SampleTime "sample_time" Lost "A sample of a call stack has no valid time. It counts where no time is selected.";
    SampleWeight "sample_weight" Note "A sample of a call stack has a weight other than 1. It counts as one sample.";
    EventStack "event_stack" Note "The trace has call stacks of events and no samples. Each stack counts as a sample. It shows where an event was recorded, not where CPU time went.";
    NegativeCorrelation "negative_correlation" Lost "An event has a negative linked correlation id. It counts as not linked. PyTorch rejects such results.";
    NoForwardThread "no_forward_thread" Lost "A backward function has no forward thread id. It has no stack. PyTorch rejects such results.";
    NoStartRecord "no_start_record" Lost "The start of profiling was not recorded locally. Times count from the earliest record. PyTorch rejects such records.";
    LateStartRecord "late_start_record" Note "Some records precede the record of the start of profiling. Their times are negative.";
    StartUnknown "start_unknown" Note "The trace does not state when the profiler started, as those of PyTorch's Python exporter. Times count from its first event.";
    UnknownKind "unknown_kind" Note "A record has an unknown kind. It was not interpreted.";
    RepeatedPush "repeated_push" Note "A push repeats the push before it. It was left out, because PyTorch counts both as one range.";
    HiddenRecord "hidden_record" Note "A record belongs to a range that PyTorch leaves out. It was left out too.";
    UnmatchedPush "unmatched_push" Lost "A push has no pop. Its range is left out of tables, as in PyTorch.";
    DroppedRecord "dropped_record" Lost "The recorder had no space for a span or event. It was lost, or only the end of the span was.";
    CutArgument "cut_argument" Lost "The arguments of a record were too long. One was cut or left out.";
    EndedOutOfOrder "ended_out_of_order" Note "A span ended before a span that began inside it. Both keep their own times.";
    OpenSpan "open_span" Note "A span had not ended when the recording ended. It lasts to the end and is marked as unfinished.";
    UnknownName "unknown_name" Lost "A record refers to a string or call site that is missing. It was replaced with the name unknown.";
    HistoryOverflowed "history_overflowed" Lost "The history of the allocator was longer than its buffer. Its oldest entries are missing. Totals count back from the state at the end.";
    UnmatchedPop "unmatched_pop" Lost "A pop has no push. It was marked as incomplete. PyTorch rejects such records.";
}

/// One diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The kind.
    pub code: Code,
    /// The number of occurrences.
    pub count: u64,
    /// The byte offset of the first occurrence in the decompressed text, if there is one.
    pub first_offset: Option<u64>,
    /// An excerpt of the first occurrence; at most [`EXAMPLE_BYTES`] bytes of the input.
    pub example: String,
}

/// The maximum length of an example, in bytes.
pub const EXAMPLE_BYTES: usize = 96;

/// The maximum count of one code. The counts of all codes add up within `i64`.
pub const MOST_COUNTED: u64 = 1 << 56;

/// All diagnostics of a trace, one [`Finding`] per code, in the order of [`Code::ALL`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    findings: Vec<Finding>,
}

impl Diagnostics {
    /// Counts one occurrence of `code`. `offset` and `example` are kept if it is the first one.
    pub fn record(&mut self, code: Code, offset: Option<u64>, example: &[u8]) {
        self.record_many(code, 1, offset, example);
    }

    /// Counts `count` occurrences of `code`, up to [`MOST_COUNTED`]. Does nothing if `count` is 0.
    pub fn record_many(&mut self, code: Code, count: u64, offset: Option<u64>, example: &[u8]) {
        if count == 0 {
            return;
        }
        match self.findings.binary_search_by_key(&code, |f| f.code) {
            Ok(at) => {
                let known = &mut self.findings[at].count;
                *known = known.saturating_add(count).min(MOST_COUNTED);
            }
            Err(at) => {
                let cut = example.len().min(EXAMPLE_BYTES);
                let mut example = String::from_utf8_lossy(&example[..cut]).into_owned();
                while example.len() > EXAMPLE_BYTES || (cut == EXAMPLE_BYTES && example.ends_with('\u{fffd}'))
                {
                    example.pop();
                }
                let count = count.min(MOST_COUNTED);
                self.findings.insert(at, Finding { code, count, first_offset: offset, example });
            }
        }
    }

    /// Removes a diagnostic.
    pub(crate) fn take(&mut self, code: Code) -> Option<Finding> {
        let at = self.findings.binary_search_by_key(&code, |f| f.code).ok()?;
        Some(self.findings.remove(at))
    }

    /// All diagnostics, one per code.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The number of occurrences of `code`.
    pub fn count(&self, code: Code) -> u64 {
        self.findings.binary_search_by_key(&code, |f| f.code).map_or(0, |at| self.findings[at].count)
    }

    /// The highest severity of all diagnostics, if there are any.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|f| f.code.severity()).max()
    }

    /// Writes all diagnostics.
    pub(crate) fn encode(&self, out: &mut Writer) {
        out.list(&self.findings, |out, finding| {
            out.unsigned(finding.code as u64);
            out.unsigned(finding.count);
            out.optional(finding.first_offset.map(|offset| offset as i64));
            out.text(&finding.example);
        });
    }

    /// Reads what [`Diagnostics::encode`] wrote; `None` if it is damaged.
    pub(crate) fn decode(reader: &mut Reader<'_>) -> Option<Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        reader.list(|reader| {
            let code = *Code::ALL.get(usize::try_from(reader.unsigned()?).ok()?)?;
            let count = reader.unsigned()?;
            let first_offset = reader.optional()?.map(|offset| offset as u64);
            diagnostics.record_many(code, count, first_offset, reader.block()?);
            Some(())
        })?;
        Some(diagnostics)
    }

    /// Adds the counts of `other`. The offset and example of `self` are kept if it has the code already.
    pub fn append(&mut self, other: &Diagnostics) {
        self.append_at(other, 0);
    }

    /// Does the same for diagnostics of a part of the text that begins at this offset.
    pub(crate) fn append_at(&mut self, other: &Diagnostics, offset: u64) {
        for f in &other.findings {
            let first_offset = f.first_offset.map(|first| first.saturating_add(offset));
            self.record_many(f.code, f.count, first_offset, f.example.as_bytes());
        }
    }

    /// Adds what `document` counts beyond `self`. They are the diagnostics of the complete text, and `self` those of reading a part of it.
    pub fn complete(&mut self, document: &Diagnostics) {
        for finding in &document.findings {
            match self.findings.binary_search_by_key(&finding.code, |f| f.code) {
                Ok(at) if finding.count < self.findings[at].count => {}
                Ok(at) => self.findings[at] = finding.clone(),
                Err(at) => self.findings.insert(at, finding.clone()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_all_codes_add_up() {
        let mut d = Diagnostics::default();
        for _ in 0..2 {
            for &code in Code::ALL {
                d.record_many(code, u64::MAX, None, b"");
            }
        }
        let sum: i64 = d.findings().iter().map(|f| f.count as i64).sum();
        assert_eq!(sum, Code::ALL.len() as i64 * MOST_COUNTED as i64);
    }

    #[test]
    fn codes_are_distinct_and_counted() {
        for (i, a) in Code::ALL.iter().enumerate() {
            assert!(Code::ALL[i + 1..].iter().all(|b| a.as_str() != b.as_str()));
        }
        let mut d = Diagnostics::default();
        d.record(Code::BareWord, Some(7), b"NaN");
        d.record(Code::BareWord, Some(9), b"N/A");
        d.record(Code::Truncated, None, "é".repeat(100).as_bytes());
        assert_eq!(d.count(Code::BareWord), 2);
        assert_eq!(d.findings()[1].first_offset, Some(7));
        assert!(d.findings()[0].example.len() <= EXAMPLE_BYTES);
        assert_eq!(d.worst(), Some(Severity::Lost));
    }
}
