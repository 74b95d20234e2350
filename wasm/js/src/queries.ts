// Written by `BLESS=1 cargo test -p kinetoscope-tests --test typescript` from the engine's lists of queries and exports.

/** How many frames of the stack a group is made by. */
export type StackGroup = `stack:${number}`;

export type EngineErrorCode =
  | "empty"
  | "not_a_trace"
  | "output"
  | "bad_option";

export type DiagnosticCode =
  | "compressed_cut"
  | "compressed_damaged"
  | "compressed_trailing"
  | "utf16"
  | "byte_order_mark"
  | "truncated"
  | "memory_limit"
  | "unclosed"
  | "damaged_event"
  | "stray_bytes"
  | "not_an_object"
  | "missing_comma"
  | "trailing_comma"
  | "bare_word"
  | "bad_number"
  | "unescaped_quote"
  | "unescaped_backslash"
  | "control_character"
  | "invalid_utf8"
  | "lone_surrogate"
  | "duplicate_key"
  | "damaged_metadata"
  | "event_too_large"
  | "nesting_too_deep"
  | "name_too_long"
  | "trailing_document"
  | "missing_phase"
  | "missing_time"
  | "missing_duration"
  | "negative_duration"
  | "time_rounded"
  | "time_clamped"
  | "duration_shortened"
  | "size_clamped"
  | "unmatched_begin"
  | "unmatched_end"
  | "mismatched_end"
  | "unmatched_async"
  | "unmatched_flow"
  | "overlapping_spans"
  | "kernel_without_launch"
  | "launch_without_kernel"
  | "ambiguous_correlation"
  | "negative_correlation"
  | "no_forward_thread"
  | "no_start_record"
  | "late_start_record"
  | "unknown_kind"
  | "repeated_push"
  | "hidden_record"
  | "unmatched_push"
  | "dropped_record"
  | "unknown_name"
  | "unmatched_pop";

export type Severity =
  | "note"
  | "repaired"
  | "lost";

export type Relation =
  | "self"
  | "ancestor"
  | "launch"
  | "operator"
  | "device_work"
  | "forward"
  | "backward"
  | "flow_from"
  | "flow_to";

export type DeviceType =
  | "CPU"
  | "CUDA"
  | "MKLDNN"
  | "OPENGL"
  | "OPENCL"
  | "IDEEP"
  | "HIP"
  | "FPGA"
  | "MAIA"
  | "XLA"
  | "Vulkan"
  | "Metal"
  | "XPU"
  | "MPS"
  | "Meta"
  | "HPU"
  | "VE"
  | "Lazy"
  | "IPU"
  | "MTIA"
  | "PrivateUse1";

export type WorkClass =
  | "compute"
  | "communication"
  | "memcpy"
  | "memset";

export type FlopsKind =
  | "total"
  | "operator";

export type Bound =
  | "compute"
  | "memory";

export type CoverageKind =
  | "captured"
  | "total"
  | "graph"
  | "missed";

export type MemoryKind =
  | "device"
  | "at_peak"
  | "step"
  | "kept"
  | "out_of_memory"
  | "segments";

export type Category =
  | "cpu_op"
  | "user_annotation"
  | "python_function"
  | "cuda_runtime"
  | "cuda_driver"
  | "kernel"
  | "gpu_memcpy"
  | "gpu_memset"
  | "gpu_user_annotation"
  | "cuda_sync"
  | "cuda_event"
  | "overhead"
  | "cpu_instant_event"
  | "Trace";

export type CounterUnit =
  | "bytes"
  | "count"
  | "share";

export type TrackKind =
  | "host"
  | "device";

export type CheckKind =
  | "identity"
  | "note"
  | "repaired"
  | "lost";

export type IdleCause =
  | "host_late"
  | "host_waiting"
  | "queued"
  | "unknown";

export type FindingCode =
  | "gpu_idle"
  | "exposed_communication"
  | "pageable_copies"
  | "short_kernels"
  | "synchronization"
  | "data_loading"
  | "uneven_steps"
  | "trace_incomplete"
  | "overlapping_spans";

export interface DeviceTime {
  /** Its number, as the trace has it. */
  device: string;
  /** How many kernels, copies and memsets. */
  activities: number;
  /** From the first activity to the end of the last. */
  window_ns: number;
  /** Sum of their durations. */
  sum_ns: number;
  /** Time in which any of them was running. */
  busy_ns: number;
  /** The rest of the window. */
  idle_ns: number;
  /** The same by class. */
  classes: ClassTime[];
  /** The idle time by cause. */
  idle_causes: IdleCauses;
}

export interface ClassTime {
  /** What the device did. */
  class: WorkClass;
  /** How many activities. */
  count: number;
  /** Sum of their durations. */
  sum_ns: number;
  /** Time in which any of them was running. */
  busy_ns: number;
  /** Time in which nothing else was running. */
  exposed_ns: number;
}

export interface IdleCauses {
  /** The launch of what came next began after the gap had begun. */
  host_late_ns: number;
  /** The host was in a synchronizing call when the gap began. */
  host_waiting_ns: number;
  /** What came next had been launched before the gap began. */
  queued_ns: number;
  /** The launch of what came next is not in the trace. */
  unknown_ns: number;
}

