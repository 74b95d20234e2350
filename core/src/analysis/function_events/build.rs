//! The function events of a trace, step by step: collect, sort, memory, tree, names, kernels, merging, sums.

use super::{Bytes, FunctionEvents, HIDDEN, Kind, NONE, window_start};
use crate::names::NameId;
use crate::order::{descending, sort_by_key};
use crate::table::category::Category;
use crate::table::events::{Row, Table};
use crate::table::layout::Key;
use crate::table::tracks::TrackId;
use crate::trace::Trace;
use alloc::borrow::ToOwned;
use alloc::vec;
use alloc::vec::Vec;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

pub(super) struct Builder<'a> {
    trace: &'a Trace,
    pub(super) table: &'a Table,
    pub(super) out: FunctionEvents,
    records: Vec<Row>,
    failures: Vec<Row>,
}

impl<'a> Builder<'a> {
    /// A builder that has done everything but describe the inputs.
    pub(super) fn of(trace: &'a Trace) -> Self {
        let mut builder = Builder::start(trace);
        builder.collect();
        builder.sort();
        builder.attribute_memory();
        builder.build_tree();
        builder.name_events();
        builder.attach_kernels();
        builder.merge_lone_children();
        builder.sum_up();
        builder
    }

    fn start(trace: &'a Trace) -> Self {
        let table = &trace.table;
        let flag = |key: &str| table.metadata.text(key).is_some_and(|v| !matches!(v, "0" | "false" | "null"));
        let origin = window_start(table);
        let out = FunctionEvents {
            shapes: vec!["[]".to_owned()],
            origin,
            trace_start_ns: table.base_ns().saturating_add(origin),
            with_flops: flag("with_flops"),
            profile_memory: flag("profile_memory"),
            ..FunctionEvents::default()
        };
        Builder { trace, table, out, records: Vec::new(), failures: Vec::new() }
    }

    fn collect(&mut self) {
        let table = self.table;
        let known = |name: &str| table.names.find(name);
        let (memory, failure, collector) = (known("[memory]"), known("[OutOfMemory]"), known("Python GC"));
        let hidden: Vec<Option<NameId>> = HIDDEN.iter().map(|name| known(name)).collect();
        let mut used = 0;
        for row in table.rows() {
            let category = table.category(row);
            let name = Some(table.name_id(row));
            if (name == memory || name == failure) && table.ts(row) != crate::time::NONE {
                let list = if name == memory { &mut self.records } else { &mut self.failures };
                list.push(row);
                continue;
            }
            let wanted = match category {
                Category::CpuOp
                | Category::UserAnnotation
                | Category::Runtime
                | Category::Driver
                | Category::Overhead => true,
                Category::PythonFunction => name == collector && table.field(row, Key::PythonId).is_none(),
                _ => category.is_device_work() || category == Category::GpuUserAnnotation,
            };
            if wanted && table.is_span(row) && !hidden.contains(&name) {
                self.out.rows.push(row);
                used += usize::from(category.is_device_work());
            }
        }
        self.out.use_device = (used > 0).then(|| device_name(table));
        self.out.profile_memory |= !self.records.is_empty();
    }

    /// The order of a record in the profiler's own list.
    fn order(&self, row: Row) -> i64 {
        self.table.int(row, Key::EvIdx).unwrap_or(i64::from(row))
    }

    fn sort(&mut self) {
        let table = self.table;
        let mut rows = core::mem::take(&mut self.out.rows);
        rows.sort_by(|&a, &b| {
            let key = |row: Row| (table.ts(row), descending(table.end(row)));
            key(a).cmp(&key(b)).then_with(|| self.order(a).cmp(&self.order(b)))
        });
        self.out.rows = rows;
        self.out.kinds = self.out.rows.iter().map(|&row| kind(table, row)).collect();
    }

