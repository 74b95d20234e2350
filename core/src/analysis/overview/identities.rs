//! Identities that must hold: each compares a number of an answer with the same number computed in another way.
//!
//! The answers use the tree, the links and sets of intervals. The other sides are computed here from the times and ids
//! of the events themselves. No identity holds by the algebra of the code that it checks: each has a test that breaks
//! it.

use crate::analysis::context::Analysis;
use crate::analysis::device::device_time::DeviceTime;
use crate::analysis::device::idle::GapPart;
use crate::analysis::device::ranges::Ranges;
use crate::analysis::device::steps::Step;
use crate::analysis::intervals::{Interval, Intervals, lengths_in};
use crate::analysis::torch::function_events::{EventKind, FunctionEvent, FunctionEvents};
use crate::base::diagnostics::Code;
use crate::base::index::Index;
use crate::base::names::NameId;
use crate::trace::Trace;
use crate::trace::dialect::hidden::hidden_names;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::Key;
use crate::trace::table::merged::device_name;
use crate::trace::table::metadata::Source;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// An identity that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Identity {
    /// The equation or inequality.
    pub name: String,
    /// Whether it holds.
    pub holds: bool,
    /// The left side: ns, or a count.
    pub left: i64,
    /// The right side.
    pub right: i64,
}

fn equal(name: impl Into<String>, left: i64, right: i64) -> Identity {
    Identity { name: name.into(), holds: left == right, left, right }
}

impl Analysis<'_> {
    /// Checks every identity.
    pub fn identities(&self) -> &[Identity] {
        let events = || FunctionEvents::without_inputs(self.trace);
        self.once(|| identities(self, &events(), self.devices(), self.steps()))
    }

    /// The same with function events that are known. The context does not have them, which take much memory.
    pub(super) fn identities_with(&self, events: &FunctionEvents) -> &[Identity] {
        self.once(|| identities(self, events, self.devices(), self.steps()))
    }
}

fn identities(
    analysis: &Analysis<'_>,
    events: &FunctionEvents,
    devices: &[DeviceTime],
    steps: &[Step],
) -> Vec<Identity> {
    let trace = analysis.trace;
    let mut checks = vec![lanes(trace), parents(trace, events)];
    // PyTorch attributes the kernels of profiling results and legacy records by its own rules, which differ from the
    // links.
    if trace.table.metadata.source == Source::Chrome {
        checks.push(kernels(trace, events));
    }
    checks.extend(devices.iter().flat_map(device_identities));
    checks.extend(busy_parts(analysis, devices));
    checks.extend(recounted(trace, devices));
    if !steps.is_empty() {
        checks.extend(step_parts(analysis, steps));
        checks.extend(devices.iter().map(|device| step_idle(device, steps)));
    }
    checks
}

/// Compares self times, which come from the parents in the tree, with the time during which a span is open, which comes
/// from starts and ends. Reports the first lane where they differ.
fn lanes(trace: &Trace) -> Identity {
    let (table, tree) = (&trace.table, &trace.tree);
    let mut total = (0, 0);
    for lane in tree.lanes() {
        let self_ns = tree.self_times(table, lane).iter().sum();
        let open = open_ns(table, tree.rows_of(lane));
        if self_ns != open {
            return equal("self time of a lane = time in which any span of it is open", self_ns, open);
        }
        total = (total.0 + self_ns, total.1 + open);
    }
    equal("self time of every lane = time in which any span of it is open", total.0, total.1)
}

/// Returns the time during which any of these spans is open; they are ordered by start.
fn open_ns(table: &Table, rows: &[Row]) -> i64 {
    let mut reached = i64::MIN;
    let mut sum = 0;
    for &row in rows {
        let end = table.end(row);
        sum += (end - table.ts(row).max(reached)).max(0);
        reached = reached.max(end);
    }
    sum
}

