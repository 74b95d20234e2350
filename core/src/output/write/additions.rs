//! Events that are computed from a trace, to be written behind its own: counters and the critical path.

use crate::analysis::replay::Segment;
use crate::analysis::timeline::counters::Counter;
use crate::base::rows::quote;
use crate::base::time;
use crate::trace::Trace;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The process of the spans of the critical path.
const PATH: &str = "Critical path";

/// Computed events, one after the other.
#[derive(Default)]
pub(crate) struct Additions {
    counters: Vec<Counter>,
    path: Vec<Segment>,
    /// The next counter and point.
    next: (usize, usize),
    written: usize,
}

impl Additions {
    pub(crate) fn new(counters: Vec<Counter>, path: Vec<Segment>) -> Additions {
        Additions { counters, path, ..Additions::default() }
    }

    /// Returns the next event as JSON.
    pub(crate) fn next(&mut self, trace: &Trace) -> Option<String> {
        while let Some(counter) = self.counters.get(self.next.0) {
            if let Some(&(ns, value)) = counter.points.get(self.next.1) {
                self.next.1 += 1;
                return Some(point(counter, ns.saturating_add(trace.start_ns), value));
            }
            self.next = (self.next.0 + 1, 0);
        }
        let segment = self.path.get(self.written)?;
        self.written += 1;
        Some(span(trace, segment))
    }
}

fn micros(ns: i64) -> String {
    let mut text = String::new();
    time::write_micros(&mut text, ns);
    text
}

fn point(counter: &Counter, ns: i64, value: f64) -> String {
    // The process of a device is its number, as in Kineto's traces.
    let process = counter.process.strip_prefix("device ").unwrap_or(&counter.process);
    let process = if process.parse::<u32>().is_ok() { process.to_string() } else { quote(process) };
    let (name, unit, ts) = (quote(&counter.name), quote(counter.unit.as_str()), micros(ns));
    format!(r#"{{"ph":"C","name":{name},"pid":{process},"tid":0,"ts":{ts},"args":{{{unit}:{value}}}}}"#)
}

fn span(trace: &Trace, segment: &Segment) -> String {
    let part = segment.part.as_str();
    let name = segment.row.map_or(part, |row| trace.table.name(row));
    let event = segment.row.map_or("null".to_string(), |row| row.index().to_string());
    let (ts, dur) = (micros(segment.time.0), micros(segment.time.1 - segment.time.0));
    format!(
        r#"{{"ph":"X","cat":"critical_path","name":{},"pid":"{PATH}","tid":"{PATH}","ts":{ts},"dur":{dur},"args":{{"part":"{part}","event":{event}}}}}"#,
        quote(name)
    )
}
