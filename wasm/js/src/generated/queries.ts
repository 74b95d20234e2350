// Written by `BLESS=1 cargo test -p kinetoscope-tests --test engine typescript` from the engine's lists of queries and exports.

/** How many frames of the stack a group is made by. */
export type StackGroup = `stack:${number}`;

/** A Unix time in ns as text, for `BigInt`: a number would lose digits, and JSON has no `BigInt`. */
export type UnixNs = `${bigint}`;

export type EngineErrorCode =
  | "empty" | "not_a_trace" | "output" | "bad_option" | "unfit";

export type DiagnosticCode =
  | "compressed_cut" | "compressed_damaged" | "compressed_trailing" | "utf16" | "byte_order_mark"
  | "truncated" | "memory_limit" | "repeated_values" | "outside_window" | "unclosed"
  | "damaged_event" | "stray_bytes" | "not_an_object" | "missing_comma" | "trailing_comma"
  | "bare_word" | "bad_number" | "unescaped_quote" | "unescaped_backslash" | "control_character"
  | "invalid_utf8" | "lone_surrogate" | "duplicate_key" | "damaged_metadata" | "event_too_large"
  | "nesting_too_deep" | "name_too_long" | "trailing_document" | "missing_phase" | "missing_time"
  | "missing_duration" | "negative_duration" | "time_rounded" | "time_adjusted" | "time_out_of_range"
  | "unlikely_unit" | "nanoseconds" | "duration_shortened" | "size_clamped" | "unmatched_begin"
  | "unmatched_end" | "mismatched_end" | "unmatched_async" | "ambiguous_frame" | "ambiguous_async"
  | "unmatched_flow" | "overlapping_spans" | "not_recorded" | "kernel_without_launch"
  | "launch_without_kernel" | "repeated_id" | "ambiguous_link" | "lost_sample" | "async_apart"
  | "sample_stack" | "sample_time" | "sample_weight" | "event_stack" | "negative_correlation"
  | "no_forward_thread" | "no_start_record" | "late_start_record" | "start_unknown" | "unknown_kind"
  | "repeated_push" | "hidden_record" | "unmatched_push" | "dropped_record" | "cut_argument"
  | "ended_out_of_order" | "open_span" | "unknown_name" | "history_overflowed" | "unmatched_pop";

export type Severity =
  | "note" | "repaired" | "lost";

export type Relation =
  | "self" | "ancestor" | "launch" | "operator" | "device_work" | "forward" | "backward"
  | "flow_from" | "flow_to";

export type DeviceType =
  | "CPU" | "CUDA" | "MKLDNN" | "OPENGL" | "OPENCL" | "IDEEP" | "HIP" | "FPGA" | "MAIA" | "XLA"
  | "Vulkan" | "Metal" | "XPU" | "MPS" | "Meta" | "HPU" | "VE" | "Lazy" | "IPU" | "MTIA"
  | "PrivateUse1";

export type WorkClass =
  | "compute" | "communication" | "memcpy" | "memset";

export type KernelCategory =
  | "gemm" | "convolution" | "attention" | "kv_cache" | "norm" | "elementwise" | "reduction"
  | "softmax" | "embedding" | "indexing" | "moe_gemm" | "moe_routing" | "moe_finalize"
  | "moe_dispatch" | "sampling" | "pooling" | "interpolation" | "optimizer" | "sort_scan" | "random"
  | "fft" | "quantization" | "layout" | "copy" | "memset" | "communication" | "wait" | "other";

export type SourceBy =
  | "inductor" | "kernel_name" | "graph_node" | "stack" | "generated_file";

export type FitnessQuestion =
  | "operators" | "device_time" | "idle" | "communication" | "memory" | "steps";

export type FitnessVerdict =
  | "good" | "limited" | "unfit";

export type Cause =
  | "data_loading" | "host_to_device_copy" | "synchronization" | "allocation" | "compilation"
  | "cold_start" | "graph_capture" | "garbage_collection" | "lock" | "launch" | "operator"
  | "optimizer" | "autograd" | "user_code" | "other_stream" | "queued" | "profiler_overhead"
  | "not_recorded" | "unknown";

export type PathPart =
  | "compute" | "communication" | "memcpy" | "memset" | "launch_delay" | "kernel_gap" | "stream_wait"
  | "synchronization_delay" | "queue_full" | "thread_delay" | "data_loading" | "host_to_device_copy"
  | "synchronization" | "allocation" | "compilation" | "cold_start" | "graph_capture"
  | "garbage_collection" | "lock" | "launch" | "operator" | "optimizer" | "autograd" | "user_code"
  | "profiler_overhead" | "not_recorded" | "unknown";

export type RanksKind =
  | "run" | "note" | "fitness" | "straggler" | "slow_node" | "slow_link" | "clock" | "rank" | "group"
  | "bandwidth" | "step" | "rank_step" | "collective";

export type Phase =
  | "data_loading" | "forward" | "backward" | "optimizer" | "communication" | "other";

export type MatchedBy =
  | "sequence_number" | "comms_id" | "order" | "pair";

export type ClockMethod =
  | "reference" | "ends_of_collectives";

export type RunNote =
  | "unreadable" | "skipped" | "no_events" | "merged_trace" | "partial" | "missing_rank"
  | "duplicate_rank" | "contradictory_rank" | "assumed_rank" | "another_run" | "mixed_schema"
  | "distant_clock" | "missing_calls" | "skewed_start" | "arrives_last" | "lateness_unknown"
  | "calls_left_out";

export type Parallelism =
  | "data" | "tensor" | "pipeline" | "expert" | "context" | "unknown";

export type CollectiveName =
  | "all_reduce" | "all_gather" | "reduce_scatter" | "all_to_all" | "broadcast" | "reduce" | "gather"
  | "scatter" | "barrier" | "send" | "recv" | "send_recv" | "other";

export type FlopsKind =
  | "total" | "operator";

export type Bound =
  | "compute" | "memory";

export type CompiledRowKind =
  | "graph" | "kernel" | "break";

export type CompiledKind =
  | "forward" | "backward" | "inference";

export type CompiledMatchedBy =
  | "key" | "file" | "region" | "names" | "equal_graphs";

export type CoverageKind =
  | "captured" | "total" | "dynamo_captured" | "dynamo_total" | "graph" | "missed";

export type MemoryKind =
  | "device" | "at_peak" | "step" | "kept" | "out_of_memory" | "segments";

export type ServingKind =
  | "total" | "phase" | "batch" | "graph" | "iteration";

export type ServingBound =
  | "compute" | "bandwidth" | "kernels" | "communication" | "copies" | "queued" | "launch" | "host"
  | "between";

export type EventTreeTag =
  | "TorchOp" | "Allocation" | "OutOfMemory" | "PyCall" | "PyCCall" | "PythonGC" | "Kineto";

export type Category =
  | "cpu_op" | "user_annotation" | "python_function" | "cuda_runtime" | "cuda_driver" | "kernel"
  | "gpu_memcpy" | "gpu_memset" | "gpu_user_annotation" | "cuda_sync" | "cuda_event" | "overhead"
  | "cpu_instant_event" | "Trace";

export type CounterUnit =
  | "bytes" | "count" | "share" | "bytes_per_second";

export type TrackKind =
  | "host" | "device";

export type CheckKind =
  | "identity" | "rule" | "note" | "repaired" | "lost";

export type DiffKind =
  | "total" | "speed" | "phase" | "wait" | "operator" | "range" | "python" | "runtime" | "other"
  | "kernel" | "collective" | "memcpy" | "memset" | "idle" | "memory" | "step" | "note";

export type DiffChange =
  | "slower" | "faster" | "new" | "gone" | "more_calls" | "fewer_calls" | "renamed" | "fused"
  | "split" | "moved" | "more" | "less" | "same";

export type DiffPart =
  | "wall" | "device_busy" | "device_idle";

export type DiffCause =
  | "work" | "calls" | "time_per_call" | "shapes" | "data_type" | "other_kernel" | "fusion"
  | "stream" | "device" | "waiting" | "overlap" | "compilation" | "cuda_graph" | "clock" | "machine";

export type TrendKind =
  | "series" | "change";

export type BudgetUnit =
  | "ns" | "bytes" | "count";

export type BudgetOutcome =
  | "pass" | "breach" | "unfit";

export type BudgetMetric =
  | "step" | "device_busy" | "device_idle" | "idle" | "communication" | "operator" | "range"
  | "kernel" | "memory" | "launches" | "recompilations" | "findings";

export type BudgetRule =
  | "max" | "max_increase" | "no_significant_increase" | "forbid";

export type OutlineKind =
  | "trace" | "category" | "track" | "name";

export type BoundBy =
  | "gpu_compute" | "memory_bandwidth" | "communication" | "copies" | "host_launch" | "host_python"
  | "data_loading" | "synchronization" | "allocation" | "cold_start" | "graph_capture"
  | "cpu_operators" | "profiler" | "cannot_tell";

export type FitnessCode =
  | "no_operators" | "no_device_work" | "no_device" | "no_communication" | "no_memory"
  | "host_memory_only" | "no_steps" | "launches_without_work" | "work_without_launch" | "filtered"
  | "lost" | "paused" | "before_recording" | "sampled" | "profiler_replay" | "graphs" | "attribution"
  | "clocks" | "one_collective" | "other_ranks" | "unnamed_groups" | "missing_steps" | "cut_step"
  | "cold_step" | "device_properties" | "validator";

export type FindingCode =
  | "host_bound" | "gpu_idle" | "exposed_communication" | "pageable_copies" | "slow_copies"
  | "synchronization" | "data_loading" | "caching_allocator" | "garbage_collection" | "cold_start"
  | "graph_capture" | "no_tensor_cores" | "misaligned_products" | "eager_attention"
  | "elementwise_kernels" | "conversions" | "layout_copies" | "unfused_optimizer" | "data_parallel"
  | "host_collectives" | "memory_nearly_full" | "anti_pattern" | "uneven_steps" | "blocking_polls"
  | "trace_incomplete" | "overlapping_spans";

export interface RunBound {
  /** What it is. */
  by: BoundBy;
  /** Its share of the wall time; of limits of the host that work of a device hides, how long the host worked on it. */
  share: number;
  /** The limit in one sentence. */
  message: string;
  /** All limits with their shares, the largest first. */
  parts: RunBoundPart[];
  /** The share of the time in which the host worked; null for limits of the host, and where the trace does not show when work was launched. */
  host_share: number | null;
}

export interface RunBoundPart {
  /** What it is. */
  by: BoundBy;
  /** Its share of the wall time. */
  share: number;
}

export interface Fitness {
  /** The kind of question. */
  question: FitnessQuestion;
  /** Whether the trace can answer it. */
  verdict: FitnessVerdict;
  /** The reasons, the most serious first. */
  reasons: FitnessReason[];
}

export interface FitnessReason {
  /** The kind of reason. */
  code: FitnessCode;
  /** What was found. */
  message: string;
  /** The number of events that it is about. */
  count: number;
  /** The index of the first of them. */
  first_event: number | null;
}

export interface DeviceTime {
  /** The number of the device in the trace. */
  device: string;
  /** The number of kernels, memcpys and memsets. */
  activities: number;
  /** The time from the start of the first activity to the end of the last. */
  window_ns: number;
  /** Sum of their durations. */
  sum_ns: number;
  /** The time during which any of them ran. */
  busy_ns: number;
  /** The window minus the busy time. */
  idle_ns: number;
  /** The times of each class of work. */
  classes: ClassTime[];
  /** The idle time by cause, without causes that do not occur. */
  idle_causes: IdleCause[];
}

export interface ClassTime {
  /** The class of work. */
  class: WorkClass;
  /** The number of activities. */
  count: number;
  /** Sum of their durations. */
  sum_ns: number;
  /** The time during which any of them ran. */
  busy_ns: number;
  /** The part of that time during which no other class ran. */
  exposed_ns: number;
}

export interface IdleCause {
  /** The cause. */
  cause: Cause;
  /** The idle time with this cause. */
  time_ns: number;
}

export interface TopOperator {
  /** The name of the operator. */
  name: string;
  /** The number of calls. */
  count: number;
  /** CPU time, excluding callees. */
  self_cpu_time_total_ns: number;
  /** CPU time, including callees. */
  cpu_time_total_ns: number;
  /** Sum of the durations of the device work that it and its callees launched. */
  device_time_total_ns: number;
}

export interface TopKernel {
  /** The name of the kernel, copy or memset. */
  name: string;
  /** The class of work. */
  class: WorkClass;
  /** The number of times it ran. */
  count: number;
  /** Sum of the durations. */
  sum_ns: number;
}

export interface IdleGap {
  /** The number of the device in the trace. */
  device: string;
  /** The start of the gap, after the start of the recording. */
  start_ns: number;
  /** The length of the gap. */
  idle_ns: number;
  /** The cause of most of it. */
  cause: Cause;
  /** The activity that ended the gap. */
  after: string;
  /** The stream of that activity. */
  stream: string;
}

export interface TopTrack {
  /** The name of the thread or stream. */
  name: string;
  /** The number of spans. */
  spans: number;
  /** The time of the outermost spans. */
  time_ns: number;
}

export interface TopFunction {
  /** The name of the function. */
  name: string;
  /** The number of samples in the function itself. */
  own: number;
  /** The number of samples in it and in what it called. */
  samples: number;
}

