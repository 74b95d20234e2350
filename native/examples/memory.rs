//! Memory. `cargo run --release -p kinetoscope --features analysis,tracing --example memory`
//!
//! The global allocator records every allocation of the program, and a framework can report the allocations on its
//! devices. Time and peak memory of complete runs are measured without a trace.

use kinetoscope::Profiler;
use kinetoscope::RecordError;
use kinetoscope::memory::{Device, ProfilingAllocator, record_alloc, record_free, record_reserved};
use kinetoscope::profiler::measure::ProfileIt;
use kinetoscope::scope;
use kinetoscope_core::analysis::query::group_by::GroupBy;
use kinetoscope_core::analysis::torch::sort_by::SortBy;
use kinetoscope_core::analysis::torch::table_options::TableOptions;
use std::hint::black_box;

#[global_allocator]
static ALLOCATOR: ProfilingAllocator = ProfilingAllocator::system();

fn layers(count: usize) -> Vec<Vec<f32>> {
    let _span = scope!("layers", count = count);
    (1..=count).map(|size| vec![0.5; size * 10_000]).collect()
}

fn sum(layers: &[Vec<f32>]) -> f32 {
    let _span = scope!("sum");
    // An unnecessary copy, which the table shows.
    let all: Vec<f32> = layers.concat();
    all.iter().sum()
}

fn main() -> Result<(), RecordError> {
    let profiler = Profiler::builder().profile_memory(true).start()?;
    let made = layers(8);
    black_box(sum(&made));
    let device = Device::Cuda(0);
    record_reserved(device, 2 << 20);
    {
        let _span = scope!("on the device");
        record_alloc(device, 0x7000_0000, 1 << 20);
    }
    record_free(device, 0x7000_0000, 1 << 20);
    {
        let _span = scope!("free");
        drop(made);
    }
    let recording = profiler.finish()?;
    let options = TableOptions::default().with_sort_by(SortBy::CpuMemoryUsage).with_row_limit(Some(5));
    println!("{}", recording.table_with(GroupBy::default(), &options)?);
    let path = std::env::temp_dir().join("memory.html");
    recording.export_memory_timeline(&path, Some("cpu"))?;
    println!("The memory over time is in {}.\n", path.display());

    let mut profile = ProfileIt::default();
    for _ in 0..5 {
        profile.run(|| black_box(sum(&layers(8))));
    }
    println!("{}", profile.csv());
    Ok(())
}
