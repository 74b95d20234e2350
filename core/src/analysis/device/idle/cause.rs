//! Causes of idle time, and what the name of a span shows about it.

use crate::analysis::device::names::{is_data_loading, is_sync_name};
use crate::base::words::words;
use crate::trace::table::category::Category;

words! {
    "Cause"
    /// Why a device or a stream was idle at an instant.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Cause {
        /// The host waited for data.
        DataLoading = "data_loading",
        /// The host was in a call that copies from the host to a device.
        HostToDeviceCopy = "host_to_device_copy",
        /// The host waited for a device.
        Synchronization = "synchronization",
        /// The host allocated or freed memory of a device, or pinned memory.
        Allocation = "allocation",
        /// The host compiled code or loaded modules of kernels.
        Compilation = "compilation",
        /// The host used something for the first time: it created a context, or loaded the code of a kernel in a launch call.
        ColdStart = "cold_start",
        /// The host captured a CUDA graph: what it launched meanwhile did not run.
        GraphCapture = "graph_capture",
        /// Python collected garbage.
        GarbageCollection = "garbage_collection",
        /// The host waited for a lock.
        Lock = "lock",
        /// The host was in a call that launches work, or in a call of the runtime or the driver that is none of the above.
        Launch = "launch",
        /// The host was in an operator.
        Operator = "operator",
        /// The host was in an optimizer.
        Optimizer = "optimizer",
        /// The host was in autograd, outside of operators.
        Autograd = "autograd",
        /// The host was in other code: Python functions and annotated ranges.
        UserCode = "user_code",
        /// The work was launched, and other streams of the device were busy.
        OtherStream = "other_stream",
        /// The work was launched and had not begun.
        Queued = "queued",
        /// The profiler itself worked.
        ProfilerOverhead = "profiler_overhead",
        /// It was not recorded: the device still did work from before the recording, the recording was paused, a filter left
        /// out the launches, a CUDA graph launched the work itself, or the stream had not begun or had ended.
        NotRecorded = "not_recorded",
        /// The trace shows nothing.
        Unknown = "unknown",
    }
}

/// What a span says about the host while it is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// The cause, whatever happens inside of the span.
    Whole(Cause),
    /// A call of the runtime or the driver.
    Call(Cause),
    /// An operator, an optimizer, autograd or other code: what is inside can say more.
    Code(Cause),
    /// Code that waits for the threads of autograd.
    Waiting,
}

/// What the name of a span shows about idle time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameSign(Sign);

/// Returns what the name of a span of a category shows.
pub fn name_sign(category: Category, name: &str) -> NameSign {
    NameSign(sign(category, name))
}

/// Returns the sign of spans of a category with this name.
pub(super) fn sign(category: Category, name: &str) -> Sign {
    use Cause::{
        Autograd, Compilation, DataLoading, GarbageCollection, Lock, Operator, Optimizer, ProfilerOverhead,
        UserCode,
    };
    match category {
        Category::Overhead if is_loading(name) => Sign::Whole(Compilation),
        Category::Overhead => Sign::Whole(ProfilerOverhead),
        Category::Runtime | Category::Driver => Sign::Call(call(name)),
        _ if is_compilation(name) => Sign::Whole(Compilation),
        Category::PythonFunction if name == "Python GC" || name == "<built-in function collect>" => {
            Sign::Whole(GarbageCollection)
        }
        Category::PythonFunction if is_lock(name) => Sign::Whole(Lock),
        Category::PythonFunction if name.contains("run_backward") => Sign::Waiting,
        Category::CpuOp | Category::UserAnnotation if is_data_loading(name) => Sign::Whole(DataLoading),
        Category::CpuOp | Category::UserAnnotation if name.starts_with("Optimizer.") => Sign::Code(Optimizer),
        Category::CpuOp if name.starts_with("autograd::engine::") => Sign::Code(Autograd),
        Category::CpuOp if !name.starts_with("ProfilerStep#") => Sign::Code(Operator),
        _ => Sign::Code(UserCode),
    }
}

/// Returns the cause that everything inside of a span has: loading data, or compiling.
pub(crate) fn whole_cause(category: Category, name: &str) -> Option<Cause> {
    match sign(category, name) {
        Sign::Whole(cause @ (Cause::DataLoading | Cause::Compilation)) => Some(cause),
        _ => None,
    }
}

/// The cause of idle time during a call of the runtime or driver.
fn call(name: &str) -> Cause {
    const ALLOCATION: [&str; 9] = [
        "Malloc",
        "Free",
        "HostAlloc",
        "HostRegister",
        "HostUnregister",
        "MemAlloc",
        "MemCreate",
        "MemMap",
        "MemGetInfo",
    ];
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    if is_sync_name(name) || has(&["EventQuery", "StreamQuery"]) {
        Cause::Synchronization
    } else if has(&["GraphInstantiate"]) {
        Cause::GraphCapture
    } else if has(&ALLOCATION) {
        Cause::Allocation
    } else if has(&["Module", "Library", "LinkCreate", "LinkAdd", "LinkComplete"]) && !name.contains("Launch")
    {
        Cause::Compilation
    } else {
        Cause::Launch
    }
}

fn is_loading(name: &str) -> bool {
    name == "Lazy Function Loading" || name == "Runtime Triggered Module Loading"
}

fn is_compilation(name: &str) -> bool {
    const STARTS: [&str; 4] = ["_compile.", "compile_fx", "OutputGraph.", "torch/_dynamo/convert_frame.py"];
    const PARTS: [&str; 5] = [
        "(dynamo_timed)",
        "triton/compiler/compiler.py",
        "backend_compile",
        "create_aot_dispatcher_function",
        "TritonCompile",
    ];
    STARTS.iter().any(|start| name.starts_with(start)) || PARTS.iter().any(|part| name.contains(part))
}

/// Whether a Python function waits for a lock or a condition.
fn is_lock(name: &str) -> bool {
    name.starts_with("<built-in method acquire of _thread")
        || name.contains("threading.py") && name.ends_with(": wait")
}
