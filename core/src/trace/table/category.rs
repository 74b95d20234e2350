//! Categories of events. This is the only place with the category names of every dialect.

use crate::base::words::{Vocabulary, words};

words! {
    "Category"
    /// The kind of work of an event. The words are Kineto's current names; older and vendor-specific names map to them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Category {
        /// An operator on the CPU (`cpu_op`, 2021's `Operator`).
        CpuOp = "cpu_op",
        /// A user annotation (`user_annotation`).
        UserAnnotation = "user_annotation",
        /// A Python call (`python_function`).
        PythonFunction = "python_function",
        /// A call of the device runtime (`cuda_runtime`, `Runtime`, `mtia_runtime`, `xpu_runtime`, …).
        Runtime = "cuda_runtime",
        /// A call of the device driver (`cuda_driver`, …).
        Driver = "cuda_driver",
        /// A kernel on a device (`kernel`, `Kernel`, `mtia_ccp_events`, …).
        Kernel = "kernel",
        /// A memory copy by a device (`gpu_memcpy`, `Memcpy`).
        Memcpy = "gpu_memcpy",
        /// A memset by a device (`gpu_memset`, `Memset`).
        Memset = "gpu_memset",
        /// A user annotation on a device stream (`gpu_user_annotation`).
        GpuUserAnnotation = "gpu_user_annotation",
        /// A synchronization with a device (`cuda_sync`, `xpu_sync`).
        Sync = "cuda_sync",
        /// An event recorded on a device stream (`cuda_event`).
        DeviceEvent = "cuda_event",
        /// The profiler's own work (`overhead`).
        Overhead = "overhead",
        /// An instant event on the CPU, usually `[memory]` (`cpu_instant_event`).
        CpuInstant = "cpu_instant_event",
        /// The profiler's own span over the whole recording (`Trace`).
        Window = "Trace",
        /// Anything else.
        Other = "other",
    }
}

impl Category {
    /// The words of all categories except [`Category::Other`]: Kineto's current names, which tables show as they are.
    pub const NAMED: Vocabulary = Category::VOCABULARY.without_last().names();

    /// The category of an event with this `cat`, which may be a comma-separated list; its first entry counts.
    pub fn from_name(text: &str) -> Category {
        use Category::*;
        match text.split(',').next().unwrap_or(text) {
            "cpu_op" | "Operator" | "operator" => CpuOp,
            "user_annotation" => UserAnnotation,
            "python_function" => PythonFunction,
            "cuda_runtime"
            | "Runtime"
            | "mtia_runtime"
            | "xpu_runtime"
            | "glow_runtime"
            | "privateuse1_runtime"
            | "hip_runtime"
            | "runtime" => Runtime,
            "cuda_driver" | "xpu_driver" | "privateuse1_driver" | "driver" => Driver,
            "kernel" | "Kernel" | "mtia_ccp_events" | "hpu_op" | "collective_comm" => Kernel,
            "gpu_memcpy" | "Memcpy" => Memcpy,
            "gpu_memset" | "Memset" => Memset,
            "gpu_user_annotation" => GpuUserAnnotation,
            "cuda_sync" | "xpu_sync" => Sync,
            "cuda_event" => DeviceEvent,
            "overhead" => Overhead,
            "cpu_instant_event" => CpuInstant,
            "Trace" => Window,
            _ => Other,
        }
    }

    /// Whether it is work of a device, which occupies a stream.
    pub fn is_device_work(self) -> bool {
        matches!(self, Category::Kernel | Category::Memcpy | Category::Memset)
    }

    /// Whether its events are on device tracks, whose `pid` is a device ordinal and whose `tid` is a stream.
    pub fn is_on_device(self) -> bool {
        self.is_device_work()
            || matches!(self, Category::GpuUserAnnotation | Category::Sync | Category::DeviceEvent)
    }

    /// Whether it is a call on the CPU that can start device work.
    pub fn is_launch_call(self) -> bool {
        matches!(self, Category::Runtime | Category::Driver)
    }
}
