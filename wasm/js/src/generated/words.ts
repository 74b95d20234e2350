// Written by `BLESS=1 cargo test -p kinetoscope-tests --test engine typescript` from the engine's vocabularies.

import type { Cause, FitnessQuestion, PathPart } from "./queries.js";

/** A word of an answer for people. */
export interface WordText {
  /** The word with blanks, as tables show it. */
  readonly label: string;
  /** What it means. */
  readonly about: string;
}

/** Why a device or a stream was idle. */
export const IDLE_CAUSES: Readonly<Record<Cause, WordText>> = {
  data_loading: { label: "data loading", about: "The host waited for data." },
  host_to_device_copy: { label: "host to device copy", about: "The host was in a call that copies from the host to a device." },
  synchronization: { label: "synchronization", about: "The host waited for a device." },
  allocation: { label: "allocation", about: "The host allocated or freed memory of a device, or pinned memory." },
  compilation: { label: "compilation", about: "The host compiled code or loaded modules of kernels." },
  cold_start: { label: "cold start", about: "The host used something for the first time: it created a context, or loaded the code of a kernel in a launch call." },
  graph_capture: { label: "graph capture", about: "The host captured a CUDA graph: what it launched meanwhile did not run." },
  garbage_collection: { label: "garbage collection", about: "Python collected garbage." },
  lock: { label: "lock", about: "The host waited for a lock." },
  launch: { label: "launch", about: "The host was in a call that launches work, or in a call of the runtime or the driver that is none of the above." },
  operator: { label: "operator", about: "The host was in an operator." },
  optimizer: { label: "optimizer", about: "The host was in an optimizer." },
  autograd: { label: "autograd", about: "The host was in autograd, outside of operators." },
  user_code: { label: "user code", about: "The host was in other code: Python functions and annotated ranges." },
  other_stream: { label: "other stream", about: "The work was launched, and other streams of the device were busy." },
  queued: { label: "queued", about: "The work was launched and had not begun." },
  profiler_overhead: { label: "profiler overhead", about: "The profiler itself worked." },
  not_recorded: { label: "not recorded", about: "It was not recorded: the device still did work from before the recording, the recording was paused, a filter left out the launches, a CUDA graph launched the work itself, or the stream had not begun or had ended." },
  unknown: { label: "unknown", about: "The trace shows nothing." },
};

/** What bounds a part of the critical path. */
export const PATH_PARTS: Readonly<Record<PathPart, WordText>> = {
  compute: { label: "compute", about: "Kernels that compute." },
  communication: { label: "communication", about: "Kernels that communicate, and collectives of the host." },
  memcpy: { label: "memcpy", about: "Copies." },
  memset: { label: "memset", about: "Memsets." },
  launch_delay: { label: "launch delay", about: "From a launch call to the start of its work on an empty stream." },
  kernel_gap: { label: "kernel gap", about: "Between two activities of a stream." },
  stream_wait: { label: "stream wait", about: "From the end of an activity to the start of one on another stream that waits for it." },
  synchronization_delay: { label: "synchronization delay", about: "From the end of an activity to the end of a call that waits for it." },
  queue_full: { label: "queue full", about: "A call waits because the launch queue is full." },
  thread_delay: { label: "thread delay", about: "From a point of one thread to the continuation of another." },
  data_loading: { label: "data loading", about: "The host waits for data." },
  host_to_device_copy: { label: "host to device copy", about: "The host copies to a device." },
  synchronization: { label: "synchronization", about: "A call that waits for devices, apart from the waiting." },
  allocation: { label: "allocation", about: "The host allocates or frees memory." },
  compilation: { label: "compilation", about: "The host compiles code or loads kernels." },
  cold_start: { label: "cold start", about: "The host uses something for the first time: it creates a context, or loads the code of a kernel in a launch call." },
  graph_capture: { label: "graph capture", about: "The host captures a CUDA graph." },
  garbage_collection: { label: "garbage collection", about: "Python collects garbage." },
  lock: { label: "lock", about: "The host waits for a lock." },
  launch: { label: "launch", about: "The host is in a call that launches work, or in another call of the runtime or the driver." },
  operator: { label: "operator", about: "The host is in an operator." },
  optimizer: { label: "optimizer", about: "The host is in an optimizer." },
  autograd: { label: "autograd", about: "The host is in autograd, outside of operators." },
  user_code: { label: "user code", about: "The host is in other code." },
  profiler_overhead: { label: "profiler overhead", about: "The profiler itself works." },
  not_recorded: { label: "not recorded", about: "The host waits for work from before the recording." },
  unknown: { label: "unknown", about: "The trace shows nothing, or nothing that came before." },
};

/** What a trace can answer or not. */
export const QUESTIONS: Readonly<Record<FitnessQuestion, WordText>> = {
  operators: { label: "operators", about: "Which operators ran, how often and for how long." },
  device_time: { label: "device time", about: "What the devices did." },
  idle: { label: "idle", about: "Why the devices waited." },
  communication: { label: "communication", about: "What collectives took." },
  memory: { label: "memory", about: "Who allocated memory." },
  steps: { label: "steps", about: "How long steps took." },
};