export interface DeviceMemory {
  /** CPU, CUDA 0, …. */
  device: string;
  /** The number of segments. */
  segments: number;
  /** What the allocator has reserved. */
  reserved_bytes: number;
  /** What of it is allocated. */
  allocated_bytes: number;
  /** The size of the largest block that is free. */
  largest_free_bytes: number;
}

export interface Finding {
  /** The kind of finding. */
  code: FindingCode;
  /** What a replay without it saves if nothing else changes; null if unknown. */
  saving_ns: number | null;
  /** What it saves in addition to the findings before it; null if unknown. */
  added_ns: number | null;
  /** How far the replay without changes is from the recorded time. */
  saving_error_ns: number | null;
  /** Whether the saving is that of an ideal, which no single setting reaches. */
  ideal: boolean;
  /** The time it took at most; 0 if it affects data quality and not time. */
  cost_ns: number;
  /** The cause of idle time that it is about. */
  cause: Cause | null;
  /** What was found. */
  message: string;
  /** What to do. */
  advice: string;
  /** The indices of events that show it. */
  events: number[];
  /** The command that shows it, without the trace. */
  command: string;
}

export interface Behind {
  /** The name of the operator, range, function, call or activity. */
  name: string;
  /** Its category. */
  kind: string;
  /** The time that it stood behind. */
  time_ns: number;
  /** The index of the event with most of that time. */
  event: number;
}

export interface EventKernel {
  /** The name of the device work. */
  name: string;
  /** The number of its device. */
  device: number;
  /** Its duration. */
  duration_ns: number;
}

export interface Argument {
  /** The type, such as Tensor(float), Int or GenericList[Int]. */
  type: string;
  /** The sizes of a tensor, or of the tensors of a list; null if the file has none. */
  shape: unknown[] | null;
  /** The strides of a tensor, in elements, or those of the tensors of a list; null before schema 1.1.1. */
  stride: unknown;
  /** The value; of a tensor its id, the id of its storage, the offset in it, the number of elements, their size in bytes, and the device. */
  value: unknown;
}

export interface DiffPlace {
  /** The innermost annotation or module around it. */
  within: string;
  /** The change of the time there, per step. */
  contribution_ns: number;
}

export interface PreviewTop {
  /** The name. */
  name: string;
  /** The number of events so far. */
  count: number;
  /** Sum of their durations. */
  sum_ns: number;
}

/** The numbers of a trace that is still being read. */
export interface PreviewSummary {
  /** The number of objects of traceEvents read so far. */
  events: number;
  /** The number of events of the category cpu_op so far. */
  operators: number;
  /** The number of kernels, memcpys and memsets so far. */
  kernels: number;
  /** The time from the start of the first event to the end of the last one so far. */
  wall_ns: number;
  /** Sum of the durations of kernels, memcpys and memsets so far. */
  device_sum_ns: number;
  /** Operators by total time so far, including callees. */
  top_operators: PreviewTop[];
  /** Kernels, memcpys and memsets by time so far. */
  top_kernels: PreviewTop[];
}

/** A limit that was checked. */
export interface BudgetRow {
  /** The trace. */
  trace: string;
  /** Whether the limit holds. */
  outcome: BudgetOutcome;
  /** What is limited. */
  metric: BudgetMetric;
  /** The name in the budget; empty for metrics without names. */
  name: string;
  /** The kind of limit. */
  rule: BudgetRule;
  /** The value of the trace, in the unit; null if nothing has the name. */
  value: number | null;
  /** The largest value that is allowed. */
  limit: number | null;
  /** The mean value of the base. */
  base: number | null;
  /** The unit of these values. */
  unit: BudgetUnit;
  /** A sentence about the outcome. */
  message: string;
}

/** A change of a metric, or a metric over all runs of a history; of the kind change. */
export interface TrendChangeRow {
  kind: "change";
  /** The metric, with the name that it is about. */
  metric: string;
  /** The unit of the values. */
  unit: BudgetUnit;
  /** The number of the first run after the change, from 1; of a series, the number of runs. */
  run: number;
  /** The commit of that run; empty if unknown. Of a series, that of the last run. */
  commit: string;
  /** The mean before the change, since the change before it; of a series, its first level. */
  before: number;
  /** The mean after the change, until the next one; of a series, its last level. */
  after: number;
  /** The change as a share of the value before; null if that is 0. */
  change: number | null;
  /** The share of permutations with as large a change. */
  probability: number;
}

/** A change of a metric, or a metric over all runs of a history; of the kind series. */
export interface TrendSeriesRow {
  kind: "series";
  /** The metric, with the name that it is about. */
  metric: string;
  /** The unit of the values. */
  unit: BudgetUnit;
  /** The number of the first run after the change, from 1; of a series, the number of runs. */
  run: number;
  /** The commit of that run; empty if unknown. Of a series, that of the last run. */
  commit: string;
  /** The mean before the change, since the change before it; of a series, its first level. */
  before: number;
  /** The mean after the change, until the next one; of a series, its last level. */
  after: number;
  /** The change as a share of the value before; null if that is 0. */
  change: number | null;
  /** The value of each run, or null. */
  values: unknown[] | null;
}

/** A change of a metric, or a metric over all runs of a history; `kind` determines which columns it has. */
export type TrendRow = TrendChangeRow | TrendSeriesRow;

/** A run of a history. */
export interface TrendRun {
  /** The number of the run, from 1. */
  run: number;
  /** The commit; empty if unknown. */
  commit: string;
  /** The machine; empty if unknown. */
  host: string;
  /** The Unix time of the line, in s; 0 if unknown. */
  time_s: number;
}

/** The total of some events of a trace. */
export interface OutlineRow {
  /** What the row is about. */
  kind: OutlineKind;
  /** The name of the events, or of the thread or stream. */
  name: string;
  /** The category of the events; empty for all of a track. */
  category: string;
  /** The number of objects of traceEvents. */
  events: number;
  /** The number of complete events (`ph` is `X`). */
  spans: number;
  /** The sum of the durations of complete events; nested events count each. */
  sum_ns: number;
  /** The longest of these durations. */
  longest_ns: number;
  /** The earliest start, after the start of the recording. */
  start_ns: number | null;
  /** The latest end, after the start of the recording. */
  end_ns: number | null;
}

/** A track of an outline. */
export interface OutlineTrack {
  /** The number of the track, as `density` takes it. */
  track: number;
  /** host for a thread, device for a stream. */
  kind: TrackKind;
  /** The name of the process or device. */
  process: string;
  /** The name of the thread or stream. */
  thread: string;
  /** The pid in the file. */
  pid: string;
  /** The tid in the file. */
  tid: string;
  /** The number of objects of traceEvents. */
  events: number;
  /** The number of complete events and of begin events (`ph` is `X` or `B`). */
  spans: number;
  /** The earliest start, after the start of the recording. */
  start_ns: number | null;
  /** The latest end, after the start of the recording. */
  end_ns: number | null;
  /** The largest mean number of events that last at the same time. */
  most_open: number;
}

/** Options of `summary`. */
export interface SummaryOptions {
}

/** A row of `summary`. */
export interface SummaryRow {
  /** The time from the start of the first event to the end of the last. */
  wall_ns: number;
  /** The number of profiler steps. */
  steps: number;
  /** The mean wall time of a step. */
  mean_step_ns: number | null;
  /** The sum of the self CPU times of all operators: PyTorch's “Self CPU time total”. */
  self_cpu_time_total_ns: number;
  /** What bounds the run; null without operators and device work. */
  bound: RunBound | null;
  /** Which questions the trace can answer. */
  fitness: Fitness[];
  /** The time of each device. */
  devices: DeviceTime[];
  /** Operators by self CPU time. */
  top_operators: TopOperator[];
  /** Kernels, memcpys and memsets by time. */
  top_kernels: TopKernel[];
  /** The longest idle gaps of the devices. */
  top_idle: IdleGap[];
  /** Tracks by time, for traces without operators. */
  top_tracks: TopTrack[];
  /** Functions by their samples of call stacks, for traces with samples. */
  top_functions: TopFunction[];
  /** The memory of each device in a memory snapshot. */
  memory: DeviceMemory[];
  /** The findings: what saves most first. */
  findings: Finding[];
  /** The number of parts of the trace that were lost or are uncertain. */
  lost: number;
}

/** Options of `ops`. */
export interface OpsOptions {
  /** Sort by this attribute of the rows of PyTorch's table, such as `self_cpu_time_total` [default: order of first occurrence] */
  sortBy?: "count" | "cpu_time" | "cpu_time_total" | "self_cpu_time_total" | "device_time" | "device_time_total" | "self_device_time_total" | "cpu_memory_usage" | "self_cpu_memory_usage" | "device_memory_usage" | "self_device_memory_usage" | "flops" | "key" | "input_shapes" | "overload_name" | "stack" | "scope" | "node_id" | "is_async" | "is_remote" | "is_legacy" | "is_user_annotation" | "name" | "id" | "sequence_nr" | "fwd_thread" | "device_index" | "device_resource_id" | `${"" | "self_"}${"cuda" | "xpu" | "privateuse1"}_time_total` | undefined;
  /** Maximum number of rows, -1 for all [default: 100 in a table, all elsewhere] */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
  /** Rows: `averages`, `events` (`events().table()`), or `total` (`total_average()`) [default: averages] */
  rows?: "averages" | "events" | "total" | undefined;
  /** Also group by any of shape, stack:N, overload, module (the innermost nn.Module). */
  groupBy?: readonly ("shape" | "overload" | "module" | StackGroup)[] | undefined;
  /** Show only rows whose first event has no parent. */
  topLevelOnly?: boolean | undefined;
  /** Also show calls of Python functions, which are events since PyTorch 2.12. */
  includePythonFunctions?: boolean | undefined;
  /** Unit of the times in the table [default: chosen for each value] */
  timeUnit?: "s" | "ms" | "us" | undefined;
  /** Maximum width of names in the table, or none [default: 55] */
  maxNameWidth?: number | null | undefined;
  /** Maximum width of shapes in the table, or none [default: 80] */
  maxShapesWidth?: number | null | undefined;
  /** Maximum width of stack frames in the table, or none [default: 75] */
  maxSrcWidth?: number | null | undefined;
  /** Print this line above the table. */
  header?: string | undefined;
}

/** A row of `ops`. */
export interface OpsRow {
  /** The name of the operator or kernel; ProfilerStep#N is grouped as ProfilerStep*. */
  name: string;
  /** The number of events in the group. */
  count: number;
  /** CPU time, including callees. */
  cpu_time_total_ns: number;
  /** CPU time, excluding callees. */
  self_cpu_time_total_ns: number;
  /** Sum of the durations of the device work launched by the group and its callees. As in PyTorch, work counts again for the profiler's overhead in its operator and for operators within others of the same name, so the sum can exceed what the devices did; in `summary` it does not. */
  device_time_total_ns: number;
  /** Sum of the durations of the device work launched by the group itself. */
  self_device_time_total_ns: number;
  /** CPU memory allocated minus released, including callees. */
  cpu_memory_usage_bytes: number;
  /** CPU memory allocated minus released, excluding callees. */
  self_cpu_memory_usage_bytes: number;
  /** Device memory allocated minus released, including callees. */
  device_memory_usage_bytes: number;
  /** Device memory allocated minus released, excluding callees. */
  self_device_memory_usage_bytes: number;
  /** Estimated floating point operations, by PyTorch's formulas. */
  flops: number;
  /** The shapes of the inputs; null unless grouped by shape. */
  input_shapes: unknown[] | null;
  /** The overload name of the operator; empty unless grouped by overload. */
  overload_name: string;
  /** The innermost frames; empty unless grouped by stack or module. */
  stack: string[];
  /** The type of the device the events ran on: CPU, CUDA, XPU, MTIA, HPU, PrivateUse1. */
  device_type: DeviceType;
  /** Whether the events ended on another thread than they began; only records contain this. */
  is_async: boolean;
  /** Whether the events are user annotations. */
  is_user_annotation: boolean;
}

/** Options of `kernels`. */
export interface KernelsOptions {
  /** What the rows are; `shape` is the name with the inputs [default: name] */
  by?: "name" | "category" | "operator" | "module" | "source" | "annotation" | "shape" | undefined;
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
}