export interface TopOperator {
  /** The operator. */
  name: string;
  /** How many calls. */
  count: number;
  /** Time on the CPU, without that of the events called inside. */
  self_cpu_time_total_ns: number;
  /** Time on the CPU, with that of the events called inside. */
  cpu_time_total_ns: number;
  /** Sum of the device work that it and what it called launched. */
  device_time_total_ns: number;
}

export interface TopKernel {
  /** The kernel, copy or memset. */
  name: string;
  /** What the device did. */
  class: WorkClass;
  /** How often it ran. */
  count: number;
  /** Sum of the durations. */
  sum_ns: number;
}

export interface IdleGap {
  /** The device's number, as the trace has it. */
  device: string;
  /** When it began, after the start of the recording. */
  start_ns: number;
  /** How long it lasted. */
  idle_ns: number;
  /** Why. */
  cause: IdleCause;
  /** The activity that came next. */
  after: string;
  /** The stream of that activity. */
  stream: string;
}

export interface TopTrack {
  /** The thread or stream. */
  name: string;
  /** How many spans. */
  spans: number;
  /** Time of the outermost ones. */
  time_ns: number;
}

export interface Finding {
  /** What it is. */
  code: FindingCode;
  /** What it costs at most; 0 where it costs trust and not time. */
  cost_ns: number;
  /** What was seen. */
  message: string;
  /** What to do. */
  advice: string;
}

export interface EarlyTop {
  /** The name. */
  name: string;
  /** How many events so far. */
  count: number;
  /** Sum of their durations. */
  sum_ns: number;
}

/** The numbers of a trace that is still being read. */
export interface PreviewSummary {
  /** Objects of traceEvents read so far. */
  events: number;
  /** Events of the category cpu_op so far. */
  operators: number;
  /** Kernels, copies and fills so far. */
  kernels: number;
  /** From the first event to the end of the last one so far. */
  wall_ns: number;
  /** Sum of the durations of kernels, copies and fills so far. */
  device_sum_ns: number;
  /** Operators by total time so far, that of what they called in it. */
  top_operators: EarlyTop[];
  /** Kernels, copies and fills by time so far. */
  top_kernels: EarlyTop[];
}

/** Options of `summary`. */
export interface SummaryOptions {
}

/** A row of `summary`. */
export interface SummaryRow {
  /** From the first event to the end of the last. */
  wall_ns: number;
  /** How many profiler steps there are. */
  steps: number;
  /** Their mean wall time. */
  mean_step_ns: number | null;
  /** Sum of all self CPU times. */
  self_cpu_time_total_ns: number;
  /** Where each device's time went. */
  devices: DeviceTime[];
  /** Operators by self CPU time. */
  top_operators: TopOperator[];
  /** Kernels, copies and fills by time. */
  top_kernels: TopKernel[];
  /** The longest idle gaps of the devices. */
  top_idle: IdleGap[];
  /** Rows of the timeline by time, for traces without operators. */
  top_tracks: TopTrack[];
  /** What looks wrong. */
  findings: Finding[];
  /** How many parts of the file could not be read. */
  lost: number;
}

/** Options of `ops`. */
export interface OpsOptions {
  /** A column of torch's table, such as `self_cpu_time_total`; rows stay in order of first use without it. */
  sortBy?: "count" | "cpu_time" | "cpu_time_total" | "self_cpu_time_total" | "device_time" | "device_time_total" | "self_device_time_total" | "cpu_memory_usage" | "self_cpu_memory_usage" | "device_memory_usage" | "self_device_memory_usage" | "flops" | `${"" | "self_"}${"cuda" | "xpu" | "privateuse1"}_time_total` | undefined;
  /** At most this many rows, -1 for all [default: 100 in a table, all elsewhere] */
  rowLimit?: number | undefined;
  /** Any of shape, stack:N, overload, module (the innermost nn.Module, as the stack). */
  groupBy?: readonly ("shape" | "overload" | "module" | StackGroup)[] | undefined;
  /** Only rows whose first event has no parent. */
  topLevelOnly?: boolean | undefined;
  /** The unit of the table's times [default: what suits each value] */
  timeUnit?: "s" | "ms" | "us" | undefined;
  /** Longest name in the table, or none [default: 55] */
  maxNameWidth?: number | null | undefined;
  /** Longest shapes in the table, or none [default: 80] */
  maxShapesWidth?: number | null | undefined;
  /** Longest stack frame in the table, or none [default: 75] */
  maxSrcWidth?: number | null | undefined;
  /** A line above the table. */
  header?: string | undefined;
}

