//! Records a span and prints the number of devices that can be recorded.

use kinetoscope::{Profiler, RecordError, device, scope};

fn main() -> Result<(), RecordError> {
    let mut profiler = Profiler::builder().start()?;
    drop(scope!("work"));
    let recording = profiler.stop()?.ok_or(RecordError::NotStarted)?;
    println!("{} records; devices: {:?}", recording.statistics.records, device::probe().map(<[_]>::len));
    Ok(())
}
