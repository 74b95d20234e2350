//! Records one span and saves the recording.

use kinetoscope::{Profiler, RecordError, scope};

fn main() -> Result<(), RecordError> {
    let profiler = Profiler::builder().start()?;
    {
        let _span = scope!("work", batch = 3);
    }
    let recording = profiler.finish()?;
    recording.save("run.ktrace")?;
    println!("{} records", recording.statistics.records);
    Ok(())
}
