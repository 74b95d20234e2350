//! Device work in groups, and the sums of each group.

use super::classes::{Class, Classes};
use super::kernel_keys::{KernelsBy, Keys};
use super::kernel_work::KernelWork;
use crate::analysis::context::Analysis;
use crate::base::index::Index;
use crate::base::order::{descending, sort_by_key};
use crate::trace::kernel_rules::KernelCategory;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::Key;
use alloc::string::String;
use alloc::vec::Vec;

/// The activities of one name and class, or of another group.
#[derive(Clone, Debug)]
pub struct KernelGroup {
    /// The name, demangled; or the text of the group.
    pub name: String,
    /// The short form of the name.
    pub short_name: String,
    /// The class of the first activity.
    pub class: Class,
    /// The number of activities.
    pub count: usize,
    /// The sum of durations, in ns.
    pub sum_ns: i64,
    /// The shortest duration, in ns.
    pub min_ns: i64,
    /// The longest duration, in ns.
    pub max_ns: i64,
    /// Bytes copied or set; 0 if the trace does not contain them.
    pub bytes: i64,
    /// The longest activity.
    pub longest: Row,
    /// The sums of the durations of kernels that use tensor cores and of those that do not, as far as it is known, in ns.
    pub tensor_core_ns: i64,
    pub(crate) without_tensor_cores_ns: i64,
    /// Floating point operations of the activities for which they are known, and the sum of the durations of those, in
    /// ns.
    pub(super) flops: i64,
    pub(super) flops_ns: i64,
    /// The sets of classes and of categories, a bit for each.
    classes: u32,
    categories: u32,
    /// The number of kernels that use tensor cores, and of those that do not.
    tensor_cores: [usize; 2],
    occupancy: Weighted,
    blocks_per_sm: Weighted,
    /// The estimated share of SMs with a block: at most 1 for each activity.
    sms: Weighted,
    /// The mean duration, and the sum of the squares of the distances from it (Welford's algorithm).
    mean: f64,
    squares: f64,
}

/// A sum of values weighted by duration.
#[derive(Clone, Copy, Debug, Default)]
struct Weighted {
    sum: f64,
    values: f64,
    ns: i64,
    count: usize,
}

impl Weighted {
    fn add(&mut self, value: f64, ns: i64) {
        self.sum += value * ns as f64;
        self.values += value;
        self.ns += ns;
        self.count += 1;
    }

    /// The mean, weighted by duration; of activities without durations, the plain one.
    fn mean(self) -> Option<f64> {
        if self.ns > 0 { Some(self.sum / self.ns as f64) } else { self.plain() }
    }

    fn plain(self) -> Option<f64> {
        (self.count > 0).then(|| self.values / self.count as f64)
    }
}

impl KernelGroup {
    fn new((name, short_name): (String, String), class: Class, longest: Row) -> Self {
        KernelGroup {
            name,
            short_name,
            class,
            count: 0,
            sum_ns: 0,
            min_ns: i64::MAX,
            max_ns: -1,
            bytes: 0,
            longest,
            tensor_core_ns: 0,
            without_tensor_cores_ns: 0,
            flops: 0,
            flops_ns: 0,
            classes: 0,
            categories: 0,
            tensor_cores: [0; 2],
            occupancy: Weighted::default(),
            blocks_per_sm: Weighted::default(),
            sms: Weighted::default(),
            mean: 0.0,
            squares: 0.0,
        }
    }

    fn add(&mut self, table: &Table, classes: &Classes<'_>, row: Row, tensor_cores: Option<bool>) {
        let duration = table.dur(row).max(0);
        self.count += 1;
        self.sum_ns += duration;
        self.min_ns = self.min_ns.min(duration);
        if duration > self.max_ns {
            (self.max_ns, self.longest) = (duration, row);
        }
        let distance = duration as f64 - self.mean;
        self.mean += distance / self.count as f64;
        self.squares += distance * (duration as f64 - self.mean);
        self.bytes = self.bytes.saturating_add(table.bytes(row, Key::MemcpyBytes));
        self.classes |= 1 << classes.class(row) as u32;
        self.categories |= 1 << classes.category(row) as u32;
        match tensor_cores {
            Some(true) => {
                self.tensor_cores[0] += 1;
                self.tensor_core_ns += duration;
            }
            Some(false) => {
                self.tensor_cores[1] += 1;
                self.without_tensor_cores_ns += duration;
            }
            None => {}
        }
        let number = |key| table.field(row, key).and_then(|value| value.as_f64());
        if let Some(percent) = number(Key::Occupancy).filter(|&percent| percent > 0.0) {
            self.occupancy.add(percent, duration);
        }
        if let Some(blocks) = number(Key::BlocksPerSm).filter(|&blocks| blocks >= 0.0) {
            self.blocks_per_sm.add(blocks, duration);
            self.sms.add(blocks.min(1.0), duration);
        }
    }