/** A row of `kernels`. */
export interface KernelsRow {
  /** The name of the kernel, copy or memset, or the text of the group. */
  name: string;
  /** The name without namespaces and parameters. */
  short_name: string;
  /** compute, communication, memcpy or memset; null for a group of several. */
  class: WorkClass | null;
  /** What it does, by the rules for names; null for a group of several. */
  category: KernelCategory | null;
  /** The number of times it ran. */
  count: number;
  /** Sum of the durations. */
  sum_ns: number;
  /** The share of the sum of all device work. */
  share: number;
  /** Mean duration. */
  mean_ns: number;
  /** Shortest duration. */
  min_ns: number;
  /** Longest duration. */
  max_ns: number;
  /** Sample standard deviation of the durations; null for one. */
  std_ns: number | null;
  /** Whether one of its kernels uses tensor cores, by its name or because it is faster than other units can be; null if neither shows it. */
  tensor_cores: boolean | null;
  /** The share of its time in kernels that use tensor cores; null if it is unknown for most of the time. */
  tensor_core_share: number | null;
  /** Estimated achieved occupancy, weighted by duration. */
  occupancy_percent: number | null;
  /** Thread blocks for each SM, weighted by duration. */
  blocks_per_sm: number | null;
  /** Estimated share of SMs with a block: the mean of min(1, blocks per SM), weighted by duration. */
  sm_share: number | null;
  /** Bytes copied or set. */
  bytes: number | null;
  /** Bytes divided by the time. */
  bytes_per_second: number | null;
  /** Floating point operations divided by time, of kernels that are the only kernel of an operator with a FLOP formula. */
  flops_per_second: number | null;
  /** The operator that launched the longest of them. */
  op: string | null;
  /** Where the longest of them comes from: FILE:LINE, as the files of torch.compile or a stack show it; a frame as FILE(LINE): FUNCTION with the first line of the function; or the generated file. */
  source: string | null;
  /** What shows the source: `inductor` the files of torch.compile, `kernel_name` the same of a kernel that is known by its name only, `graph_node` the stack that added the node of the CUDA graph, `stack` the Python stack around its operator, `generated_file` that the operator names a generated file or is called in one. */
  source_by: SourceBy | null;
  /** The annotation of the CUDA graph's node that ran the longest of them. */
  annotation: string | null;
  /** What limits the occupancy of the longest of them: WARPS, REGS, SMEM, BLOCKS or BARRIERS. */
  occupancy_limit: string | null;
}

/** Options of `sequences`. */
export interface SequencesOptions {
  /** Minimum number of kernels [default: 2] */
  minLength?: number | undefined;
  /** Maximum number of kernels, at most 32 [default: 8, with --operator any] */
  maxLength?: number | undefined;
  /** Minimum number of occurrences [default: 3] */
  minCount?: number | undefined;
  /** Only what calls of operators or ranges with this text in the name launch. */
  operator?: string | undefined;
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
}

/** A row of `sequences`. */
export interface SequencesRow {
  /** The number of the sequence, from 1. */
  sequence: number;
  /** The short names of its kernels, copies and memsets, separated by commas. */
  names: string;
  /** The names in the order of time. */
  kernels: string[];
  /** The operator that launched it; null without the option `operator`. */
  operator: string | null;
  /** The number of kernels, copies and memsets. */
  length: number;
  /** The number of occurrences, which do not overlap. */
  count: number;
  /** The number of streams on which it occurs. */
  streams: number;
  /** Sum of the durations of all occurrences. */
  time_ns: number;
  /** Idle time of the stream between the first and the last kernel of each occurrence. */
  gap_ns: number;
  /** Duration of the calls that launched it, except for the first of each occurrence. */
  launch_ns: number;
  /** The gaps in which the stream waited for a launch call: what one launch for each occurrence saves if the host is not late otherwise. */
  saving_ns: number;
  /** The index of the first event of the first occurrence. */
  event: number;
}

/** Options of `fitness`. */
export interface FitnessOptions {
  /** Return exit code 1 unless these questions can be answered [default: those with events in the trace] */
  require?: readonly string[] | undefined;
}

/** A row of `fitness`. */
export interface FitnessRow {
  /** The kind of question. */
  question: FitnessQuestion;
  /** Whether the trace can answer it. */
  verdict: FitnessVerdict;
  /** The messages of all reasons. */
  because: string | null;
  /** The reasons, the most serious first. */
  reasons: FitnessReason[];
}

/** Options of `breakdown`. */
export interface BreakdownOptions {
  /** Rows of each `device`, or of each `step` [default: device] */
  by?: "device" | "step" | undefined;
}

/** A row of `breakdown`. */
export interface BreakdownRow {
  /** The number of the device in the trace. */
  device: string;
  /** The profiler step; null for the window of the device. */
  step: string | null;
  /** The step, or the time from the first activity of the device to the end of its last; compute_ns, the exposed times and idle_ns add up to it. */
  wall_ns: number;
  /** The time during which kernels other than communication ran. */
  compute_ns: number;
  /** The time during which communication ran, and no compute. */
  exposed_communication_ns: number;
  /** The time during which copies ran, and none of the above. */
  exposed_memcpy_ns: number;
  /** The time during which memsets ran, and none of the above. */
  exposed_memset_ns: number;
  /** The time during which nothing ran. */
  idle_ns: number;
  /** The time during which communication ran. */
  communication_ns: number;
  /** The time during which copies ran. */
  memcpy_ns: number;
  /** The time during which memsets ran. */
  memset_ns: number;
  /** The share of the communication during which compute ran. */
  overlap: number | null;
}

/** Options of `idle`. */
export interface IdleOptions {
  /** Rows of each `device`, `stream` or `step` [default: device] */
  by?: "device" | "stream" | "step" | undefined;
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
}

/** A row of `idle`. */
export interface IdleRow {
  /** The number of the device in the trace. */
  device: string;
  /** The stream; null for the device. */
  stream: string | null;
  /** The profiler step; null for the whole trace. */
  step: string | null;
  /** The cause. */
  cause: Cause;
  /** The idle time with this cause; all causes add up to the idle time. */
  time_ns: number;
  /** Its share of the idle time. */
  share: number;
  /** The first of `behind`. */
  mostly: string | null;
  /** What stood behind it, by time; at most 10. */
  behind: Behind[];
}

/** Options of `launches`. */
export interface LaunchesOptions {
  /** Rows of each `stream`, `call`, `kernel`, or `launch` [default: stream] */
  by?: "stream" | "call" | "kernel" | "launch" | undefined;
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
}

/** A row of `launches`. */
export interface LaunchesRow {
  /** The number of the device in the trace. */
  device: string | null;
  /** The stream. */
  stream: string | null;
  /** The name of the call, or of the kernel, copy or memset. */
  name: string | null;
  /** The number of launches. A call that launches a graph is one. */
  count: number;
  /** The number of kernels, copies and memsets, those of graphs too. */
  activities: number;
  /** The mean duration of the calls. */
  call_mean_ns: number | null;
  /** The longest duration of a call. */
  call_max_ns: number | null;
  /** The mean time from the end of the call to the start of its first work; 0 if the work starts earlier. */
  delay_mean_ns: number | null;
  /** Half of the delays are at most this long. */
  delay_median_ns: number | null;
  /** 95 % of the delays are at most this long. */
  delay_p95_ns: number | null;
  /** The longest delay. */
  delay_max_ns: number | null;
  /** The mean duration of the kernels, copies and memsets. */
  work_mean_ns: number;
  /** The number with a call of at most 50 us and work that takes less time than it. */
  short: number;
  /** The number with a call of more than 50 us. */
  slow: number;
  /** The number with a delay of more than 100 us. */
  late: number;
  /** The mean number of launches of the stream that have not started. */
  queue_mean: number | null;
  /** The largest number of them. */
  queue_max: number | null;
  /** The time during which it was 1024 or more: the next call waits. */
  full_ns: number | null;
  /** The bytes of copies and memsets divided by their durations. */
  bytes_per_second: number | null;
  /** The index of the work with the longest delay. */
  event: number | null;
  /** The index of its call. */
  call_event: number | null;
}

/** Options of `tasks`. */
export interface TasksOptions {
  /** Rows of each `name`, `task`, or `wait` [default: name] */
  by?: "name" | "task" | "wait" | undefined;
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
}

/** A row of `tasks`. */
export interface TasksRow {
  /** The name of the asynchronous spans. */
  name: string;
  /** The name of the task that they waited for, the longest in sum; null if that was not recorded. */
  waited_for: string | null;
  /** The number of tasks; by `wait`, of waits between two polls. */
  count: number;
  /** Sum of the times from begin to end; null by `wait`. */
  life_ns: number | null;
  /** The time in which they ran: their polls; null without polls. */
  busy_ns: number | null;
  /** The rest of their lives; by `wait`, the waits between two polls; null without polls. */
  waiting_ns: number | null;
  /** The longest wait between two polls; null if there is none. */
  wait_max_ns: number | null;
  /** The number of polls; null by `wait`. */
  polls: number | null;
  /** The longest poll; null without polls. */
  poll_max_ns: number | null;
  /** The number of polls of more than 1 ms; null by `wait`. */
  blocking: number | null;
  /** The index of the begin of the longest task, or of the one with the longest wait. */
  event: number;
  /** The index of the longest poll. */
  poll_event: number | null;
}

/** Options of `critical-path`. */
export interface CriticalPathOptions {
  /** Only the profiler step with this number. */
  step?: number | undefined;
  /** Only this range of time after the start of the recording, such as 1.5ms..20ms; numbers are in ns. */
  time?: readonly [startNs: number, endNs: number] | string | undefined;
  /** List each period with its event, in the order of time. */
  periods?: boolean | undefined;
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
}

/** A row of `critical-path`. */
export interface CriticalPathRow {
  /** What bounds this part of the critical path. */
  part: PathPart;
  /** Its time; all parts add up to the window. */
  time_ns: number;
  /** Its share of the window. */
  share: number;
  /** The number of periods. */
  count: number;
  /** The first of `behind`. */
  mostly: string | null;
  /** The spans and activities, by time; at most 10. */
  behind: Behind[];
  /** The start of the longest period, after the start of the recording. */
  start_ns: number;
  /** The track of that period, as `tracks` counts them; null between two of them. */
  track: number | null;
  /** The index of the event of that period. */
  event: number | null;
}

/** Options of `what-if`. */
export interface WhatIfOptions {
  /** Kernels are N times faster: a part of their names, or a class or category of `kernels`. */
  faster?: string | undefined;
  /** These causes of `idle` and delays of `critical-path` take no time, such as data-loading,sync. */
  free?: readonly string[] | undefined;
  /** Work that computes or copies does not wait for communication. */
  overlapCommunication?: boolean | undefined;
  /** The host starts all work at once: launches, operators and other code take no time. */
  cudaGraph?: boolean | undefined;
  /** Each of these sequences is one kernel, by their numbers in `sequences` with its defaults. */
  fuse?: readonly number[] | undefined;
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
}

/** A row of `what-if`. */
export interface WhatIfRow {
  /** What is different, as options of this command. */
  change: string;
  /** What it saves of the wall time; negative if it costs time; null if the bounds are too far apart to tell. */
  saving_ns: number | null;
  /** The least that it saves under other assumptions about delays and waits; negative if it can cost time. */
  saving_low_ns: number;
  /** The most that it saves under other assumptions about delays and waits. */
  saving_high_ns: number;
  /** The saving as a share of the wall time. */
  saving_share: number | null;
  /** The wall time of the unchanged replay divided by that with the change. */
  speedup: number | null;
  /** The wall time with the change. */
  wall_ns: number | null;
  /** The wall time of the replay without changes. */
  replayed_ns: number;
  /** The wall time as recorded. */
  recorded_ns: number;
  /** How far the replay without changes is from the recorded time. */
  error: number;
}

/** Options of `collectives`. */
export interface CollectivesOptions {
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
}

/** A row of `collectives`. */
export interface CollectivesRow {
  /** The start of the call, after the start of the recording. */
  start_ns: number;
  /** The name of the collective. Of a kernel or span without arguments, what its name means. */
  collective: string;
  /** The name of the process group. */
  group: string | null;
  /** The description of the process group. */
  group_description: string | null;
  /** The number of ranks of the process group. */
  group_size: number | null;
  /** The ranks of the process group; `...` for those that the trace leaves out. */
  ranks: unknown[] | null;
  /** The number of the call in its process group. */
  seq: number | null;
  /** The id that the calls of all ranks have in common. */
  comms_id: string | null;
  /** The rank that sends, of a point-to-point message. */
  src_rank: number | null;
  /** The rank that receives, of a point-to-point message. */
  dst_rank: number | null;
  /** Whether the call does not wait for its end. */
  is_async: boolean | null;
  /** The type of the elements. */
  dtype: string | null;
  /** The number of elements of the input of this rank. */
  in_nelems: number | null;
  /** The number of elements of the output of this rank. */
  out_nelems: number | null;
  /** The size of the input or the output, whichever is larger. */
  bytes: number | null;
  /** The duration of the call on the CPU. */
  cpu_ns: number | null;
  /** Sum of the durations of its device work. */
  device_ns: number | null;
  /** The bytes divided by the device time. It includes the time in which the collective waited for other ranks. */
  bytes_per_second: number | null;
}

/** Options of `ranks`. */
export interface RanksOptions {
  /** Only what is about this rank. */
  rank?: number | undefined;
  /** Only the profiler step with this number. */
  step?: number | undefined;
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
}

/** A row of `ranks`; of the kind run. */
export interface RanksRunRow {
  kind: "run";
  /** The ranks: of the run, of the group, or those that took part. */
  ranks: number[];
  /** The number of ranks of the run, as the traces state it. */
  world_size: number | null;
  /** The ranks without a trace. */
  missing: number[];
  /** The number of matched collectives. */
  matched: number;
}

/** A row of `ranks`; of the kind note. */
export interface RanksNoteRow {
  kind: "note";
  /** The kind of note. */
  code: RunNote;
  /** The note, the reason for the verdict, or what the straggler did more than the others. */
  message: string;
}

