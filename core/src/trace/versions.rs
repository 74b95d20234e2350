//! The rules of the versions of PyTorch: what its profiler makes of the same records differs between versions.
//!
//! The list of rules has an entry for each change. A new version that changes nothing needs no entry.

use crate::base::error::Error;
use crate::trace::read::perfetto;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::{FieldPlace, Key, Layout};
use crate::trace::table::metadata::Source;
use alloc::borrow::ToOwned;

/// The rules by which some versions of PyTorch make function events and averages.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rules {
    /// The versions with these rules, such as `2.12 and 2.13`.
    pub versions: &'static str,
    /// The first of these versions: major and minor number.
    since: (u32, u32),
    /// Whether calls of Python functions are function events.
    pub python_functions: bool,
    /// Whether Python functions are rows of key averages without being requested.
    pub python_rows: bool,
    /// Whether device work belongs to the events whose external id is not 0, instead of those whose linked id is 0.
    /// Traces have no external id of 0, so this only applies to the events of profiling results.
    pub links_by_external_id: bool,
    /// Whether memory is attributed by times in microseconds that are rounded to `f64`, in steps of 256 ns.
    pub rounds_memory_times: bool,
    /// Whether ranges that were open when the recording ended, outside of all ranges that ended, are function events.
    pub keeps_open_ranges: bool,
    /// Whether lists of events are written in ASCII, with escaped names.
    pub writes_ascii: bool,
}

/// The first version whose rules are known.
const OLDEST: Rules = Rules {
    versions: "2.3 and earlier",
    since: (0, 0),
    python_functions: false,
    python_rows: false,
    links_by_external_id: false,
    rounds_memory_times: false,
    keeps_open_ranges: false,
    writes_ascii: false,
};

const SINCE_2_4: Rules =
    Rules { versions: "2.4 to 2.10", since: (2, 4), rounds_memory_times: true, ..OLDEST };

const SINCE_2_11: Rules = Rules { versions: "2.11", since: (2, 11), rounds_memory_times: false, ..SINCE_2_4 };

const SINCE_2_12: Rules = Rules {
    versions: "2.12 and 2.13",
    since: (2, 12),
    python_functions: true,
    python_rows: true,
    keeps_open_ranges: true,
    ..SINCE_2_11
};

const SINCE_2_14: Rules =
    Rules { versions: "2.14", since: (2, 14), python_rows: false, writes_ascii: true, ..SINCE_2_12 };

const SINCE_2_15: Rules =
    Rules { versions: "2.15 and later", since: (2, 15), links_by_external_id: true, ..SINCE_2_14 };

/// The rules of every version, the oldest first.
const RULES: [&Rules; 6] = [&OLDEST, &SINCE_2_4, &SINCE_2_11, &SINCE_2_12, &SINCE_2_14, &SINCE_2_15];

impl Rules {
    /// The id of an operator of a profiling result, if device work that is linked to it belongs to the operator.
    pub(crate) fn launcher_id(&self, table: &Table, row: Row) -> Option<i64> {
        let external_id = || table.field_named(row, FieldPlace::Top, "external_id")?.as_i64();
        let is_launcher = match external_id().filter(|_| self.links_by_external_id) {
            Some(id) => id != 0,
            None => table.int(row, Key::LinkedId) == Some(0),
        };
        table.int(row, Key::ExternalId).filter(|_| is_launcher)
    }

    /// Returns the rules of a version such as `2.15`, `2.15.0` or `2.12.1+cu130`.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] if the text does not begin with a major and a minor number.
    pub fn for_version(version: &str) -> Result<&'static Rules, Error> {
        let mut numbers = version.split(['.', '+']).map(str::parse::<u32>);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(major)), Some(Ok(minor))) => {
                Ok(RULES.into_iter().rev().find(|rules| rules.since <= (major, minor)).unwrap_or(&OLDEST))
            }
            _ => Err(Error::BadOption("expected a version of PyTorch, such as 2.15".to_owned())),
        }
    }

    /// Returns which other versions could have written a trace with these rules. 2.11 writes the same files as 2.6 to
    /// 2.10, and 2.15 as 2.12 and later where no Python function was recorded.
    pub(crate) fn doubt(&self, table: &Table) -> Option<&'static str> {
        let is_doubtful = self.since == SINCE_2_11.since
            && table.metadata.source == Source::Chrome
            && table.metadata.text("recorder").is_none();
        if is_doubtful {
            return Some(
                "the file does not show whether 2.11 or one of 2.6 to 2.10 wrote it; --torch-version 2.10 uses the other rules",
            );
        }
        let has_host = table.metadata.source == Source::Chrome && table.metadata.text("host_name").is_some();
        let is_doubtful = has_host
            && self.since == SINCE_2_15.since
            && !table.layouts.has(Category::PythonFunction)
            && table.names.iter().any(|(_, name)| !name.is_ascii());
        is_doubtful.then_some(
            "the file does not show whether 2.14 and later or 2.12 or 2.13 wrote it, which write names that are not ASCII in another \
             way to `export eventlist`; --torch-version 2.13 uses the other rules",
        )
    }

    /// Returns the rules of the version that wrote a trace, as far as the trace shows it.
    pub(crate) fn for_trace(table: &Table) -> &'static Rules {
        match table.metadata.source {
            Source::LegacyRecords => &SINCE_2_15,
            Source::KinetoEvents => for_results(table),
            Source::Chrome | Source::ExecutionTrace => for_chrome(table),
        }
    }
}

