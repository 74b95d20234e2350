//! Facts about a trace: counts, time, machine, and its metadata.

use crate::analysis::context::Analysis;
use crate::analysis::query::{Answer, Input, Query, Request};
use crate::base::order::sort_by_key;
use crate::base::page::Page;
use crate::base::rows::{Cell, Column, Rows, Shape, columns};
use crate::base::time;
use crate::trace::Trace;
use crate::trace::read::{perfetto, snapshot};
use crate::trace::table::category::Category;
use crate::trace::table::events::Table;
use crate::trace::table::merged::Merged;
use crate::trace::table::metadata::Source;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use serde_json::Value;

/// Returns the name of the program that wrote a trace, as far as its dialect shows.
pub(crate) fn producer(table: &Table) -> &'static str {
    let has = |key: &str| table.metadata.text(key).is_some();
    let cat = |wanted: fn(&str) -> bool| {
        table.layouts.all().iter().any(|l| l.cat.is_some_and(|cat| wanted(table.names.get(cat))))
    };
    match table.metadata.source {
        Source::LegacyRecords => return "PyTorch legacy profiler",
        Source::KinetoEvents => return "PyTorch Kineto (events)",
        Source::ExecutionTrace => return "PyTorch execution trace",
        Source::Chrome if has(snapshot::SOURCE) => return "PyTorch memory snapshot",
        Source::Chrome => {}
    }
    let is_torch = || cat(|c| matches!(c, "cpu_op" | "kernel" | "gpu_user_annotation"));
    if has(perfetto::SOURCE) {
        if is_torch() { "PyTorch (Perfetto)" } else { "Perfetto" }
    } else if has("recorder") {
        "Kinetoscope"
    } else if cat(|c| c.starts_with("mtia")) {
        "PyTorch Kineto (MTIA)"
    } else if has("roctracer_version") || has("hip_runtime_version") {
        "PyTorch Kineto (ROCm)"
    } else if cat(|c| c.starts_with("xpu")) {
        "PyTorch Kineto (XPU)"
    } else if cat(|c| matches!(c, "async_npu" | "async_task_queue" | "HostToDevice")) {
        "Ascend PyTorch profiler"
    } else if has("deviceProperties") || cat(|c| matches!(c, "cpu_op" | "Operator" | "Trace")) {
        "PyTorch Kineto"
    } else if cat(|c| c == "dynamo_timed") {
        "torch._dynamo"
    } else {
        "Chrome trace"
    }
}

/// Returns the start and end of the time that a trace covers: that of all its timed events except `Record Window End`.
pub(crate) fn wall(table: &Table) -> (i64, i64) {
    let timed = table.rows().filter(|&row| table.ts(row) != time::NONE && table.ph(row) != b'M');
    let marker = table.names.find("Record Window End");
    let is_marker = |row| Some(table.name_id(row)) == marker && table.category(row) == Category::Other;
    timed
        .filter(|&row| !is_marker(row))
        .fold(None, |wall: Option<(i64, i64)>, row| {
            let (start, end) = (table.ts(row), table.end(row));
            Some(wall.map_or((start, end), |w| (w.0.min(start), w.1.max(end))))
        })
        .unwrap_or((0, 0))
}

/// Returns the same of a trace, whose samples of call stacks need not be events.
pub(crate) fn wall_of(trace: &Trace) -> (i64, i64) {
    let table = &trace.table;
    let has_times = || table.rows().any(|row| table.ts(row) != time::NONE && table.ph(row) != b'M');
    match (trace.samples.span(), wall(table)) {
        (None, wall) => wall,
        (Some(sampled), (start, end)) if has_times() => (start.min(sampled.0), end.max(sampled.1)),
        (Some(sampled), _) => sampled,
    }
}

impl Analysis<'_> {
    /// Returns the start and the end of the trace.
    pub(crate) fn wall(&self) -> (i64, i64) {
        self.once(|| Wall(wall_of(self.trace))).0
    }
}

struct Wall((i64, i64));

/// Returns the number of events of each category, in the order of [`Category`].
pub(crate) fn categories(table: &Table) -> Vec<(Category, usize)> {
    let mut counts: Vec<(Category, usize)> = Vec::new();
    let mut per_layout = vec![0usize; table.layouts.all().len()];
    for row in table.rows() {
        per_layout[table.layout_id(row).0 as usize] += 1;
    }
    for (layout, count) in table.layouts.all().iter().zip(per_layout) {
        match counts.iter_mut().find(|c| c.0 == layout.category) {
            Some((_, sum)) => *sum += count,
            None => counts.push((layout.category, count)),
        }
    }
    sort_by_key(&mut counts, |&(category, _)| (category as i64, 0));
    counts
}