/** A row of `ranks`; of the kind fitness. */
export interface RanksFitnessRow {
  kind: "fitness";
  /** The ranks: of the run, of the group, or those that took part. */
  ranks: number[];
  /** A kind of question about each trace. */
  question: FitnessQuestion;
  /** Whether the traces of the `ranks` can answer it. */
  verdict: FitnessVerdict;
  /** The note, the reason for the verdict, or what the straggler did more than the others. */
  message: string;
}

/** A row of `ranks`; of the kind straggler. */
export interface RanksStragglerRow {
  kind: "straggler";
  /** The rank. */
  rank: number;
  /** The machine of the rank. */
  host: string | null;
  /** The phase in which the rank or the machine was late. */
  phase: Phase;
  /** The numbers of the steps in which it was late; empty without profiler steps. */
  steps: number[];
  /** What the others waited for because of it, summed over the steps. */
  cost_ns: number;
  /** Whether it was late in most steps. */
  persistent: boolean;
  /** The note, the reason for the verdict, or what the straggler did more than the others. */
  message: string;
}

/** A row of `ranks`; of the kind slow_node. */
export interface RanksSlowNodeRow {
  kind: "slow_node";
  /** The ranks: of the run, of the group, or those that took part. */
  ranks: number[];
  /** The machine of the rank. */
  host: string;
  /** The phase in which the rank or the machine was late. */
  phase: Phase;
  /** The numbers of the steps in which it was late; empty without profiler steps. */
  steps: number[];
  /** What the others waited for because of it, summed over the steps. */
  cost_ns: number;
  /** Whether it was late in most steps. */
  persistent: boolean;
}

/** A row of `ranks`; of the kind slow_link. */
export interface RanksSlowLinkRow {
  kind: "slow_link";
  /** The ranks: of the run, of the group, or those that took part. */
  ranks: number[];
  /** The name of the process group; the stream of its kernels if the trace does not name it. */
  group: string;
  /** The description of the process group. */
  description: string | null;
  /** The collective. */
  name: CollectiveName;
  /** The size of the input or the output, whichever is larger; of a group, the sum. */
  bytes: number;
  /** The number of collectives. */
  count: number;
  /** What the others waited for because of it, summed over the steps. */
  cost_ns: number;
  /** The median transfer. */
  usual_transfer_ns: number;
  /** The median transfer of the same kind and size in other groups. */
  others_transfer_ns: number;
}

/** A row of `ranks`; of the kind clock. */
export interface RanksClockRow {
  kind: "clock";
  /** The rank. */
  rank: number;
  /** How the clock was fitted. */
  method: ClockMethod | null;
  /** The offset of its clock against that of the reference rank, in the middle of what they have in common; null if refused. */
  offset_ns: number | null;
  /** The drift of its clock, in parts per million; 0 if it is not distinguishable from 0. */
  drift_ppm: number | null;
  /** The time of the rank's clock at which the offset holds. */
  at_ns: UnixNs | null;
  /** How far the offset may be off. */
  error_ns: number | null;
  /** The number of matched collectives. */
  matched: number | null;
  /** Why the clock could not be fitted; null if it could. */
  refused: string | null;
}

/** A row of `ranks`; of the kind rank. */
export interface RanksRankRow {
  kind: "rank";
  /** The rank. */
  rank: number;
  /** The machine of the rank. */
  host: string | null;
  /** The first trace of the rank. */
  trace: string;
  /** The number of recordings of the rank. */
  windows: number;
  /** The number of the class of ranks that behave alike. */
  class: number;
  /** The time of the steps; of a step, that of the longest rank. The six phases of a rank add up to it. */
  wall_ns: number;
  /** The time of data loading. */
  data_loading_ns: number;
  /** The time of the forward pass. */
  forward_ns: number;
  /** The time of the backward pass. */
  backward_ns: number;
  /** The time of the optimizer. */
  optimizer_ns: number;
  /** The exposed time of communication, with waiting. */
  communication_ns: number;
  /** The remaining time. */
  other_ns: number;
  /** The time of the rank's own work: all phases except communication. */
  own_ns: number;
  /** What the rank waited for others, summed over its collectives; of a step or of collectives, summed over the ranks. Waits at the same time are counted each. */
  waited_ns: number;
  /** How much later than the median of the others the rank arrived, summed over its collectives, or over those of a step. */
  late_ns: number;
  /** The number of collectives in which the rank arrived last. */
  last: number;
  /** The number of matched collectives. */
  matched: number;
  /** Of a stage of a pipeline: the share of its steps in which it only communicated: it waited for other stages, or sent and received. */
  bubble: number | null;
  /** The time in which its devices only communicated; null without devices. */
  exposed_communication_ns: number | null;
  /** The idle time of its devices; null without devices. */
  idle_ns: number | null;
  /** The largest peak of allocated memory of its devices; null if it was not recorded. */
  peak_bytes: number | null;
  /** How much later than the first rank it began to record. */
  start_skew_ns: number;
}

/** A row of `ranks`; of the kind group. */
export interface RanksGroupRow {
  kind: "group";
  /** The ranks: of the run, of the group, or those that took part. */
  ranks: number[];
  /** The name of the process group; the stream of its kernels if the trace does not name it. */
  group: string;
  /** The description of the process group. */
  description: string | null;
  /** What the process group is for. */
  parallelism: Parallelism;
  /** Whether the description of the group states its parallelism; otherwise it is inferred from its traffic. */
  stated: boolean;
  /** The number of matched collectives. */
  matched: number;
  /** The size of the input or the output, whichever is larger; of a group, the sum. */
  bytes: number;
}

/** A row of `ranks`; of the kind bandwidth. */
export interface RanksBandwidthRow {
  kind: "bandwidth";
  /** The ranks: of the run, of the group, or those that took part. */
  ranks: number[];
  /** The name of the process group; the stream of its kernels if the trace does not name it. */
  group: string;
  /** The description of the process group. */
  description: string | null;
  /** The collective. */
  name: CollectiveName;
  /** The size of the input or the output, whichever is larger; of a group, the sum. */
  bytes: number;
  /** The number of collectives. */
  count: number;
  /** The number of machines of the ranks. */
  nodes: number;
  /** What the rank waited for others, summed over its collectives; of a step or of collectives, summed over the ranks. Waits at the same time are counted each. */
  waited_ns: number;
  /** The median transfer. */
  usual_transfer_ns: number;
  /** The algorithm bandwidth: the size divided by the median transfer. */
  bytes_per_second: number | null;
  /** The bus bandwidth, by the factors of nccl-tests. */
  bus_bytes_per_second: number | null;
}

/** A row of `ranks`; of the kind step. */
export interface RanksStepRow {
  kind: "step";
  /** The number of the step. */
  step: number;
  /** The time of the steps; of a step, that of the longest rank. The six phases of a rank add up to it. */
  wall_ns: number;
  /** What the rank waited for others, summed over its collectives; of a step or of collectives, summed over the ranks. Waits at the same time are counted each. */
  waited_ns: number;
  /** The rank. */
  rank: number | null;
  /** The phase in which the rank or the machine was late. */
  phase: Phase | null;
  /** The largest own work of a rank beyond the median of all ranks, as a share of the median. */
  imbalance: number | null;
}

/** A row of `ranks`; of the kind rank_step. */
export interface RanksRankStepRow {
  kind: "rank_step";
  /** The rank. */
  rank: number;
  /** The number of the step. */
  step: number;
  /** The time of the steps; of a step, that of the longest rank. The six phases of a rank add up to it. */
  wall_ns: number;
  /** The time of data loading. */
  data_loading_ns: number;
  /** The time of the forward pass. */
  forward_ns: number;
  /** The time of the backward pass. */
  backward_ns: number;
  /** The time of the optimizer. */
  optimizer_ns: number;
  /** The exposed time of communication, with waiting. */
  communication_ns: number;
  /** The remaining time. */
  other_ns: number;
  /** The time of the rank's own work: all phases except communication. */
  own_ns: number;
  /** How much later than the median of the others the rank arrived, summed over its collectives, or over those of a step. */
  late_ns: number;
  /** What the rank waited for others, summed over its collectives; of a step or of collectives, summed over the ranks. Waits at the same time are counted each. */
  waited_ns: number;
}

/** A row of `ranks`; of the kind collective. */
export interface RanksCollectiveRow {
  kind: "collective";
  /** The ranks: of the run, of the group, or those that took part. */
  ranks: number[];
  /** The name of the process group; the stream of its kernels if the trace does not name it. */
  group: string;
  /** The description of the process group. */
  description: string | null;
  /** The number of the collective in its group; null if the traces have none. */
  seq: number | null;
  /** The collective. */
  name: CollectiveName;
  /** The size of the input or the output, whichever is larger; of a group, the sum. */
  bytes: number | null;
  /** The number of the step. */
  step: number | null;
  /** When the first rank arrived, on the reference clock. */
  start_ns: UnixNs;
  /** The wait of each of the `ranks`, in ns. */
  wait_ns: number[];
  /** The transfer of each of the `ranks`, in ns. */
  transfer_ns: number[];
  /** The rank that arrived last. */
  last_rank: number;
  /** What that rank mostly did since its previous collective. */
  last_phase: Phase;
  /** Whether all ranks recorded when the first one arrived; otherwise the waits show when the recordings began. */
  counted: boolean;
  /** How the calls of the ranks were matched. */
  matched_by: MatchedBy;
  /** The share of calls that could be matched; 1 for a sequence number or an id. */
  confidence: number;
}

/** A row of `ranks`; `kind` determines which columns it has. */
export type RanksRow = RanksRunRow | RanksNoteRow | RanksFitnessRow | RanksStragglerRow | RanksSlowNodeRow | RanksSlowLinkRow | RanksClockRow | RanksRankRow | RanksGroupRow | RanksBandwidthRow | RanksStepRow | RanksRankStepRow | RanksCollectiveRow;

/** Options of `flops`. */
export interface FlopsOptions {
  /** Peak figures of devices for the roofline: lines of name,fp64,fp32,tf32,fp16,bf16,fp8,fp4,int8,memory in TFLOP/s and GB/s. */
  peaks?: string | undefined;
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
}

/** A row of `flops`. */
export interface FlopsRow {
  /** total for the sums in the first rows, operator for the other rows. */
  kind: FlopsKind;
  /** The operator; all, counted or not counted for the sums. */
  name: string;
  /** Whether there is a formula for the operator and its inputs. */
  counted: boolean | null;
  /** The number of calls. */
  count: number;
  /** Floating point operations of the counted calls. */
  flops: number | null;
  /** Device time, or CPU time in a trace without device work; including callees if counted, else excluding them. */
  time_ns: number;
  /** The share of all such time. */
  share: number;
  /** Floating point operations divided by the time. */
  flops_per_second: number | null;
  /** Bytes of the inputs and outputs, each once: the minimum that the calls have to read and write; null if types are unknown. */
  bytes: number | null;
  /** These bytes divided by the time of their calls. */
  bytes_per_second: number | null;
  /** What limits most of the minimum time: compute or memory; null if the peak figures of the device or the types are unknown. */
  bound: Bound | null;
  /** The minimum time that the device needs for the operations and bytes, as a share of the time that the calls took. */
  roofline_share: number | null;
}

/** Options of `compiled`. */
export interface CompiledOptions {
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
}

/** A row of `compiled`; of the kind graph. */
export interface CompiledCompiledGraphRow {
  kind: "graph";
  /** The number of the graph, from 1, in the order of the first calls. */
  graph: number;
  /** The frame and its number of compilations, such as 0/1; null if neither a region around the call nor a file states it. */
  compile_id: string | null;
  /** Whether it is a forward or backward pass, or a graph without a backward pass; null without files. */
  graph_kind: CompiledKind | null;
  /** The function that was compiled, with the file and its first line; null without a log. */
  function: string | null;
  /** The number of calls; of a graph of AOTInductor 0, because the trace does not show its calls. */
  calls: number;
  /** Sum of the durations of the calls on the host. */
  host_ns: number;
  /** Sum of the durations of the device work that they launch. */
  device_ns: number;
  /** The number of kernels and external functions that a call runs; null without files. */
  kernels: number | null;
  /** The key of the graph in the cache of Inductor. */
  key: string | null;
  /** The name of the generated file; null without a log. */
  file: string | null;
  /** Whether Inductor took it from its cache: the lines of its kernels are then those of the program that was compiled first. Null without a log. */
  cached: boolean | null;
  /** What shows which graph of the files is called: `key` its key, `file` the generated file in the stack, `region` the compile id and the names of kernels, `names` the names of kernels only, `equal_graphs` that several graphs fit whose kernels come from the same nodes and lines; null if no graph of the files fits, or several different ones do. */
  matched_by: CompiledMatchedBy | null;
  /** Why the frame was compiled again: the first guard that failed; null for a first compilation and without a log. */
  recompile_reason: string | null;
  /** How long the compilation of its frame took, which is mostly before the recording; null without a log. */
  compile_ns: number | null;
  /** The index of its first call. */
  event: number;
}

