//! Stacks with the lines of calls.
//!
//! A frame of PyTorch's stacks has the line at which its function is defined. Since PyTorch 2.14, a Python function also
//! has `CallFrom`, the file and line from which it was called: the exact line in the frame around it.

use super::{FunctionEvent, FunctionEvents, is_python_call};
use crate::table::events::Table;
use crate::table::layout::Key;
use alloc::format;
use alloc::string::String;

/// Replaces the lines in the frames of an event, which are all frames of its stack, innermost first.
pub(super) fn set_lines(frames: &mut [String], event: FunctionEvent, events: &FunctionEvents, table: &Table) {
    let is_call = |event: &FunctionEvent| is_python_call(table, events.row(*event));
    // The stack of a Python function begins with its caller.
    let mut next = 0;
    let own = Some(event).filter(is_call);
    let around = core::iter::successors(events.parent(event), |&event| events.parent(event)).filter(is_call);
    for call in own.into_iter().chain(around) {
        if call != event {
            // Calls that ended before the event began are frames of its stack, but are not around it.
            let name = without_line(table.name(events.row(call)));
            let Some(skipped) = frames[next..].iter().position(|frame| without_line(frame) == name) else {
                break;
            };
            next += skipped + 1;
        }
        let from = table.field(events.row(call), Key::CallFrom).and_then(|value| value.as_str());
        let line = from.and_then(|from| from.rsplit_once(':')).map(|(_, line)| line);
        if let (Some(frame), Some(line)) = (frames.get_mut(next), line)
            && let Some((path, function)) = parts(frame)
        {
            *frame = format!("{path}({line}){function}");
        }
    }
}

/// Splits `path(line): function` into what precedes and what follows the line.
fn parts(frame: &str) -> Option<(&str, &str)> {
    let (before, function) = frame.split_at(frame.find("): ")?);
    let (path, line) = before.rsplit_once('(')?;
    line.bytes().all(|byte| byte.is_ascii_digit()).then_some((path, &function[1..]))
}

fn without_line(frame: &str) -> (&str, &str) {
    parts(frame).unwrap_or((frame, ""))
}
