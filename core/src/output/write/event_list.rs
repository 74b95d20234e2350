//! Writes function events as a Chrome trace, as PyTorch's `EventList.export_chrome_trace` does for the legacy profiler.
//!
//! Every event is a complete event of the process `CPU functions`, and every kernel of an operator is a flow start.
//! PyTorch escapes names since 2.14, and writes them in ASCII. Earlier versions do not escape them, which is not JSON
//! for every name; this always is.

use crate::analysis::torch::function_events::{EventKind, FunctionEvent, FunctionEvents};
use crate::base::demangle::demangled;
use crate::base::rows::quote;
use crate::trace::table::events::Table;
use crate::trace::table::layout::Key;
use crate::trace::table::metadata::Source;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::Write;
use serde_json::Value;

/// Writes the list event by event.
#[derive(Debug)]
pub struct EventListWriter {
    events: FunctionEvents,
    next: usize,
    flows: usize,
}

impl EventListWriter {
    /// Creates a writer of these events.
    pub fn new(events: FunctionEvents) -> Self {
        EventListWriter { events, next: 0, flows: 0 }
    }

    /// Appends events to `out` until it holds about `limit` bytes. Returns whether more events follow.
    pub fn next(&mut self, table: &Table, out: &mut String, limit: usize) -> bool {
        if self.next == 0 {
            out.push('[');
        }
        while self.next < self.events.len() && out.len() < limit {
            // Events that torch derives from allocations have no `trace_name`, and torch does not export them.
            let event = FunctionEvent::new(self.next);
            if self.events.kind(event) != EventKind::Memory {
                self.event(table, event, out);
            }
            self.next += 1;
        }
        if self.next == self.events.len() {
            out.push(']');
        }
        self.next < self.events.len()
    }

    fn event(&mut self, table: &Table, event: FunctionEvent, out: &mut String) {
        let events = &self.events;
        let name = demangled(events.trace_name(table, event));
        let name = if events.writes_ascii { quote_in_ascii(&name) } else { quote(&name) };
        let start = Value::from(events.start_ns(table, event) as f64 / 1e3);
        let tid = thread(table, events, event);
        let thread = match events.node_id(table, event) {
            node if events.is_remote(event) => {
                format!("\" node_id:{}, thread_id:{tid} \"", node.unwrap_or(-1))
            }
            _ => tid.clone(),
        };
        let first = if out.ends_with('[') && self.flows == 0 { "" } else { ", " };
        let _ = write!(
            out,
            "{first}{{\"name\": {name}, \"ph\": \"X\", \"ts\": {start}, \"dur\": {}, \"tid\": {thread}, \
             \"pid\": \"CPU functions\", \"args\": {{}}}}",
            Value::from(events.torch_duration_us(table, event))
        );
        for _ in 0..events.kernel_count(event) {
            let _ = write!(
                out,
                ", {{\"name\": {name}, \"ph\": \"s\", \"ts\": {start}, \"tid\": {tid}, \
                 \"pid\": \"CPU functions\", \"id\": {}, \"cat\": \"cpu_to_{}\", \"args\": {{}}}}",
                self.flows,
                events.use_device.unwrap_or("cuda")
            );
            self.flows += 1;
        }
    }
}

/// Returns a JSON string in ASCII, as Python's `json.dumps` writes it.
fn quote_in_ascii(text: &str) -> String {
    let mut out = String::new();
    for c in quote(text).chars() {
        if matches!(c, ' '..='~') {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

/// The thread in PyTorch's output. For device work of a profiling result it is the thread of the event, not its stream.
fn thread(table: &Table, events: &FunctionEvents, event: FunctionEvent) -> String {
    let row = events.row(event);
    let tid = table.names.get(table.track(row).tid);
    let is_result = table.metadata.source == Source::KinetoEvents;
    if is_result && events.kind(event) == EventKind::Device {
        return table.int(row, Key::StartThreadId).unwrap_or(0).to_string();
    }
    if tid.is_empty() { "0".to_owned() } else { tid.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::quote_in_ascii;

    #[test]
    fn names_are_escaped_as_python_does() {
        assert_eq!(quote_in_ascii("üb\u{7f}\"\n✓😀"), r#""\u00fcb\u007f\"\n\u2713\ud83d\ude00""#);
    }
}