/** A row of `compiled`; of the kind kernel. */
export interface CompiledCompiledKernelRow {
  kind: "kernel";
  /** The number of the graph, from 1, in the order of the first calls. */
  graph: number;
  /** The name of the operator in the trace. */
  name: string;
  /** PyTorch's number of the call in the generated code; null without files. */
  handle: number | null;
  /** The number of calls; of a graph of AOTInductor 0, because the trace does not show its calls. */
  calls: number;
  /** Sum of the durations of the calls on the host. */
  host_ns: number;
  /** Sum of the durations of the device work that they launch. */
  device_ns: number;
  /** The lines of the program that its nodes come from, as FILE:LINE; without files, the generated file that the trace names. */
  source: string | null;
  /** What shows the source, as in `kernels`. */
  source_by: SourceBy | null;
  /** The operators of its nodes; of a generated kernel whose nodes are not known, those before decomposition; null without files. */
  operators: string | null;
  /** The nodes of the graph that Inductor lowered. */
  nodes: string | null;
  /** The nodes of the graph as the program has it, whose names are mostly those of variables. */
  source_nodes: string | null;
  /** The index of its first call. */
  event: number;
}

/** A row of `compiled`; of the kind break. */
export interface CompiledGraphBreakRow {
  kind: "break";
  /** The frame and its number of compilations, such as 0/1; null if neither a region around the call nor a file states it. */
  compile_id: string | null;
  /** The line at which the graph ends, as FILE:LINE. */
  line: string;
  /** The reason, in PyTorch's words. */
  reason: string;
  /** The number of compilations that met it. */
  count: number;
}

/** A row of `compiled`; `kind` determines which columns it has. */
export type CompiledRow = CompiledCompiledGraphRow | CompiledCompiledKernelRow | CompiledGraphBreakRow;

/** Options of `coverage`. */
export interface CoverageOptions {
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
}

/** A row of `coverage`. */
export interface CoverageRow {
  /** captured or total for the sums, dynamo_captured or dynamo_total for those of torch._dynamo.profiler, graph for a compiled graph, missed for an operator outside of every graph. */
  kind: CoverageKind;
  /** The name of the graph or operator. */
  name: string;
  /** The number of calls of compiled graphs. */
  graphs: number;
  /** The number of operators, without callees of other operators. */
  operators: number;
  /** Operators beyond the first of each graph call: the launches that compilation saves. */
  fusions: number;
  /** CPU time, including callees; for a graph, that of its calls. */
  time_ns: number;
  /** Sum of the durations of the device work launched in them. */
  device_time_ns: number | null;
  /** The share of all operators. */
  operators_share: number | null;
  /** The share of the CPU time of all operators. */
  time_share: number | null;
  /** The share of all device time. */
  device_time_share: number | null;
  /** The stack of the first missed operator with this name, innermost frame first. */
  stack: string[];
}

/** Options of `patterns`. */
export interface PatternsOptions {
  /** Find events whose names match a regular expression, instead of anti-patterns. */
  name?: string | undefined;
  /** Print the report in the format of PyTorch's `report_all_anti_patterns`. */
  report?: boolean | undefined;
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
}

/** A row of `patterns`. */
export interface PatternsRow {
  /** The name of the pattern. */
  pattern: string;
  /** The number of matched events at this place. */
  count: number;
  /** Sum of the CPU durations of the matched events. */
  cpu_time_ns: number;
  /** Sum of the device work that the matched events launched. */
  device_time_ns: number;
  /** The maximum time that a fix can save, if the trace determines it. */
  saving_ns: number | null;
  /** The first matched event. */
  event: string;
  /** The start of the first matched event, after the start of the recording. */
  start_ns: number;
  /** The innermost call outside of PyTorch, path:line, or its function, path(line of its def): name. */
  place: string | null;
  /** What is wrong, and what to do. */
  description: string;
  /** The address of further documentation. */
  url: string;
}

/** Options of `evaluation`. */
export interface EvaluationOptions {
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
}

/** A row of `evaluation`. */
export interface EvaluationRow {
  /** The operator, annotation or Python function. */
  name: string;
  /** The start of the event, after the start of the recording. */
  start_ns: number;
  /** The duration of the event. */
  duration_ns: number;
  /** The duration minus that of its callees; negative if these extend beyond it. */
  self_time_ns: number;
  /** The idle time of the device during the event. */
  idle_time_ns: number;
  /** The share of the duration during which the device was idle. */
  fraction_idle: number;
  /** The number of launched kernels that had not started when the event began. */
  queue_depth: number;
  /** The innermost function outside of PyTorch: path(line of its def): name. */
  place: string | null;
}

/** Options of `memory`. */
export interface MemoryOptions {
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
}

/** A row of `memory`; of the kind device. */
export interface MemoryDeviceRow {
  kind: "device";
  /** CPU, CUDA 0, …. */
  device: string;
  /** The number of allocations, failures or segments. */
  count: number;
  /** Sum of the allocations of the row. */
  allocated_bytes: number;
  /** Sum of the releases of the row. */
  freed_bytes: number;
  /** The maximum of allocated memory. */
  peak_bytes: number;
  /** The maximum that the allocator had reserved. */
  reserved_bytes: number | null;
  /** Allocated memory at the end minus that at the start. */
  growth_bytes: number;
  /** The time of the peak, or of the row's first event. */
  at_ns: number;
}

/** A row of `memory`; of the kind at_peak. */
export interface MemoryAtPeakRow {
  kind: "at_peak";
  /** CPU, CUDA 0, …. */
  device: string;
  /** The operator or function that allocated, or the step. */
  name: string;
  /** The number of allocations, failures or segments. */
  count: number;
  /** Sum of the allocations of the row. */
  allocated_bytes: number;
  /** The share of the peak; for segments, the share of reserved memory in use. */
  share: number;
  /** The time of the peak, or of the row's first event. */
  at_ns: number | null;
  /** The stack of the first allocation, innermost frame first. */
  stack: string[];
}

/** A row of `memory`; of the kind step. */
export interface MemoryStepRow {
  kind: "step";
  /** CPU, CUDA 0, …. */
  device: string;
  /** The operator or function that allocated, or the step. */
  name: string;
  /** The number of allocations, failures or segments. */
  count: number;
  /** Sum of the allocations of the row. */
  allocated_bytes: number;
  /** Sum of the releases of the row. */
  freed_bytes: number;
  /** The maximum of allocated memory. */
  peak_bytes: number | null;
  /** Allocated memory at the end minus that at the start. */
  growth_bytes: number;
  /** The time of the peak, or of the row's first event. */
  at_ns: number;
}

/** A row of `memory`; of the kind kept. */
export interface MemoryKeptRow {
  kind: "kept";
  /** CPU, CUDA 0, …. */
  device: string;
  /** The operator or function that allocated, or the step. */
  name: string;
  /** The number of allocations, failures or segments. */
  count: number;
  /** Sum of the allocations of the row. */
  allocated_bytes: number;
  /** The time of the peak, or of the row's first event. */
  at_ns: number;
  /** The stack of the first allocation, innermost frame first. */
  stack: string[];
}

/** A row of `memory`; of the kind out_of_memory. */
export interface MemoryOutOfMemoryRow {
  kind: "out_of_memory";
  /** CPU, CUDA 0, …. */
  device: string;
  /** The number of allocations, failures or segments. */
  count: number;
  /** Sum of the allocations of the row. */
  allocated_bytes: number;
  /** The time of the peak, or of the row's first event. */
  at_ns: number;
}

/** A row of `memory`; of the kind segments. */
export interface MemorySegmentsRow {
  kind: "segments";
  /** CPU, CUDA 0, …. */
  device: string;
  /** The operator or function that allocated, or the step. */
  name: string;
  /** The number of allocations, failures or segments. */
  count: number;
  /** Sum of the allocations of the row. */
  allocated_bytes: number;
  /** The maximum that the allocator had reserved. */
  reserved_bytes: number;
  /** The share of the peak; for segments, the share of reserved memory in use. */
  share: number | null;
}

/** A row of `memory`; `kind` determines which columns it has. */
export type MemoryRow = MemoryDeviceRow | MemoryAtPeakRow | MemoryStepRow | MemoryKeptRow | MemoryOutOfMemoryRow | MemorySegmentsRow;

/** Options of `tree`. */
export interface TreeOptions {
  /** Show the callers below each name instead of the callees. */
  bottomUp?: boolean | undefined;
  /** Maximum number of levels, -1 for all [default: 8] */
  depth?: number | undefined;
  /** Leave out nodes with less than this percentage of the time of their lane [default: 1 in a table, 0 elsewhere] */
  minShare?: number | undefined;
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
}

/** A row of `tree`. */
export interface TreeRow {
  /** The thread or stream. */
  lane: string;
  /** The number of ancestors; null in the row of the lane itself. */
  depth: number | null;
  /** The name of the spans; null in the row of the lane itself. */
  name: string | null;
  /** The name, indented by its depth. */
  path: string;
  /** The number of merged spans. */
  count: number;
  /** Sum of their durations. */
  total_ns: number;
  /** Sum of their self times. */
  self_ns: number | null;
  /** Sum of the device work that the spans and everything inside them launched. */
  device_total_ns: number;
  /** Sum of the device work that the spans themselves launched. */
  device_self_ns: number;
  /** The share of the time of the lane's outermost spans. */
  share: number | null;
}

/** Options of `modules`. */
export interface ModulesOptions {
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
}

/** A row of `modules`. */
export interface ModulesRow {
  /** The number of enclosing modules. */
  depth: number;
  /** The module: its class, and a number for each instance of the class. */
  name: string;
  /** The modules from the outermost to this one, separated by /. */
  path: string;
  /** The name, indented by its depth. */
  tree: string;
  /** The number of calls; of modules of TorchScript, that of their outermost operators. */
  count: number;
  /** CPU time, including the modules inside. */
  cpu_time_total_ns: number;
  /** CPU time, excluding the modules inside. */
  self_cpu_time_total_ns: number;
  /** Sum of the device work launched in the module, including the modules inside. */
  device_time_total_ns: number;
  /** Sum of the device work launched in the module, excluding the modules inside. */
  self_device_time_total_ns: number;
  /** Sum of the device work launched by the backward functions of its operators, if the trace links the two. */
  backward_device_time_total_ns: number;
}

/** Options of `stacks`. */
export interface StacksOptions {
  /** Lines of calls, if known, instead of function definitions (PyTorch 2.14 and later). */
  callSites?: boolean | undefined;
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
}

/** A row of `stacks`. */
export interface StacksRow {
  /** Self CPU time of the events with this stack. */
  self_cpu_time_total_ns: number;
  /** Sum of the device work that the events with this stack launched. */
  self_device_time_total_ns: number;
  /** The number of events with this stack. */
  count: number;
  /** The innermost frame: path(line): function. */
  frame: string | null;
  /** The caller of the innermost frame. */
  caller: string | null;
  /** The complete stack, innermost frame first. */
  stack: string[];
}

/** Options of `steps`. */
export interface StepsOptions {
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
}

/** A row of `steps`. */
export interface StepsRow {
  /** The name of the step. */
  name: string;
  /** The number of the step. */
  step: number;
  /** The start of the step, after the start of the recording. */
  start_ns: number;
  /** The duration of the step; kernel_ns to other_ns add up to it. */
  wall_ns: number;
  /** The time of the step during which any device of its process was busy. */
  device_busy_ns: number;
  /** Sum of the durations of the device work launched in the step. */
  device_sum_ns: number;
  /** The number of device activities launched in the step. */
  launched: number;
  /** Wall time during which compute kernels ran. */
  kernel_ns: number;
  /** Wall time during which communication kernels ran, and none of the above. */
  communication_ns: number;
  /** Wall time during which copies ran, and none of the above. */
  memcpy_ns: number;
  /** Wall time during which memsets ran, and none of the above. */
  memset_ns: number;
  /** Wall time in runtime or driver calls, and none of the above. */
  runtime_ns: number;
  /** Wall time in data loading, and none of the above. */
  data_loader_ns: number;
  /** Wall time in operators, and none of the above. */
  cpu_op_ns: number;
  /** The remaining wall time. */
  other_ns: number;
}

/** Options of `serving`. */
export interface ServingOptions {
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
}

