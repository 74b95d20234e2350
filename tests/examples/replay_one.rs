//! Time of one replay.
use kinetoscope_core::analysis::device::idle::Cause;
use kinetoscope_core::analysis::replay::{Changes, Replay};
use kinetoscope_core::trace::Trace;
use kinetoscope_tests::files;
fn main() {
    let bytes = files::read(std::path::Path::new(&std::env::args().nth(1).unwrap())).unwrap();
    let trace = Trace::read(&bytes).unwrap();
    for _ in 0..2 {
        let start = std::time::Instant::now();
        let replay = Replay::new(&trace);
        println!(
            "{} {} error {:.3}% {:?}",
            replay.recorded_ns(),
            replay.replayed_ns(),
            replay.error() * 100.0,
            start.elapsed()
        );
    }
    let replay = Replay::new(&trace);
    let show = |name: &str, changes: &Changes| {
        let start = std::time::Instant::now();
        let saving = replay.saving_ns(changes);
        println!(
            "{name:30} {:8.2}% {:?}",
            saving as f64 / replay.replayed_ns() as f64 * 100.0,
            start.elapsed()
        );
    };
    for cause in Cause::ALL {
        show(cause.as_str(), &Changes::without(cause));
    }
    show("overlap", &Changes { overlap_communication: true, ..Changes::default() });
    show("graph", &Changes { cuda_graph: true, ..Changes::default() });
    for work in ["compute", "communication", "memcpy"] {
        show(
            work,
            &Changes { faster: Changes::parse_faster(&format!("{work}=2")).unwrap(), ..Changes::default() },
        );
    }
}
