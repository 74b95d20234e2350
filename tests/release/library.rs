//! Instrumented code that is built without the recorder.

use kinetoscope::{is_recording, scope};

fn main() {
    let _span = scope!("work", batch = 3);
    println!("recording: {}", is_recording());
}