/** A row of `serving`; of the kind total, phase, batch. */
export interface ServingGroupRow {
  kind: "total" | "phase" | "batch";
  /** The phase, such as prefill, decode or mixed; of inferred iterations, `kind 1` for the largest group with the same launches, and so on, and `other` for those that do not repeat. */
  phase: string | null;
  /** The number of iterations. */
  count: number;
  /** How many of them are a warm-up: the first ones, as long as each takes at least twice the median of the iterations with the same phase and requests and a similar number of tokens, of which there are three or more. They are left out of all values that follow, unless there are no others. */
  warm_up: number;
  /** The mean number of requests; null if a name does not state it. */
  batch_mean: number | null;
  /** The number of tokens that are computed, as the names state it; null if one does not. */
  tokens: number | null;
  /** The number of tokens that are generated, one for each request that generates unless the names state their number; null if a name does not show it. */
  generated: number | null;
  /** From the end of the iteration before to its own, when its range and its work have ended; attention_ns to between_ns add up to it. In a group, the sum. */
  wall_ns: number;
  /** The 50th percentile of the times of the iterations, by nearest rank. */
  p50_ns: number;
  /** Their 90th percentile. */
  p90_ns: number;
  /** Their 99th percentile. */
  p99_ns: number;
  /** Tokens divided by the wall time. */
  tokens_per_second: number | null;
  /** Generated tokens divided by the wall time. */
  generated_per_second: number | null;
  /** The wall time divided by the tokens. */
  time_per_token_ns: number | null;
  /** The energy of the devices in the wall time, by counters of their power. Null if a device has no such counter, the readings do not cover the iterations, or they are farther apart than the median iteration of the group (for all iterations, than half of their time), and if several processes have iterations. */
  joules: number | null;
  /** The energy divided by the tokens. */
  joules_per_token: number | null;
  /** What takes most of the wall time; null without time. */
  bound: ServingBound | null;
  /** The share of the wall time that it takes. */
  bound_share: number | null;
  /** The part of it in which the device works: attention_ns to copies_ns. */
  busy_ns: number;
  /** Wall time during which kernels of attention ran. */
  attention_ns: number;
  /** Wall time during which kernels of the cache of keys and values ran, and none of the above. */
  kv_cache_ns: number;
  /** Wall time in matrix products and convolutions, and none of the above. */
  gemm_ns: number;
  /** Wall time in matrix products of experts, and none of the above. */
  moe_gemm_ns: number;
  /** Wall time in the routing to experts, and none of the above. */
  moe_routing_ns: number;
  /** Wall time in sums of the outputs of experts, and none of the above. */
  moe_finalize_ns: number;
  /** Wall time in kernels that choose tokens, by their names or launched in a range of the engine that samples, and none of the above. */
  sampling_ns: number;
  /** Wall time in other kernels that compute, and none of the above. */
  other_kernels_ns: number;
  /** Wall time in communication that no kernel that computes hides. */
  communication_ns: number;
  /** Wall time in the exchange of tokens between experts, and none of the above. */
  moe_dispatch_ns: number;
  /** Wall time in copies and memsets, and none of the above. */
  copies_ns: number;
  /** No device of the process works, and work that was launched has not started. */
  queued_ns: number;
  /** No device of the process works and nothing is queued, and the host is in a range, in a call that launches work. */
  launch_ns: number;
  /** No device of the process works and nothing is queued, and the host is elsewhere in a range. */
  host_ns: number;
  /** No device of the process works and nothing is queued, and the host is in no range. */
  between_ns: number;
  /** The duration of the range on the host; in a group, the sum. */
  range_ns: number;
  /** The number of graph launches in the ranges. */
  graphs: number;
  /** Sum of the durations of those calls. */
  graph_calls_ns: number;
  /** If no range names the iterations, and they are inferred from launches that repeat: the share of their time of those whose launches another one has as well; else null. */
  confidence: number | null;
}

/** A row of `serving`; of the kind graph. */
export interface ServingGraphRow {
  kind: "graph";
  /** The number of the graph, from 1: the one that takes longest comes first. Launches whose work has the same names are replays of one graph. */
  graph: number;
  /** The name of the call that launches it. */
  call: string;
  /** The number of its replays. */
  launches: number;
  /** The number of kernels, copies and memsets of a replay. */
  activities: number;
  /** Sum of the times from the first start to the last end of each replay. */
  time_ns: number;
  /** The mean of those times. */
  mean_ns: number;
  /** The mean time of it in which none of its work runs. */
  mean_gap_ns: number;
  /** The mean duration of the launch calls. */
  mean_call_ns: number;
  /** The mean time from the start of the call to the first start. */
  mean_wait_ns: number;
  /** The index of its range, or of its first launch call. */
  event: number;
}

/** A row of `serving`; of the kind iteration. */
export interface ServingIterationRow {
  kind: "iteration";
  /** The phase, such as prefill, decode or mixed; of inferred iterations, `kind 1` for the largest group with the same launches, and so on, and `other` for those that do not repeat. */
  phase: string;
  /** The name of its range. */
  name: string;
  /** Its number: as its name states it, else counted from 1. */
  step: number;
  /** The number of requests; null if its name does not state it. */
  batch: number | null;
  /** The number of tokens that are computed, as the names state it; null if one does not. */
  tokens: number | null;
  /** The number of tokens that are generated, one for each request that generates unless the names state their number; null if a name does not show it. */
  generated: number | null;
  /** Whether it is left out of averages. */
  is_warm_up: boolean;
  /** The start of its range, after the start of the recording. */
  start_ns: number;
  /** From the end of the iteration before to its own, when its range and its work have ended; attention_ns to between_ns add up to it. In a group, the sum. */
  wall_ns: number;
  /** The part of it in which the device works: attention_ns to copies_ns. */
  busy_ns: number;
  /** Wall time during which kernels of attention ran. */
  attention_ns: number;
  /** Wall time during which kernels of the cache of keys and values ran, and none of the above. */
  kv_cache_ns: number;
  /** Wall time in matrix products and convolutions, and none of the above. */
  gemm_ns: number;
  /** Wall time in matrix products of experts, and none of the above. */
  moe_gemm_ns: number;
  /** Wall time in the routing to experts, and none of the above. */
  moe_routing_ns: number;
  /** Wall time in sums of the outputs of experts, and none of the above. */
  moe_finalize_ns: number;
  /** Wall time in kernels that choose tokens, by their names or launched in a range of the engine that samples, and none of the above. */
  sampling_ns: number;
  /** Wall time in other kernels that compute, and none of the above. */
  other_kernels_ns: number;
  /** Wall time in communication that no kernel that computes hides. */
  communication_ns: number;
  /** Wall time in the exchange of tokens between experts, and none of the above. */
  moe_dispatch_ns: number;
  /** Wall time in copies and memsets, and none of the above. */
  copies_ns: number;
  /** No device of the process works, and work that was launched has not started. */
  queued_ns: number;
  /** No device of the process works and nothing is queued, and the host is in a range, in a call that launches work. */
  launch_ns: number;
  /** No device of the process works and nothing is queued, and the host is elsewhere in a range. */
  host_ns: number;
  /** No device of the process works and nothing is queued, and the host is in no range. */
  between_ns: number;
  /** The duration of the range on the host; in a group, the sum. */
  range_ns: number;
  /** The number of its kernels, copies and memsets: those launched in its range, or near its end or start in none. */
  launched: number;
  /** Sum of their durations. */
  device_sum_ns: number;
  /** The number of graph launches in the ranges. */
  graphs: number;
  /** Sum of the durations of those calls. */
  graph_calls_ns: number;
  /** The index of its range, or of its first launch call. */
  event: number;
}

/** A row of `serving`; `kind` determines which columns it has. */
export type ServingRow = ServingGroupRow | ServingGraphRow | ServingIterationRow;

/** Options of `events`. */
export interface EventsOptions {
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
}

/** A row of `events`. */
export interface EventsRow {
  /** The position of the event. */
  idx: number;
  /** The name of the event. */
  name: string;
  /** The start of the event, after the start of the recording. */
  start_ns: number;
  /** The end of the event, after the start of the recording. */
  end_ns: number;
  /** CPU time, including callees. */
  cpu_time_total_ns: number;
  /** CPU time, excluding callees. */
  self_cpu_time_total_ns: number;
  /** Sum of the durations of the device work launched by the event and its callees. */
  device_time_total_ns: number;
  /** Sum of the durations of the device work launched by the event itself. */
  self_device_time_total_ns: number;
  /** CPU memory allocated minus released, including callees. */
  cpu_memory_usage_bytes: number;
  /** CPU memory allocated minus released, excluding callees. */
  self_cpu_memory_usage_bytes: number;
  /** Device memory allocated minus released, including callees. */
  device_memory_usage_bytes: number;
  /** Device memory allocated minus released, excluding callees. */
  self_device_memory_usage_bytes: number;
  /** The external or correlation id; 0 for none. */
  id: number;
  /** The name in the trace, without the overload name. */
  trace_name: string | null;
  /** The overload name of the operator. */
  overload_name: string;
  /** The thread or stream. */
  thread: string;
  /** The thread of the forward operator; 0 for none. */
  fwd_thread: number;
  /** The autograd sequence number; -1 for none. */
  sequence_nr: number;
  /** PyTorch's record scope: 0 function, 1 backward function, 7 user scope. */
  scope: number;
  /** Estimated floating point operations, by PyTorch's formulas. */
  flops: number;
  /** The shapes of the inputs. */
  input_shapes: unknown[] | null;
  /** The Python stack, innermost frame first. */
  stack: string[];
  /** The type of the device it ran on: CPU, CUDA, XPU, MTIA, HPU, PrivateUse1. */
  device_type: DeviceType;
  /** The number of the device; of work on the CPU, that of the process. */
  device_index: number;
  /** The number of the stream; of work on the CPU, that of the thread. */
  device_resource_id: number;
  /** The device whose times were recorded: cuda, xpu. */
  use_device: string | null;
  /** The process of an RPC; -1 for none. */
  node_id: number;
  /** The external id; 0 for none. */
  external_id: number;
  /** The id of the operator that caused device work; 0 for none. */
  linked_correlation_id: number;
  /** The device work that the event itself launched. */
  kernels: EventKernel[];
  /** The inputs that are no tensors; null for tensors. Infinity is {"float": "inf"}, because JSON has no such number. */
  concrete_inputs: unknown[] | null;
  /** The keyword inputs; only profiling results contain them. */
  kwinputs: Record<string, unknown> | null;
  /** All inputs; only an execution trace that was joined has them. */
  inputs: Argument[];
  /** All outputs; only an execution trace that was joined has them. */
  outputs: Argument[];
  /** Number, type and start of the flow to or from the event. */
  flow: unknown[] | null;
  /** The ids of a Python call, of its parent and of its module; -1 for none. */
  python_ids: number[];
  /** Kineto's type of the activity, such as cpu_op or kernel. */
  activity_type: string | null;
  /** The types of the inputs, such as float or ScalarList. */
  input_dtypes: unknown[] | null;
  /** The shapes of the inputs; of a list of tensors, a list with the shape of each. */
  structured_input_shapes: unknown[] | null;
  /** The strides of the inputs, as structured_input_shapes; recorded with record_shapes. */
  structured_input_strides: unknown[] | null;
  /** The arguments in the trace of a call of the runtime or of device work, such as grid and stream, without its external id; null for others. */
  metadata: Record<string, unknown> | null;
  /** Whether the event is a call of a Python function. */
  is_python_function: boolean;
  /** Whether the event ended on another thread than it began, which only records contain, or was open when the recording ended. */
  is_async: boolean;
  /** Whether the event ran in another process by RPC; only records contain this. */
  is_remote: boolean;
  /** Whether the event is from the legacy profiler, or its device time was measured by device events. */
  is_legacy: boolean;
  /** Whether the event is a user annotation. */
  is_user_annotation: boolean;
  /** The position of the parent event. */
  cpu_parent: number | null;
  /** The positions of the child events. */
  cpu_children: number[];
}

/** Options of `event-tree`. */
export interface EventTreeOptions {
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
}

/** A row of `event-tree`. */
export interface EventTreeRow {
  /** The position of the node. */
  idx: number;
  /** The name of the node, without the overload name. */
  name: string;
  /** PyTorch's type of the event. */
  tag: EventTreeTag;
  /** The start of the node, after the start of the recording. */
  start_ns: number;
  /** The duration of the node. */
  duration_ns: number;
  /** The thread. */
  thread: string;
  /** The position of the parent. */
  parent: number | null;
  /** The positions of the children. */
  children: number[];
}

/** Options of `nodes`. */
export interface NodesOptions {
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
}

/** A row of `nodes`. */
export interface NodesRow {
  /** The id of the node. */
  id: number;
  /** The id of the node around it. */
  parent: number | null;
  /** The name of the operator or annotation. */
  name: string;
  /** The number of the record function: `Record function id` of the event. */
  rf_id: number | null;
  /** The sequence number of autograd; -1 for none. */
  seq_id: number | null;
  /** The number of the thread. */
  tid: number | null;
  /** The id of the forward node of a backward node; 0 for none. */
  fw_parent: number | null;
  /** The types of the arguments. */
  types: string;
  /** The name of the operator with the types of arguments and results. */
  op_schema: string;
  /** The modules around the operator, such as TOP(Net)::forward.fc(Linear)::forward.; null if the file has none, as PyTorch's. */
  module_hierarchy: string | null;
  /** The arguments. */
  inputs: Argument[];
  /** The results. */
  outputs: Argument[];
}

/** Options of `samples`. */
export interface SamplesOptions {
  /** Rows of each `function`, a `tree` of them, or each `thread` [default: function] */
  by?: "function" | "tree" | "thread" | undefined;
  /** Only samples inside of spans with this name. */
  span?: string | undefined;
  /** Only samples outside of all spans. */
  between?: boolean | undefined;
  /** Only samples of this thread. */
  thread?: string | undefined;
  /** Only this range of time after the start of the recording, such as 1.5ms..20ms; numbers are in ns. */
  time?: readonly [startNs: number, endNs: number] | string | undefined;
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
}

/** A row of `samples`. */
export interface SamplesRow {
  /** The function, or the name of the thread. */
  name: string;
  /** The number of samples in it and in what it called. */
  samples: number;
  /** Their share of all samples that are counted. */
  share: number;
  /** The number of samples in the function itself; of a thread, those outside of spans. */
  own: number;
  /** Their share of all samples that are counted. */
  own_share: number;
  /** The number of callers; null except by `tree`. */
  depth: number | null;
  /** The id of the thread; null except by `thread`. */
  thread: string | null;
}

