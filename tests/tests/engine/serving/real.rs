//! Annotated traces of real engines, whose figures were counted by a separate script.

use super::{of_kind, parts_of};
use kinetoscope_core::trace::Trace;
use kinetoscope_tests::answers::rows;
use kinetoscope_tests::files;
use serde_json::Value;

/// An annotated trace: its file, what its name states, the range in ns, and the number of kernels, copies and memsets that are
/// launched in it.
struct Annotated {
    file: &'static str,
    phase: &'static str,
    counts: [Option<i64>; 3],
    range_ns: i64,
    launched: i64,
    graphs: i64,
}

const ANNOTATED: [Annotated; 3] = [
    Annotated {
        file: "sglang_decode/sglang_Qwen3-8B_decode.json.gz",
        phase: "decode",
        counts: [Some(32), Some(32), Some(32)],
        range_ns: 465_716_634,
        launched: 558,
        graphs: 1,
    },
    Annotated {
        file: "vllm_prefilldecode_piecewise/graph_execution.json.gz",
        phase: "mixed",
        counts: [Some(46), Some(8192), Some(37)],
        range_ns: 26_353_441,
        launched: 423,
        graphs: 25,
    },
    Annotated {
        file: "xdit_flux.1_aiter_sage/profile_trace_rank_0.json.gz",
        phase: "diffusion",
        counts: [None; 3],
        range_ns: 249_234_157,
        launched: 7866,
        graphs: 4,
    },
];

#[test]
fn ranges_of_real_engines_are_iterations() {
    let Some(folder) = files::shared("traces/tracelens/inference", "annotated traces") else { return };
    for expected in &ANNOTATED {
        let trace =
            Trace::read(&files::read(&folder.join(expected.file)).expect("a file")).expect(expected.file);
        let all = rows(&trace, "serving");
        let found: Vec<&Value> = of_kind(&all, "iteration").collect();
        let [one] = found[..] else { panic!("{}: {} iterations", expected.file, found.len()) };
        assert_eq!(one["phase"], expected.phase, "{}", expected.file);
        let counts = ["batch", "tokens", "generated"].map(|key| one[key].as_i64());
        assert_eq!(counts, expected.counts, "{}", expected.file);
        assert_eq!(one["range_ns"], expected.range_ns, "{}", expected.file);
        assert_eq!(one["launched"], expected.launched, "{}", expected.file);
        assert_eq!(one["graphs"], expected.graphs, "{}", expected.file);
        assert_eq!(parts_of(one).iter().sum::<i64>(), one["wall_ns"].as_i64().expect("a time"));
    }
}