    /// Gives every CPU event the bytes of all records within its closed interval, of any thread; a record within none
    /// becomes an event of its own, and so does every failed allocation.
    fn attribute_memory(&mut self) {
        if self.records.is_empty() && self.failures.is_empty() {
            return;
        }
        let table = self.table;
        let mut records = core::mem::take(&mut self.records);
        table.sort_by_start(&mut records);
        let mut sums = vec![Bytes::default()];
        for &row in &records {
            let last = sums[sums.len() - 1];
            let bytes = record_bytes(table, row);
            sums.push(Bytes { cpu: last.cpu + bytes.cpu, device: last.device + bytes.device });
        }
        let mut cover = vec![0i64; records.len() + 1];
        let mut memory = Vec::with_capacity(self.out.rows.len());
        for (&row, &kind) in self.out.rows.iter().zip(&self.out.kinds) {
            let first = records.partition_point(|&r| table.ts(r) < table.ts(row));
            let last = first + records[first..].partition_point(|&r| table.ts(r) <= table.end(row));
            if kind == Kind::Device || first >= last {
                memory.push((Bytes::default(), Bytes::default()));
                continue;
            }
            cover[first] += 1;
            cover[last] -= 1;
            let bytes = Bytes {
                cpu: sums[last].cpu - sums[first].cpu,
                device: sums[last].device - sums[first].device,
            };
            memory.push((bytes, bytes));
        }
        self.out.memory = memory;
        let mut covered = 0;
        let mut loose: Vec<Row> = Vec::new();
        for (at, &row) in records.iter().enumerate() {
            covered += cover[at];
            if covered == 0 {
                loose.push(row);
            }
        }
        loose.append(&mut self.failures);
        self.insert_memory_events(&loose);
    }

    /// Merges zero-length memory events into the order, behind everything else of their instant.
    fn insert_memory_events(&mut self, loose: &[Row]) {
        let table = self.table;
        let old = core::mem::take(&mut self.out);
        let mut merged: Vec<(Row, Kind, Bytes)> = (0..old.rows.len())
            .map(|at| (old.rows[at], old.kinds[at], old.memory.get(at).map_or(Bytes::default(), |m| m.0)))
            .collect();
        merged.extend(loose.iter().map(|&row| {
            let bytes =
                if table.name(row) == "[memory]" { record_bytes(table, row) } else { Bytes::default() };
            (row, Kind::Memory, bytes)
        }));
        sort_by_key(&mut merged, |&(row, kind, _)| {
            let end = if kind == Kind::Memory { table.ts(row) } else { table.end(row) };
            (table.ts(row), descending(end))
        });
        self.out = FunctionEvents {
            rows: merged.iter().map(|m| m.0).collect(),
            kinds: merged.iter().map(|m| m.1).collect(),
            memory: merged.iter().map(|m| (m.2, m.2)).collect(),
            ..old
        };
    }

    fn build_tree(&mut self) {
        let table = self.table;
        let mut open: HashMap<TrackId, Vec<u32>, FixedState> = HashMap::default();
        self.out.parents = vec![NONE; self.out.rows.len()];
        for at in 0..self.out.rows.len() {
            if self.out.kinds[at] == Kind::Device {
                continue;
            }
            let row = self.out.rows[at];
            let begin = table.ts(row);
            let end = begin + self.out.duration_ns(table, at);
            let stack = open.entry(table.track_id(row)).or_default();
            while let Some(&top) = stack.last() {
                let top_end =
                    table.ts(self.out.rows[top as usize]) + self.out.duration_ns(table, top as usize);
                if begin < top_end && end <= top_end {
                    self.out.parents[at] = top;
                    break;
                }
                stack.pop();
            }
            stack.push(at as u32);
        }
    }

    /// Hangs device work on the operator that it was done for.
    fn attach_kernels(&mut self) {
        if self.out.use_device.is_none() {
            return;
        }
        let table = self.table;
        let mut position = vec![NONE; table.len()];
        for (at, &row) in self.out.rows.iter().enumerate() {
            position[row as usize] = at as u32;
        }
        let mut device = vec![0; self.out.rows.len()];
        for at in 0..self.out.rows.len() {
            if self.out.kinds[at] != Kind::Device {
                continue;
            }
            let row = self.out.rows[at];
            let duration = table.dur(row).max(0);
            device[at] = duration;
            let op = self.trace.links.op(row).filter(|_| table.category(row).is_device_work());
            match op.map(|op| position[op as usize]) {
                Some(NONE) => self.out.dropped_device_ns += duration,
                Some(op) => device[op as usize] += duration,
                None => {}
            }
        }
        self.out.device = device;
    }