/** Options of `names`. */
export interface NamesOptions {
  /** Only this range of time after the start of the recording, such as 1.5ms..20ms; numbers are in ns. */
  time?: readonly [startNs: number, endNs: number] | string | undefined;
  /** Only these tracks, by their numbers in `tracks`. */
  tracks?: readonly number[] | undefined;
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
}

/** A row of `names`. */
export interface NamesRow {
  /** The name of the spans. */
  name: string;
  /** Their category: cpu_op, kernel, python_function, …. */
  category: Category | null;
  /** The number of spans. */
  count: number;
  /** Sum of their durations, clipped to the selected time. */
  total_ns: number;
  /** The total minus that of the spans inside them. */
  self_ns: number;
  /** The total divided by the count. */
  mean_ns: number;
  /** The shortest of the durations. */
  min_ns: number;
  /** The longest of the durations. */
  max_ns: number;
}

/** Options of `counters`. */
export interface CountersOptions {
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
}

/** A row of `counters`. */
export interface CountersRow {
  /** The number of the counter, as `curve` takes it. */
  counter: number;
  /** The process or device that the counter belongs to. */
  process: string;
  /** The name of the counter. */
  name: string;
  /** bytes, count, share (a fraction of 1) or bytes_per_second. */
  unit: CounterUnit;
  /** The number of values. */
  points: number;
  /** The minimum. */
  min: number;
  /** The maximum. */
  max: number;
  /** The last value. */
  last: number;
}

/** Options of `tracks`. */
export interface TracksOptions {
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
}

/** A row of `tracks`. */
export interface TracksRow {
  /** The number of the track, as `tiles` takes it. */
  track: number;
  /** host for a thread, device for a stream. */
  kind: TrackKind;
  /** The name of the process or device. */
  process: string;
  /** The name of the thread or stream. */
  thread: string;
  /** The pid in the file. */
  pid: string;
  /** The tid in the file. */
  tid: string;
  /** The number of events on the track, without metadata events. */
  events: number;
  /** The number of events with a duration. */
  spans: number;
  /** 1, plus one for each set of spans that overlap without nesting. */
  lanes: number;
  /** The number of levels in `tiles`: those of all lanes together. */
  depth: number;
  /** The start of the first span, after the start of the recording. */
  start_ns: number | null;
  /** The end of the last span, after the start of the recording. */
  end_ns: number | null;
  /** The time during which any span was open. Annotations on a stream do not count: they show what the host did, not work. */
  busy_ns: number;
  /** The priorities of the stream's kernels. A lower number runs first. */
  priorities: number[];
  /** The hardware channels of the stream's work. Streams that share a channel can wait for each other. */
  channels: number[];
  /** The streams on which CUDA graphs ran work that is drawn on this one. */
  original_streams: number[];
}

/** Options of `info`. */
export interface InfoOptions {
}

/** A row of `info`. */
export interface InfoRow {
  /** The program that wrote the trace, detected by its dialect. */
  producer: string;
  /** The number of objects in traceEvents. */
  events: number;
  /** The number of events with a duration. */
  spans: number;
  /** The number of events of the category cpu_op. */
  operators: number;
  /** The number of events of the category kernel. */
  kernels: number;
  /** The number of events of the category gpu_memcpy. */
  memcpys: number;
  /** The number of events of the category gpu_memset. */
  memsets: number;
  /** The number of distinct pairs of pid and tid. */
  tracks: number;
  /** The number of tracks, plus one for each set of spans that overlap without nesting. */
  lanes: number;
  /** The number of ranks in the file. */
  ranks: number;
  /** The rank that wrote the trace. */
  rank: number | null;
  /** The number of ranks of the job. */
  world_size: number | null;
  /** The Unix time of ts 0, in ns; 0 if the file has absolute times. */
  base_time_ns: UnixNs;
  /** The Unix time of the first event, in ns. */
  start_ns: UnixNs;
  /** The time from the start of the first event to the end of the last. */
  wall_ns: number;
  /** The names of the devices. */
  devices: string[];
  /** The versions of PyTorch whose rules make the events and averages; null if PyTorch did not write the trace. */
  torch_rules: string | null;
  /** What the file does not show about its version of PyTorch; null if nothing. */
  torch_rules_doubt: string | null;
  /** The name of the machine. */
  host: string | null;
}

/** Options of `check`. */
export interface DataQualityOptions {
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
  /** Number of rows to leave out before those; not of a table. */
  offset?: number | undefined;
}

/** A row of `check`; of the kind identity. */
export interface DataQualityIdentityRow {
  kind: "identity";
  /** The equation, the rule, or the code of the diagnostic. */
  name: string;
  /** Whether the identity or rule holds; only violated rules are listed. */
  holds: boolean;
  /** The left side of the identity, in ns or as a count. */
  left: number;
  /** The right side of the identity. */
  right: number;
}

/** A row of `check`; of the kind rule. */
export interface DataQualityViolatedRuleRow {
  kind: "rule";
  /** The equation, the rule, or the code of the diagnostic. */
  name: string;
  /** Whether the identity or rule holds; only violated rules are listed. */
  holds: boolean;
  /** The number of violations, or of occurrences of the diagnostic. */
  count: number;
  /** The first violation, or the text of the first occurrence. */
  example: string;
  /** What the rule requires, or what the diagnostic means. */
  description: string;
}

/** A row of `check`; of the kind note, repaired, lost. */
export interface DataQualityDiagnosticRow {
  kind: "note" | "repaired" | "lost";
  /** The equation, the rule, or the code of the diagnostic. */
  name: string;
  /** The number of violations, or of occurrences of the diagnostic. */
  count: number;
  /** The offset of the first occurrence, in bytes of the decompressed text. */
  first_offset: number | null;
  /** The first violation, or the text of the first occurrence. */
  example: string;
  /** What the rule requires, or what the diagnostic means. */
  description: string;
}

/** A row of `check`; `kind` determines which columns it has. */
export type DataQualityRow = DataQualityIdentityRow | DataQualityViolatedRuleRow | DataQualityDiagnosticRow;

/** Options of `diff`. */
export interface DiffOptions {
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
}

/** A row of `diff`; of the kind total. */
export interface DiffTotalRow {
  kind: "total";
  /** The name; where something was replaced, the names of both sides. */
  name: string;
  /** What changed. */
  change: DiffChange;
  /** Whether the change is more than noise; null if that cannot be decided. */
  significant: boolean | null;
  /** The change per step; the rows of each `part_of` add up to that of their total. */
  contribution_ns: number;
  /** The lower end of the interval of the change of the median step; all intervals together hold with 95 %. */
  low_ns: number | null;
  /** The upper end. */
  high_ns: number | null;
  /** The change of the median step. */
  median_ns: number | null;
  /** The probability of such a change by noise alone, adjusted for the number of rows tested; null if the row was not tested. */
  probability: number | null;
  /** The time per step in the first trace: the part of the wall time of the step, or of the busy time of devices, that counts for the row. */
  a_ns: number;
  /** The same in the second trace. */
  b_ns: number;
  /** The number of steps of the first trace; 1 without profiler steps. */
  steps_a: number;
  /** The same of the second trace. */
  steps_b: number;
  /** The share of the time of the first trace that has a counterpart at the same place. */
  aligned_a: number;
  /** The same of the second trace. */
  aligned_b: number;
  /** Why it changed, as far as the traces show it. */
  cause: DiffCause | null;
  /** A sentence about the cause, or the note. */
  message: string | null;
}

/** A row of `diff`; of the kind operator, range, python, runtime, other, kernel, collective, memcpy, memset. */
export interface DiffPartRow {
  kind: "operator" | "range" | "python" | "runtime" | "other" | "kernel" | "collective" | "memcpy" | "memset";
  /** The name; where something was replaced, the names of both sides. */
  name: string;
  /** What changed. */
  change: DiffChange;
  /** Whether the change is more than noise; null if that cannot be decided. */
  significant: boolean | null;
  /** The change per step; the rows of each `part_of` add up to that of their total. */
  contribution_ns: number;
  /** The lower end of the interval of the change of the median step; all intervals together hold with 95 %. */
  low_ns: number | null;
  /** The upper end. */
  high_ns: number | null;
  /** The change of the median step. */
  median_ns: number | null;
  /** The probability of such a change by noise alone, adjusted for the number of rows tested; null if the row was not tested. */
  probability: number | null;
  /** The time per step in the first trace: the part of the wall time of the step, or of the busy time of devices, that counts for the row. */
  a_ns: number;
  /** The same in the second trace. */
  b_ns: number;
  /** The contribution if both recordings were equally fast: each side is scaled by the root of the common factor; null if there is none. */
  equal_speed_ns: number | null;
  /** The number of calls or activities of all steps in the first trace. */
  count_a: number | null;
  /** The same in the second trace. */
  count_b: number | null;
  /** The mean self time of a call, or the mean duration of an activity, in the first trace. */
  call_a_ns: number | null;
  /** The same in the second trace. */
  call_b_ns: number | null;
  /** The self times of all calls, or the durations of all activities, in all steps of the first trace. */
  sum_a_ns: number | null;
  /** The same in the second trace. */
  sum_b_ns: number | null;
  /** The total that the row is a part of. */
  part_of: DiffPart | null;
  /** Why it changed, as far as the traces show it. */
  cause: DiffCause | null;
  /** A sentence about the cause, or the note. */
  message: string | null;
  /** The names in the first trace. */
  names_a: string[];
  /** The names in the second trace. */
  names_b: string[];
  /** Where the largest changes are; at most 5. */
  places: DiffPlace[];
}

/** A row of `diff`; of the kind idle. */
export interface DiffIdleRow {
  kind: "idle";
  /** The name; where something was replaced, the names of both sides. */
  name: string;
  /** What changed. */
  change: DiffChange;
  /** Whether the change is more than noise; null if that cannot be decided. */
  significant: boolean | null;
  /** The change per step; the rows of each `part_of` add up to that of their total. */
  contribution_ns: number;
  /** The lower end of the interval of the change of the median step; all intervals together hold with 95 %. */
  low_ns: number | null;
  /** The upper end. */
  high_ns: number | null;
  /** The change of the median step. */
  median_ns: number | null;
  /** The probability of such a change by noise alone, adjusted for the number of rows tested; null if the row was not tested. */
  probability: number | null;
  /** The time per step in the first trace: the part of the wall time of the step, or of the busy time of devices, that counts for the row. */
  a_ns: number;
  /** The same in the second trace. */
  b_ns: number;
  /** The total that the row is a part of. */
  part_of: DiffPart;
}

/** A row of `diff`; of the kind phase. */
export interface DiffPhaseRow {
  kind: "phase";
  /** The name; where something was replaced, the names of both sides. */
  name: string;
  /** What changed. */
  change: DiffChange;
  /** Whether the change is more than noise; null if that cannot be decided. */
  significant: boolean | null;
  /** The change per step; the rows of each `part_of` add up to that of their total. */
  contribution_ns: number;
  /** The lower end of the interval of the change of the median step; all intervals together hold with 95 %. */
  low_ns: number | null;
  /** The upper end. */
  high_ns: number | null;
  /** The change of the median step. */
  median_ns: number | null;
  /** The probability of such a change by noise alone, adjusted for the number of rows tested; null if the row was not tested. */
  probability: number | null;
  /** The time per step in the first trace: the part of the wall time of the step, or of the busy time of devices, that counts for the row. */
  a_ns: number;
  /** The same in the second trace. */
  b_ns: number;
  /** Why it changed, as far as the traces show it. */
  cause: DiffCause | null;
  /** A sentence about the cause, or the note. */
  message: string | null;
}

/** A row of `diff`; of the kind wait. */
export interface DiffWaitRow {
  kind: "wait";
  /** The name; where something was replaced, the names of both sides. */
  name: string;
  /** What changed. */
  change: DiffChange;
  /** Whether the change is more than noise; null if that cannot be decided. */
  significant: boolean | null;
  /** The change per step; the rows of each `part_of` add up to that of their total. */
  contribution_ns: number;
  /** The lower end of the interval of the change of the median step; all intervals together hold with 95 %. */
  low_ns: number | null;
  /** The upper end. */
  high_ns: number | null;
  /** The change of the median step. */
  median_ns: number | null;
  /** The probability of such a change by noise alone, adjusted for the number of rows tested; null if the row was not tested. */
  probability: number | null;
  /** The time per step in the first trace: the part of the wall time of the step, or of the busy time of devices, that counts for the row. */
  a_ns: number;
  /** The same in the second trace. */
  b_ns: number;
  /** Why it changed, as far as the traces show it. */
  cause: DiffCause | null;
  /** A sentence about the cause, or the note. */
  message: string | null;
}

/** A row of `diff`; of the kind step. */
export interface DiffStepRow {
  kind: "step";
  /** The name; where something was replaced, the names of both sides. */
  name: string;
  /** What changed. */
  change: DiffChange;
  /** The change per step; the rows of each `part_of` add up to that of their total. */
  contribution_ns: number;
  /** The time per step in the first trace: the part of the wall time of the step, or of the busy time of devices, that counts for the row. */
  a_ns: number;
  /** The same in the second trace. */
  b_ns: number;
}

