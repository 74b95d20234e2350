//! A schedule, and files for TensorBoard.
//! `cargo run --release -p kinetoscope --features analysis,tracing --example schedule`
//!
//! Of a long training, only some steps are recorded: a schedule waits, warms up, records some steps, and repeats. The
//! recording of each cycle is passed to handlers.

use kinetoscope::Profiler;
use kinetoscope::handlers::tensorboard_trace_handler;
use kinetoscope::schedule::{Schedule, ScheduleArgs};
use kinetoscope::scope;
use kinetoscope::spans::named::{data_loader, optimizer_step, optimizer_zero_grad};
use kinetoscope::{RecordError, Recording};
use std::time::Duration;

fn pause(micros: u64) {
    std::thread::sleep(Duration::from_micros(micros));
}

fn main() -> Result<(), RecordError> {
    let folder = std::env::temp_dir().join("schedule");
    let schedule =
        Schedule::new(ScheduleArgs { wait: 1, warmup: 1, active: 3, repeat: 2, ..ScheduleArgs::default() })?;
    let mut profiler = Profiler::builder()
        .schedule(schedule)
        .on_trace_ready(tensorboard_trace_handler(&folder, Some("worker0"), true))
        .on_trace_ready(|recording: &Recording| {
            let table = &recording.trace()?.table;
            let steps = table.rows().filter(|&row| table.name(row).starts_with("ProfilerStep"));
            println!(
                "after step {}: {} steps in {} events",
                recording.step,
                steps.count(),
                recording.events()?.len()
            );
            Ok(())
        })
        .start()?;
    // The findings about slow input and a slow optimizer recognise the names of these annotations.
    let batches = (0..10).inspect(|_| pause(300));
    for _batch in data_loader("Batches", batches) {
        drop(optimizer_zero_grad("SGD"));
        {
            let _forward = scope!("forward");
            pause(500);
        }
        {
            let _backward = scope!("backward");
            pause(900);
        }
        {
            let _step = optimizer_step("SGD");
            pause(200);
        }
        profiler.step()?;
    }
    profiler.stop()?;
    println!("The traces are in {}: `kinetoscope steps {0}` breaks down their steps.", folder.display());
    Ok(())
}
