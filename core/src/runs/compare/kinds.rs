//! The words of a comparison.

use crate::base::words::words;

words! {
    "DiffKind"
    /// The kind of a row.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) enum RowKind {
        /// A total, which rows are parts of.
        Total = "total",
        /// How fast the same work was.
        Speed = "speed",
        /// A phase of training.
        Phase = "phase",
        /// The waiting of ranks for each other: the sum of all collectives, which can overlap.
        Wait = "wait",
        /// An operator.
        Operator = "operator",
        /// A user annotation, or a span of a program that is not PyTorch.
        Range = "range",
        /// A Python function.
        Python = "python",
        /// A call of the runtime or the driver of a device.
        Runtime = "runtime",
        /// What the host does outside of all spans.
        Other = "other",
        /// A kernel that computes.
        Kernel = "kernel",
        /// A kernel that communicates.
        Collective = "collective",
        /// A copy by a device.
        Memcpy = "memcpy",
        /// A memset by a device.
        Memset = "memset",
        /// Idle time of devices with one cause.
        Idle = "idle",
        /// The largest allocated memory of a device.
        Memory = "memory",
        /// A step.
        Step = "step",
        /// Something about the traces.
        Note = "note",
    }
}

impl RowKind {
    /// Whether it is work of a device.
    pub(crate) fn is_on_device(self) -> bool {
        (RowKind::Kernel..=RowKind::Memset).contains(&self)
    }
}

words! {
    "DiffPart"
    /// A total that rows add up to.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum DiffPart {
        /// The wall time of a step.
        Wall = "wall",
        /// The time in which devices are busy.
        DeviceBusy = "device_busy",
        /// The time in which devices are idle.
        DeviceIdle = "device_idle",
    }
}

words! {
    "DiffChange"
    /// What changed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Change {
        /// It takes longer.
        Slower = "slower",
        /// It takes less time.
        Faster = "faster",
        /// Only the second trace has it.
        New = "new",
        /// Only the first trace has it.
        Gone = "gone",
        /// It runs more often.
        MoreCalls = "more_calls",
        /// It runs less often.
        FewerCalls = "fewer_calls",
        /// Something with another name is at its place.
        Renamed = "renamed",
        /// Several became fewer.
        Fused = "fused",
        /// Several became more.
        Split = "split",
        /// It runs on another stream, or on the CPU instead of a device or the reverse.
        Moved = "moved",
        /// More memory, or more busy or idle time of devices.
        More = "more",
        /// Less of it.
        Less = "less",
        /// Nothing, as far as the noise lets it be seen.
        Same = "same",
    }
}

words! {
    "DiffCause"
    /// Why it changed, as far as the traces show it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum DiffCause {
        /// The program does something that it did not do, or no longer does.
        Work = "work",
        /// The number of calls.
        Calls = "calls",
        /// Each call takes another time with the same inputs.
        TimePerCall = "time_per_call",
        /// The shapes of the inputs.
        Shapes = "shapes",
        /// The types of the inputs.
        DataType = "data_type",
        /// Another kernel for the same operator.
        OtherKernel = "other_kernel",
        /// Operators or kernels were fused, or split.
        Fusion = "fusion",
        /// Device work runs on another stream.
        Stream = "stream",
        /// The operator runs on the CPU instead of a device, or the reverse.
        Device = "device",
        /// It waits: the host for devices, or a collective for another rank or a slow link.
        Waiting = "waiting",
        /// The collective takes as long, and less of it is hidden behind other work.
        Overlap = "overlap",
        /// Compilation.
        Compilation = "compilation",
        /// Kernels are launched one by one instead of by a CUDA graph, or the reverse.
        CudaGraph = "cuda_graph",
        /// The clock of the devices.
        Clock = "clock",
        /// All of the same work takes another time: the clock, the power, or other work on the machine.
        Machine = "machine",
    }
}