/** A row of `diff`; of the kind speed. */
export interface DiffSpeedRow {
  kind: "speed";
  /** The name; where something was replaced, the names of both sides. */
  name: string;
  /** What changed. */
  change: DiffChange;
  /** The change per step; the rows of each `part_of` add up to that of their total. */
  contribution_ns: number;
  /** The time per step in the first trace: the part of the wall time of the step, or of the busy time of devices, that counts for the row. */
  a_ns: number;
  /** The same in the second trace. */
  b_ns: number;
  /** How many times as long the same work takes in the second trace: the middle ratio of the rows that do the same work. */
  factor: number;
  /** The spread of these ratios: the noise between two recordings. */
  spread: number;
  /** The number of these rows. */
  rows: number;
  /** Why it changed, as far as the traces show it. */
  cause: DiffCause | null;
  /** A sentence about the cause, or the note. */
  message: string | null;
}

/** A row of `diff`; of the kind memory. */
export interface DiffMemoryRow {
  kind: "memory";
  /** The name; where something was replaced, the names of both sides. */
  name: string;
  /** What changed. */
  change: DiffChange;
  /** Whether the change is more than noise; null if that cannot be decided. */
  significant: boolean | null;
  /** The probability of such a change by noise alone, adjusted for the number of rows tested; null if the row was not tested. */
  probability: number | null;
  /** The peak of allocated memory in the first trace. */
  a_bytes: number;
  /** The same in the second trace. */
  b_bytes: number;
}

/** A row of `diff`; of the kind note. */
export interface DiffNoteRow {
  kind: "note";
  /** A sentence about the cause, or the note. */
  message: string;
}

/** A row of `diff`; `kind` determines which columns it has. */
export type DiffRow = DiffTotalRow | DiffPartRow | DiffIdleRow | DiffPhaseRow | DiffWaitRow | DiffStepRow | DiffSpeedRow | DiffMemoryRow | DiffNoteRow;

/** Options of `diff-tree`. */
export interface DiffTreeOptions {
  /** Leave out places with less than this percentage of the time of the step on both sides [default: 1 in a table, 0 elsewhere] */
  minShare?: number | undefined;
  /** Maximum number of rows, -1 for all. */
  rowLimit?: number | undefined;
}

/** A row of `diff-tree`. */
export interface DiffTreeRow {
  /** The number of ancestors; 0 for the step itself. */
  depth: number;
  /** What the row is about. */
  kind: DiffKind;
  /** The name; where something was replaced, the names of both sides. */
  name: string;
  /** Whether the change of everything with this name is more than noise; null if that cannot be decided. */
  significant: boolean | null;
  /** The wall time per step in the first trace, with everything inside. */
  a_ns: number;
  /** The same in the second trace. */
  b_ns: number;
  /** The same without what is inside, in the first trace. */
  self_a_ns: number;
  /** The same in the second trace. */
  self_b_ns: number;
  /** The busy time of devices per step in the first trace that it launched, with everything inside. */
  device_a_ns: number;
  /** The same in the second trace. */
  device_b_ns: number;
}

/** Options of the export `chrome`. */
export interface ExportChromeOptions {
  /** Add counters of launch queues, bandwidth, activity and memory of devices. */
  counters?: boolean | undefined;
  /** Add the critical path as a track of its own. */
  criticalPath?: boolean | undefined;
}

/** Options of the export `pftrace`. */
export interface ExportPftraceOptions {
}

/** Options of the export `folded`. */
export interface ExportFoldedOptions {
  /** Metric of each line [default: self_cpu_time_total] */
  metric?: "self_cpu_time_total" | "self_cuda_time_total" | "self_xpu_time_total" | "self_privateuse1_time_total" | `${"" | "self_"}${"cuda" | "xpu" | "privateuse1"}_time_total` | undefined;
  /** Fold the spans of every lane instead of the recorded Python stacks. */
  lanes?: boolean | undefined;
  /** Lines of calls, if known, instead of function definitions (PyTorch 2.14 and later). */
  callSites?: boolean | undefined;
}

/** Options of the export `eventlist`. */
export interface ExportEventlistOptions {
}

/** Options of the export `execution-trace`. */
export interface ExportExecutionTraceOptions {
}

/** Options of the export `memory-timeline`. */
export interface ExportMemoryTimelineOptions {
  /** `json` (times and sizes), `raw` (every allocation), or `html` (a plot) [default: json] */
  form?: "json" | "raw" | "html" | undefined;
  /** Device, such as cpu or cuda:0 [default: the device that allocated most] */
  device?: string | undefined;
}

/** Options of the export `csv`. */
export interface ExportCsvOptions {
  /** Write texts exactly as they are, also those that a spreadsheet would run. */
  exact?: boolean | undefined;
}

/** Options of the export `slice`. */
export interface ExportSliceOptions {
  /** A step or a range of steps, such as 3 or 3-5. */
  steps?: number | readonly [first: number, last: number] | string | undefined;
  /** Events that begin in this range after the start of the recording, such as 1.5ms..20ms; numbers are in ns. */
  time?: readonly [startNs: number, endNs: number] | string | undefined;
  /** Only the traces of these ranks. */
  ranks?: readonly number[] | undefined;
}

/** Options of the export `shrink`. */
export interface ExportShrinkOptions {
  /** Leave out host spans shorter than this, launch calls among them, such as 10us; numbers are in ns. */
  minDuration?: number | string | undefined;
  /** Leave out events of these categories, such as python_function. */
  drop?: readonly string[] | undefined;
}

/** Options of the export `redact`. */
export interface ExportRedactOptions {
  /** Give equal strings of several files equal pseudonyms; use a long, secret text [default: random for each file] */
  salt?: string | undefined;
}

/** Every analysis; the same as on the command line. */
export interface Answers {
  /** Summary: device time, steps, top operators and kernels, findings. */
  summary(options?: SummaryOptions): SummaryRow;
  /** Operators: PyTorch's `key_averages`, as PyTorch's table. */
  ops(options?: OpsOptions): OpsRow[];
  /** Kernels, memcpys and memsets by time. */
  kernels(options?: KernelsOptions): KernelsRow[];
  /** Sequences of kernels that repeat, and what one launch saves. */
  sequences(options?: SequencesOptions): SequencesRow[];
  /** Fitness: which questions the trace can answer, and why not others. */
  fitness(options?: FitnessOptions): FitnessRow[];
  /** Time of devices: compute, exposed communication and copies, idle. */
  breakdown(options?: BreakdownOptions): BreakdownRow[];
  /** Idle time of devices by cause, and what stood behind it. */
  idle(options?: IdleOptions): IdleRow[];
  /** Launches: delay, calls, short kernels, launch queues and bandwidth. */
  launches(options?: LaunchesOptions): LaunchesRow[];
  /** Asynchronous tasks: time in polls, waits and what they waited for. */
  tasks(options?: TasksOptions): TasksRow[];
  /** Critical path: what the end of the trace or a step depended on. */
  criticalPath(options?: CriticalPathOptions): CriticalPathRow[];
  /** What changes would save, by replaying the trace with them. */
  whatIf(options?: WhatIfOptions): WhatIfRow[];
  /** Collectives: what each call sent, and how long it took. */
  collectives(options?: CollectivesOptions): CollectivesRow[];
  /** Several ranks: who was late and why, collectives, clocks. */
  ranks(options?: RanksOptions): RanksRow[];
  /** FLOPs, FLOP/s and roofline by operator. */
  flops(options?: FlopsOptions): FlopsRow[];
  /** torch.compile: graphs, kernels and their source, breaks. */
  compiled(options?: CompiledOptions): CompiledRow[];
  /** What torch.compile captured, and the operators outside of graphs. */
  coverage(options?: CoverageOptions): CoverageRow[];
  /** Anti-patterns with their place and the time that a fix can save. */
  patterns(options?: PatternsOptions): PatternsRow[];
  /** Calls during which the launch queue ran empty: `BasicEvaluation`. */
  evaluation(options?: EvaluationOptions): EvaluationRow[];
  /** Memory by device: peaks, their owners, steps, unreleased memory. */
  memory(options?: MemoryOptions): MemoryRow[];
  /** Call tree of every thread and stream, merged by name. */
  tree(options?: TreeOptions): TreeRow[];
  /** CPU and device time by nn.Module, forward and backward. */
  modules(options?: ModulesOptions): ModulesRow[];
  /** Python stacks by self time. */
  stacks(options?: StacksOptions): StacksRow[];
  /** Profiler steps: what each spent its time on. */
  steps(options?: StepsOptions): StepsRow[];
  /** Inference engines: phases, tokens, and what bounds iterations. */
  serving(options?: ServingOptions): ServingRow[];
  /** Every function event, with PyTorch's field names. */
  events(options?: EventsOptions): EventsRow[];
  /** Operators, Python calls and allocations as PyTorch nests them. */
  eventTree(options?: EventTreeOptions): EventTreeRow[];
  /** Operators of an execution trace, with their tensors and arguments. */
  nodes(options?: NodesOptions): NodesRow[];
  /** Samples of call stacks: where the CPU time went, also in no span. */
  samples(options?: SamplesOptions): SamplesRow[];
  /** Spans of every category by name. */
  names(options?: NamesOptions): NamesRow[];
  /** Counters, allocated memory, launch queues and device activity. */
  counters(options?: CountersOptions): CountersRow[];
  /** Threads and streams with their events and busy time. */
  tracks(options?: TracksOptions): TracksRow[];
  /** Event counts, machine and metadata. */
  info(options?: InfoOptions): InfoRow;
  /** Data quality: identities and diagnostics; exit code 1 on failure. */
  dataQuality(options?: DataQualityOptions): DataQualityRow[];
}

/** Options and rows of every query. */
export interface Queries {
  summary: { options: SummaryOptions; row: SummaryRow };
  ops: { options: OpsOptions; row: OpsRow };
  kernels: { options: KernelsOptions; row: KernelsRow };
  sequences: { options: SequencesOptions; row: SequencesRow };
  fitness: { options: FitnessOptions; row: FitnessRow };
  breakdown: { options: BreakdownOptions; row: BreakdownRow };
  idle: { options: IdleOptions; row: IdleRow };
  launches: { options: LaunchesOptions; row: LaunchesRow };
  tasks: { options: TasksOptions; row: TasksRow };
  "critical-path": { options: CriticalPathOptions; row: CriticalPathRow };
  "what-if": { options: WhatIfOptions; row: WhatIfRow };
  collectives: { options: CollectivesOptions; row: CollectivesRow };
  ranks: { options: RanksOptions; row: RanksRow };
  flops: { options: FlopsOptions; row: FlopsRow };
  compiled: { options: CompiledOptions; row: CompiledRow };
  coverage: { options: CoverageOptions; row: CoverageRow };
  patterns: { options: PatternsOptions; row: PatternsRow };
  evaluation: { options: EvaluationOptions; row: EvaluationRow };
  memory: { options: MemoryOptions; row: MemoryRow };
  tree: { options: TreeOptions; row: TreeRow };
  modules: { options: ModulesOptions; row: ModulesRow };
  stacks: { options: StacksOptions; row: StacksRow };
  steps: { options: StepsOptions; row: StepsRow };
  serving: { options: ServingOptions; row: ServingRow };
  events: { options: EventsOptions; row: EventsRow };
  "event-tree": { options: EventTreeOptions; row: EventTreeRow };
  nodes: { options: NodesOptions; row: NodesRow };
  samples: { options: SamplesOptions; row: SamplesRow };
  names: { options: NamesOptions; row: NamesRow };
  counters: { options: CountersOptions; row: CountersRow };
  tracks: { options: TracksOptions; row: TracksRow };
  info: { options: InfoOptions; row: InfoRow };
  check: { options: DataQualityOptions; row: DataQualityRow };
}

/** Options of every export. */
export interface Exports {
  chrome: ExportChromeOptions;
  pftrace: ExportPftraceOptions;
  folded: ExportFoldedOptions;
  eventlist: ExportEventlistOptions;
  "execution-trace": ExportExecutionTraceOptions;
  "memory-timeline": ExportMemoryTimelineOptions;
  csv: ExportCsvOptions;
  slice: ExportSliceOptions;
  shrink: ExportShrinkOptions;
  redact: ExportRedactOptions;
}

/** Whether each query answers with one row rather than with a list. */
export const QUERIES: { readonly [V in keyof Queries]: boolean } = {
  summary: true,
  ops: false,
  kernels: false,
  sequences: false,
  fitness: false,
  breakdown: false,
  idle: false,
  launches: false,
  tasks: false,
  "critical-path": false,
  "what-if": false,
  collectives: false,
  ranks: false,
  flops: false,
  compiled: false,
  coverage: false,
  patterns: false,
  evaluation: false,
  memory: false,
  tree: false,
  modules: false,
  stacks: false,
  steps: false,
  serving: false,
  events: false,
  "event-tree": false,
  nodes: false,
  samples: false,
  names: false,
  counters: false,
  tracks: false,
  info: true,
  check: false,
};

/** The media type of every export. */
export const EXPORTS: { readonly [E in keyof Exports]: string } = {
  chrome: "application/json",
  pftrace: "application/octet-stream",
  folded: "text/plain",
  eventlist: "application/json",
  "execution-trace": "application/json",
  "memory-timeline": "application/json",
  csv: "text/csv",
  slice: "application/json",
  shrink: "application/json",
  redact: "application/json",
};