/** A row of `ops`. */
export interface OpsRow {
  /** The operator's or kernel's name; ProfilerStep#N counts as ProfilerStep*. */
  name: string;
  /** How many events are in the group. */
  count: number;
  /** Time on the CPU, with that of the events called inside. */
  cpu_time_total_ns: number;
  /** Time on the CPU, without that of the events called inside. */
  self_cpu_time_total_ns: number;
  /** Sum of the durations of the device work that the group and what it called launched. */
  device_time_total_ns: number;
  /** Sum of the durations of the device work that the group itself launched. */
  self_device_time_total_ns: number;
  /** CPU memory allocated less freed, with that of the events called inside. */
  cpu_memory_usage_bytes: number;
  /** CPU memory allocated less freed by the group itself. */
  self_cpu_memory_usage_bytes: number;
  /** Device memory allocated less freed, with that of the events called inside. */
  device_memory_usage_bytes: number;
  /** Device memory allocated less freed by the group itself. */
  self_device_memory_usage_bytes: number;
  /** Estimated floating point operations, by torch's formulas. */
  flops: number;
  /** Shapes of the inputs, where they are grouped by. */
  input_shapes: unknown[] | null;
  /** The operator's overload, where it is grouped by. */
  overload_name: string;
  /** The innermost frames, where they are grouped by. */
  stack: string[];
  /** Where the events ran: CPU, CUDA, XPU, MTIA, HPU, PrivateUse1. */
  device_type: DeviceType;
  /** The events ended on another thread than they began; no trace says so, records do. */
  is_async: boolean;
  /** The events are ranges that the user's program named. */
  is_user_annotation: boolean;
}

/** Options of `kernels`. */
export interface KernelsOptions {
  /** At most this many rows, -1 for all. */
  rowLimit?: number | undefined;
}

/** A row of `kernels`. */
export interface KernelsRow {
  /** The kernel's, copy's or fill's name. */
  name: string;
  /** The name without namespaces and parameters. */
  short_name: string;
  /** compute, communication, memcpy or memset. */
  class: WorkClass;
  /** How often it ran. */
  count: number;
  /** Sum of the durations. */
  sum_ns: number;
  /** The part of the sum of all device work. */
  share: number;
  /** Mean duration. */
  mean_ns: number;
  /** Shortest duration. */
  min_ns: number;
  /** Longest duration. */
  max_ns: number;
  /** Estimated achieved occupancy, weighted by duration. */
  occupancy_percent: number | null;
  /** Bytes copied or filled. */
  bytes: number | null;
  /** Those bytes by the time that took. */
  bytes_per_second: number | null;
  /** Floating point operations by time, of the kernels that are the only one of an operator which a formula counts. */
  flops_per_second: number | null;
  /** The operator that the longest of them was done for. */
  op: string | null;
}

/** Options of `flops`. */
export interface FlopsOptions {
  /** Figures of devices for the roofline: lines of name,fp64,fp32,tf32,half,int8,memory in TFLOP/s and GB/s. */
  peaks?: string | undefined;
  /** At most this many rows, -1 for all. */
  rowLimit?: number | undefined;
}

/** A row of `flops`. */
export interface FlopsRow {
  /** total for the sums in the first rows, operator for the others. */
  kind: FlopsKind;
  /** The operator; all, counted or not counted for a sum. */
  name: string;
  /** A formula knows the operator and its inputs. */
  counted: boolean | null;
  /** How many calls. */
  count: number;
  /** Floating point operations of the calls that were counted. */
  flops: number | null;
  /** Device time, or CPU time in a trace without device work, with that of what was called; without it where not counted. */
  time_ns: number;
  /** The part of all such time. */
  share: number;
  /** Floating point operations by that time. */
  flops_per_second: number | null;
  /** Bytes of the input tensors: the least that the calls have to read. */
  input_bytes: number | null;
  /** Those bytes by that time. */
  bytes_per_second: number | null;
  /** What bounds the calls on this device: compute or memory; nothing where its figures are not known. */
  bound: Bound | null;
  /** The least time that the device needs for these operations and bytes, as a part of the time they took. */
  roofline_share: number | null;
}

/** Options of `coverage`. */
export interface CoverageOptions {
  /** At most this many rows, -1 for all. */
  rowLimit?: number | undefined;
}

/** A row of `coverage`. */
export interface CoverageRow {
  /** captured or total for the sums, graph for a compiled graph, missed for an operator outside. */
  kind: CoverageKind;
  /** The graph's or operator's name. */
  name: string;
  /** How often compiled graphs were called. */
  graphs: number;
  /** How many operators ran, those that others called left out. */
  operators: number;
  /** Operators less calls: what running them one by one would add. */
  fusions: number;
  /** Their time on the CPU, with that of what they called; for a graph, that of its calls. */
  time_ns: number;
  /** Sum of the durations of the device work that was launched in them. */
  device_time_ns: number;
  /** The part of all operators. */
  operators_share: number | null;
  /** The part of the CPU time of all operators. */
  time_share: number | null;
  /** The part of all device time. */
  device_time_share: number | null;
  /** Where the first of the missed operators was called from, innermost frame first. */
  stack: string[];
}

/** Options of `patterns`. */
export interface PatternsOptions {
  /** Look for events whose names contain this text instead. */
  name?: string | undefined;
  /** Print the report in the form of torch's `report_all_anti_patterns`. */
  report?: boolean | undefined;
  /** At most this many rows, -1 for all. */
  rowLimit?: number | undefined;
}

