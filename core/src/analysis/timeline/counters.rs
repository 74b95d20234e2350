//! Counters: those of the file, memory by device, and activity, launch queues and bandwidth of each device.
//!
//! A counter is a step function: each value holds until the next point.

use super::lane_names::LaneNames;
use crate::analysis::device::device_time::activities;
use crate::analysis::device::launches::bandwidth::bandwidths;
use crate::analysis::device::launches::{LaunchesBy, grouped};
use crate::analysis::device::memory::Memory;
use crate::analysis::intervals::Intervals;
use crate::analysis::query::Query;
use crate::analysis::query::options::ListOptions;
use crate::base::index::{Index, Keyed};
use crate::base::names::Names;
use crate::base::order::{float_key, sort_by_key};
use crate::base::rows::{Column, Rows, columns};
use crate::base::words::words;
use crate::trace::Trace;
use crate::trace::table::layout::{FieldPlace, Key};
use crate::trace::table::merged::device_name;
use crate::trace::table::tracks::plain;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

words! {
    "CounterUnit"
    /// The unit of a counter.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Unit {
        /// Bytes.
        Bytes = "bytes",
        /// A number without a unit.
        Count = "count",
        /// A fraction of 1.
        Share = "share",
        /// Bytes per second.
        BytesPerSecond = "bytes_per_second",
    }
}

/// A counter.
#[derive(Clone, Debug, PartialEq)]
pub struct Counter {
    /// The name.
    pub name: String,
    /// The process or device that it belongs to.
    pub process: String,
    /// The unit of the values.
    pub unit: Unit,
    /// The times from which values hold, in ns after the start of the recording, with the values, in order of time.
    pub points: Vec<(i64, f64)>,
}

/// Returns every counter, those of the file first.
pub fn counters(trace: &Trace) -> Vec<Counter> {
    let mut all = recorded_in_order(trace);
    all.append(&mut computed(trace));
    all
}

/// Returns the counters of the file.
pub(crate) fn recorded_in_order(trace: &Trace) -> Vec<Counter> {
    in_order(trace, recorded(trace))
}

/// Returns the counters that are not in the file.
pub fn computed(trace: &Trace) -> Vec<Counter> {
    let mut all = Vec::new();
    memory(trace, &mut all);
    devices(trace, &mut all);
    in_order(trace, all)
}

/// Sorts the points, and makes their times relative to the start of the recording.
fn in_order(trace: &Trace, mut counters: Vec<Counter>) -> Vec<Counter> {
    for counter in &mut counters {
        sort_by_key(&mut counter.points, |point| (point.0, 0));
        for point in &mut counter.points {
            point.0 = point.0.saturating_sub(trace.start_ns);
        }
    }
    counters
}

/// Returns the counters of the file, one for each number in its counter events.
fn recorded(trace: &Trace) -> Vec<Counter> {
    let table = &trace.table;
    let names = LaneNames::new(trace);
    let mut all: Vec<Counter> = Vec::new();
    let mut series = Index::default();
    let mut index = Index::default();
    for row in table.rows().filter(|&row| table.ph(row) == b'C' && table.ts(row) != crate::base::time::NONE) {
        let track = table.track(row);
        let series_id = series
            .get_or_insert((i64::from(table.name_id(row).0), i64::from(track.pid.0)), row.index() as u32);
        for (field, value) in table.all_fields(row).filter(|(f, _)| f.place == FieldPlace::Args) {
            let Some(number) = value.as_f64().filter(|n| n.is_finite()) else { continue };
            let at = index.get_or_insert((i64::from(series_id), i64::from(field.key.0)), all.len() as u32)
                as usize;
            if at == all.len() {
                let (name, key) = (table.name(row), table.names.get(field.key));
                let name =
                    if key.is_empty() || key == name { name.to_owned() } else { format!("{name} {key}") };
                let is_bytes = name.to_ascii_lowercase().contains("byte");
                let unit = if is_bytes { Unit::Bytes } else { Unit::Count };
                let process = match counted_device(plain(&table.names, track.pid)) {
                    Some(device) => format!("device {device}"),
                    None => names.process(track),
                };
                all.push(Counter { name, process, unit, points: Vec::new() });
            }
            all[at].points.push((table.ts(row), number));
        }
    }
    all
}

/// Returns the device of the process `GPU 0 Counters`, to which PyTorch gives what it samples of a device.
pub(super) fn counted_device(process: &str) -> Option<i64> {
    process.strip_prefix("GPU ")?.strip_suffix(" Counters")?.parse().ok()
}

/// Adds the allocated and reserved memory of each device.
fn memory(trace: &Trace, all: &mut Vec<Counter>) {
    let memory = Memory::new(trace);
    let mut of_device = vec![Vec::new(); memory.devices.len()];
    for record in &memory.records {
        of_device[record.device as usize].push(record);
    }
    for (device_records, device) in of_device.iter().zip(&memory.devices) {
        let records = || device_records.iter();
        let counter = |name: &str, points: Vec<(i64, f64)>| Counter {
            name: name.to_owned(),
            process: device.name.clone(),
            unit: Unit::Bytes,
            points,
        };
        all.push(counter("memory allocated", records().map(|r| (r.ts, r.total as f64)).collect()));
        let reserved = |row| trace.table.int(row, Key::TotalReserved);
        let points: Vec<_> = records().filter_map(|r| Some((r.ts, reserved(r.row)? as f64))).collect();
        // An allocator that reserves nothing reports 0 in every event.
        if points.iter().any(|point| point.1 > 0.0) {
            all.push(counter("memory reserved", points));
        }
    }
}