/// The accessor `external_id` exists since 2.15.
fn for_results(table: &Table) -> &'static Rules {
    let key = table.names.find("external_id");
    let has_key = |layout: &Layout| layout.fields.iter().any(|field| Some(field.key) == key);
    if table.layouts.all().iter().any(has_key) { &SINCE_2_15 } else { &SINCE_2_11 }
}

/// 2.4 began to write `baseTimeNanoseconds`, after the events; later versions write it before them.
/// 2.12 began to write the name of the host, and 2.14 the place of each Python call. The Python exporter
/// does not write the name of the host.
fn for_chrome(table: &Table) -> &'static Rules {
    let metadata = &table.metadata;
    if let Some(rules) = for_merged(table) {
        return rules;
    }
    if metadata.text(perfetto::SOURCE).is_some() {
        return &SINCE_2_15;
    }
    // The recorder of this project writes modules as Python functions, and no rows would show their time.
    if metadata.text("recorder").is_some() {
        return &SINCE_2_11;
    }
    let calls = || table.layouts.all().iter().filter(|layout| layout.category == Category::PythonFunction);
    if calls().any(|layout| layout.find(Key::CallFrom).is_some()) {
        &SINCE_2_15
    } else if metadata.text("host_name").is_some() || is_python_export(table) {
        // Without Python functions, the versions since 2.12 do not differ.
        if calls().next().is_some() { &SINCE_2_12 } else { &SINCE_2_15 }
    } else if metadata.text("baseTimeNanoseconds").is_none() {
        &OLDEST
    } else if metadata.is_trailing("baseTimeNanoseconds") {
        &SINCE_2_4
    } else {
        &SINCE_2_11
    }
}

/// The member of a merged trace with the versions that have the rules of all its recordings.
pub(crate) const MERGED: &str = "torch_rules";

/// The rules that a merged trace states.
fn for_merged(table: &Table) -> Option<&'static Rules> {
    let versions = table.metadata.value(MERGED)?;
    RULES.into_iter().find(|rules| Some(rules.versions) == versions.as_str())
}

/// Whether annotations of streams begin 1 ns earlier and end 1 ns later than PyTorch's events: Kineto's writer does so
/// since times are in nanoseconds; PyTorch's Python exporter does not.
pub(crate) fn widens_annotations(table: &Table, is_python_export: bool) -> bool {
    let has = |key| table.metadata.text(key).is_some();
    let is_old = for_merged(table).is_some_and(|rules| *rules == OLDEST);
    let is_others = is_python_export || is_old || has("recorder") || has(perfetto::SOURCE);
    table.metadata.source == Source::Chrome && has("baseTimeNanoseconds") && !is_others
}

/// How much longer an event is at each end than PyTorch's event, in ns, if the writer of the trace widens annotations.
pub(crate) fn margin_ns(has_wide_annotations: bool, table: &Table, row: Row) -> i64 {
    let is_annotation = || table.category(row) == Category::GpuUserAnnotation;
    i64::from(has_wide_annotations && is_annotation() && table.dur(row) >= 2)
}

/// Whether PyTorch's Python exporter wrote a trace, which 2.13 introduced. It writes no id of the trace, and its window
/// begins with the first event instead of the profiler.
pub(crate) fn is_python_export(table: &Table) -> bool {
    let metadata = &table.metadata;
    let has = |key| metadata.text(key).is_some();
    if has("trace_id") || !has("schemaVersion") || !has("traceName") || !has("baseTimeNanoseconds") {
        return false;
    }
    let is_window = |&row: &Row| table.category(row) == Category::Window;
    let Some(window) = table.rows().find(is_window).map(|row| table.ts(row)) else { return false };
    let spans = table.rows().filter(|row| !is_window(row) && table.is_span(*row));
    spans.map(|row| table.ts(row)).min() == Some(window)
}

#[cfg(test)]
mod tests {
    use super::{RULES, Rules};

    #[test]
    fn versions_have_the_last_rules_that_began_before_them() {
        let of = |version| Rules::for_version(version).map(|rules| rules.versions);
        assert_eq!(of("1.13.1"), Ok("2.3 and earlier"));
        assert_eq!(of("2.5.1"), Ok("2.4 to 2.10"));
        assert_eq!(of("2.10.0"), Ok("2.4 to 2.10"));
        assert_eq!(of("2.11"), Ok("2.11"));
        assert_eq!(of("2.13.0+cu130"), Ok("2.12 and 2.13"));
        assert_eq!(of("2.14"), Ok("2.14"));
        assert_eq!(of("3.0"), Ok("2.15 and later"));
        assert!(of("2").is_err() && of("newest").is_err());
        assert!(RULES.is_sorted_by_key(|rules| rules.since));
    }
}
