//! The types of events that an activity consists of, under the names of PyTorch and Kineto.

use super::Activity;
use std::fmt;

/// A type of events: Kineto's `ActivityType`, as PyTorch's `activities=[{ProfilerActivity.CPU: ["CPU_OP"]}]` names it.
/// [`ProfilerBuilder::activity_types`](crate::ProfilerBuilder::activity_types) selects some for exported traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ActivityType {
    /// Operators, and flows between forward and backward operators.
    CpuOp,
    /// Instant events and allocations.
    CpuInstantEvent,
    /// User annotations.
    UserAnnotation,
    /// Calls of modules.
    PythonFunction,
    /// Calls of CUDA's runtime. They belong to both activities.
    CudaRuntime,
    /// Calls of CUDA's driver. They belong to both activities.
    CudaDriver,
    /// Memory copies of devices.
    GpuMemcpy,
    /// Memsets of devices.
    GpuMemset,
    /// User annotations on streams.
    GpuUserAnnotation,
    /// Kernels.
    ConcurrentKernel,
    /// Synchronizations with devices. PyTorch records them only on request.
    CudaSync,
    /// Events that were recorded on streams. PyTorch records them only on request.
    CudaEvent,
    /// The work of CUPTI.
    Overhead,
}

impl ActivityType {
    /// Every type.
    pub const ALL: [ActivityType; 13] = [
        ActivityType::CpuOp,
        ActivityType::CpuInstantEvent,
        ActivityType::UserAnnotation,
        ActivityType::PythonFunction,
        ActivityType::CudaRuntime,
        ActivityType::CudaDriver,
        ActivityType::GpuMemcpy,
        ActivityType::GpuMemset,
        ActivityType::GpuUserAnnotation,
        ActivityType::ConcurrentKernel,
        ActivityType::CudaSync,
        ActivityType::CudaEvent,
        ActivityType::Overhead,
    ];

    /// Returns PyTorch's name, such as `CPU_OP`.
    pub fn as_str(self) -> &'static str {
        match self {
            ActivityType::CpuOp => "CPU_OP",
            ActivityType::CpuInstantEvent => "CPU_INSTANT_EVENT",
            ActivityType::UserAnnotation => "USER_ANNOTATION",
            ActivityType::PythonFunction => "PYTHON_FUNCTION",
            ActivityType::CudaRuntime => "CUDA_RUNTIME",
            ActivityType::CudaDriver => "CUDA_DRIVER",
            ActivityType::GpuMemcpy => "GPU_MEMCPY",
            ActivityType::GpuMemset => "GPU_MEMSET",
            ActivityType::GpuUserAnnotation => "GPU_USER_ANNOTATION",
            ActivityType::ConcurrentKernel => "CONCURRENT_KERNEL",
            ActivityType::CudaSync => "CUDA_SYNC",
            ActivityType::CudaEvent => "CUDA_EVENT",
            ActivityType::Overhead => "OVERHEAD",
        }
    }

    /// Returns the type with this name in PyTorch.
    pub fn from_name(name: &str) -> Option<ActivityType> {
        ActivityType::ALL.into_iter().find(|of| of.as_str() == name)
    }

    /// Returns the activities that it belongs to.
    pub fn activities(self) -> &'static [Activity] {
        match self {
            ActivityType::CpuOp
            | ActivityType::CpuInstantEvent
            | ActivityType::UserAnnotation
            | ActivityType::PythonFunction => &[Activity::Cpu],
            ActivityType::CudaRuntime | ActivityType::CudaDriver => &[Activity::Cpu, Activity::Cuda],
            _ => &[Activity::Cuda],
        }
    }
}

impl fmt::Display for ActivityType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_pytorchs() {
        for of in ActivityType::ALL {
            assert_eq!(ActivityType::from_name(&of.to_string()), Some(of));
            assert!(!of.activities().is_empty());
        }
        assert_eq!(ActivityType::from_name("cpu_op"), None);
    }
}