/// The query `info`.
pub(crate) const INFO: Query =
    Query::new("info", "Event counts, machine and metadata", COLUMNS, |trace, request| {
        Ok(answer(trace, request))
    })
    .examples(&["ranks/", "run.json --format json"])
    .inputs(&[Input::TorchRules])
    .one_row();

fn answer(trace: &Trace, request: Request<'_>) -> Answer {
    let rows = info(trace);
    if !request.for_reading {
        return rows.into();
    }
    let mut text = Page::default();
    text.table(&rows.transposed());
    let metadata = metadata(trace);
    if !metadata.rows.is_empty() {
        text.blank();
        text.table(&metadata);
    }
    Answer::page(text)
}

columns! {
    /// The columns of the answer.
    pub(crate) const COLUMNS: fn row(trace: &Trace) {
        let table = &trace.table;
        let metadata = &table.metadata;
        let (start, end) = wall_of(trace);
        let counts = categories(table);
        let count = |wanted: Category| counts.iter().find(|entry| entry.0 == wanted).map_or(0, |entry| entry.1);
    } [
        Column::text("producer", "Written by", "The program that wrote the trace, detected by its dialect.") =>
            producer(table),
        Column::int("events", "Events", "The number of objects in traceEvents.") => table.len(),
        Column::int("spans", "Spans", "The number of events with a duration.") => trace.tree.len(),
        Column::int("operators", "Operators", "The number of events of the category cpu_op.") =>
            count(Category::CpuOp),
        Column::int("kernels", "Kernels", "The number of events of the category kernel.") => count(Category::Kernel),
        Column::int("memcpys", "Memcpys", "The number of events of the category gpu_memcpy.") =>
            count(Category::Memcpy),
        Column::int("memsets", "Memsets", "The number of events of the category gpu_memset.") =>
            count(Category::Memset),
        Column::int("tracks", "Tracks", "The number of distinct pairs of pid and tid.") => table.tracks.all().len(),
        Column::int("lanes", "Lanes", "The number of tracks, plus one for each set of spans that overlap without nesting.") =>
            trace.tree.lanes().len(),
        Column::int("ranks", "Ranks", "The number of ranks in the file.") =>
            metadata.merged.as_ref().map_or(1, Merged::ranks),
        Column::int("rank", "Rank", "The rank that wrote the trace.").nullable() => metadata.rank(),
        Column::int("world_size", "World", "The number of ranks of the job.").nullable() => metadata.world_size(),
        Column::unix_ns("base_time_ns", "", "The Unix time of ts 0, in ns; 0 if the file has absolute times.") =>
            table.base_ns(),
        Column::unix_ns("start_ns", "", "The Unix time of the first event, in ns.") =>
            table.base_ns().saturating_add(start),
        Column::ns("wall_ns", "Wall", "The time from the start of the first event to the end of the last.") =>
            end.saturating_sub(start),
        Column::json("devices", "Devices", Shape::Texts, "The names of the devices.") =>
            metadata.device_names().into_iter().map(|(_, name)| name).collect::<Value>(),
        Column::text("torch_rules", "PyTorch rules", "The versions of PyTorch whose rules make the events and averages; null if PyTorch did not write the trace.")
            .nullable() => is_of_torch(table).then_some(trace.rules.versions),
        Column::text("torch_rules_doubt", "Doubt", "What the file does not show about its version of PyTorch; null if nothing.")
            .nullable() => doubt(trace),
        Column::text("host", "Host", "The name of the machine.").nullable() => host(trace),
    ]
}

/// Returns one row of facts about a trace.
pub(crate) fn info(trace: &Trace) -> Rows {
    let mut rows = Rows::new(COLUMNS);
    rows.push(row(trace));
    rows
}

/// What the file does not show about the rules that are used, unless they were chosen.
fn doubt(trace: &Trace) -> Option<&'static str> {
    let is_open = is_of_torch(&trace.table) && !trace.has_chosen_rules;
    is_open.then(|| trace.rules.doubt(&trace.table)).flatten()
}

/// Whether function events of PyTorch are made of a trace.
fn is_of_torch(table: &Table) -> bool {
    producer(table).contains("PyTorch") && table.metadata.text(snapshot::SOURCE).is_none()
}

fn host(trace: &Trace) -> Option<String> {
    trace.table.metadata.value("host_name")?.as_str().map(ToOwned::to_owned)
}

/// Returns the metadata of the trace as rows of key and value.
pub(crate) fn metadata(trace: &Trace) -> Rows {
    let mut rows = Rows::page(&["Key", "Value"]);
    for (key, text) in &trace.table.metadata.entries {
        let value = serde_json::from_str(text).map_or_else(|_| Cell::Text(text.clone()), Cell::Json);
        rows.push(vec![key.as_str().into(), value]);
    }
    rows
}
