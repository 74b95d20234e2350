//! The proof that numbers carry: the diagnostics of the reading, and identities that must hold.

use crate::analysis::children::NONE;
use crate::analysis::device::device_time::{DeviceTime, device_times};
use crate::analysis::device::steps::{Step, steps};
use crate::analysis::torch::function_events::{FunctionEvents, Kind};
use crate::diagnostics::Severity;
use crate::rows::{Cell, Column, Rows, Variant};
use crate::table::metadata::Source;
use crate::trace::Trace;
use crate::tree::NO_PARENT;
use crate::words::{Vocabulary, help};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// An identity that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Identity {
    /// What should be true.
    pub name: String,
    /// Whether it is.
    pub holds: bool,
    /// Its left side: ns, or a count.
    pub left: i64,
    /// Its right side.
    pub right: i64,
}

fn equal(name: impl Into<String>, left: i64, right: i64) -> Identity {
    Identity { name: name.into(), holds: left == right, left, right }
}

/// Checks every identity on a trace and the analyses of it.
pub fn identities(
    trace: &Trace,
    events: &FunctionEvents,
    devices: &[DeviceTime],
    steps: &[Step],
) -> Vec<Identity> {
    let mut checks = vec![lanes(trace), spans(trace)];
    checks.extend(function_events(trace, events));
    checks.extend(devices.iter().flat_map(device_identities));
    if !steps.is_empty() {
        let wall = steps.iter().map(|s| s.time.1 - s.time.0).sum();
        let parts = steps.iter().flat_map(|s| s.parts_ns).sum();
        checks.push(equal("parts of all steps = their wall time", parts, wall));
    }
    let table = &trace.table;
    let work =
        table.rows().filter(|&row| table.category(row).is_device_work() && table.is_span(row)).count() as i64;
    let without = trace.diagnostics.count(crate::diagnostics::Code::KernelWithoutLaunch) as i64;
    checks.push(equal(
        "GPU activities = those with a launch + those without",
        work,
        trace.links.launch_of.len() as i64 + without,
    ));
    checks
}

/// Per lane, self times add up to the time of the roots; the first lane where they do not is shown.
fn lanes(trace: &Trace) -> Identity {
    let tree = &trace.tree;
    let sums = tree.lanes.iter().map(|lane| {
        let range = lane.start as usize..lane.end as usize;
        let own: i64 = tree.self_times(&trace.table, lane).iter().sum();
        let roots = range.filter(|&at| tree.parents[at] == NO_PARENT);
        (own, roots.map(|at| trace.table.dur(tree.rows[at]).max(0)).sum::<i64>())
    });
    let mut total = (0i64, 0i64);
    for (own, roots) in sums {
        if own != roots {
            return equal("self time of a lane = time of its roots", own, roots);
        }
        total = (total.0.saturating_add(own), total.1.saturating_add(roots));
    }
    equal("self time of every lane = time of its roots", total.0, total.1)
}

fn spans(trace: &Trace) -> Identity {
    let table = &trace.table;
    let spans = table.rows().filter(|&row| table.is_span(row)).count();
    equal("spans in the tree = spans in the table", trace.tree.len() as i64, spans as i64)
}

fn function_events(trace: &Trace, events: &FunctionEvents) -> Vec<Identity> {
    let table = &trace.table;
    // torch gives asynchronous events no self time.
    let roots = (0..events.len()).filter(|&at| events.parents[at] == NONE && !events.is_async(at));
    let total: i64 = roots.map(|at| events.cpu_time_total_ns(table, at)).sum();
    let own = equal(
        "self CPU time of all events = time of the top-level ones",
        events.self_cpu_time_total_ns(),
        total,
    );
    // torch hangs the kernels of records by rules of its own, which the links do not follow.
    if table.metadata.source != Source::Chrome {
        return vec![own];
    }
    let linked = trace.links.op_of.iter().filter(|p| table.category(p.0).is_device_work());
    let kernels: i64 = linked.map(|p| table.dur(p.0).max(0)).sum();
    let cpu = (0..events.len()).filter(|&at| events.kinds[at] == Kind::Cpu);
    let device: i64 = cpu.map(|at| events.self_device_time_total_ns(at)).sum();
    let all = equal(
        "self device time of operators + what torch leaves out = time of their kernels",
        device + events.dropped_device_ns,
        kernels,
    );
    vec![own, all]
}

