//! Writes the events of several ranks as one Chrome trace, on one clock.
//!
//! Process and thread numbers, flows and correlations of each rank are in a range of their own, so that nothing of one
//! rank is joined with something of another. Rank `r` has the numbers from `r` × 10,000,000 as `pid` and `tid`, and ids
//! from `r` × 2³³; those of a further recording of a rank follow the ids of all ranks. Names of processes begin with the rank. The metadata of each trace follows the events, in `ranks`.

use super::chrome::{ChromeWriter, Rewrite};
use crate::base::error::Error;
use crate::base::index::Index;
use crate::base::names::NameId;
use crate::base::rows::quote;
use crate::runs::ranks::alignment::Alignment;
use crate::trace::Trace;
use crate::trace::pair::whole_number;
use crate::trace::samples::edit::{self, Move};
use crate::trace::table::events::{Row, Table};
use crate::trace::table::fields::Value;
use crate::trace::table::layout::{FieldPlace, Key};
use crate::trace::table::merged::{NUMBERS, OTHERS, RANKS, RECORDING, RENUMBERED};
use crate::trace::table::metadata::Source;
use crate::trace::table::tracks::Track;
use crate::trace::versions::MERGED;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// The approximate size of a piece, in bytes.
const PIECE: usize = 256 << 10;

/// The members of a recording that a merged trace has not, or in another form.
const OWN: [&str; 9] = [
    "baseTimeNanoseconds",
    "schemaVersion",
    "distributedInfo",
    "traceName",
    "trace_id",
    RANKS,
    MERGED,
    edit::SAMPLES,
    edit::FRAMES,
];

/// The number of ids of each rank, as a power of 2.
const IDS: u32 = 33;

/// Writes one rank after the other.
#[derive(Debug, Default)]
pub struct Merger {
    /// The Unix time of a `ts` of 0.
    base_ns: Option<i64>,
    events: u64,
    /// An object for each recording.
    ranks: Vec<String>,
    /// By recording: the elements of its member `samples`, and the members of its `stackFrames`.
    samples: Vec<String>,
    frames: Vec<String>,
    /// The members that all recordings have alike.
    common: Option<Vec<(String, String)>>,
    /// The rules of the recordings; `None` if they differ.
    rules: Option<&'static str>,
    /// By rank: numbers of processes and threads that do not fit.
    others: Vec<(i64, Others)>,
}

/// Numbers of processes and threads that do not fit, in the order of their first use.
#[derive(Debug, Default)]
struct Others {
    numbers: Vec<i64>,
    places: Index,
}

impl Others {
    /// The place of a number, which is added if it is new.
    fn place(&mut self, number: i64) -> i64 {
        let next = self.numbers.len() as u32;
        let place = self.places.get_or_insert((number, 0), next);
        if place == next {
            self.numbers.push(number);
        }
        i64::from(place)
    }
}

