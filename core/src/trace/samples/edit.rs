//! Changes the texts of samples: to a window of time, to other times and ids, or from nanoseconds to microseconds.

use super::v8;
use crate::base::rows::quote;
use crate::base::time::{self, parse_micros, parse_nanos};
use crate::trace::read::scan::items;
use crate::trace::table::events::{Row, Table};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The keys of frames in samples and events.
pub(crate) const FRAME_KEYS: [&str; 2] = ["sf", "esf"];

/// The members of the document that have samples and their frames.
pub(crate) const SAMPLES: &str = "samples";
pub(crate) const FRAMES: &str = "stackFrames";

/// An object with other values for some keys, and anything else unchanged. `change` gets each key without quotes and its value.
fn changed(object: &str, change: &mut dyn FnMut(&str, &str) -> Option<String>) -> String {
    if !object.starts_with('{') {
        return object.into();
    }
    let mut out = String::from("{");
    for (key, value) in items(object) {
        let other = change(key.trim_matches('"'), value);
        for part in [if out.len() > 1 { "," } else { "" }, key, ":", other.as_deref().unwrap_or(value)] {
            out += part;
        }
    }
    out + "}"
}

/// The elements of a list that `each` does not leave out, changed by it.
fn elements(list: &str, each: &mut dyn FnMut(&str) -> Option<String>) -> String {
    let mut out = String::new();
    for element in items(list).filter_map(|(_, element)| each(element)) {
        out += if out.is_empty() { "" } else { "," };
        out += &element;
    }
    out
}

fn list(text: &str, each: &mut dyn FnMut(&str) -> Option<String>) -> String {
    format!("[{}]", elements(text, each))
}

/// A number, which can be a string.
fn plain(json: &str) -> &str {
    json.trim_matches('"').trim()
}

/// The text of an id.
fn id(json: &str) -> String {
    serde_json::from_str(json).unwrap_or_else(|_| json.into())
}

/// A time in ns, which is a number of µs.
fn time_in(json: &str) -> Option<i64> {
    parse_micros(plain(json).as_bytes()).filter(|time| !time.clamped).map(|time| time.ns)
}

fn micros(ns: i64) -> String {
    let mut text = String::new();
    time::write_micros(&mut text, ns);
    text
}

/// The time of a sample in ns, as the table counts; `None` if it has none.
pub(super) fn time_of(sample: &str) -> Option<i64> {
    time_in(items(sample).find(|item| item.0 == "\"ts\"")?.1)
}

/// The earliest time in the members `samples` of a document, and at which a V8 profile began, in ns.
pub(crate) fn start_of(table: &Table) -> Option<i64> {
    let members = table.metadata.entries.iter().filter_map(start_of_member);
    members.chain(v8::starts(table)).min()
}

/// The earliest time in a member of a document, if it is `samples`, in ns.
pub(crate) fn start_of_member((key, json): &(String, String)) -> Option<i64> {
    let samples = (key == SAMPLES && json.starts_with('[')).then_some(json)?;
    items(samples).filter_map(|(_, sample)| time_of(sample)).min()
}

/// The member `samples` of a trace in nanoseconds, in microseconds.
pub(crate) fn from_nanoseconds(samples: &str) -> String {
    let mut ts = |key: &str, value: &str| {
        let time = parse_nanos(plain(value).as_bytes()).filter(|_| key == "ts")?;
        (!time.clamped).then(|| micros(time.ns))
    };
    list(samples, &mut |sample| Some(changed(sample, &mut ts)))
}

/// The member `samples` with those of a time.
pub(crate) fn within(samples: &str, inside: impl Fn(i64) -> bool) -> String {
    list(samples, &mut |sample| time_of(sample).is_some_and(&inside).then(|| sample.into()))
}

/// How the samples of one trace become those of another.
pub(crate) trait Move {
    /// The time of a sample in ns.
    fn time(&mut self, ns: i64) -> i64;
    /// The JSON of a `pid` or `tid`.
    fn thread(&mut self, json: &str) -> String;
    /// The id of a frame.
    fn frame(&mut self, id: &str) -> String;
}

/// The elements of the member `samples`, moved.
pub(crate) fn moved(samples: &str, to: &mut dyn Move) -> String {
    let mut member = |key: &str, value: &str| match key {
        "ts" => Some(micros(to.time(time_in(value)?))),
        "pid" | "tid" => Some(to.thread(value)),
        "sf" => Some(quote(&to.frame(&id(value)))),
        _ => None,
    };
    elements(samples, &mut |sample| Some(changed(sample, &mut member)))
}

/// The members of `stackFrames`, with their new ids.
pub(crate) fn moved_frames(frames: &str, to: &mut dyn Move) -> String {
    let mut out = String::new();
    for (key, frame) in items(frames) {
        let key = quote(&to.frame(&id(key)));
        let mut parent = |key: &str, value: &str| (key == "parent").then(|| quote(&to.frame(&id(value))));
        let frame = changed(frame, &mut parent);
        for part in [if out.is_empty() { "" } else { ",\n" }, &key, ":", &frame] {
            out += part;
        }
    }
    out
}

/// The argument `data` of a part of a V8 profile whose start is at another time; `None` if the event is no such part.
pub(crate) fn moved_profile(table: &Table, row: Row, data: &str, to: &mut dyn Move) -> Option<String> {
    if !v8::is_profile(table, row) {
        return None;
    }
    let mut time = |value: &str| Some(micros(to.time(time_in(value)?)));
    Some(changed(data, &mut |key, value| match key {
        "startTime" | "endTime" => time(value),
        "cpuProfile" => Some(changed(value, &mut |key, value| match key {
            "startTime" | "endTime" => time(value),
            _ => None,
        })),
        _ => None,
    }))
}

/// The parts of V8 profiles with their argument `data`, in which only the samples of a time are left. Nodes stay, because
/// samples of other parts need them.
pub(crate) fn profiles_within(table: &Table, inside: impl Fn(i64) -> bool) -> Vec<(Row, String)> {
    let (rows, of_row, mut profiles) = v8::parts(table);
    // The time of the last sample that is left, by profile.
    let mut written: Vec<Option<i64>> = profiles.iter().map(|profile| profile.clock).collect();
    let parts = rows.iter().zip(&of_row).map(|(&row, &at)| {
        let data = v8::data_of(table, row);
        let times = v8::times(&data, &mut profiles[at]);
        let kept: Vec<bool> = times.iter().map(|time| time.is_some_and(&inside)).collect();
        let deltas: Vec<String> = (times.iter().zip(&kept).filter(|sample| *sample.1))
            .filter_map(|(&time, _)| {
                let delta = time? - written[at]?;
                written[at] = time;
                Some(micros(delta))
            })
            .collect();
        (row, with_samples(&data.to_string(), &kept, &format!("[{}]", deltas.join(","))))
    });
    parts.collect()
}

/// The lists that have an element for each sample.
const OF_SAMPLES: [&str; 3] = ["samples", "lines", "columns"];

fn with_samples(data: &str, kept: &[bool], deltas: &str) -> String {
    changed(data, &mut |key, value| match key {
        "timeDeltas" => Some(deltas.to_string()),
        "cpuProfile" => Some(with_samples(value, kept, deltas)),
        _ if OF_SAMPLES.contains(&key) && value.starts_with('[') => {
            let mut at = 0..;
            Some(list(value, &mut |element| {
                let is_kept = at.next().is_some_and(|at: usize| kept.get(at) == Some(&true));
                is_kept.then(|| element.into())
            }))
        }
        _ => None,
    })
}
