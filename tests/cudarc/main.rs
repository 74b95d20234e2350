//! Records a span and prints the number of devices that can be recorded.

use kinetoscope::{Profiler, RecordError, device, scope};

fn main() -> Result<(), RecordError> {
    let profiler = Profiler::builder().start()?;
    drop(scope!("work"));
    let recording = profiler.finish()?;
    println!("{} records; devices: {:?}", recording.statistics.records, device::probe().map(<[_]>::len));
    Ok(())
}