/** A row of `patterns`. */
export interface PatternsRow {
  /** The name of the pattern. */
  pattern: string;
  /** How many events of this place show it. */
  count: number;
  /** Sum of the durations of the matched events on the CPU. */
  cpu_time_ns: number;
  /** Sum of the device work that the matched events launched. */
  device_time_ns: number;
  /** The most that doing otherwise can save, where the trace can tell. */
  saving_ns: number | null;
  /** The first matched event. */
  event: string;
  /** When the first matched event began, after the start of the recording. */
  start_ns: number;
  /** The innermost function outside of torch: path(line of its def): name. */
  place: string | null;
  /** What is wrong, and what to do. */
  description: string;
  /** Where more is said about it. */
  url: string;
}

/** Options of `evaluation`. */
export interface EvaluationOptions {
  /** At most this many rows, -1 for all. */
  rowLimit?: number | undefined;
}

/** A row of `evaluation`. */
export interface EvaluationRow {
  /** The operator, range or Python function. */
  name: string;
  /** When it began, after the start of the recording. */
  start_ns: number;
  /** How long it took. */
  duration_ns: number;
  /** Its duration less that of what it called; below 0 where that sticks out of it. */
  self_time_ns: number;
  /** How long the device had nothing to do meanwhile. */
  idle_time_ns: number;
  /** The share of its duration during which the device had nothing to do. */
  fraction_idle: number;
  /** How many launched kernels had not begun when it began. */
  queue_depth: number;
  /** The innermost function outside of torch: path(line of its def): name. */
  place: string | null;
}

/** Options of `memory`. */
export interface MemoryOptions {
  /** At most this many rows, -1 for all. */
  rowLimit?: number | undefined;
}

/** A row of `memory` of the kind device. */
export interface MemoryDeviceRow {
  /** device; at_peak: what an owner held at the device's peak; step; kept: what an owner never released; out_of_memory; segments. */
  kind: "device";
  /** CPU, CUDA 0, …. */
  device: string;
  /** The operator or function that allocated, or the step. */
  name: null;
  /** How many allocations, failures or segments. */
  count: number;
  /** Sum of the allocations that the line counts. */
  allocated_bytes: number;
  /** Sum of the releases that the line counts. */
  freed_bytes: number;
  /** The most that was allocated at once. */
  peak_bytes: number;
  /** The most that the allocator had reserved. */
  reserved_bytes: number | null;
  /** What was allocated at the end less what was at the start. */
  growth_bytes: number;
  /** The part of the peak; of segments, of what is reserved, in use. */
  share: null;
  /** When the peak was reached, or the line's first event was. */
  at_ns: number;
  /** The Python stack of the first allocation, innermost frame first. */
  stack: string[];
}

/** A row of `memory` of the kind at_peak. */
export interface MemoryAtPeakRow {
  /** device; at_peak: what an owner held at the device's peak; step; kept: what an owner never released; out_of_memory; segments. */
  kind: "at_peak";
  /** CPU, CUDA 0, …. */
  device: string;
  /** The operator or function that allocated, or the step. */
  name: string;
  /** How many allocations, failures or segments. */
  count: number;
  /** Sum of the allocations that the line counts. */
  allocated_bytes: number;
  /** Sum of the releases that the line counts. */
  freed_bytes: null;
  /** The most that was allocated at once. */
  peak_bytes: null;
  /** The most that the allocator had reserved. */
  reserved_bytes: null;
  /** What was allocated at the end less what was at the start. */
  growth_bytes: null;
  /** The part of the peak; of segments, of what is reserved, in use. */
  share: number;
  /** When the peak was reached, or the line's first event was. */
  at_ns: number | null;
  /** The Python stack of the first allocation, innermost frame first. */
  stack: string[];
}

/** A row of `memory` of the kind step. */
export interface MemoryStepRow {
  /** device; at_peak: what an owner held at the device's peak; step; kept: what an owner never released; out_of_memory; segments. */
  kind: "step";
  /** CPU, CUDA 0, …. */
  device: string;
  /** The operator or function that allocated, or the step. */
  name: string;
  /** How many allocations, failures or segments. */
  count: number;
  /** Sum of the allocations that the line counts. */
  allocated_bytes: number;
  /** Sum of the releases that the line counts. */
  freed_bytes: number;
  /** The most that was allocated at once. */
  peak_bytes: number | null;
  /** The most that the allocator had reserved. */
  reserved_bytes: null;
  /** What was allocated at the end less what was at the start. */
  growth_bytes: number;
  /** The part of the peak; of segments, of what is reserved, in use. */
  share: null;
  /** When the peak was reached, or the line's first event was. */
  at_ns: number;
  /** The Python stack of the first allocation, innermost frame first. */
  stack: string[];
}

