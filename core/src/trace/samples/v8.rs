//! Samples of V8's profiler: the events `Profile` and `ProfileChunk` of Chrome and Node, and `CpuProfile` of older versions.
//!
//! An event `Profile` has the thread that was sampled and the start, in µs. The chunks with its process and id follow, often on
//! another thread. Each has new nodes of the call tree, the node of each sample, and the time since the sample before it, in µs.

use super::{NONE, Samples};
use crate::base::diagnostics::{Code, Diagnostics};
use crate::base::index::Index;
use crate::base::names::Names;
use crate::base::order::sort_by_key;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::fields::Value;
use crate::trace::table::layout::{FieldPlace, Key};
use crate::trace::table::tracks::TrackId;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde_json::Value as Json;

const PROFILE: &str = "Profile";
const CHUNK: &str = "ProfileChunk";
/// A profile with its samples, by older versions of Chrome.
const COMPLETE: &str = "CpuProfile";

/// A profile of one thread.
pub(super) struct Profile {
    track: Option<TrackId>,
    /// The time of the last sample in ns, while it is known.
    pub(super) clock: Option<i64>,
}

/// The nodes and samples of all profiles, before callers are found.
#[derive(Default)]
struct Nodes {
    /// The frames of nodes, by profile and id.
    index: Index,
    /// Frames with the profile and the id of the node that called them.
    callers: Vec<(u32, (i64, i64))>,
    /// Profiles and ids of nodes with the frame that called them.
    children: Vec<((i64, i64), u32)>,
    /// The time, the track and the node of each sample.
    samples: Vec<(Option<i64>, TrackId, (i64, i64))>,
}

/// Whether an event is a part of a profile: it has the name of one, and its category or its data.
pub(crate) fn is_profile(table: &Table, row: Row) -> bool {
    let has_data =
        || table.field_named(row, FieldPlace::Args, "data").is_some_and(|data| data.as_json().is_some());
    matches!(table.ph(row), b'P' | b'I' | b'i' | b'n')
        && matches!(table.name(row), PROFILE | CHUNK | COMPLETE)
        && (table.cat(row).contains("disabled-by-default") || has_data())
}

pub(super) fn read(samples: &mut Samples, table: &Table, diagnostics: &mut Diagnostics) {
    let (rows, of_row, mut profiles) = parts(table);
    let mut nodes = Nodes::default();
    for (&row, &at) in rows.iter().zip(&of_row) {
        nodes.read(samples, diagnostics, &data_of(table, row), at as i64, &mut profiles[at]);
    }
    nodes.resolve(samples, table, diagnostics);
}

/// The events of all profiles in order of time, the index of the profile of each, and the profiles.
pub(super) fn parts(table: &Table) -> (Vec<Row>, Vec<usize>, Vec<Profile>) {
    let ids = [PROFILE, CHUNK, COMPLETE].map(|name| table.names.find(name));
    if ids == [None; 3] {
        return Default::default();
    }
    let is_part = |&row: &Row| ids.contains(&Some(table.name_id(row))) && is_profile(table, row);
    let mut rows: Vec<Row> = table.rows().filter(is_part).collect();
    sort_by_key(&mut rows, |&row| (table.ts(row), i64::from(row)));
    let (mut names, mut index) = (Names::default(), Index::default());
    let mut profiles: Vec<Profile> = Vec::new();
    let of_row = rows
        .iter()
        .map(|&row| {
            let track = table.track(row);
            let key = (i64::from(track.pid.0), i64::from(names.intern(&id_of(table, row)).0));
            let mut at = index.get_or_insert(key, profiles.len() as u32) as usize;
            // A second profile with the same id follows the first.
            if profiles.get(at).is_some_and(|known| known.track.is_some()) && table.name(row) != CHUNK {
                at = profiles.len();
                index.set(key, at as u32);
            }
            if at == profiles.len() {
                profiles.push(Profile { track: None, clock: None });
            }
            if table.name(row) != CHUNK {
                profiles[at] = Profile { track: Some(table.track_id(row)), clock: start(table, row) };
            }
            at
        })
        .collect();
    (rows, of_row, profiles)
}

/// The times at which the profiles of a table began, in ns.
pub(super) fn starts(table: &Table) -> Vec<i64> {
    let ids = [PROFILE, COMPLETE].map(|name| table.names.find(name));
    if ids == [None; 2] {
        return Vec::new();
    }
    let is_first = |&row: &Row| ids.contains(&Some(table.name_id(row))) && is_profile(table, row);
    table.rows().filter(is_first).filter_map(|row| start(table, row)).collect()
}

