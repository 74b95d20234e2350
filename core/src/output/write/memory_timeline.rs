//! Writes the memory of one device over time, in the formats of PyTorch's `export_memory_timeline`.
//!
//! torch distinguishes eight categories by the identities of tensors, which a trace does not contain. Every byte is
//! therefore in its last category, `unknown`. Totals are exact. Memory from before the recording is one entry at time
//! -1.

use crate::analysis::device::memory::{Memory, Record};
use crate::base::error::Error;
use crate::base::units::{bytes, time_ns};
use crate::trace::Trace;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

/// The number of PyTorch's category `unknown`. In the rows of sizes its index is one higher.
const UNKNOWN: usize = 7;

/// PyTorch's numbers of actions.
mod action {
    pub(super) const PREEXISTING: u8 = 1;
    pub(super) const CREATE: u8 = 2;
    pub(super) const DESTROY: u8 = 4;
}

/// The memory timeline of a device.
pub struct MemoryTimeline<'a> {
    trace: &'a Trace,
    device: &'a str,
    before: i64,
    records: Vec<Record>,
}

impl<'a> MemoryTimeline<'a> {
    /// Creates the timeline of a device, named as by the query `memory` or as by torch (`cpu`, `cuda:0`). Without a
    /// name, it is the device that allocated most.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] if the trace has no memory of this device.
    pub fn new(trace: &'a Trace, memory: &'a Memory, device: Option<&str>) -> Result<Self, Error> {
        let plain = |name: &str| name.replace(':', " ").to_ascii_lowercase();
        let found = match device {
            Some(wanted) => memory.devices.iter().position(|d| plain(&d.name) == plain(wanted)),
            None => (0..memory.devices.len()).max_by_key(|&at| memory.devices[at].allocated),
        };
        let Some(at) = found else {
            let names: Vec<&str> = memory.devices.iter().map(|d| d.name.as_str()).collect();
            let message = if names.is_empty() {
                "the trace has no memory events; record with profile_memory=True".into()
            } else {
                format!(
                    "the trace has no memory of device {}; it has {}",
                    device.unwrap_or_default(),
                    names.join(", ")
                )
            };
            return Err(Error::BadOption(message));
        };
        let records = memory.records.iter().filter(|r| r.device as usize == at).copied().collect();
        let device = &memory.devices[at];
        Ok(MemoryTimeline { trace, device: &device.name, before: device.before, records })
    }

    fn unix_ns(&self, record: &Record) -> i64 {
        self.trace.table.base_ns().saturating_add(record.ts)
    }

    /// Formats `[times, sizes]`: times in us since 1970, sizes by category in bytes.
    pub fn json(&self) -> String {
        let mut times = String::from("[[");
        let mut sizes = String::from("[");
        for (at, record) in self.records.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            let _ = write!(times, "{comma}{}", torch_us(self.unix_ns(record)));
            let zeros = "0, ".repeat(UNKNOWN + 1);
            let _ = write!(sizes, "{comma}[{zeros}{}]", record.total);
        }
        times + "], " + &sizes + "]]"
    }

    /// Formats `[[time, action, bytes, category], …]`: times in ns since 1970.
    pub fn raw(&self) -> String {
        let mut out = String::from("[");
        if self.before > 0 {
            let _ = write!(out, "[-1, {}, {}, {UNKNOWN}]", action::PREEXISTING, self.before);
        }
        for record in &self.records {
            let action = if record.bytes < 0 { action::DESTROY } else { action::CREATE };
            let comma = if out.len() > 1 { ", " } else { "" };
            let (time, bytes) = (self.unix_ns(record), record.bytes);
            let _ = write!(out, "{comma}[{time}, {action}, {bytes}, {UNKNOWN}]");
        }
        out + "]"
    }

    /// Formats a self-contained HTML page with a plot.
    pub fn html(&self) -> String {
        const WIDTH: f64 = 960.0;
        const HEIGHT: f64 = 320.0;
        let start = self.records.first().map_or(0, |r| r.ts);
        let span = self.records.last().map_or(0, |r| r.ts - start).max(1);
        let peak = self.records.iter().map(|r| r.total).max().unwrap_or(0).max(1);
        let x = |ts: i64| (ts - start) as f64 / span as f64 * WIDTH;
        let y = |bytes: i64| HEIGHT - bytes.max(0) as f64 / peak as f64 * HEIGHT;
        let mut path = format!("M0 {HEIGHT:.1}V{:.1}", y(self.before));
        // One step per tenth of a pixel, at the highest total in it.
        let mut highest: Option<(i64, i64)> = None;
        for record in &self.records {
            let column = (x(record.ts) * 10.0) as i64;
            match &mut highest {
                Some((at, total)) if *at == column => *total = (*total).max(record.total),
                _ => {
                    flush(&mut path, highest, y);
                    highest = Some((column, record.total));
                }
            }
        }
        flush(&mut path, highest, y);
        let _ = write!(path, "H{WIDTH:.1}V{HEIGHT:.1}Z");
        let mut scales = String::new();
        for n in 0..=4 {
            let part = f64::from(n) / 4.0;
            let (size, time) = (bytes(peak / 4 * i64::from(4 - n)), time_ns(span / 4 * i64::from(n), None));
            let _ = write!(
                scales,
                "<line x1='0' x2='{WIDTH:.1}' y1='{0:.1}' y2='{0:.1}'/><text x='-8' y='{1:.1}'>{size}</text>\
                 <text class='t' x='{2:.1}' y='{3:.1}'>{time}</text>",
                HEIGHT * part,
                HEIGHT * part + 4.0,
                WIDTH * part,
                HEIGHT + 22.0
            );
        }
        format!(
            "<!doctype html><html lang='en'><meta charset='utf-8'><title>Memory of {name}</title><style>\
             :root{{color-scheme:light dark}}body{{font:15px/1.5 system-ui,sans-serif;max-width:1080px;margin:2rem auto;padding:0 1rem}}\
             svg{{width:100%;height:auto;overflow:visible}}path{{fill:#4c7ef3;fill-opacity:.35;stroke:#4c7ef3;stroke-width:1}}\
             line{{stroke:currentColor;stroke-opacity:.15}}text{{font-size:12px;fill:currentColor;text-anchor:end}}.t{{text-anchor:middle}}\
             </style><h1>Memory of {name}</h1><p>Allocated bytes over {span}; peak {peak}, {before} allocated before the recording. \
             A trace does not record which tensors are parameters, gradients or activations.</p>\
             <svg viewBox='-90 -12 1070 360' role='img' aria-label='Allocated bytes over time'>{scales}<path d='{path}'/></svg></html>\n",
            name = self.device,
            span = time_ns(span, None),
            peak = bytes(peak),
            before = bytes(self.before),
        )
    }
}

fn flush(path: &mut String, highest: Option<(i64, i64)>, y: impl Fn(i64) -> f64) {
    if let Some((column, total)) = highest {
        let _ = write!(path, "H{:.1}V{:.1}", column as f64 / 10.0, y(total));
    }
}

/// Whole microseconds as torch computes them: the quotient is rounded to a double before it is truncated.
fn torch_us(ns: i64) -> i64 {
    ((ns / 1000) as f64 + (ns % 1000) as f64 / 1000.0) as i64
}
