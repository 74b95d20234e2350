//! Which events a smaller trace keeps: those of some steps or times, or those that are long enough.

use crate::analysis::device::steps::step_ranges;
use crate::error::Error;
use crate::handle::collect;
use crate::table::category::Category;
use crate::table::events::Row;
use crate::time;
use crate::trace::Trace;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// What to keep of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    /// The first and last step, by number.
    pub steps: Option<(i64, i64)>,
    /// Start and end in ns after the start of the recording.
    pub time: Option<(i64, i64)>,
    /// Leave out spans of the host that are shorter, in ns.
    pub min_duration_ns: i64,
    /// Leave out these categories, by the text of `cat`.
    pub drop_categories: Vec<String>,
}

/// Whether each event is kept.
///
/// A window keeps what begins in it on the host, the device work that was launched in it, both ends of a flow that
/// begins in it, and all metadata. Steps and device work are never too short.
///
/// # Errors
/// [`Error::BadOption`] when the trace has none of the steps.
pub(crate) fn select(trace: &Trace, selection: &Selection) -> Result<Vec<bool>, Error> {
    let table = &trace.table;
    let window = window(trace, selection)?;
    let inside = |ns: i64| ns != time::NONE && window.is_none_or(|(start, end)| start <= ns && ns < end);
    let dropped: Vec<bool> = (table.layouts.all().iter())
        .map(|l| l.cat.is_some_and(|cat| selection.drop_categories.iter().any(|d| d == table.names.get(cat))))
        .collect();
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
        let is_step = category == Category::UserAnnotation && table.name(row).starts_with("ProfilerStep#");
        let long = table.dur(row) >= selection.min_duration_ns || category.is_on_device() || is_step;
        begins && (!table.is_span(row) || long || selection.min_duration_ns == 0)
    });
    keep_partners(trace, &mut keep);
    Ok(keep)
}

/// An end goes with its begin, a flow's end with its start.
fn keep_partners(trace: &Trace, keep: &mut [bool]) {
    let mut follow = |pairs: &[(Row, Row)]| {
        for &(begin, end) in pairs {
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
        let steps = step_ranges(table).into_iter().filter(|s| (first..=last).contains(&s.1));
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