/** A row of `memory` of the kind kept. */
export interface MemoryKeptRow {
  /** device; at_peak: what an owner held at the device's peak; step; kept: what an owner never released; out_of_memory; segments. */
  kind: "kept";
  /** CPU, CUDA 0, …. */
  device: string;
  /** The operator or function that allocated, or the step. */
  name: string;
  /** How many allocations, failures or segments. */
  count: number;
  /** Sum of the allocations that the line counts. */
  allocated_bytes: number;
  /** Sum of the releases that the line counts. */
  freed_bytes: null;
  /** The most that was allocated at once. */
  peak_bytes: null;
  /** The most that the allocator had reserved. */
  reserved_bytes: null;
  /** What was allocated at the end less what was at the start. */
  growth_bytes: null;
  /** The part of the peak; of segments, of what is reserved, in use. */
  share: null;
  /** When the peak was reached, or the line's first event was. */
  at_ns: number;
  /** The Python stack of the first allocation, innermost frame first. */
  stack: string[];
}

/** A row of `memory` of the kind out_of_memory. */
export interface MemoryOutOfMemoryRow {
  /** device; at_peak: what an owner held at the device's peak; step; kept: what an owner never released; out_of_memory; segments. */
  kind: "out_of_memory";
  /** CPU, CUDA 0, …. */
  device: string;
  /** The operator or function that allocated, or the step. */
  name: null;
  /** How many allocations, failures or segments. */
  count: number;
  /** Sum of the allocations that the line counts. */
  allocated_bytes: number;
  /** Sum of the releases that the line counts. */
  freed_bytes: null;
  /** The most that was allocated at once. */
  peak_bytes: null;
  /** The most that the allocator had reserved. */
  reserved_bytes: null;
  /** What was allocated at the end less what was at the start. */
  growth_bytes: null;
  /** The part of the peak; of segments, of what is reserved, in use. */
  share: null;
  /** When the peak was reached, or the line's first event was. */
  at_ns: number;
  /** The Python stack of the first allocation, innermost frame first. */
  stack: string[];
}

/** A row of `memory` of the kind segments. */
export interface MemorySegmentsRow {
  /** device; at_peak: what an owner held at the device's peak; step; kept: what an owner never released; out_of_memory; segments. */
  kind: "segments";
  /** CPU, CUDA 0, …. */
  device: string;
  /** The operator or function that allocated, or the step. */
  name: string;
  /** How many allocations, failures or segments. */
  count: number;
  /** Sum of the allocations that the line counts. */
  allocated_bytes: number;
  /** Sum of the releases that the line counts. */
  freed_bytes: null;
  /** The most that was allocated at once. */
  peak_bytes: null;
  /** The most that the allocator had reserved. */
  reserved_bytes: number;
  /** What was allocated at the end less what was at the start. */
  growth_bytes: null;
  /** The part of the peak; of segments, of what is reserved, in use. */
  share: number | null;
  /** When the peak was reached, or the line's first event was. */
  at_ns: null;
  /** The Python stack of the first allocation, innermost frame first. */
  stack: string[];
}

/** A row of `memory`; `kind` tells which columns it fills. */
export type MemoryRow = MemoryDeviceRow | MemoryAtPeakRow | MemoryStepRow | MemoryKeptRow | MemoryOutOfMemoryRow | MemorySegmentsRow;

/** Options of `tree`. */
export interface TreeOptions {
  /** The callers below each name rather than what it called. */
  bottomUp?: boolean | undefined;
  /** How many levels, -1 for all [default: 8] */
  depth?: number | undefined;
  /** Leave out what takes less than this percentage of its lane [default: 1 in a table, 0 elsewhere] */
  minShare?: number | undefined;
  /** At most this many rows, -1 for all. */
  rowLimit?: number | undefined;
}

/** A row of `tree`. */
export interface TreeRow {
  /** The thread or stream. */
  lane: string;
  /** How many ancestors there are; none in the row of the lane itself. */
  depth: number | null;
  /** The spans' name; none in the row of the lane itself. */
  name: string | null;
  /** The name, indented by its depth. */
  path: string;
  /** How many spans were merged. */
  count: number;
  /** Sum of their durations. */
  total_ns: number;
  /** The same without the spans inside. */
  self_ns: number | null;
  /** Sum of the device work that they and what is inside them launched. */
  device_total_ns: number;
  /** The same without the spans inside. */
  device_self_ns: number;
  /** The part of the time of the lane's outermost spans. */
  share: number | null;
}

/** Options of `modules`. */
export interface ModulesOptions {
  /** At most this many rows, -1 for all. */
  rowLimit?: number | undefined;
}

/** A row of `modules`. */
export interface ModulesRow {
  /** How many modules are above. */
  depth: number;
  /** The module: its class, and a number for each object of the class. */
  name: string;
  /** The modules from the outermost to this one, with / between. */
  path: string;
  /** The name, indented by its depth. */
  tree: string;
  /** How often it was called. */
  count: number;
  /** Time on the CPU, with that of the modules inside. */
  cpu_time_total_ns: number;
  /** Time on the CPU, without that of the modules inside. */
  self_cpu_time_total_ns: number;
  /** Sum of the device work that was launched in it. */
  device_time_total_ns: number;
  /** The same, without that of the modules inside. */
  self_device_time_total_ns: number;
  /** Sum of the device work that the backward of its operators launched, where the trace links the two. */
  backward_device_time_total_ns: number;
}

/** Options of `stacks`. */
export interface StacksOptions {
  /** At most this many rows, -1 for all. */
  rowLimit?: number | undefined;
}

