//! What an event is, from its `ph` and `cat`: the one place that knows the category names of every dialect.

/// The kind of work an event stands for. Names are Kineto's; older and vendor names map onto them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// An operator on the CPU (`cpu_op`, 2021's `Operator`).
    CpuOp,
    /// A range that the user named (`user_annotation`).
    UserAnnotation,
    /// A Python call (`python_function`).
    PythonFunction,
    /// A call of the device runtime (`cuda_runtime`, `Runtime`, `mtia_runtime`, `xpu_runtime`, …).
    Runtime,
    /// A call of the device driver (`cuda_driver`, …).
    Driver,
    /// A kernel on a device (`kernel`, `Kernel`, `mtia_ccp_events`, …).
    Kernel,
    /// A copy by a device (`gpu_memcpy`, `Memcpy`).
    Memcpy,
    /// A fill by a device (`gpu_memset`, `Memset`).
    Memset,
    /// A user's range as seen on a device stream (`gpu_user_annotation`).
    GpuUserAnnotation,
    /// Waiting for a device (`cuda_sync`, `xpu_sync`).
    Sync,
    /// An event that was recorded on a device stream (`cuda_event`).
    DeviceEvent,
    /// The profiler's own work (`overhead`).
    Overhead,
    /// A moment on the CPU, `[memory]` above all (`cpu_instant_event`).
    CpuInstant,
    /// The profiler's own span over the whole recording (`Trace`).
    Window,
    /// Anything else.
    Other,
}

impl Category {
    /// The category of an event whose `cat` is `text`. `cat` may be a comma separated list; its first entry counts.
    pub fn of(text: &str) -> Category {
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

    /// Work that a device did: it occupies a stream.
    pub fn is_device_work(self) -> bool {
        matches!(self, Category::Kernel | Category::Memcpy | Category::Memset)
    }

    /// The event stands on a device's row, so its `pid` is a device ordinal and its `tid` a stream.
    pub fn is_on_device(self) -> bool {
        self.is_device_work()
            || matches!(self, Category::GpuUserAnnotation | Category::Sync | Category::DeviceEvent)
    }

    /// A call on the CPU that can start device work.
    pub fn is_launch_call(self) -> bool {
        matches!(self, Category::Runtime | Category::Driver)
    }

    /// Kineto's present name of the category; `other` where there is none.
    pub fn as_str(self) -> &'static str {
        use Category::*;
        match self {
            CpuOp => "cpu_op",
            UserAnnotation => "user_annotation",
            PythonFunction => "python_function",
            Runtime => "cuda_runtime",
            Driver => "cuda_driver",
            Kernel => "kernel",
            Memcpy => "gpu_memcpy",
            Memset => "gpu_memset",
            GpuUserAnnotation => "gpu_user_annotation",
            Sync => "cuda_sync",
            DeviceEvent => "cuda_event",
            Overhead => "overhead",
            CpuInstant => "cpu_instant_event",
            Window => "Trace",
            Other => "other",
        }
    }
}
