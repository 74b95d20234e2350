//! Diagnostics: what was repaired, clipped, guessed or dropped while a trace was read.
//!
//! Invariant: nothing is lost silently. Whoever changes or drops something calls [`Diagnostics::record`].

use crate::words::{Vocabulary, help, words};
use alloc::string::String;
use alloc::vec::Vec;

words! {
    "Severity"
    /// How much an oddity touches the answers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum Severity {
        /// Unusual, and understood in full.
        Note = "note",
        /// The text was repaired or a value was changed; the event is kept.
        Repaired = "repaired",
        /// Something was dropped.
        Lost = "lost",
    }
}

macro_rules! codes {
    ($($variant:ident $text:literal $severity:ident $doc:literal;)*) => {
        /// What kind of oddity was met.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $doc] $variant,)*
        }

        impl Code {
            /// Every code, in the order of reports.
            pub const ALL: &'static [Code] = &[$(Code::$variant),*];

            /// The stable names.
            pub const VOCABULARY: Vocabulary = Vocabulary { name: help("DiagnosticCode"), words: &[$($text),*] };

            /// The stable name, as the JSON reports carry it.
            pub const fn as_str(self) -> &'static str {
                Code::VOCABULARY.words[self as usize]
            }

            /// How much it touches the answers.
            pub fn severity(self) -> Severity {
                match self { $(Code::$variant => Severity::$severity,)* }
            }

            /// One sentence for a person.
            pub fn description(self) -> &'static str {
                match self { $(Code::$variant => $doc.trim_ascii(),)* }
            }
        }
    };
}

codes! {
    CompressedCut "compressed_cut" Lost "The compressed stream ends early; what came before the cut was read.";
    CompressedDamaged "compressed_damaged" Lost "The compressed stream is damaged; what came before the damage was read.";
    CompressedTrailing "compressed_trailing" Lost "Bytes after the compressed stream were left alone.";
    Utf16 "utf16" Note "The text is UTF-16 and was converted.";
    ByteOrderMark "byte_order_mark" Note "The text begins with a UTF-8 byte order mark.";
    Truncated "truncated" Lost "The text ends inside an event, which was dropped.";
    MemoryLimit "memory_limit" Lost "The trace does not fit into the memory limit; what came before was read.";
    Unclosed "unclosed" Note "The trace ends before it was closed; every event in it was read.";
    DamagedEvent "damaged_event" Lost "An event could not be read; reading went on at the next one.";
    StrayBytes "stray_bytes" Lost "Bytes between events belong to none and were skipped.";
    NotAnObject "not_an_object" Lost "An element of traceEvents is not an object and was skipped.";
    MissingComma "missing_comma" Repaired "A comma is missing between two elements.";
    TrailingComma "trailing_comma" Repaired "A comma stands before a closing bracket or beside another comma.";
    BareWord "bare_word" Repaired "A word such as NaN, Infinity or N/A stands where JSON wants a value; it was kept as text.";
    BadNumber "bad_number" Repaired "A number is not written as JSON wants it, or is beyond 64-bit floating point; it was kept as text.";
    UnescapedQuote "unescaped_quote" Repaired "A double quote inside a text is not escaped.";
    UnescapedBackslash "unescaped_backslash" Repaired "A backslash inside a text is not escaped.";
    ControlCharacter "control_character" Repaired "A raw control character stands inside a text.";
    InvalidUtf8 "invalid_utf8" Repaired "Bytes are not UTF-8; each was replaced by U+FFFD.";
    LoneSurrogate "lone_surrogate" Repaired "Half of a surrogate pair was replaced by U+FFFD.";
    DuplicateKey "duplicate_key" Note "A key stands twice in one object; the last one counts, all are kept.";
    DamagedMetadata "damaged_metadata" Lost "A metadata value could not be read and was dropped.";
    EventTooLarge "event_too_large" Lost "An event is longer than the limit and was skipped.";
    NestingTooDeep "nesting_too_deep" Lost "A value is nested deeper than the limit; its event was skipped.";
    NameTooLong "name_too_long" Lost "A text is longer than the limit; its event was skipped.";
    TrailingDocument "trailing_document" Note "Another JSON document follows the first; its events were read too.";
    MissingPhase "missing_phase" Repaired "An event has no ph.";
    MissingTime "missing_time" Repaired "An event that needs a ts has none that can be read.";
    MissingDuration "missing_duration" Repaired "A complete event has no dur that can be read; it counts as zero.";
    NegativeDuration "negative_duration" Repaired "A duration is negative; it counts as zero.";
    TimeRounded "time_rounded" Repaired "A time is finer than a nanosecond and was rounded.";
    TimeClamped "time_clamped" Repaired "A time is out of range and was clamped.";
    DurationShortened "duration_shortened" Repaired "All durations together are more than sums can hold; this one was shortened.";
    SizeClamped "size_clamped" Repaired "A size is beyond a petabyte; sums count it as a petabyte.";
    UnmatchedBegin "unmatched_begin" Repaired "A begin event has no end; it lasts to the end of its track and is marked incomplete.";
    UnmatchedEnd "unmatched_end" Repaired "An end event has no begin; it is kept and marked incomplete.";
    MismatchedEnd "mismatched_end" Repaired "An end event was matched to the innermost begin although their names differ.";
    UnmatchedAsync "unmatched_async" Repaired "An asynchronous begin or end has no partner; it is kept and marked incomplete.";
    UnmatchedFlow "unmatched_flow" Note "A flow event has no partner.";
    OverlappingSpans "overlapping_spans" Note "Spans of one track overlap without nesting; they were laid on extra lanes.";
    KernelWithoutLaunch "kernel_without_launch" Note "A GPU activity has no runtime call with its correlation id.";
    LaunchWithoutKernel "launch_without_kernel" Note "A launch call has no GPU activity with its correlation id.";
    AmbiguousCorrelation "ambiguous_correlation" Note "Several runtime calls share a correlation id; the first one counts.";
    NegativeCorrelation "negative_correlation" Lost "An event is linked to a negative correlation id; it counts as linked to none. torch refuses such results.";
    NoForwardThread "no_forward_thread" Lost "A backward function names no forward thread; it has no stack. torch refuses such results.";
    NoStartRecord "no_start_record" Lost "No record of a local start was found; times count from the earliest record. torch refuses such records.";
    LateStartRecord "late_start_record" Note "Records are earlier than that of the start; their times are negative.";
    UnknownKind "unknown_kind" Note "A record is of an unknown kind; it is kept and means nothing.";
    RepeatedPush "repeated_push" Note "A push repeats the record before it; torch counts both as one range.";
    HiddenRecord "hidden_record" Note "A record belongs to a range that torch leaves out.";
    UnmatchedPush "unmatched_push" Lost "A push has no pop; torch leaves such ranges out.";
    DroppedRecord "dropped_record" Lost "The recorder had no room for a record and dropped it.";
    UnknownName "unknown_name" Lost "A record refers to a text or a call site that was lost.";
    UnmatchedPop "unmatched_pop" Lost "A pop has no push. torch refuses such records.";
}

