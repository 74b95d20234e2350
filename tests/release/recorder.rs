//! Records one span and saves the recording.

use kinetoscope::{Profiler, RecordError, scope};

fn main() -> Result<(), RecordError> {
    let mut profiler = Profiler::builder().start()?;
    {
        let _span = scope!("work", batch = 3);
    }
    let recording = profiler.stop()?.expect("recording was enabled");
    recording.save("run.ktrace")?;
    println!("{} records", recording.statistics.records);
    Ok(())
}