/// The time at which the profile of an event began.
fn start(table: &Table, row: Row) -> Option<i64> {
    let data = data_of(table, row);
    data.get("startTime").or_else(|| data.get("cpuProfile")?.get("startTime")).and_then(ns)
}

/// The times of the samples of an event in ns, where they are known.
pub(super) fn times(data: &Json, of: &mut Profile) -> Vec<Option<i64>> {
    let tree = data.get("cpuProfile").unwrap_or(&Json::Null);
    let (of_samples, deltas) = (list(tree, "samples"), list(data, "timeDeltas"));
    let deltas = if deltas.is_empty() { list(tree, "timeDeltas") } else { deltas };
    let mut clock = of.clock;
    let times = (0..of_samples.len()).map(|at| {
        clock = clock.and_then(|clock| clock.checked_add(ns(deltas.get(at)?)?));
        clock
    });
    let times = times.collect();
    // What the other deltas belong to is unknown, so the times after them are too.
    of.clock = clock.filter(|_| deltas.len() <= of_samples.len());
    times
}

/// The id of a profile; empty if the event has none.
fn id_of(table: &Table, row: Row) -> String {
    match table.field(row, Key::Id).or_else(|| table.field(row, Key::Id2)) {
        Some(Value::Text(id) | Value::Json(id)) => id.into(),
        Some(Value::Int(id)) => id.to_string(),
        _ => String::new(),
    }
}

/// The argument `data`; null if it is missing.
pub(super) fn data_of(table: &Table, row: Row) -> Json {
    let data = table.field_named(row, FieldPlace::Args, "data").and_then(|value| value.as_json());
    data.and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Json::Null)
}

/// A number of µs in ns.
fn ns(us: &Json) -> Option<i64> {
    us.as_i64().and_then(|us| us.checked_mul(1000)).or_else(|| Some(libm::round(us.as_f64()? * 1e3) as i64))
}

fn list<'a>(of: &'a Json, key: &str) -> &'a [Json] {
    of.get(key).and_then(Json::as_array).map_or(&[], Vec::as_slice)
}

/// The name of the function of a node. One without a name has its place in the source.
fn name_of(node: &Json) -> String {
    let call = node.get("callFrame").unwrap_or(node);
    let text = |key: &str| call.get(key).and_then(Json::as_str).unwrap_or("");
    match (text("functionName"), text("url")) {
        ("", "") => "(anonymous)".into(),
        // V8 counts lines from 0.
        ("", url) => {
            format!(
                "(anonymous) {url}:{}",
                call.get("lineNumber").and_then(Json::as_i64).unwrap_or(-1).saturating_add(1)
            )
        }
        (name, _) => name.into(),
    }
}

impl Nodes {
    /// Reads the nodes and samples of one event.
    fn read(
        &mut self,
        samples: &mut Samples,
        diagnostics: &mut Diagnostics,
        data: &Json,
        profile: i64,
        of: &mut Profile,
    ) {
        let tree = data.get("cpuProfile").unwrap_or(&Json::Null);
        let id = |json: Option<&Json>| Some((profile, json?.as_i64()?));
        for node in list(tree, "nodes") {
            let Some(key) = id(node.get("id")) else {
                diagnostics.record(Code::SampleStack, None, b"nodes");
                continue;
            };
            let frame = samples.frames.add(&name_of(node));
            self.index.get_or_insert(key, frame);
            self.callers.extend(id(node.get("parent")).map(|caller| (frame, caller)));
            self.children
                .extend(list(node, "children").iter().filter_map(|child| Some((id(Some(child))?, frame))));
        }
        let of_samples = list(tree, "samples");
        let Some(track) = of.track else {
            diagnostics.record_many(Code::LostSample, of_samples.len() as u64, None, CHUNK.as_bytes());
            return;
        };
        for (sample, time) in of_samples.iter().zip(times(data, of)) {
            self.samples.push((time, track, id(Some(sample)).unwrap_or((-1, 0))));
        }
    }

    /// Finds the callers of all nodes, then the frames of all samples.
    fn resolve(self, samples: &mut Samples, table: &Table, diagnostics: &mut Diagnostics) {
        for (child, caller) in self.children {
            if let Some(child) = self.index.get(child) {
                samples.frames.set_caller(child, caller);
            }
        }
        let mut damaged = 0;
        for (frame, caller) in self.callers {
            let caller = self.index.get(caller);
            damaged += u64::from(caller.is_none());
            samples.frames.set_caller(frame, caller.unwrap_or(NONE));
        }
        damaged += samples.frames.cut_cycles();
        diagnostics.record_many(Code::SampleStack, damaged, None, b"nodes");
        for (ts, track, node) in self.samples {
            let frame = self.index.get(node);
            samples.push_within(table, diagnostics, ts, track, frame);
        }
    }
}
