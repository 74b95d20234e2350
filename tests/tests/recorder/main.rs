//! Tests of the recorder. `recording_durable` and `recording_memory` are programs of their own, because they replace functions of the
//! complete program.

mod chunk_model;
mod crash;
mod criterion;
mod files;
mod flight;
mod instrument;
mod live;
mod mirrors;
mod open;
mod order;
mod pause;
mod profiler;
mod random;
mod recordings_of_a_gpu;
mod results;
mod sampling;
mod schedule;
mod spans;
mod stacks;
mod support;
mod thread_names;
mod threads;
mod tracing;
mod tracks;
mod values;
