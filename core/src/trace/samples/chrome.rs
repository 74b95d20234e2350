//! Samples of the member `samples`, of events of the phase `P`, and the stacks of other events.
//!
//! A stack is an id in the member `stackFrames`, or a list of frames whose first is the outermost, as the format's document
//! defines them (“`StackFrames` Dictionary”, “Global Samples”, “Stack Traces on Duration Events”).

use super::{CATEGORY, NONE, Samples, Threads, edit, v8};
use crate::base::diagnostics::{Code, Diagnostics};
use crate::base::index::Index;
use crate::base::names::Names;
use crate::trace::read::scan::items;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::fields::Value;
use crate::trace::table::layout::FieldPlace;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde_json::Value as Json;

/// The keys of the stack of an event at its start, and at its end.
const KEYS: [[&str; 2]; 2] = [["sf", "stack"], ["esf", "estack"]];

/// The member `stackFrames`: frames by their ids.
#[derive(Default)]
struct Dictionary {
    ids: Names,
    frames: Index,
}

impl Dictionary {
    fn key(&mut self, id: &str) -> (i64, i64) {
        (i64::from(self.ids.intern(id).0), 0)
    }

    fn get(&mut self, id: &str) -> Option<u32> {
        let key = self.key(id);
        self.frames.get(key)
    }

    /// Reads the frames. A frame without a name is named after its id. Returns the number of damaged ones.
    fn read(&mut self, samples: &mut Samples, diagnostics: &mut Diagnostics, text: &str) -> u64 {
        let mut callers: Vec<(u32, String)> = Vec::new();
        let mut damaged = 0;
        for (key, frame) in items(text) {
            let id: String = serde_json::from_str(key).unwrap_or_default();
            let Ok(Json::Object(frame)) = serde_json::from_str(frame) else {
                damaged += 1;
                continue;
            };
            let name = frame.get("name").and_then(Json::as_str).unwrap_or(&id);
            let at = samples.frames.add(name);
            let key = self.key(&id);
            let known = self.frames.get(key).map(|known| samples.frames.get(known).0 != name);
            diagnostics.record_many(
                Code::AmbiguousFrame,
                u64::from(known == Some(true)),
                None,
                name.as_bytes(),
            );
            self.frames.set(key, at);
            if let Some(caller) = frame.get("parent").and_then(id_of) {
                callers.push((at, caller));
            }
        }
        for (at, caller) in callers {
            match self.get(&caller) {
                Some(caller) => samples.frames.set_caller(at, caller),
                None => damaged += 1,
            }
        }
        damaged
    }
}

/// An id as text, whether it is a number or a string.
fn id_of(json: &Json) -> Option<String> {
    match json {
        Json::String(text) => Some(text.clone()),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Adds the samples, and the stacks of events if the trace has no samples.
pub(super) fn read(samples: &mut Samples, table: &mut Table, diagnostics: &mut Diagnostics) {
    let of_recorder = table.names.find(CATEGORY);
    let layouts = table.layouts.all();
    let is_recorder = of_recorder.is_some() && layouts.iter().any(|l| l.cat == of_recorder);
    let keys = KEYS.map(|keys| keys.map(|key| table.names.find(key)));
    let with_stack: Vec<bool> = layouts
        .iter()
        .map(|layout| {
            let is_stack = |key| keys.as_flattened().contains(&Some(key));
            layout.fields.iter().any(|f| f.place == FieldPlace::Top && is_stack(f.key))
        })
        .collect();
    let has_samples = layouts.iter().any(|layout| layout.ph == b'P');
    let has_stacks = with_stack.contains(&true);
    let has_member = !members(table, edit::SAMPLES).is_empty();
    if !has_member && !has_samples && !has_stacks {
        return;
    }
    let (mut frames, mut damaged) = (Dictionary::default(), 0);
    for text in members(table, edit::FRAMES) {
        damaged += frames.read(samples, diagnostics, text);
    }
    damaged += samples.frames.cut_cycles();
    diagnostics.record_many(Code::SampleStack, damaged, None, b"stackFrames");
    if has_member {
        read_member(samples, table, diagnostics, &mut frames);
    }
    let mut read_events = |samples: &mut Samples, diagnostics: &mut Diagnostics, of_phase: bool| {
        for row in table.rows() {
            let ph = table.ph(row);
            let is_wanted = if of_phase { ph == b'P' } else { with_stack[table.layout_id(row).0 as usize] };
            if !is_wanted || ph == b'M' || v8::is_profile(table, row) {
                continue;
            }
            let times = [table.ts(row), table.end(row)];
            for (keys, ts) in KEYS.iter().zip(times).take(if of_phase { 1 } else { 2 }) {
                let frame = match stack_of(samples, &mut frames, table, row, keys) {
                    Some(NONE) if !of_phase => {
                        diagnostics.record(Code::SampleStack, None, b"");
                        continue;
                    }
                    Some(frame) => frame,
                    // A sample without a stack is in the function of its name.
                    None if of_phase => samples.frames.called(NONE, table.name(row)),
                    None => continue,
                };
                let frame = Some(frame).filter(|&frame| frame != NONE);
                samples.push_within(table, diagnostics, Some(ts), table.track_id(row), frame);
            }
        }
    };
    if has_samples {
        read_events(samples, diagnostics, true);
    }
    if has_stacks && !is_recorder && samples.list.is_empty() {
        read_events(samples, diagnostics, false);
        diagnostics.record_many(Code::EventStack, samples.list.len() as u64, None, b"");
    }
}

/// The texts of a member of the document. Several documents can follow each other.
fn members<'a>(table: &'a Table, key: &str) -> Vec<&'a str> {
    let entries = table.metadata.entries.iter().filter(|entry| entry.0 == key);
    entries.map(|entry| entry.1.as_str()).collect()
}