/// Adds the activity of each device, the launch queue of each of its streams, and the bandwidth of each kind of copy.
fn devices(trace: &Trace, all: &mut Vec<Counter>) {
    let table = &trace.table;
    let mut queues = grouped(trace, LaunchesBy::Stream);
    sort_by_key(&mut queues, |group| (group.stream.map_or(0, |stream| i64::from(stream.0)), 0));
    let (mut names, mut queues_of) = (Names::default(), Keyed::<Vec<usize>>::default());
    for (at, stream) in queues.iter().enumerate().filter_map(|(at, group)| Some((at, group.stream?))) {
        let device = names.intern(&device_name(table, table.tracks.get(stream).pid));
        queues_of.entry((i64::from(device.0), 0)).push(at);
    }
    for (device, rows) in activities(table) {
        let busy = Intervals::union_of(rows.iter().map(|&row| (table.ts(row), table.end(row))).collect());
        let edges = busy.as_slice().iter().flat_map(|&(start, end)| [(start, 1.0), (end, 0.0)]);
        let process = format!("device {device}");
        all.push(Counter {
            name: "busy".to_owned(),
            process: process.clone(),
            unit: Unit::Share,
            points: edges.collect(),
        });
        let queue_indices = names.find(&device).and_then(|device| queues_of.get((i64::from(device.0), 0)));
        for group in queue_indices.into_iter().flatten().map(|&at| &queues[at]) {
            let stream = group.stream.map(|stream| plain(&table.names, table.tracks.get(stream).tid));
            let name = format!("launch queue {}", stream.unwrap_or_default().trim_start_matches("stream "));
            let points = group.queue.iter().flat_map(|queue| &queue.points);
            let points = points.map(|&(ts, length)| (ts, length as f64)).collect();
            all.push(Counter { name, process: process.clone(), unit: Unit::Count, points });
        }
        for bandwidth in bandwidths(table, &rows) {
            let name = format!("bandwidth {}", bandwidth.kind);
            let (process, points) = (process.clone(), bandwidth.points);
            all.push(Counter { name, process, unit: Unit::BytesPerSecond, points });
        }
    }
}

/// A counter as drawn: the minimum, maximum and time-weighted mean of each pixel; NaN before the first value.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Curve {
    /// The minimum of each pixel.
    pub low: Vec<f64>,
    /// The maximum of each pixel.
    pub high: Vec<f64>,
    /// The mean of each pixel, weighted by how long each value holds.
    pub mean: Vec<f64>,
}

/// The maximum number of pixels of a curve.
const WIDEST: u32 = 1 << 16;

impl Counter {
    /// Returns the curve between two times in ns after the start of the recording.
    pub fn curve(&self, start_ns: i64, end_ns: i64, pixels: u32) -> Curve {
        let pixels = pixels.clamp(1, WIDEST);
        let width = (end_ns.saturating_sub(start_ns).max(1)) as f64 / f64::from(pixels);
        let edge = |pixel: u32| start_ns.saturating_add((f64::from(pixel) * width) as i64);
        let mut curve = Curve::default();
        let mut at = self.points.partition_point(|p| p.0 <= start_ns);
        let mut value = at.checked_sub(1).map_or(f64::NAN, |before| self.points[before].1);
        for pixel in 0..pixels {
            let (from, to) = (edge(pixel), edge(pixel + 1));
            let (mut low, mut high, mut sum, mut held, mut since) = (value, value, 0.0, 0.0, from);
            while let Some(&(ts, next)) = self.points.get(at).filter(|p| p.0 < to) {
                if !value.is_nan() {
                    sum += value * (ts - since) as f64;
                    held += (ts - since) as f64;
                }
                (value, since, at) = (next, ts, at + 1);
                (low, high) = (low.min(next), high.max(next));
            }
            if !value.is_nan() {
                sum += value * (to - since) as f64;
                held += (to - since) as f64;
            }
            curve.low.push(low);
            curve.high.push(high);
            curve.mean.push(if held > 0.0 { sum / held } else { value });
        }
        curve
    }
}

/// The query `counters`.
pub const COUNTERS: Query = Query::new(
    "counters",
    "Counters, allocated memory, launch queues and device activity",
    COLUMNS,
    |trace, request| Ok(request.limited(counter_rows(&counters(trace)))),
)
.examples(&["run.json", "snapshot.pickle --format json"])
.options::<ListOptions>()
.hint("this trace has no counters, memory events or device work");

columns! {
    /// The columns of the answer.
    pub const COLUMNS: fn row(at: usize, counter: &Counter) {
        let values = || counter.points.iter().map(|p| p.1);
    } [
        Column::int("counter", "#", "The number of the counter, as `curve` takes it.") => at,
        Column::text("process", "Process", "The process or device that the counter belongs to.") =>
            counter.process.as_str(),
        Column::text("name", "Name", "The name of the counter.") => counter.name.as_str(),
        Column::word("unit", "Unit", &Unit::VOCABULARY, "bytes, count, share (a fraction of 1) or bytes_per_second.") =>
            counter.unit.as_str(),
        Column::int("points", "Points", "The number of values.") => counter.points.len(),
        Column::float("min", "Min", "The minimum.") => values().min_by_key(|&v| float_key(v)).unwrap_or(0.0),
        Column::float("max", "Max", "The maximum.") => values().max_by_key(|&v| float_key(v)).unwrap_or(0.0),
        Column::float("last", "Last", "The last value.") => counter.points.last().map_or(0.0, |p| p.1),
    ]
}

/// Returns the counters as rows.
pub(crate) fn counter_rows(counters: &[Counter]) -> Rows {
    Rows::from_cells(COLUMNS, counters.iter().enumerate().map(|(at, counter)| row(at, counter)))
}