/// Checks that children lie within their parents: self times are meaningless otherwise.
fn parents(trace: &Trace, events: &FunctionEvents) -> Identity {
    let table = &trace.table;
    let is_within = |event: FunctionEvent, above: FunctionEvent| {
        let (row, parent) = (events.row(event), events.row(above));
        let (start, outer) = (table.ts(row), table.ts(parent));
        outer <= start
            && start + events.duration_ns(table, event) <= outer + events.duration_ns(table, above)
            && events.track(table, event) == events.track(table, above)
    };
    let (mut within, mut all) = (0, 0);
    for (event, above) in events.events().filter_map(|event| Some((event, events.parent(event)?))) {
        within += i64::from(is_within(event, above));
        all += 1;
    }
    equal("function events within their parents = function events with a parent", within, all)
}

fn kernels(trace: &Trace, events: &FunctionEvents) -> Identity {
    let table = &trace.table;
    // Device work with the name of a memory record is not a function event.
    let hidden = hidden_names(&table.names);
    let is_event =
        |work: Row| table.category(work).is_device_work() && !hidden.contains(&table.name_id(work));
    let linked = trace.links.op_of.iter().filter(|p| is_event(p.0));
    let kernels: i64 = linked.map(|p| table.dur(p.0).max(0)).sum();
    let is_counted = |event| events.kind(event) != EventKind::Device && !events.is_overhead(table, event);
    let cpu = events.events().filter(|&event| is_counted(event));
    let device: i64 = cpu.map(|event| events.self_device_time_total_ns(event)).sum();
    let name = "self device time of operators + time dropped by torch = time of their kernels";
    equal(name, device + events.dropped_device_ns, kernels)
}

/// Compares the union of all activities, which is measured, with the gaps between them, which are found one by one.
fn device_identities(device: &DeviceTime) -> [Identity; 2] {
    let name = &device.device;
    let idle = device.idle_by_cause().iter().map(|c| c.1).sum();
    let (busy, sum) = (device.busy_ns, device.sum_ns);
    [
        Identity { name: format!("device {name}: busy ≤ sum"), holds: busy <= sum, left: busy, right: sum },
        equal(format!("device {name}: idle time of all causes = idle"), idle, device.idle_ns()),
    ]
}

/// Compares the parts of the busy time, which come from sets of intervals, with a sweep over the activities.
fn busy_parts(analysis: &Analysis<'_>, devices: &[DeviceTime]) -> Vec<Identity> {
    let table = &analysis.trace.table;
    let classes = analysis.classes();
    let identity = |((name, rows), device): (&(String, Vec<Row>), &DeviceTime)| {
        // By class: where the activities of the classes up to it have ended, and how long any of them ran.
        let (mut reached, mut sums) = ([i64::MIN; 4], [0; 4]);
        for &row in rows {
            let (start, end) = (table.ts(row), table.end(row));
            for class in classes.class(row) as usize..4 {
                sums[class] += (end - start.max(reached[class])).max(0);
                reached[class] = reached[class].max(end);
            }
        }
        let mut ran = 0;
        let cumulative = device.parts_ns.map(|part| {
            ran += part;
            ran
        });
        let differing = (0..4).find(|&class| cumulative[class] != sums[class]).unwrap_or(3);
        let name = format!("device {name}: parts of the busy time = time with an open activity");
        equal(name, cumulative[differing], sums[differing])
    };
    analysis.activities().iter().zip(devices).map(identity).collect()
}

/// Recounts spans, device work and its launches from the table.
fn recounted(trace: &Trace, devices: &[DeviceTime]) -> [Identity; 4] {
    let (table, links) = (&trace.table, &trace.links);
    let id = |row| table.int(row, Key::Correlation).filter(|&id| id != 0);
    let (mut spans, mut work, mut duration, mut agreeing, mut missing) = (0, 0, 0, 0, 0);
    // The amount of unlinked work of each id.
    let (mut orphans, mut index) = (Vec::new(), Index::default());
    let mut next = links.launch_of.iter().peekable();
    for row in table.rows() {
        if !table.is_span(row) {
            continue;
        }
        spans += 1;
        if !table.category(row).is_device_work() {
            continue;
        }
        work += 1;
        duration += table.dur(row);
        let work_id = id(row);
        if let Some(link) = next.next_if(|link| link.0 == row) {
            agreeing += i64::from(work_id.is_some() && work_id == id(link.1));
        } else if let Some(work_id) = work_id {
            let at = index.get_or_insert((work_id, 0), orphans.len() as u32) as usize;
            orphans.resize(orphans.len().max(at + 1), 0);
            orphans[at] += 1;
        }
    }
    if !orphans.is_empty() {
        for id in table.rows().filter(|&row| table.category(row).is_launch_call()).filter_map(id) {
            missing += index.get((id, 0)).map_or(0, |at| core::mem::take(&mut orphans[at as usize]));
        }
    }
    let links = links.launch_of.len() as i64;
    let unlinked = trace.diagnostics.count(Code::KernelWithoutLaunch) as i64;
    let classes = devices.iter().flat_map(|device| &device.classes).map(|class| class.sum_ns).sum();
    [
        equal("spans in the tree = spans in the table", trace.tree.len() as i64, spans),
        equal("time of all classes of GPU work = durations of GPU work in the table", classes, duration),
        equal(
            "links of GPU work to the launch of its correlation id = all links + missing links",
            agreeing,
            links + missing,
        ),
        equal(
            "GPU activities without a launch = those whose correlation id no call has",
            unlinked,
            work - agreeing - missing,
        ),
    ]
}

