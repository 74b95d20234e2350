//! What can be limited.

use super::quantity::Unit;
use crate::analysis::overview::findings::FindingCode;
use crate::analysis::query::question::Question;
use crate::base::words::words;

words! {
    "BudgetMetric"
    /// A number that a trace measures. Times are per step.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Metric {
        /// The median wall time of a step.
        Step = "step",
        /// The time in which devices are busy.
        DeviceBusy = "device_busy",
        /// The time in which devices are idle.
        DeviceIdle = "device_idle",
        /// Idle time of devices with one cause.
        Idle = "idle",
        /// Exposed communication.
        Communication = "communication",
        /// The self time of an operator.
        Operator = "operator",
        /// The time of an annotation outside of what runs inside it.
        Range = "range",
        /// The time of a kernel, a copy or a memset.
        Kernel = "kernel",
        /// The peak of allocated memory of a device.
        Memory = "memory",
        /// The number of calls that launch device work.
        Launches = "launches",
        /// The number of compilations in all steps.
        Recompilations = "recompilations",
        /// Findings that must not appear.
        Findings = "findings",
    }
}

impl Metric {
    /// Whether each budget of it is about a name.
    pub(crate) fn is_named(self) -> bool {
        matches!(self, Metric::Idle | Metric::Operator | Metric::Range | Metric::Kernel | Metric::Memory)
    }

    /// The unit of its values.
    pub(crate) fn unit(self) -> Unit {
        match self {
            Metric::Memory => Unit::Bytes,
            Metric::Launches | Metric::Recompilations | Metric::Findings => Unit::Count,
            _ => Unit::Ns,
        }
    }

    /// The kind of question that a trace must be able to answer.
    pub(crate) fn question(self) -> Option<Question> {
        Some(match self {
            Metric::Step => Question::Steps,
            Metric::DeviceBusy | Metric::Kernel => Question::DeviceTime,
            // Launches are calls, without which idle time has no cause either.
            Metric::DeviceIdle | Metric::Idle | Metric::Launches => Question::Idle,
            Metric::Communication => Question::Communication,
            Metric::Operator | Metric::Recompilations => Question::Operators,
            Metric::Memory => Question::Memory,
            Metric::Range | Metric::Findings => return None,
        })
    }
}

/// The kind of question that a trace must be able to answer to show that it does not have a finding.
pub(super) fn question_of(finding: FindingCode) -> Option<Question> {
    use FindingCode as F;
    Some(match finding {
        F::PageableCopies
        | F::SlowCopies
        | F::NoTensorCores
        | F::MisalignedProducts
        | F::EagerAttention
        | F::ElementwiseKernels
        | F::Conversions
        | F::LayoutCopies => Question::DeviceTime,
        F::HostBound
        | F::GpuIdle
        | F::ExposedCommunication
        | F::Synchronization
        | F::CachingAllocator
        | F::ColdStart
        | F::GraphCapture => Question::Idle,
        F::DataLoading
        | F::GarbageCollection
        | F::DataParallel
        | F::HostCollectives
        | F::AntiPattern
        | F::UnfusedOptimizer => Question::Operators,
        F::MemoryNearlyFull => Question::Memory,
        F::UnevenSteps => Question::Steps,
        F::BlockingPolls | F::TraceIncomplete | F::OverlappingSpans => return None,
    })
}