/// Adds the samples of the member `samples`.
fn read_member(
    samples: &mut Samples,
    table: &mut Table,
    diagnostics: &mut Diagnostics,
    frames: &mut Dictionary,
) {
    let mut threads = Threads::new(table);
    let (mut found, mut lost) = (Vec::new(), 0);
    for element in members(table, edit::SAMPLES).into_iter().flat_map(items).map(|item| item.1) {
        let Ok(Json::Object(sample)) = serde_json::from_str(element) else {
            lost += 1;
            continue;
        };
        let text = |key: &str| sample.get(key).and_then(id_of);
        // The text of the time has digits that a number of `serde_json` loses.
        let ts = edit::time_of(element);
        let pid = sample.get("pid").map(Json::to_string);
        let tid = sample.get("tid").map_or_else(String::new, Json::to_string);
        let thread = threads.get(pid.as_deref(), &tid);
        found.push((ts, thread, text("sf").and_then(|id| frames.get(&id))));
        let weight = text("weight").map(|weight| weight.parse::<f64>());
        let is_one = weight.is_none_or(|weight| weight == Ok(1.0));
        diagnostics.record_many(Code::SampleWeight, u64::from(!is_one), None, element.as_bytes());
    }
    // A list of something else has no samples to lose.
    if !found.is_empty() {
        diagnostics.record_many(Code::LostSample, lost, None, b"samples");
    }
    let tracks = threads.tracks(table);
    for (ts, thread, frame) in found {
        samples.push_within(table, diagnostics, ts, tracks[thread as usize], frame);
    }
}

/// The innermost frame of the stack of an event; `None` if it has no stack, [`NONE`] if its frame is missing.
fn stack_of(
    samples: &mut Samples,
    frames: &mut Dictionary,
    table: &Table,
    row: Row,
    [id, list]: &[&str; 2],
) -> Option<u32> {
    let id = match table.field_named(row, FieldPlace::Top, id) {
        Some(Value::Int(id)) => Some(id.to_string()),
        Some(Value::Text(id)) => Some(id.into()),
        _ => None,
    };
    let known = id.as_ref().and_then(|id| frames.get(id));
    let list = table.field_named(row, FieldPlace::Top, list).and_then(|value| value.as_json());
    let list = list.filter(|text| text.starts_with('[') && known.is_none());
    let Some(list) = list else { return id.map(|_| known.unwrap_or(NONE)) };
    let mut frame = NONE;
    for (_, name) in items(list) {
        let text: String = serde_json::from_str(name).unwrap_or_else(|_| name.into());
        frame = samples.frames.called(frame, &text);
    }
    (frame != NONE).then_some(frame)
}