/// Compares the breakdown of steps, which comes from sets of intervals of each thread and device, with one sweep over
/// all spans.
fn step_parts(analysis: &Analysis<'_>, steps: &[Step]) -> [Identity; 2] {
    let (trace, table) = (analysis.trace, &analysis.trace.table);
    let is_device = |row: Row| table.category(row).is_device_work();
    let ranges = Ranges::new(&table.names);
    let mut rows: Vec<Row> = Vec::new();
    let pid = |row: Row| table.track(row).pid;
    // The last span kept: spans of its process within it add nothing.
    let mut last = (0, 0, false, NameId::EMPTY);
    for &row in trace.tree.rows() {
        let category = table.category(row);
        let this = (table.ts(row), table.end(row), category.is_device_work(), pid(row));
        if last.0 <= this.0 && this.1 <= last.1 && (last.2, last.3) == (this.2, this.3) {
            continue;
        }
        let is_part = match category {
            Category::CpuOp => ranges.is_operator(table, row),
            Category::UserAnnotation => ranges.is_loading(table, row),
            category => this.2 || category.is_launch_call(),
        };
        if is_part {
            rows.push(row);
            last = this;
        }
    }
    table.sort_by_start(&mut rows);
    let busy = steps.iter().map(|step| step.device_busy_ns).sum();
    let parts = steps.iter().flat_map(|step| &step.parts_ns[..7]).sum();
    let processes = analysis.step_processes();
    let open = |is_wanted: &dyn Fn(Row) -> bool| -> i64 {
        let rows = || rows.iter().copied().filter(|&row| is_wanted(row));
        let Some(processes) = processes else { return open_within(table, rows(), steps) };
        let of_process = |&process: &NameId| {
            let is_own = |&row: &Row| {
                let uses = || processes.uses(process, &device_name(table, pid(row)));
                if is_device(row) { uses() } else { pid(row) == process }
            };
            let process_steps: Vec<Step> =
                steps.iter().filter(|step| pid(step.row) == process).cloned().collect();
            open_within(table, rows().filter(is_own), &process_steps)
        };
        processes.all.iter().map(of_process).sum()
    };
    let (any, device) = (open(&|_| true), open(&is_device));
    [
        equal("time of the steps with a busy GPU = time with an open GPU activity", busy, device),
        equal("parts of the steps except other = time with any open span", parts, any),
    ]
}

/// Compares the idle time of the steps, which comes from the gaps between activities, with sets of intervals.
fn step_idle(device: &DeviceTime, steps: &[Step]) -> Identity {
    let busy = Intervals::union_of_all(device.unions.iter());
    let [before, within] = [&device.before, &device.idle].map(|parts| idle_until(parts));
    let until = |time| before(time) + within(time);
    let after = |time: Interval| (time.1 - device.window.1.max(time.0)).max(0);
    let idle = steps.iter().map(|step| until(step.time.1) - until(step.time.0) + after(step.time)).sum();
    let times: Vec<Interval> = steps.iter().map(|step| step.time).collect();
    let busy = lengths_in(&[&busy], &times).into_iter().map(|lengths| lengths.all[0]);
    let rest = times.iter().zip(busy).map(|(time, busy)| time.1 - time.0 - busy).sum();
    let name = format!("device {}: idle time of the steps by cause = steps without busy time", device.device);
    equal(name, idle, rest)
}

