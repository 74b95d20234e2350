//! Selects the events of a smaller trace: those of some steps or times, or those that are long enough.

use crate::analysis::device::ranges::{step_names, step_ranges};
use crate::base::error::Error;
use crate::base::handle::collect;
use crate::base::order::sort_by_key;
use crate::base::time;
use crate::output::write::chrome::Rewrite;
use crate::trace::Trace;
use crate::trace::samples::edit;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::fields::Value;
use crate::trace::table::layout::FieldPlace;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// The events to keep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    /// The numbers of the first and last step.
    pub steps: Option<(i64, i64)>,
    /// The time window: start and end in ns after the start of the recording.
    pub time: Option<(i64, i64)>,
    /// The minimum duration of host spans, in ns.
    pub min_duration_ns: i64,
    /// The categories to leave out, by the text of `cat`.
    pub drop_categories: Vec<String>,
}

/// Returns for each event whether it is kept.
///
/// A window keeps host events that begin in it, device work that was launched in it, both ends of flows that begin in
/// it, and all metadata. Steps and device work are kept whatever their duration.
///
/// # Errors
/// Returns [`Error::BadOption`] if the trace has none of the steps.
pub(crate) fn select(trace: &Trace, selection: &Selection) -> Result<Selected, Error> {
    let table = &trace.table;
    let window = window(trace, selection)?;
    let inside = |ns: i64| ns != time::NONE && window.is_none_or(|(start, end)| start <= ns && ns < end);
    let dropped: Vec<bool> = (table.layouts.all().iter())
        .map(|l| l.cat.is_some_and(|cat| selection.drop_categories.iter().any(|d| d == table.names.get(cat))))
        .collect();
    let steps = step_names(trace);
    let mut keep: Vec<bool> = collect(table.len(), |row| {
        let category = table.category(row);
        if table.ph(row) == b'M' {
            return true;
        }
        if dropped[table.layout_id(row).0 as usize] {
            return false;
        }
        let begins = match trace.links.launch(row).filter(|_| category.is_device_work()) {
            Some(launch) => inside(table.ts(launch)),
            None => inside(table.ts(row)),
        };
        let is_step = category == Category::UserAnnotation && steps.has(table.name_id(row));
        let long = table.dur(row) >= selection.min_duration_ns || category.is_on_device() || is_step;
        begins && (!table.is_span(row) || long || selection.min_duration_ns == 0)
    });
    keep_partners(trace, &mut keep);
    let mut samples = Samples { window, profiles: Vec::new() };
    if window.is_some() {
        samples.profiles = edit::profiles_within(table, inside);
        for &(row, _) in &samples.profiles {
            keep[row.index()] = !dropped[table.layout_id(row).0 as usize];
        }
        sort_by_key(&mut samples.profiles, |profile| (i64::from(profile.0), 0));
    }
    Ok(Selected { keep, samples })
}

/// What is kept.
pub(crate) struct Selected {
    /// For each event, whether it is.
    pub keep: Vec<bool>,
    /// The samples that are not events.
    pub samples: Samples,
}

/// Leaves out samples outside of a window.
#[derive(Default)]
pub(crate) struct Samples {
    window: Option<(i64, i64)>,
    /// The parts of V8 profiles with their argument `data`, in order of their rows.
    profiles: Vec<(Row, String)>,
}

impl Rewrite for Samples {
    fn field(&mut self, _: &Table, row: Row, place: FieldPlace, key: &str, _: Value<'_>) -> Option<String> {
        if (place, key) != (FieldPlace::Args, "data") {
            return None;
        }
        let at = self.profiles.binary_search_by_key(&i64::from(row), |profile| i64::from(profile.0)).ok()?;
        Some(self.profiles[at].1.clone())
    }

    fn metadata(&mut self, key: &str, json: &str) -> Option<String> {
        let (start, end) = self.window.filter(|_| key == edit::SAMPLES && json.starts_with('['))?;
        Some(edit::within(json, |ns| start <= ns && ns < end))
    }
}

/// Keeps an end if its begin is kept, and the end of a flow if its start is kept and the end is no span.
fn keep_partners(trace: &Trace, keep: &mut [bool]) {
    let mut follow = |pairs: &[(Row, Row)]| {
        for &(begin, end) in pairs.iter().filter(|pair| !trace.table.is_span(pair.1)) {
            keep[end.index()] = keep[begin.index()];
        }
    };
    follow(&trace.pairs.spans);
    follow(&trace.pairs.asyncs);
    follow(&trace.pairs.flows);
}

fn window(trace: &Trace, selection: &Selection) -> Result<Option<(i64, i64)>, Error> {
    let table = &trace.table;
    let mut windows = vec![];
    if let Some((first, last)) = selection.steps {
        let steps = step_ranges(trace).into_iter().filter(|s| (first..=last).contains(&s.1));
        let span = steps.fold(None, |span: Option<(i64, i64)>, (row, _)| {
            let (start, end) = (table.ts(row), table.end(row));
            Some(span.map_or((start, end), |s| (s.0.min(start), s.1.max(end))))
        });
        windows.push(
            span.ok_or_else(|| Error::BadOption(format!("the trace has no step from {first} to {last}")))?,
        );
    }
    if let Some((start, end)) = selection.time {
        let origin = trace.start_ns;
        windows.push((origin.saturating_add(start), origin.saturating_add(end)));
    }
    Ok(windows.into_iter().reduce(|a, b| (a.0.max(b.0), a.1.min(b.1))))
}