    /// Returns the class, if all activities have the same.
    pub fn only_class(&self) -> Option<Class> {
        Class::ALL.into_iter().find(|&class| self.classes == 1 << class as u32)
    }

    /// Returns the category, if all activities have the same.
    pub fn only_category(&self) -> Option<KernelCategory> {
        KernelCategory::ALL.into_iter().find(|&category| self.categories == 1 << category as u32)
    }

    /// Returns whether any of the kernels uses tensor cores; `None` if that is not known of any, nor of all that they use none.
    pub fn uses_tensor_cores(&self) -> Option<bool> {
        let [with, without] = self.tensor_cores;
        (with > 0 || without == self.count).then_some(with > 0)
    }

    /// Returns the share of the time in kernels that use tensor cores; `None` if it is not known for most of the time.
    pub fn tensor_core_share(&self) -> Option<f64> {
        let known = self.tensor_core_ns.saturating_add(self.without_tensor_cores_ns);
        if self.sum_ns == 0 {
            return self
                .uses_tensor_cores()
                .map(|uses| f64::from(u8::from(uses && self.tensor_cores[1] == 0)));
        }
        (known >= self.sum_ns / 2).then(|| self.tensor_core_ns as f64 / self.sum_ns as f64)
    }

    /// Returns the sample standard deviation of the durations, in ns; `None` for one activity.
    pub fn std_ns(&self) -> Option<f64> {
        (self.count > 1).then(|| libm::sqrt(self.squares / (self.count - 1) as f64))
    }

    /// Returns the occupancy in percent, weighted by duration, of the activities that have one. An occupancy of 0
    /// counts as unknown: Kineto reports it wrongly for kernels with more than 48 KiB of shared memory.
    pub fn occupancy(&self) -> Option<f64> {
        self.occupancy.mean()
    }

    /// Returns the thread blocks for each SM, weighted by duration, of the kernels with this field.
    pub fn blocks_per_sm(&self) -> Option<f64> {
        self.blocks_per_sm.mean()
    }

    /// Returns the estimated share of the SMs that had a block: the mean of min(1, blocks per SM), weighted by duration,
    /// of the kernels with this field.
    pub fn sm_share(&self) -> Option<f64> {
        self.sms.mean()
    }
}

impl Analysis<'_> {
    /// Returns the groups of equal names and classes, the longest sum first, without floating point operations.
    pub fn kernel_groups(&self) -> &[KernelGroup] {
        self.once(|| groups(self, KernelsBy::Name, None))
    }
}

/// Returns every group, the longest sum first. Without the work of kernels there are no floating point operations, and only names
/// show the use of tensor cores.
pub(super) fn groups(
    analysis: &Analysis<'_>,
    by: KernelsBy,
    mut work: Option<KernelWork<'_>>,
) -> Vec<KernelGroup> {
    let table = &analysis.trace.table;
    let (classes, mut keys) = (analysis.classes(), Keys::new(analysis.trace, by));
    let mut groups: Vec<KernelGroup> = Vec::new();
    let mut index = Index::default();
    for row in table.rows().filter(|&row| table.category(row).is_device_work() && table.is_span(row)) {
        let at = index.get_or_insert(keys.key(&classes, row), groups.len() as u32) as usize;
        if at == groups.len() {
            groups.push(KernelGroup::new(keys.text(&classes, row), classes.class(row), row));
        }
        let group = &mut groups[at];
        let uses_tensor_cores = match &mut work {
            Some(work) => work.tensor_cores(&classes, row),
            None => classes.tensor_cores(row),
        };
        group.add(table, &classes, row, uses_tensor_cores);
        if let Some(flops) = work.as_mut().and_then(|work| work.flops(row)) {
            group.flops = group.flops.saturating_add(flops);
            group.flops_ns += table.dur(row).max(0);
        }
    }
    sort_by_key(&mut groups, |group| (descending(group.sum_ns), 0));
    groups
}
