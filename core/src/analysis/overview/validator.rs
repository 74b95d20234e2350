//! The six rules of PyTorch's `torch.profiler._trace_validator`, with its verdicts.
//!
//! The rules look at complete events (`ph` X) and at the spelling of today's traces, with these peculiarities: only a
//! call named exactly `cudaLaunchKernel` is a launch; a kernel and its launch share `External id` and `correlation`; an
//! event is found by its `External id` or its `correlation`; a sequence number of 0 counts as absent. One difference:
//! more calls record an event than those of PyTorch's rule.

use crate::base::diagnostics::Code;
use crate::base::index::{Index, Keyed};
use crate::base::names::NameId;
use crate::base::order::sort_by_key;
use crate::base::time;
use crate::base::words::words;
use crate::trace::Trace;
use crate::trace::link::Links;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::fields::Value;
use crate::trace::table::layout::FieldPlace::Args;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The calls that record an event. PyTorch knows the first two; its own traces also have the third, and programs that use
/// the driver the others.
const EVENT_RECORDS: [&str; 6] = [
    "cudaEventRecord",
    "cudaEventRecord_ptsz",
    "cudaEventRecordWithFlags",
    "cuEventRecord",
    "cuEventRecord_ptsz",
    "cuEventRecordWithFlags",
];

words! {
    "RuleName"
    /// A rule.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum RuleName {
        /// No kernel starts before its launch.
        KernelCausality = "kernel_causality",
        /// Waits for an event name the call that recorded it.
        WaitHasRecord = "wait_has_record",
        /// No kernel of a stream runs when a synchronization of the stream ends its wait.
        SyncOverlap = "sync_overlap",
        /// An event was recorded before a stream waits for it.
        WaitInPast = "wait_in_past",
        /// Collectives have their metadata.
        CollectiveMetadata = "collective_metadata",
        /// A sequence number belongs to one backward function.
        SequenceUnique = "sequence_unique",
    }
}

impl RuleName {
    /// What the rule requires.
    pub fn description(self) -> &'static str {
        match self {
            RuleName::KernelCausality => "A kernel starts after its cudaLaunchKernel.",
            RuleName::WaitHasRecord => {
                "A Stream Wait Event or Event Sync names the call that recorded the event."
            }
            RuleName::SyncOverlap => "No kernel of the stream runs when a Stream Sync begins.",
            RuleName::WaitInPast => "A stream waits for an event that was recorded before.",
            RuleName::CollectiveMetadata => {
                "record_param_comms has the name, type, sizes and group of the collective."
            }
            RuleName::SequenceUnique => {
                "Backward functions of different names have different sequence numbers."
            }
        }
    }
}

/// A rule with what violates it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// The rule.
    pub rule: RuleName,
    /// The number of violations.
    pub count: u64,
    /// A description of the first violation; empty if there is none.
    pub example: String,
}

/// The metadata of a collective.
const METADATA: [&str; 5] = ["Collective name", "Group size", "In msg nelems", "Out msg nelems", "dtype"];
const BACKWARD: &str = "autograd::engine::evaluate_function";

struct Validator<'a> {
    table: &'a Table,
    links: &'a Links,
    /// Whether no two launch calls have the same correlation.
    is_unique: bool,
    /// The keys of ids, if the trace has them.
    external: Option<NameId>,
    correlation: Option<NameId>,
    verdicts: Vec<Verdict>,
}

/// Returns the verdict of each rule, in the order of [`RuleName`].
pub fn validate(trace: &Trace) -> Vec<Verdict> {
    let table = &trace.table;
    let verdict = |&rule: &RuleName| Verdict { rule, count: 0, example: String::new() };
    let [external, correlation] = ["External id", "correlation"].map(|key| table.names.find(key));
    let verdicts = RuleName::ALL.iter().map(verdict).collect();
    let is_unique = trace.diagnostics.count(Code::RepeatedId) == 0;
    let mut validator = Validator { table, links: &trace.links, is_unique, external, correlation, verdicts };
    validator.kernels();
    validator.waits();
    validator.synchronizations();
    validator.collectives();
    validator.sequences();
    validator.verdicts
}

