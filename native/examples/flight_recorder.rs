//! The flight recorder. `cargo run --release -p kinetoscope --features analysis,tracing --example flight_recorder`
//!
//! It always records and keeps the last seconds in memory. A file is written when a step is slow, on a panic, on a
//! signal, or when the program requests it.

use kinetoscope::FlightRecorder;
use kinetoscope::RecordError;
use kinetoscope::scope;
use std::thread::sleep;
use std::time::Duration;

fn main() -> Result<(), RecordError> {
    let folder = std::env::temp_dir().join("flight_recorder");
    let builder = FlightRecorder::builder(&folder)
        .keep(Duration::from_secs(2))
        .slow_step(Duration::from_millis(50))
        .on_panic(true);
    #[cfg(unix)]
    let builder = builder.on_signal(true);
    let flight = builder.start()?;
    for number in 0..20 {
        flight.step();
        let _step = scope!("step", number = number);
        {
            let _load = scope!("load");
            // One of the twenty steps is slow.
            sleep(Duration::from_millis(if number == 13 { 120 } else { 5 }));
        }
        let _compute = scope!("compute");
        sleep(Duration::from_millis(3));
    }
    let Some(path) = flight.last_dump() else { return Ok(()) };
    let trace = kinetoscope::files::open(&path).map_err(|error| RecordError::Handler(error.to_string()))?;
    let (table, load) = (&trace.table, "load");
    let slowest = table.rows().filter(|&row| table.name(row) == load).max_by_key(|&row| table.dur(row));
    if let Some(row) = slowest {
        println!("the longest load in {} took {} ms", path.display(), table.dur(row) / 1_000_000);
    }
    println!("`kinetoscope view {}` shows the seconds before it.", path.display());
    Ok(())
}
