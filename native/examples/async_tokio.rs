//! Asynchronous code with tokio. `cargo run --release -p kinetoscope --features analysis,tracing --example async_tokio`
//!
//! A span belongs to one thread, but a task may move between threads. `tracing` enters a task's span for each poll, so
//! that each thread's time is attributed to the task that used it. An asynchronous span lasts from its creation to its
//! drop, on any thread.

use kinetoscope::Profiler;
use kinetoscope::RecordError;
use kinetoscope::async_scope;
use kinetoscope::tracing_layer::layer;
use std::time::{Duration, Instant};
use tracing::{info, instrument};
use tracing_subscriber::layer::SubscriberExt;

#[instrument]
fn compute(micros: u64) {
    let start = Instant::now();
    while start.elapsed() < Duration::from_micros(micros) {
        std::hint::spin_loop();
    }
}

#[instrument]
async fn handle(request: u64) {
    let _whole = async_scope!("request", number = request);
    compute(200);
    tokio::time::sleep(Duration::from_millis(5)).await;
    compute(400);
    info!(request, "answered");
}

fn main() -> Result<(), RecordError> {
    let (layer, guard) = layer(Profiler::builder())?;
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer))
        .map_err(|error| RecordError::Handler(error.to_string()))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
    runtime.block_on(async {
        let tasks: Vec<_> = (0..20).map(|number| tokio::spawn(handle(number))).collect();
        for task in tasks {
            let _ = task.await;
        }
    });
    drop(runtime);
    let Some(recording) = guard.finish()? else { return Ok(()) };
    println!("{}", recording.table()?);
    println!(
        "{} requests were recorded as asynchronous spans. Each waited for 5 ms, which no span of a thread contains.",
        recording.trace()?.pairs.asyncs.len()
    );
    let path = std::env::temp_dir().join("async_tokio.pt.trace.json.gz");
    recording.export_chrome_trace(&path)?;
    println!("The trace is in {}.", path.display());
    Ok(())
}