impl Validator<'_> {
    fn violated(&mut self, rule: RuleName, example: impl FnOnce() -> String) {
        let verdict = &mut self.verdicts[rule as usize];
        verdict.count += 1;
        if verdict.count == 1 {
            verdict.example = example();
        }
    }

    fn spans(&self, category: Category) -> Vec<Row> {
        self.table.rows_of(category).filter(|&row| self.is_timed(row)).collect()
    }

    fn is_timed(&self, row: Row) -> bool {
        self.table.ph(row) == b'X' && self.table.ts(row) != time::NONE
    }

    fn named(&self, row: Row, key: &str) -> Option<Value<'_>> {
        self.table.field_named(row, Args, key)
    }

    fn id(&self, row: Row, key: &str) -> Option<i64> {
        self.named(row, key)?.as_i64()
    }

    fn external(&self, row: Row) -> Option<i64> {
        self.table.field_with(row, Args, self.external?)?.as_i64()
    }

    fn correlation(&self, row: Row) -> Option<i64> {
        self.table.field_with(row, Args, self.correlation?)?.as_i64()
    }

    /// The calls with one of these names.
    fn calls(&self, names: &[&str]) -> Vec<Row> {
        let table = self.table;
        let names: Vec<NameId> = names.iter().filter_map(|name| table.names.find(name)).collect();
        if names.is_empty() {
            return Vec::new();
        }
        let is_named = |row: &Row| names.contains(&table.name_id(*row)) && self.is_timed(*row);
        table.rows().filter(is_named).filter(|&row| table.category(row).is_launch_call()).collect()
    }

    fn sync_kind(&self, row: Row) -> &str {
        self.named(row, "cuda_sync_kind").and_then(|kind| kind.as_str()).unwrap_or("")
    }

    /// Whether the only call with the correlation of a kernel starts no later than the kernel.
    fn is_launched_before(&self, kernel: Row) -> bool {
        let call = self.links.launch(kernel).filter(|_| self.is_unique);
        call.is_some_and(|call| self.table.ts(call) <= self.table.ts(kernel))
    }

    fn kernels(&mut self) {
        let table = self.table;
        let mut kernels = self.spans(Category::Kernel);
        kernels.retain(|&row| !self.is_launched_before(row));
        if kernels.is_empty() {
            return;
        }
        let key = |v: &Self, row| Some((v.external(row)?, v.correlation(row)?));
        let calls = self.calls(&["cudaLaunchKernel"]);
        let mut launches: Vec<((i64, i64), Row)> =
            calls.into_iter().filter_map(|row| Some((key(self, row)?, row))).collect();
        // The sort is stable, and the calls are in order of rows.
        sort_by_key(&mut launches, |launch| launch.0);
        launches.dedup_by_key(|launch| launch.0);
        for row in kernels {
            let Some(key) = key(self, row) else { continue };
            let at = launches.partition_point(|launch| launch.0 < key);
            let Some(&(_, launch)) = launches.get(at).filter(|launch| launch.0 == key) else { continue };
            let early = table.ts(launch) - table.ts(row);
            if early > 0 {
                self.violated(RuleName::KernelCausality, || {
                    format!("{} starts {early} ns before its cudaLaunchKernel", table.name(row))
                });
            }
        }
    }

    fn waits(&mut self) {
        let table = self.table;
        let mut records = Index::default();
        for row in self.calls(&EVENT_RECORDS) {
            for id in [self.external(row), self.correlation(row)].into_iter().flatten() {
                records.set((id, 0), row.index() as u32);
            }
        }
        for row in self.spans(Category::Sync) {
            let kind = self.sync_kind(row).to_string();
            if !matches!(&*kind, "Stream Wait Event" | "Event Sync") {
                continue;
            }
            let id = self.id(row, "wait_on_cuda_event_record_corr_id").filter(|&id| id >= 0);
            let Some(id) = id else {
                self.violated(RuleName::WaitHasRecord, || format!("{kind} names no call"));
                continue;
            };
            if kind != "Stream Wait Event" {
                continue;
            }
            match records.get((id, 0)).map(|at| Row::new(at as usize)) {
                None => self.violated(RuleName::WaitInPast, || format!("no cudaEventRecord has the id {id}")),
                Some(record) => {
                    let late = table.ts(record) - table.ts(row);
                    if late > 0 {
                        self.violated(RuleName::WaitInPast, || {
                            format!("the cudaEventRecord with the id {id} begins {late} ns later")
                        });
                    }
                }
            }
        }
    }

    fn synchronizations(&mut self) {
        let table = self.table;
        let id = |v: &Self, row, key| v.id(row, key).unwrap_or(i64::MIN);
        let place = |v: &Self, row| (id(v, row, "device"), id(v, row, "stream"));
        let mut waits = self.spans(Category::Sync);
        waits.retain(|&row| self.sync_kind(row) == "Stream Sync");
        if waits.is_empty() {
            return;
        }
        let mut kernels: Keyed<Vec<Row>> = Keyed::default();
        for row in self.spans(Category::Kernel) {
            kernels.entry(place(self, row)).push(row);
        }
        for row in waits {
            let ts = table.ts(row);
            let runs = |&&kernel: &&Row| table.ts(kernel) < ts && ts < table.end(kernel);
            for &kernel in kernels.get(place(self, row)).into_iter().flatten().filter(runs) {
                self.violated(RuleName::SyncOverlap, || {
                    format!("{} runs {} ns longer", table.name(kernel), table.end(kernel) - ts)
                });
            }
        }
    }

    fn collectives(&mut self) {
        let table = self.table;
        let Some(name) = table.names.find("record_param_comms") else { return };
        for row in table.rows().filter(|&row| table.ph(row) == b'X' && table.name_id(row) == name) {
            let missing: Vec<&str> =
                METADATA.into_iter().filter(|key| self.named(row, key).is_none()).collect();
            if !missing.is_empty() {
                self.violated(RuleName::CollectiveMetadata, || format!("missing: {}", missing.join(", ")));
            }
        }
    }

    fn sequences(&mut self) {
        let table = self.table;
        let mut names: Keyed<Vec<NameId>> = Keyed::default();
        let backward = table.names.that(|name| name.contains(BACKWARD));
        let is_backward = |row| backward.has(table.name_id(row)) && table.ph(row) == b'X';
        for row in table.rows().filter(|&row| is_backward(row)) {
            let number = self.id(row, "Sequence number").filter(|&number| number != 0);
            if let Some(number) = number.or_else(|| self.id(row, "seq_num")) {
                let shared = names.entry((number, 0));
                if !shared.contains(&table.name_id(row)) {
                    shared.push(table.name_id(row));
                }
            }
        }
        for ((number, _), shared) in names.into_entries().into_iter().filter(|(_, shared)| shared.len() > 1) {
            self.violated(RuleName::SequenceUnique, || {
                let shared: Vec<&str> = shared.into_iter().map(|name| table.names.get(name)).collect();
                format!("{number}: {}", shared.join(", "))
            });
        }
    }
}