/// One diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What kind of oddity.
    pub code: Code,
    /// How often it was met.
    pub count: u64,
    /// Where it was first met: a byte offset into the decompressed text, where there is one.
    pub first_offset: Option<u64>,
    /// What the first one looked like; at most [`EXAMPLE_BYTES`] bytes of the input.
    pub example: String,
}

/// The longest example that is kept, in bytes.
pub const EXAMPLE_BYTES: usize = 96;

/// The most that one code is counted, so that the counts of all codes add up within `i64`.
pub const MOST_COUNTED: u64 = 1 << 56;

/// Every oddity of a trace, one [`Finding`] a code, in the order of [`Code::ALL`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    findings: Vec<Finding>,
}

impl Diagnostics {
    /// Counts one `code`; `example` is kept when it is the first.
    pub fn record(&mut self, code: Code, offset: Option<u64>, example: &[u8]) {
        self.record_many(code, 1, offset, example);
    }

    /// Counts `count` of `code`, up to [`MOST_COUNTED`]; nothing is recorded when `count` is 0.
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

    /// All diagnostics.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// How often `code` was met.
    pub fn count(&self, code: Code) -> u64 {
        self.findings.binary_search_by_key(&code, |f| f.code).map_or(0, |at| self.findings[at].count)
    }

    /// The worst severity met, if anything was.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|f| f.code.severity()).max()
    }

    /// Adds what `other` counted; the first offset and example of `self` win.
    pub fn append(&mut self, other: &Diagnostics) {
        for f in &other.findings {
            self.record_many(f.code, f.count, f.first_offset, f.example.as_bytes());
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