/** A row of `stacks`. */
export interface StacksRow {
  /** Self time on the CPU of the events with this stack. */
  self_cpu_time_total_ns: number;
  /** Device work that the events with this stack launched. */
  self_device_time_total_ns: number;
  /** How many events have this stack. */
  count: number;
  /** The innermost frame: path(line): function. */
  frame: string | null;
  /** The frame around it. */
  caller: string | null;
  /** The whole stack, innermost frame first. */
  stack: string[];
}

/** Options of `steps`. */
export interface StepsOptions {
  /** At most this many rows, -1 for all. */
  rowLimit?: number | undefined;
}

/** A row of `steps`. */
export interface StepsRow {
  /** The step's name. */
  name: string;
  /** The step's number. */
  step: number;
  /** When it began, after the start of the recording. */
  start_ns: number;
  /** How long it took; the parts below add up to it. */
  wall_ns: number;
  /** Time of the step in which any device was running. */
  device_busy_ns: number;
  /** Sum of the durations of the device work that was launched in it. */
  device_sum_ns: number;
  /** How many pieces of device work it launched. */
  launched: number;
  /** Part of the wall time in which compute kernels ran. */
  kernel_ns: number;
  /** Part in which communication kernels ran, and none of the above. */
  communication_ns: number;
  /** Part with copies, and none of the above. */
  memcpy_ns: number;
  /** Part with fills, and none of the above. */
  memset_ns: number;
  /** Part in runtime calls, and none of the above. */
  runtime_ns: number;
  /** Part in which data was loaded, and none of the above. */
  data_loader_ns: number;
  /** Part in operators, and none of the above. */
  cpu_op_ns: number;
  /** What is left of the wall time. */
  other_ns: number;
}

/** Options of `events`. */
export interface EventsOptions {
  /** At most this many rows, -1 for all. */
  rowLimit?: number | undefined;
}

/** A row of `events`. */
export interface EventsRow {
  /** The event's position. */
  idx: number;
  /** The event's name. */
  name: string;
  /** When it began, after the start of the recording. */
  start_ns: number;
  /** When it ended, after the start of the recording. */
  end_ns: number;
  /** Time on the CPU, with that of the events called inside. */
  cpu_time_total_ns: number;
  /** Time on the CPU, without that of the events called inside. */
  self_cpu_time_total_ns: number;
  /** Sum of the durations of the device work that it and what it called launched. */
  device_time_total_ns: number;
  /** Sum of the durations of the device work that it launched itself. */
  self_device_time_total_ns: number;
  /** CPU memory allocated less freed, with that of the events called inside. */
  cpu_memory_usage_bytes: number;
  /** CPU memory allocated less freed by the event itself. */
  self_cpu_memory_usage_bytes: number;
  /** Device memory allocated less freed, with that of the events called inside. */
  device_memory_usage_bytes: number;
  /** Device memory allocated less freed by the event itself. */
  self_device_memory_usage_bytes: number;
  /** The external or correlation id; 0 for none. */
  id: number;
  /** The name as the trace has it. */
  trace_name: string | null;
  /** The operator's overload. */
  overload_name: string;
  /** The thread or stream. */
  thread: string;
  /** The thread of the forward operator; 0 for none. */
  fwd_thread: number;
  /** The autograd sequence number; -1 for none. */
  sequence_nr: number;
  /** torch's record scope: 0 function, 1 backward function, 7 user scope. */
  scope: number;
  /** Estimated floating point operations, by torch's formulas. */
  flops: number;
  /** Shapes of the inputs. */
  input_shapes: unknown[] | null;
  /** The Python stack, innermost frame first. */
  stack: string[];
  /** Where it ran: CPU, CUDA, XPU, MTIA, HPU, PrivateUse1. */
  device_type: DeviceType;
  /** It ended on another thread than it began; no trace says so, records do. */
  is_async: boolean;
  /** It ran in another process by RPC; no trace says so, records do. */
  is_remote: boolean;
  /** It comes from the legacy profiler. */
  is_legacy: boolean;
  /** It is a range that the user's program named. */
  is_user_annotation: boolean;
  /** The position of the event that called it. */
  cpu_parent: number | null;
  /** The positions of the events that it called. */
  cpu_children: number[];
}

/** Options of `names`. */
export interface NamesOptions {
  /** Only this time after the start of the recording: 1.5ms..20ms; numbers are in ns. */
  time?: readonly [startNs: number, endNs: number] | string | undefined;
  /** Only these rows of `tracks`, by number. */
  tracks?: readonly number[] | undefined;
  /** At most this many rows, -1 for all. */
  rowLimit?: number | undefined;
}

/** A row of `names`. */
export interface NamesRow {
  /** The spans' name. */
  name: string;
  /** What they are: cpu_op, kernel, python_function, …. */
  category: Category | null;
  /** How many spans. */
  count: number;
  /** Sum of their durations, of which only what lies in the selected time counts. */
  total_ns: number;
  /** The same without the spans inside them. */
  self_ns: number;
  /** The total by the count. */
  mean_ns: number;
  /** The shortest of these durations. */
  min_ns: number;
  /** The longest of these durations. */
  max_ns: number;
}