impl Merger {
    /// Writes the events of one trace, in pieces.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] if the trace is no Chrome trace and cannot be merged, and [`Error::Output`] if
    /// `out` returns false.
    pub fn add(
        &mut self,
        trace: &Trace,
        alignment: &Alignment,
        out: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<(), Error> {
        let table = &trace.table;
        if table.metadata.source != Source::Chrome {
            return Err(Error::BadOption(format!("{}: only Chrome traces can be merged", alignment.source)));
        }
        let base = self.base_ns.unwrap_or_else(|| table.base_ns());
        if self.base_ns.is_none() {
            self.base_ns = Some(base);
            let head = format!("{{\"schemaVersion\":1,\"baseTimeNanoseconds\":{base},\n\"traceEvents\":[");
            written(out(head.as_bytes()))?;
        }
        let others = others(&mut self.others, alignment.rank);
        let mut rewrite = OfRank { alignment, base: (table.base_ns(), base), others };
        let mut added = vec![rewrite.recording(table)];
        let names = unnamed_processes(table, "process_name", |_| true).into_iter();
        added.extend(names.map(|pid| rewrite.process_name(("process_name", "name"), table.names.get(pid))));
        let labels = unnamed_processes(table, "process_labels", |track| track.on_device).into_iter();
        added.extend(
            labels.map(|pid| rewrite.process_name(("process_labels", "labels"), table.names.get(pid))),
        );
        let mut writer = ChromeWriter::for_part(String::new(), rewrite, self.events);
        for name in added {
            writer.addition(table, &name).map_err(|_| Error::Output)?;
        }
        for row in table.rows() {
            writer.event(table, row).map_err(|_| Error::Output)?;
            if writer.output().len() >= PIECE {
                flush(writer.output(), out)?;
            }
        }
        flush(writer.output(), out)?;
        self.events = writer.events();
        let mut to = writer.into_rewrite();
        for (key, json) in &table.metadata.entries {
            match key.as_str() {
                edit::SAMPLES => self.samples.push(edit::moved(json, &mut to)),
                edit::FRAMES => self.frames.push(edit::moved_frames(json, &mut to)),
                _ => {}
            }
        }
        self.ranks.push(description(trace, alignment, &to.others.numbers));
        self.add_common(trace);
        Ok(())
    }

    /// Keeps what this recording has like those before it.
    fn add_common(&mut self, trace: &Trace) {
        let entries = &trace.table.metadata.entries;
        let rules = trace.rules.versions;
        if let Some(common) = &mut self.common {
            common.retain(|entry| entries.contains(entry));
            self.rules = self.rules.filter(|&known| known == rules);
        } else {
            let shared = entries.iter().filter(|entry| !OWN.contains(&entry.0.as_str()));
            self.common = Some(shared.cloned().collect());
            self.rules = Some(rules);
        }
    }

    /// Ends the document and returns the number of events.
    ///
    /// # Errors
    /// Returns [`Error::Empty`] if no trace was added, and [`Error::Output`] if `out` returns false.
    pub fn finish(self, out: &mut dyn FnMut(&[u8]) -> bool) -> Result<u64, Error> {
        if self.base_ns.is_none() {
            return Err(Error::Empty);
        }
        let joined = |parts: &[String]| {
            let parts = parts.iter().filter(|part| !part.is_empty());
            parts.map(String::as_str).collect::<Vec<&str>>().join(",\n")
        };
        written(out(b"\n],\n"))?;
        for (key, parts, [open, close]) in
            [(edit::FRAMES, &self.frames, ['{', '}']), (edit::SAMPLES, &self.samples, ['[', ']'])]
        {
            if !parts.is_empty() {
                written(out(format!("\"{key}\":{open}\n{}\n{close},\n", joined(parts)).as_bytes()))?;
            }
        }
        let rules = self.rules.map(|rules| (MERGED.to_string(), quote(rules)));
        for (key, json) in self.common.into_iter().flatten().chain(rules) {
            written(out(format!("{}:{json},\n", quote(&key)).as_bytes()))?;
        }
        written(out(format!("\"{RANKS}\":[\n{}\n]}}\n", self.ranks.join(",\n")).as_bytes()))?;
        Ok(self.events)
    }
}

fn written(is_written: bool) -> Result<(), Error> {
    if is_written { Ok(()) } else { Err(Error::Output) }
}

/// Passes a piece on.
fn flush(piece: &mut String, out: &mut dyn FnMut(&[u8]) -> bool) -> Result<(), Error> {
    written(out(piece.as_bytes()))?;
    piece.clear();
    Ok(())
}

/// The `pid`s of these tracks to which no metadata event of this kind gives a name.
fn unnamed_processes(table: &Table, kind: &str, wanted: impl Fn(&Track) -> bool) -> Vec<NameId> {
    let known = table.names.find(kind);
    let mut is_named = vec![false; table.names.len()];
    is_named[NameId::EMPTY.0 as usize] = true;
    for row in table.rows().filter(|&row| known == Some(table.name_id(row)) && table.ph(row) == b'M') {
        is_named[table.track(row).pid.0 as usize] = true;
    }
    let pids = table.tracks.all().iter().filter(|track| wanted(track)).map(|track| track.pid);
    pids.filter(|pid| !core::mem::replace(&mut is_named[pid.0 as usize], true)).collect()
}

/// The numbers of a rank that do not fit.
fn others(all: &mut Vec<(i64, Others)>, rank: i64) -> &mut Others {
    let at = all.iter().position(|known| known.0 == rank).unwrap_or_else(|| {
        all.push((rank, Others::default()));
        all.len() - 1
    });
    &mut all[at].1
}

/// The rank, its trace, what was taken from its times, and its metadata.
fn description(trace: &Trace, alignment: &Alignment, others: &[i64]) -> String {
    let (offset_ns, drift_ppm) = alignment.offset();
    let entries = trace.table.metadata.entries.iter();
    let kept = entries.filter(|entry| !matches!(entry.0.as_str(), edit::SAMPLES | edit::FRAMES));
    let metadata: Vec<String> = kept.map(|(key, json)| format!("{}:{json}", quote(key))).collect();
    format!(
        "{{\"rank\":{},\"trace\":{},\"offset_ns\":{offset_ns},\"drift_ppm\":{drift_ppm},\"{OTHERS}\":{others:?},\"metadata\":{{{}}}}}",
        alignment.rank,
        quote(&alignment.source),
        metadata.join(",")
    )
}

/// Moves the times and numbers of one rank.
struct OfRank<'a> {
    alignment: &'a Alignment,
    /// The Unix times of a `ts` of 0: of the trace, and of the output.
    base: (i64, i64),
    others: &'a mut Others,
}

