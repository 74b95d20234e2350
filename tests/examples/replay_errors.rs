//! Errors of replays.
use kinetoscope_core::analysis::replay::Graph;
use kinetoscope_core::trace::Trace;
use kinetoscope_tests::files;
fn main() {
    let folder = files::shared("traces", "x").unwrap();
    for path in files::below(&folder) {
        let Some(Ok(trace)) = files::read(&path).map(|bytes| Trace::read(&bytes)) else { continue };
        let start = std::time::Instant::now();
        let graph = Graph::of(&trace);
        let took = start.elapsed();
        let (recorded, replayed) = graph.walls();
        let all = start.elapsed();
        let name = path.strip_prefix(&folder).unwrap().display().to_string();
        if recorded == 0 {
            continue;
        }
        println!(
            "{:8.2}% {:12} {:12} nodes {:8} {:?} {:?} {name}",
            (replayed - recorded) as f64 / recorded as f64 * 100.0,
            recorded,
            replayed,
            graph.ids().len(),
            took,
            all
        );
    }
}