/** Options of `counters`. */
export interface CountersOptions {
  /** At most this many rows, -1 for all. */
  rowLimit?: number | undefined;
}

/** A row of `counters`. */
export interface CountersRow {
  /** The counter's number, which `curve` takes. */
  counter: number;
  /** The process or device. */
  process: string;
  /** What is counted. */
  name: string;
  /** bytes, count, or share of 1. */
  unit: CounterUnit;
  /** How often its value was set. */
  points: number;
  /** The least value. */
  min: number;
  /** The greatest value. */
  max: number;
  /** The value after the last point. */
  last: number;
}

/** Options of `tracks`. */
export interface TracksOptions {
  /** At most this many rows, -1 for all. */
  rowLimit?: number | undefined;
}

/** A row of `tracks`. */
export interface TracksRow {
  /** The track's number, which `tiles` takes. */
  track: number;
  /** host for a thread, device for a stream. */
  kind: TrackKind;
  /** The process or device. */
  process: string;
  /** The thread or stream. */
  thread: string;
  /** The pid as the file has it. */
  pid: string;
  /** The tid as the file has it. */
  tid: string;
  /** Events on the track, metadata left out. */
  events: number;
  /** Events with a duration. */
  spans: number;
  /** 1, and one more for each set of spans that overlap without nesting. */
  lanes: number;
  /** How many levels `tiles` has: those of all lanes, one below the other. */
  depth: number;
  /** When the first span began, after the start of the recording. */
  start_ns: number | null;
  /** When the last span ended, after the start of the recording. */
  end_ns: number | null;
  /** Time in which any span was open. */
  busy_ns: number;
}

/** Options of `info`. */
export interface InfoOptions {
}

/** A row of `info`. */
export interface InfoRow {
  /** The program that wrote the trace, by its dialect. */
  producer: string;
  /** Objects in traceEvents. */
  events: number;
  /** Events with a duration. */
  spans: number;
  /** Events of the category cpu_op. */
  operators: number;
  /** Events of the category kernel. */
  kernels: number;
  /** Events of the category gpu_memcpy. */
  copies: number;
  /** Events of the category gpu_memset. */
  fills: number;
  /** Distinct pairs of pid and tid. */
  tracks: number;
  /** Tracks, and one more for each set of spans that overlap without nesting. */
  lanes: number;
  /** Ranks in the file. */
  ranks: number;
  /** The rank that wrote it. */
  rank: number | null;
  /** How many ranks there were. */
  world_size: number | null;
  /** The Unix time of a ts of 0, in ns; 0 where the file has absolute times. */
  base_time_ns: bigint;
  /** The Unix time of the first event, in ns. */
  start_ns: bigint;
  /** From the first event to the end of the last. */
  wall_ns: number;
  /** The devices' names. */
  devices: string[];
  /** The machine's name. */
  host: string | null;
}

/** Options of `check`. */
export interface CheckOptions {
  /** At most this many rows, -1 for all. */
  rowLimit?: number | undefined;
}

/** A row of `check` of the kind identity. */
export interface CheckIdentityRow {
  /** identity, or the severity of a diagnostic: note, repaired, lost. */
  kind: "identity";
  /** The equation, or the code of the diagnostic. */
  name: string;
  /** Whether the identity holds. */
  holds: boolean;
  /** The identity's left side: ns, or a count. */
  left: number;
  /** The identity's right side. */
  right: number;
  /** How often the diagnostic occurred. */
  count: null;
  /** Offset of the first occurrence, in bytes of the decompressed text. */
  first_offset: null;
  /** The text of the first occurrence. */
  example: null;
  /** What the diagnostic means. */
  description: null;
}

/** A row of `check` of the kind note, repaired, lost. */
export interface CheckDiagnosticRow {
  /** identity, or the severity of a diagnostic: note, repaired, lost. */
  kind: "note" | "repaired" | "lost";
  /** The equation, or the code of the diagnostic. */
  name: string;
  /** Whether the identity holds. */
  holds: null;
  /** The identity's left side: ns, or a count. */
  left: null;
  /** The identity's right side. */
  right: null;
  /** How often the diagnostic occurred. */
  count: number;
  /** Offset of the first occurrence, in bytes of the decompressed text. */
  first_offset: number | null;
  /** The text of the first occurrence. */
  example: string;
  /** What the diagnostic means. */
  description: string;
}

/** A row of `check`; `kind` tells which columns it fills. */
export type CheckRow = CheckIdentityRow | CheckDiagnosticRow;

/** Options of the export `chrome`. */
export interface ExportChromeOptions {
}

/** Options of the export `folded`. */
export interface ExportFoldedOptions {
  /** What a line counts: `self_cpu_time_total` or `self_cuda_time_total` [default: self_cpu_time_total] */
  metric?: "self_cpu_time_total" | "self_cuda_time_total" | undefined;
  /** Fold the spans of every lane instead of the recorded Python stacks. */
  lanes?: boolean | undefined;
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
  /** Such as cpu or cuda:0 [default: the device that allocated most] */
  device?: string | undefined;
}

/** Options of the export `csv`. */
export interface ExportCsvOptions {
}

