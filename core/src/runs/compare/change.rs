//! What changed in a line, and why, as far as the traces show it.

use super::align::Work;
use super::kinds::{Change, DiffCause, DiffPart, RowKind};
use super::lines::Line;
use super::noise::{is_other_work, other_calls};
use super::statistics::mean;
use crate::analysis::device::idle::{Cause, whole_cause};
use crate::base::units::counted;
use crate::trace::link::is_graph_launch;
use crate::trace::table::category::Category;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde_json::Value;

/// Returns what changed.
pub(super) fn change(line: &Line) -> Change {
    let contribution = line.contribution();
    if line.verdict.is_significant == Some(false) && !is_other_work(line) {
        return Change::Same;
    }
    if matches!(line.kind, RowKind::Memory | RowKind::Idle | RowKind::Wait)
        || matches!(line.part_of_total(), Some(DiffPart::DeviceBusy | DiffPart::DeviceIdle))
    {
        return by_sign(contribution, Change::More, Change::Less);
    }
    if line.work == Work::Replaced && !(is_renamed(line) && changes_time(line)) {
        return match (line.names[0].len(), line.names[1].len()) {
            (a, b) if a > b => Change::Fused,
            (a, b) if a < b => Change::Split,
            _ => Change::Renamed,
        };
    }
    match line.counts {
        _ if line.work == Work::Replaced => by_sign(contribution, Change::Slower, Change::Faster),
        [0, b] if b > 0 => Change::New,
        [a, 0] if a > 0 => Change::Gone,
        _ if matches!(line.work, Work::OtherDevice | Work::OtherStream) => Change::Moved,
        _ if is_of_calls(line) && per_step(line, 1) > per_step(line, 0) => Change::MoreCalls,
        _ if is_of_calls(line) => Change::FewerCalls,
        _ => by_sign(contribution, Change::Slower, Change::Faster),
    }
}

/// The least part of a change of time that other numbers of calls explain.
const OF_CALLS: f64 = 0.25;

/// Whether the number of calls changed, and explains a part of the change of the time.
fn is_of_calls(line: &Line) -> bool {
    if !other_calls(line) {
        return false;
    }
    let more = per_step(line, 1) - per_step(line, 0);
    let (Some(a), Some(b)) = (call_ns(line, 0), call_ns(line, 1)) else { return true };
    let explained = more * a.min(b) as f64;
    let contribution = line.contribution() as f64;
    contribution == 0.0 || explained / contribution >= OF_CALLS
}

/// Whether one name took the place of one other.
fn is_renamed(line: &Line) -> bool {
    line.names.iter().all(|names| names.len() == 1)
}

/// The share of the time of a side from which on a change is one of the time.
const TIME_SHARE: f64 = 0.02;

/// Whether the time of a line changed by more than the noise of its steps, and not only its name.
fn changes_time(line: &Line) -> bool {
    let largest = line.values[0].max(line.values[1]) as f64;
    line.contribution().unsigned_abs() as f64 > largest * TIME_SHARE && line.verdict.excludes_zero()
}

fn by_sign(contribution: i64, more: Change, less: Change) -> Change {
    match contribution {
        1.. => more,
        0 => Change::Same,
        _ => less,
    }
}

fn per_step(line: &Line, side: usize) -> f64 {
    mean(&line.calls[side])
}