impl OfRank<'_> {
    /// The metadata event before the events of the recording.
    fn recording(&mut self, table: &Table) -> String {
        let pid = table.tracks.all().first().and_then(|track| self.id(table.names.get(track.pid)));
        let (pid, rank) = (pid.unwrap_or_default(), self.alignment.rank);
        format!(r#"{{"ph":"M","name":"{RECORDING}","pid":{pid},"tid":0,"args":{{"rank":{rank}}}}}"#)
    }

    /// The metadata event that names a process or a device after the rank.
    fn process_name(&mut self, (event, argument): (&str, &str), pid: &str) -> String {
        let id = self.id(pid).unwrap_or_default();
        let what = if event == "process_labels" { "device " } else { "" };
        let name = quote(&format!("rank {}: {what}{}", self.alignment.rank, pid.trim_matches('"')));
        format!(r#"{{"ph":"M","name":"{event}","pid":{id},"tid":0,"args":{{"{argument}":{name}}}}}"#)
    }

    /// A `pid` or `tid` in the range of the rank.
    fn number(&mut self, number: i64) -> i64 {
        let fits = (0..RENUMBERED).contains(&number);
        let rank_number = if fits { number } else { RENUMBERED + self.others.place(number) };
        self.alignment.rank.wrapping_mul(NUMBERS).wrapping_add(rank_number)
    }

    /// A text that no other rank has.
    fn text(&self, text: &str) -> String {
        quote(&format!("rank {}: {text}", self.alignment.rank))
    }

    /// An id of a flow, a correlation or the like. Of correlations, only numbers from `least` are ids.
    fn own_id(&self, value: Value<'_>, least: i64) -> Option<String> {
        let shifted = |id: i64| self.alignment.slot.wrapping_shl(IDS).wrapping_add(id).to_string();
        match value {
            Value::Int(id) if id >= least => Some(shifted(id)),
            // The string of a number is the same id as the number.
            Value::Text(id) => {
                let number = whole_number(id).filter(|&id| id >= least);
                Some(quote(&number.map_or_else(|| self.own_text(id), shifted)))
            }
            Value::Json(object) => {
                let members: serde_json::Map<String, serde_json::Value> =
                    serde_json::from_str(object).ok()?;
                let renumbered = members.iter().filter_map(|(key, id)| {
                    let id = match id {
                        serde_json::Value::String(id) => self.own_id(Value::Text(id), least),
                        id => self.own_id(Value::Int(id.as_i64()?), least),
                    };
                    Some(format!("{}:{}", quote(key), id?))
                });
                Some(format!("{{{}}}", renumbered.collect::<Vec<String>>().join(",")))
            }
            _ => None,
        }
    }

    /// An id that no other recording has.
    fn own_text(&self, id: &str) -> String {
        let window = self.alignment.window;
        let recording = if window > 0 { format!("recording {}: ", window + 1) } else { String::new() };
        format!("rank {}: {recording}{id}", self.alignment.rank)
    }
}

/// The keys of ids within one trace.
const IDENTIFIERS: [Key; 6] = [
    Key::ExternalId,
    Key::Correlation,
    Key::LinkedId,
    Key::SequenceNumber,
    Key::RecordFunctionId,
    Key::PythonId,
];

impl Rewrite for OfRank<'_> {
    fn field(
        &mut self,
        table: &Table,
        row: Row,
        place: FieldPlace,
        key: &str,
        value: Value<'_>,
    ) -> Option<String> {
        let is_metadata = table.ph(row) == b'M';
        match (place, key, value) {
            (FieldPlace::Top, "id" | "id2" | "bind_id", _) => self.own_id(value, i64::MIN),
            (FieldPlace::Top, key, Value::Text(id)) if edit::FRAME_KEYS.contains(&key) => {
                Some(quote(&self.frame(id)))
            }
            (FieldPlace::Top, key, Value::Int(id)) if edit::FRAME_KEYS.contains(&key) => {
                Some(quote(&self.frame(&id.to_string())))
            }
            (FieldPlace::Args, "data", Value::Json(data)) => edit::moved_profile(table, row, data, self),
            (FieldPlace::Args, "Python parent id", _) => self.own_id(value, 1),
            (FieldPlace::Args, "name", Value::Text(name))
                if is_metadata && table.name(row) == "process_name" =>
            {
                Some(self.text(name))
            }
            (FieldPlace::Args, "labels", Value::Text(name))
                if is_metadata && table.name(row) == "process_labels" =>
            {
                Some(self.text(name))
            }
            (FieldPlace::Args, "sort_index", Value::Int(at))
                if is_metadata && table.name(row) == "process_sort_index" =>
            {
                Some(self.alignment.rank.saturating_mul(NUMBERS).saturating_add(at).to_string())
            }
            (FieldPlace::Args, _, _) if Key::from_name(key).is_some_and(|key| IDENTIFIERS.contains(&key)) => {
                self.own_id(value, 1)
            }
            _ => None,
        }
    }

    fn id(&mut self, json: &str) -> Option<String> {
        match json.parse::<i64>() {
            Ok(number) => Some(self.number(number).to_string()),
            Err(_) => Some(self.text(json.trim_matches('"'))),
        }
    }

    fn start(&mut self, ns: i64) -> Option<i64> {
        let unix = ns.saturating_add(self.base.0);
        Some(self.alignment.aligned(unix).saturating_sub(self.base.1))
    }
}

impl Move for OfRank<'_> {
    fn time(&mut self, ns: i64) -> i64 {
        self.start(ns).unwrap_or(ns)
    }

    // Samples can write numbers of threads as strings.
    fn thread(&mut self, json: &str) -> String {
        self.id(json.trim_matches('"')).unwrap_or_else(|| json.to_string())
    }

    fn frame(&mut self, id: &str) -> String {
        self.own_text(id)
    }
}