/** Options of the export `slice`. */
export interface ExportSliceOptions {
  /** A step or a range of steps: 3 or 3-5. */
  steps?: number | readonly [first: number, last: number] | string | undefined;
  /** A time after the start of the recording: 1.5ms..20ms; numbers are in ns. */
  time?: readonly [startNs: number, endNs: number] | string | undefined;
  /** Only the traces of these ranks. */
  ranks?: readonly number[] | undefined;
}

/** Options of the export `shrink`. */
export interface ExportShrinkOptions {
  /** Leave out host spans that are shorter, such as 10us; numbers are in ns. */
  minDuration?: number | string | undefined;
  /** Leave out these categories. */
  drop?: readonly string[] | undefined;
}

/** Options of the export `redact`. */
export interface ExportRedactOptions {
  /** Give the same pseudonyms to the same texts in several files; keep it long and secret [default: a random one for each file] */
  salt?: string | undefined;
}

/** Every analysis, as the command line has it. */
export interface Answers {
  /** What was traced, where the time went, what looks wrong, how far to trust it. */
  summary(options?: SummaryOptions): SummaryRow;
  /** Operators: torch's `key_averages`, as torch's table. */
  ops(options?: OpsOptions): OpsRow[];
  /** Kernels, copies and fills by time. */
  kernels(options?: KernelsOptions): KernelsRow[];
  /** Floating point operations by operator, how fast, and how much of the time formulas cover. */
  flops(options?: FlopsOptions): FlopsRow[];
  /** What torch.compile captured, and the operators that it missed. */
  coverage(options?: CoverageOptions): CoverageRow[];
  /** Anti-patterns: where a known mistake costs time, and how much doing otherwise can save. */
  patterns(options?: PatternsOptions): PatternsRow[];
  /** Calls during which the GPU's queue ran empty, the most promising first: torch's `BasicEvaluation`. */
  evaluation(options?: EvaluationOptions): EvaluationRow[];
  /** Memory by device: peaks and who held them, steps, what was never released, failures; of traces and snapshots. */
  memory(options?: MemoryOptions): MemoryRow[];
  /** The call tree of every lane, merged by name. */
  tree(options?: TreeOptions): TreeRow[];
  /** Time by nn.Module, on CPU and device, forward and backward. */
  modules(options?: ModulesOptions): ModulesRow[];
  /** Python stacks by self time. */
  stacks(options?: StacksOptions): StacksRow[];
  /** What each profiler step spent its time on. */
  steps(options?: StepsOptions): StepsRow[];
  /** Every function event, under torch's field names. */
  events(options?: EventsOptions): EventsRow[];
  /** Spans of every kind by name, in the whole trace or in a part of it. */
  names(options?: NamesOptions): NamesRow[];
  /** Curves over time: the file's counters, memory, launch queues, how busy devices are. */
  counters(options?: CountersOptions): CountersRow[];
  /** The rows of the timeline: threads and streams, with their spans. */
  tracks(options?: TracksOptions): TracksRow[];
  /** Counts, machine and metadata. */
  info(options?: InfoOptions): InfoRow;
  /** Identities that must hold, and every oddity of the file; exit 1 when an identity fails. */
  check(options?: CheckOptions): CheckRow[];
}

/** Options and rows of every query. */
export interface Queries {
  summary: { options: SummaryOptions; row: SummaryRow };
  ops: { options: OpsOptions; row: OpsRow };
  kernels: { options: KernelsOptions; row: KernelsRow };
  flops: { options: FlopsOptions; row: FlopsRow };
  coverage: { options: CoverageOptions; row: CoverageRow };
  patterns: { options: PatternsOptions; row: PatternsRow };
  evaluation: { options: EvaluationOptions; row: EvaluationRow };
  memory: { options: MemoryOptions; row: MemoryRow };
  tree: { options: TreeOptions; row: TreeRow };
  modules: { options: ModulesOptions; row: ModulesRow };
  stacks: { options: StacksOptions; row: StacksRow };
  steps: { options: StepsOptions; row: StepsRow };
  events: { options: EventsOptions; row: EventsRow };
  names: { options: NamesOptions; row: NamesRow };
  counters: { options: CountersOptions; row: CountersRow };
  tracks: { options: TracksOptions; row: TracksRow };
  info: { options: InfoOptions; row: InfoRow };
  check: { options: CheckOptions; row: CheckRow };
}

/** Options of every export. */
export interface Exports {
  chrome: ExportChromeOptions;
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
  flops: false,
  coverage: false,
  patterns: false,
  evaluation: false,
  memory: false,
  tree: false,
  modules: false,
  stacks: false,
  steps: false,
  events: false,
  names: false,
  counters: false,
  tracks: false,
  info: true,
  check: false,
};

/** The media type of every export. */
export const EXPORTS: { readonly [E in keyof Exports]: string } = {
  chrome: "application/json",
  folded: "text/plain",
  eventlist: "application/json",
  "execution-trace": "application/json",
  "memory-timeline": "application/json",
  csv: "text/csv",
  slice: "application/json",
  shrink: "application/json",
  redact: "application/json",
};
