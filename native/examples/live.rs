//! A program that can be watched while it runs. `cargo run --release -p kinetoscope --features control --example live 60`
//!
//! Nothing is recorded until `kinetoscope attach` starts it. The program runs for the number of seconds in its argument; without
//! one it starts a recording itself, as a client would, and ends after a second.

use kinetoscope::control::Control;
use kinetoscope::{Profiler, RecordError, counter, scope};
use std::time::{Duration, Instant};
use std::{env, thread};

/// A request: parse, query, and every tenth one slowly, render.
fn handle(number: u64) {
    let _request = scope!("request", number = number);
    {
        let _parse = scope!("parse");
        thread::sleep(Duration::from_micros(300));
    }
    {
        let _query = scope!("query", table = "orders");
        thread::sleep(Duration::from_micros(800 + number % 7 * 100));
    }
    let _render = scope!("render");
    thread::sleep(Duration::from_millis(if number.is_multiple_of(10) { 8 } else { 1 }));
}

fn serve(worker: u64, until: Instant) {
    let mut number = worker;
    while Instant::now() < until {
        counter!("queue", number % 13);
        handle(number);
        number += 1;
    }
}

fn main() -> Result<(), RecordError> {
    let seconds = env::args().nth(1).and_then(|seconds| seconds.parse().ok());
    if seconds.is_none() {
        let path = env::temp_dir().join("live.ktrace");
        let mut profiler = Profiler::builder().file(&path).overwrite(true).start()?;
        serve(0, Instant::now() + Duration::from_secs(1));
        profiler.stop()?;
        println!("kinetoscope view --follow {}", path.display());
        return Ok(());
    }
    let control = Control::builder().profiler(|| Profiler::builder().record_shapes(true)).start()?;
    println!("kinetoscope attach {}   # {}", std::process::id(), control.address());
    let until = Instant::now() + Duration::from_secs(seconds.unwrap_or(1));
    thread::scope(|scope| {
        for worker in 0..2 {
            let name = format!("worker {worker}");
            let builder = thread::Builder::new().name(name);
            let _ = builder.spawn_scoped(scope, move || serve(worker * 100, until));
        }
    });
    Ok(())
}