fn device_identities(device: &DeviceTime) -> Vec<Identity> {
    let name = &device.device;
    let idle: i64 = device.idle_by_cause().iter().map(|c| c.1).sum();
    let (busy, sum) = (device.busy_ns, device.sum_ns);
    let classes: i64 = device.classes.iter().map(|c| c.sum_ns).sum();
    vec![
        Identity { name: format!("device {name}: busy ≤ sum"), holds: busy <= sum, left: busy, right: sum },
        equal(format!("device {name}: sum of the classes = sum"), classes, sum),
        equal(format!("device {name}: idle time of all causes = idle"), idle, device.idle_ns()),
    ]
}

const IDENTITY: &str = "identity";

/// An identity, or the severity of a diagnostic.
const KINDS: Vocabulary = Vocabulary {
    name: help("LedgerKind"),
    words: &[IDENTITY, Severity::Note.as_str(), Severity::Repaired.as_str(), Severity::Lost.as_str()],
};

/// Which columns each kind of row fills.
pub const VARIANTS: &[Variant] = &[
    Variant { name: "Identity", kinds: &[IDENTITY], filled: &["holds", "left", "right"], nullable: &[] },
    Variant {
        name: "Diagnostic",
        kinds: Severity::VOCABULARY.words,
        filled: &["count", "example", "description"],
        nullable: &["first_offset"],
    },
];

/// The columns of the answer.
pub const COLUMNS: &[Column] = &[
    Column::word(
        "kind",
        "Kind",
        &KINDS,
        "identity, or how much an oddity touches the answers: note, repaired, lost.",
    ),
    Column::text("name", "Name", "What should hold, or the oddity's code."),
    Column::bool("holds", "Holds", "Whether the identity holds.").or_null(),
    Column::int("left", "Left", "The identity's left side: ns, or a count.").or_null(),
    Column::int("right", "Right", "The identity's right side.").or_null(),
    Column::int("count", "Count", "How often the oddity was met.").or_null(),
    Column::int("first_offset", "At byte", "Where it was first met: a byte of the decompressed text.")
        .or_null(),
    Column::text("example", "Example", "What the first one looked like.").or_null(),
    Column::text("description", "", "What the oddity is.").or_null(),
];

/// Checks every identity on a trace.
pub fn check(trace: &Trace) -> Vec<Identity> {
    let devices = device_times(trace);
    identities(trace, &FunctionEvents::new(trace), &devices, &steps(trace, &devices))
}

/// The whole ledger as rows: identities first, then diagnostics.
pub fn ledger(trace: &Trace, checks: &[Identity]) -> Rows {
    let mut rows = Rows::new(COLUMNS);
    for check in checks {
        rows.push(vec![
            IDENTITY.into(),
            check.name.as_str().into(),
            Cell::Bool(check.holds),
            check.left.into(),
            check.right.into(),
            Cell::Null,
            Cell::Null,
            Cell::Null,
            Cell::Null,
        ]);
    }
    for finding in trace.diagnostics.findings() {
        rows.push(vec![
            finding.code.severity().as_str().into(),
            finding.code.as_str().into(),
            Cell::Null,
            Cell::Null,
            Cell::Null,
            Cell::Int(finding.count as i64),
            finding.first_offset.map(|o| o as i64).into(),
            finding.example.as_str().into(),
            finding.code.description().into(),
        ]);
    }
    rows
}