/// Returns how much of the parts, which follow each other, lies before an instant.
fn idle_until(parts: &[GapPart]) -> impl Fn(i64) -> i64 {
    let mut sums = Vec::with_capacity(parts.len() + 1);
    sums.push(0i64);
    for part in parts {
        sums.push(sums[sums.len() - 1] + part.time.1 - part.time.0);
    }
    move |time| {
        let begun = parts.partition_point(|part| part.time.0 < time);
        begun.checked_sub(1).map_or(0, |last| sums[last] + parts[last].time.1.min(time) - parts[last].time.0)
    }
}

/// Returns for how much of the time of the steps any span is open; the spans are ordered by start.
fn open_within(table: &Table, rows: impl Iterator<Item = Row>, steps: &[Step]) -> i64 {
    // The start of each period in which any span is open, and the open time before it.
    let mut opened: Vec<(i64, i64)> = Vec::new();
    let (mut sum, mut reached) = (0, i64::MIN);
    for row in rows {
        let (start, end) = (table.ts(row), table.end(row));
        if start > reached {
            opened.push((start, sum));
        }
        sum += (end - start.max(reached)).max(0);
        reached = reached.max(end);
    }
    let until = |time: i64| {
        let at = opened.partition_point(|open| open.0 <= time);
        let most = opened.get(at).map_or(sum, |next| next.1);
        at.checked_sub(1).map_or(0, |at| most.min(opened[at].1 + (time - opened[at].0)))
    };
    steps.iter().map(|step| until(step.time.1) - until(step.time.0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Random;
    use crate::trace::table::append::RowBuilder;
    use crate::trace::tree::Position;

    /// Two steps, a nested operator that launches a kernel, a copy without a launch, a gap on the device.
    const TRACE: &[u8] = br#"{"schemaVersion":1,"traceEvents": [
        {"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":100},
        {"ph":"X","cat":"user_annotation","name":"ProfilerStep#2","pid":1,"tid":1,"ts":100,"dur":100},
        {"ph":"X","cat":"user_annotation","name":"enumerate(DataLoader)#_","pid":1,"tid":1,"ts":2,"dur":5},
        {"ph":"X","cat":"cpu_op","name":"aten::linear","pid":1,"tid":1,"ts":10,"dur":40,"args":{"External id":1}},
        {"ph":"X","cat":"cpu_op","name":"aten::addmm","pid":1,"tid":1,"ts":15,"dur":30,"args":{"External id":2}},
        {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":20,"dur":5,"args":{"correlation":7,"External id":2}},
        {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":30,"dur":60,"args":{"correlation":7,"External id":2}},
        {"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","pid":0,"tid":8,"ts":80,"dur":30,"args":{"correlation":9}},
        {"ph":"X","cat":"cpu_op","name":"aten::relu","pid":1,"tid":2,"ts":120,"dur":20,"args":{"External id":3}},
        {"ph":"X","cat":"gpu_memset","name":"Memset","pid":0,"tid":7,"ts":150,"dur":10,"args":{"correlation":10}}
    ]}"#;

    struct Answers {
        trace: Trace,
        events: FunctionEvents,
        devices: Vec<DeviceTime>,
        steps: Vec<Step>,
    }

    impl Answers {
        fn new() -> Answers {
            let trace = Trace::read(TRACE).expect("a trace");
            let analysis = Analysis::new(&trace);
            let (devices, steps) = (analysis.devices().to_vec(), analysis.steps().to_vec());
            drop(analysis);
            Answers { events: FunctionEvents::new(&trace), trace, devices, steps }
        }

        fn checks(&self) -> Vec<Identity> {
            identities(&Analysis::new(&self.trace), &self.events, &self.devices, &self.steps)
        }
    }

    /// Returns the position in the tree of the span with this name.
    fn position(trace: &Trace, name: &str) -> Position {
        let tree = &trace.tree;
        tree.positions().find(|&at| trace.table.name(tree.row(at)) == name).expect("a span")
    }

    type Damage = (&'static str, fn(&mut Answers));

    /// Damage to the answers or to their sources, and the identity that then fails.
    const DAMAGES: &[Damage] = &[
        ("spans in the tree", |a| a.trace.tree.remove_last()),
        ("self time of a lane", |a| {
            let at = position(&a.trace, "aten::addmm");
            a.trace.tree.set_parent(at, None);
        }),
        ("self time of a lane", |a| {
            let (first, second) =
                (position(&a.trace, "ProfilerStep#1"), position(&a.trace, "ProfilerStep#2"));
            a.trace.tree.set_parent(second, Some(first));
        }),
        ("function events within their parents", |a| {
            let named = |name: &str| a.events.events().find(|&event| a.events.name(event) == name);
            let (relu, linear) = (named("aten::relu").expect("an event"), named("aten::linear"));
            a.events.set_parent(relu, linear);
        }),
        ("self device time of operators", |a| a.events.dropped_device_ns += 1),
        ("self device time of operators", |a| a.trace.links.op_of.clear()),
        ("device 0: busy", |a| a.devices[0].busy_ns = a.devices[0].sum_ns + 1),
        ("device 0: parts of the busy time", |a| {
            // They still add up to the busy time.
            a.devices[0].parts_ns[0] -= 1;
            a.devices[0].parts_ns[2] += 1;
        }),
        ("device 0: idle time of all causes", |a| a.devices[0].idle.truncate(0)),
        ("device 0: idle time of the steps", |a| a.devices[0].before.clear()),
        ("time of all classes", |a| a.devices[0].classes.truncate(1)),
        ("time of all classes", |a| a.devices.clear()),
        ("links of GPU work", |a| a.trace.links.launch_of.clear()),
        ("links of GPU work", |a| {
            let (kernel, call) = a.trace.links.launch_of[0];
            a.trace.links.launch_of[0] = (call, Row::new(kernel.index() + 1));
        }),
        ("GPU activities without a launch", |a| {
            a.trace.diagnostics.record(Code::KernelWithoutLaunch, None, b"");
        }),
        ("time of the steps with a busy GPU", |a| a.steps[0].device_busy_ns -= 1),
        ("parts of the steps except other", |a| {
            // The breakdown still adds up to the wall time.
            a.steps[1].parts_ns[6] -= 1;
            a.steps[1].parts_ns[7] += 1;
        }),
    ];

    #[test]
    fn every_identity_holds_and_every_one_can_fail() {
        let all = Answers::new().checks();
        assert!(all.iter().all(|check| check.holds), "{all:?}");
        let mut broken = Vec::new();
        for (name, damage) in DAMAGES {
            let mut answers = Answers::new();
            damage(&mut answers);
            let failed: Vec<Identity> = answers.checks().into_iter().filter(|check| !check.holds).collect();
            assert!(failed.iter().any(|check| check.name.starts_with(name)), "{name}: {failed:?}");
            broken.push(*name);
        }
        for check in all {
            // When one lane fails, its name replaces "every lane".
            let name = check.name.replace("every lane", "a lane");
            assert!(broken.iter().any(|broken| name.starts_with(broken)), "{name} is never broken");
        }
    }

    #[test]
    fn open_times_equal_a_naive_count() {
        let mut random = Random(11);
        let step = Answers::new().steps[0].clone();
        for _ in 0..500 {
            let mut table = Table::default();
            for _ in 0..random.below(8) {
                let row = RowBuilder::new(&mut table, b'X', "cpu_op").finish("a", 0, ("1", "1"));
                table.place(row, random.below(30), table.track_id(row));
                table.set_dur(row, random.below(9));
            }
            let start = random.below(40);
            let time = (start, start + random.below(12));
            let mut rows: Vec<Row> = table.rows().collect();
            table.sort_by_start(&mut rows);
            let is_open = |at: &i64| rows.iter().any(|&row| table.ts(row) <= *at && *at < table.end(row));
            let naive = (time.0..time.1).filter(is_open).count() as i64;
            let steps = [Step { time, ..step.clone() }];
            assert_eq!(open_within(&table, rows.iter().copied(), &steps), naive, "{rows:?} {time:?}");
        }
    }
}
