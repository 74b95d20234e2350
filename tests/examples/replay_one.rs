//! Time of one replay.
use kinetoscope_core::analysis::device::device_time::device_times;
use kinetoscope_core::analysis::device::kernels::kernel_groups;
use kinetoscope_core::analysis::overview::summary::summary;
use kinetoscope_core::analysis::device::idle::Cause;
use kinetoscope_core::analysis::replay::{Changes, Replay};
use kinetoscope_core::trace::Trace;
use kinetoscope_tests::files;
use std::time::Instant;
fn main() {
    let bytes = files::read(std::path::Path::new(&std::env::args().nth(1).unwrap())).unwrap();
    let trace = Trace::read(&bytes).unwrap();
    drop(bytes);
    if std::env::args().nth(2).is_some() { for _ in 0..15 { let t = Instant::now(); let r = Replay::new(&trace); println!("{:?} {}", t.elapsed(), r.error_ns()); } return; }
    for _ in 0..3 {
        let t = Instant::now(); let d = device_times(&trace); print!("devices {:?} ", t.elapsed());
        let t = Instant::now(); let k = kernel_groups(&trace); print!("kernels {:?} ", t.elapsed());
        let t = Instant::now(); let replay = Replay::new(&trace); print!("replay {:?} ", t.elapsed());
        let t = Instant::now(); let s = replay.saving_ns(&Changes::without(Cause::Operator)); print!("one {:?} ", t.elapsed());
        drop(replay);
        let t = Instant::now(); let x = summary(&trace); println!("summary {:?} {}", t.elapsed(), d.len() + k.len() + s as usize + x.steps.len());
    }
}