/// Returns why it changed, and a sentence about it.
pub(super) fn why(line: &Line, change: Change) -> Option<(DiffCause, String)> {
    if (change == Change::Same && !is_other_work(line)) || line.kind == RowKind::Step {
        return None;
    }
    let name = &line.name;
    let because = |why, text: &str| Some((why, String::from(text)));
    match (line.kind, line.work, change) {
        _ if line.verdict.factor.is_some() => Some((DiffCause::Machine, of_machine(line))),
        (RowKind::Speed, ..) if line.about.is_some() => Some((DiffCause::Clock, line.about.clone()?)),
        _ if line.about.is_some() => Some((DiffCause::Waiting, line.about.clone()?)),
        (RowKind::Other, ..) if line.is_of_collectives() => {
            because(DiffCause::Waiting, "the host is in no span while a collective is in flight")
        }
        (
            RowKind::Total
            | RowKind::Phase
            | RowKind::Wait
            | RowKind::Other
            | RowKind::Memory
            | RowKind::Idle,
            ..,
        ) => None,
        (RowKind::Speed, ..) => because(
            DiffCause::Machine,
            "one recording of each cannot show whether the machine or the program is the cause",
        ),
        (_, Work::OtherTypes, _) => Some((DiffCause::DataType, inputs(line))),
        (_, Work::OtherShapes, _) => Some((DiffCause::Shapes, inputs(line))),
        (_, Work::Replaced, _) => Some(replaced(line)),
        (_, Work::OtherDevice, _) => {
            because(DiffCause::Device, "only one of the traces launches device work for it")
        }
        (_, Work::OtherStream, _) => Some((DiffCause::Stream, format!("stream {}", inputs(line)))),
        _ if whole_cause(Category::UserAnnotation, name) == Some(Cause::Compilation) => {
            because(DiffCause::Compilation, "code was compiled")
        }
        _ if line.waits() => {
            because(DiffCause::Waiting, "the host waits for devices: see the rows of device busy")
        }
        (RowKind::Runtime, ..) if is_graph_launch(name) => Some((DiffCause::CudaGraph, calls(line))),
        (_, _, Change::New) => because(DiffCause::Work, "only the second trace has it"),
        (_, _, Change::Gone) => because(DiffCause::Work, "only the first trace has it"),
        (_, _, Change::MoreCalls | Change::FewerCalls) => Some((DiffCause::Calls, calls(line))),
        _ if line.counts == [0, 0] => None,
        (RowKind::Collective, ..) => Some(collective(line)),
        _ if ratio(line).is_some_and(|ratio| (ratio - 1.0).abs() < AS_LONG) => because(
            DiffCause::Overlap,
            "calls take as long as before, and another part of them is covered by others",
        ),
        _ => Some((DiffCause::TimePerCall, per_call(line))),
    }
}

/// Why a total cannot be decided.
fn of_machine(line: &Line) -> String {
    let ratio = line.verdict.factor.unwrap_or(1.0);
    format!("the same work takes {ratio:.2} times as long: the machine or the program can be the cause")
}

/// The inputs that differ, without those that are the same.
fn inputs(line: &Line) -> String {
    let Some([a, b]) = &line.inputs else { return String::new() };
    let list = |text: &str| match serde_json::from_str(text) {
        Ok(Value::Array(items)) => items,
        _ => Vec::new(),
    };
    let (x, y) = (list(a), list(b));
    if x.len() != y.len() || x.is_empty() {
        return format!("{a} became {b}");
    }
    let differ = x.iter().zip(&y).filter(|(x, y)| x != y);
    differ.map(|(x, y)| format!("{x} became {y}")).collect::<Vec<_>>().join(", ")
}

fn replaced(line: &Line) -> (DiffCause, String) {
    let what = match line.kind {
        RowKind::Operator => "operator",
        RowKind::Runtime => "call",
        RowKind::Python => "function",
        kind if kind.is_on_device() => "kernel",
        _ => "range",
    };
    let [a, b] = &line.names;
    match (a.len(), b.len()) {
        (1, 1) if line.kind.is_on_device() => {
            (DiffCause::OtherKernel, String::from("another kernel at the same place"))
        }
        (1, 1) => (DiffCause::Work, String::from("another name at the same place")),
        _ => (DiffCause::Fusion, format!("{} became {}", counted(a.len(), what), b.len())),
    }
}

fn calls(line: &Line) -> String {
    let shown = |side| {
        let count = per_step(line, side);
        if (libm::rint(count) - count).abs() < 1e-9 { format!("{count:.0}") } else { format!("{count:.1}") }
    };
    let calls = if shown(0) == "1" { "call" } else { "calls" };
    format!("{} {calls} a step became {}", shown(0), shown(1))
}

/// The mean time of a call, in ns.
pub(super) fn call_ns(line: &Line, side: usize) -> Option<i64> {
    (line.counts[side] > 0).then(|| line.sums[side] / line.counts[side])
}

fn ratio(line: &Line) -> Option<f64> {
    let (a, b) = (call_ns(line, 0)?, call_ns(line, 1)?);
    (a > 0).then(|| b as f64 / a as f64)
}

/// The change of a duration below which it is the same in words.
const AS_LONG: f64 = 0.005;

fn per_call(line: &Line) -> String {
    let what = if line.kind.is_on_device() { "a call takes" } else { "the self time of a call is" };
    ratio(line).map_or_else(String::new, |ratio| format!("{what} {ratio:.2} times as long"))
}

fn collective(line: &Line) -> (DiffCause, String) {
    /// The change of a duration from which it is not the same.
    const SAME: f64 = 0.02;
    match ratio(line) {
        Some(ratio) if (ratio - 1.0).abs() > SAME => (
            DiffCause::Waiting,
            format!(
                "a call takes {ratio:.2} times as long: it waits for another rank, or the link has another speed"
            ),
        ),
        _ => (
            DiffCause::Overlap,
            String::from("as long as before, and another part of it is hidden behind other work"),
        ),
    }
}