    /// Removes every event whose parent has the same name and no other child: its children and kernels go to the parent.
    fn merge_lone_children(&mut self) {
        let count = self.out.rows.len();
        loop {
            let mut children = vec![0u32; count];
            for &parent in self.out.parents.iter().filter(|&&p| p != NONE) {
                children[parent as usize] += 1;
            }
            let mut heir = vec![NONE; self.out.rows.len()];
            let mut gone = 0;
            for at in 0..self.out.rows.len() {
                let mut parent = self.out.parents[at];
                if parent == NONE {
                    continue;
                }
                if heir[parent as usize] != NONE {
                    parent = heir[parent as usize];
                    self.out.parents[at] = parent;
                }
                let above = parent as usize;
                if self.out.keys[above] == self.out.keys[at] && children[above] == 1 {
                    heir[at] = parent;
                    children[above] = children[at];
                    if let Some(&kernels) = self.out.device.get(at) {
                        self.out.dropped_device_ns += self.out.device[above];
                        self.out.device[above] = kernels;
                    }
                    gone += 1;
                }
            }
            if gone == 0 {
                return;
            }
            self.out.removed += gone;
            self.remove(&heir);
        }
    }

    fn remove(&mut self, heir: &[u32]) {
        let mut moved = vec![NONE; heir.len()];
        let mut next = 0;
        for at in 0..heir.len() {
            if heir[at] == NONE {
                moved[at] = next;
                next += 1;
            }
        }
        let kept = |at: usize| heir[at] == NONE;
        let out = &mut self.out;
        retain(&mut out.rows, kept);
        retain(&mut out.kinds, kept);
        retain(&mut out.keys, kept);
        retain(&mut out.parents, kept);
        retain(&mut out.memory, kept);
        retain(&mut out.device, kept);
        for parent in out.parents.iter_mut().filter(|p| **p != NONE) {
            *parent = moved[*parent as usize];
        }
    }

    /// Self times and self memory.
    fn sum_up(&mut self) {
        let table = self.table;
        let out = &mut self.out;
        out.self_ns = (0..out.rows.len()).map(|at| out.cpu_time_total_ns(table, at)).collect();
        // Children come after their parents, so going backwards completes a child before it is added.
        for at in (0..out.rows.len()).rev() {
            let parent = out.parents[at] as usize;
            if parent == NONE as usize {
                continue;
            }
            out.self_ns[parent] -= out.cpu_time_total_ns(table, at);
            if !out.memory.is_empty() {
                let below = out.memory[at].1;
                out.memory[parent].0.cpu -= below.cpu;
                out.memory[parent].0.device -= below.device;
            }
        }
    }
}

fn retain<T>(values: &mut Vec<T>, kept: impl Fn(usize) -> bool) {
    let mut at = 0;
    values.retain(|_| {
        at += 1;
        kept(at - 1)
    });
}

fn kind(table: &Table, row: Row) -> Kind {
    if table.category(row).is_on_device() { Kind::Device } else { Kind::Cpu }
}

fn record_bytes(table: &Table, row: Row) -> Bytes {
    // A petabyte is the most that sums of many records are safe with.
    let bytes = table.int(row, Key::Bytes).unwrap_or(0).clamp(-(1 << 50), 1 << 50);
    match table.int(row, Key::DeviceType).unwrap_or(0) {
        0 | 2 | 5 => Bytes { cpu: bytes, device: 0 },
        1 | 6 | 12 | 20 => Bytes { cpu: 0, device: bytes },
        _ => Bytes::default(),
    }
}

/// torch's `use_device` for a trace with device work.
fn device_name(table: &Table) -> &'static str {
    let has = |prefix: &str| {
        table.layouts.all().iter().any(|l| l.cat.is_some_and(|cat| table.names.get(cat).starts_with(prefix)))
    };
    if has("mtia") {
        "mtia"
    } else if has("xpu") {
        "xpu"
    } else if has("hpu") {
        "hpu"
    } else if has("privateuse1") {
        "privateuse1"
    } else {
        "cuda"
    }
}
