//! What a profiler leaves out of the results of its recordings, although it was recorded: events of exported traces, and
//! what is not computed in time.

use crate::activity::Activity;
use crate::activity::types::ActivityType;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::category::Category;
use kinetoscope_core::trace::table::events::{Row, Table};
use kinetoscope_core::trace::table::layout::Key;
use kinetoscope_core::trace::table::tracks::TrackId;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// The options about results.
#[derive(Clone, Debug)]
pub(crate) struct PostProcessing {
    /// Whether exported traces have flows from forward to backward operators.
    pub(crate) has_arrows: bool,
    /// The types that are exported, of the activities that are restricted.
    types: Vec<(Activity, Vec<ActivityType>)>,
    /// How long events are computed.
    pub(crate) timeout: Option<Duration>,
}

impl Default for PostProcessing {
    fn default() -> Self {
        PostProcessing { has_arrows: true, types: Vec::new(), timeout: None }
    }
}

impl PostProcessing {
    /// Restricts an activity to these types, instead of those that were set before.
    pub(crate) fn restrict(&mut self, activity: Activity, types: &[ActivityType]) {
        self.types.retain(|known| known.0 != activity);
        self.types.push((activity, types.to_vec()));
    }

    /// Whether events of this type are exported: if one of its activities is not restricted or lists it.
    fn has_type(&self, of: ActivityType) -> bool {
        of.activities().iter().any(|activity| {
            let list = self.types.iter().find(|known| known.0 == *activity);
            list.is_none_or(|(_, types)| types.contains(&of))
        })
    }

    /// Whether events of this category are exported. Those that PyTorch does not have always are.
    fn has_category(&self, category: Category) -> bool {
        type_of(category).is_none_or(|of| self.has_type(of))
    }

    /// Returns a function that selects the events of an exported trace.
    pub(super) fn exported<'t>(&self, trace: &'t Trace) -> impl Fn(Row) -> bool + use<'t, '_> {
        let table = &trace.table;
        let launches = (!self.types.is_empty()).then(|| Launches::new(self, trace));
        move |row| {
            let is_flow = matches!(table.ph(row), b's' | b't' | b'f');
            match table.cat(row) {
                "fwdbwd" if is_flow => self.has_arrows && self.has_type(ActivityType::CpuOp),
                "ac2g" if is_flow => launches.as_ref().is_none_or(|launches| launches.has(table, row)),
                _ => self.has_category(table.category(row)),
            }
        }
    }
}

fn type_of(category: Category) -> Option<ActivityType> {
    Some(match category {
        Category::CpuOp => ActivityType::CpuOp,
        Category::UserAnnotation => ActivityType::UserAnnotation,
        Category::PythonFunction => ActivityType::PythonFunction,
        Category::CpuInstant => ActivityType::CpuInstantEvent,
        Category::Runtime => ActivityType::CudaRuntime,
        Category::Driver => ActivityType::CudaDriver,
        Category::Kernel => ActivityType::ConcurrentKernel,
        Category::Memcpy => ActivityType::GpuMemcpy,
        Category::Memset => ActivityType::GpuMemset,
        Category::GpuUserAnnotation => ActivityType::GpuUserAnnotation,
        Category::Sync => ActivityType::CudaSync,
        Category::DeviceEvent => ActivityType::CudaEvent,
        Category::Overhead => ActivityType::Overhead,
        _ => return None,
    })
}

/// The flows from calls to device work whose two ends are both exported.
struct Launches {
    /// The tracks and starts of the work, by the id of the flow.
    ends: HashMap<i64, HashSet<(TrackId, i64)>>,
}

impl Launches {
    fn new(of: &PostProcessing, trace: &Trace) -> Launches {
        let table = &trace.table;
        let mut ends: HashMap<i64, HashSet<(TrackId, i64)>> = HashMap::new();
        for &(work, call) in &trace.links.launch_of {
            let is_kept = [work, call].iter().all(|&row| of.has_category(table.category(row)));
            if let Some(id) = table.int(work, Key::Correlation).filter(|_| is_kept) {
                ends.entry(id).or_default().insert((table.track_id(work), table.ts(work)));
            }
        }
        Launches { ends }
    }

    /// Whether the begin or end of a flow is exported.
    fn has(&self, table: &Table, flow: Row) -> bool {
        let ends = table.int(flow, Key::Id).and_then(|id| self.ends.get(&id));
        let is_end = table.ph(flow) == b'f';
        ends.is_some_and(|ends| !is_end || ends.contains(&(table.track_id(flow), table.ts(flow))))
    }
}
