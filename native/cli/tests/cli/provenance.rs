//! Files that say where kernels come from: given, found next to a trace, refused.

use crate::support::{data, errors, kinetoscope, rows, shown};
use serde_json::Value;
use std::fs;

/// The sources of the generated kernels of the forward pass, and how many kernels there are.
fn sources(arguments: &[&str]) -> (Vec<String>, usize) {
    let kernels =
        rows(&[&["compiled"], arguments].concat()).into_iter().filter(|row| row["kind"] == "kernel");
    let kernels: Vec<Value> = kernels.collect();
    let known = kernels.iter().filter_map(|row| row["source"].as_str().map(str::to_owned)).collect();
    (known, kernels.len())
}

#[test]
fn files_are_given_or_found_next_to_a_trace() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = shown(&folder.path().join("run.json.gz"));
    let inductor = data("inductor");
    fs::copy(inductor.join("a/trace.json.gz"), &trace).expect("a copy");
    let log = shown(&inductor.join("a/torch_trace.log.gz"));
    assert_eq!(sources(&[&trace]).0, Vec::<String>::new());
    let (known, kernels) = sources(&[&trace, "--provenance", &log]);
    assert_eq!((known.len(), kernels), (29, 29), "{known:?}");
    assert!(known.contains(&"case_a.py:29".to_owned()));
    // A log of another rank and of another program do not count.
    let named = |name: &str| folder.path().join(name);
    fs::copy(inductor.join("b/torch_trace.log.gz"), named("dedicated_log_torch_trace_b.log.gz"))
        .expect("a copy");
    let output = kinetoscope(&["compiled", &trace]);
    assert!(output.status.success());
    assert!(errors(&output).contains("are not used: nothing in the trace"), "{}", errors(&output));
    fs::copy(&log, named("dedicated_log_torch_trace_rank_0_a.log.gz")).expect("a copy");
    assert_eq!(sources(&[&trace]).0.len(), 29);
    // A file that cannot be used does not keep the others from being used.
    fs::write(named("kernel_information.json"), "").expect("a file");
    assert_eq!(sources(&[&trace]).0.len(), 29);
    let output = kinetoscope(&["compiled", &trace]);
    assert!(errors(&output).contains("not used: "), "{}", errors(&output));
    // A debug folder has the nodes of the forward pass.
    let debug = tempfile::tempdir().expect("a folder");
    let of_graph = debug.path().join("torch_compile_debug/run_1-pid_2/torchinductor/model__0_forward_1.0");
    fs::create_dir_all(&of_graph).expect("a folder");
    let mappings = "inductor_provenance_tracking_node_mappings.json";
    fs::copy(inductor.join("a").join(mappings), of_graph.join(mappings)).expect("a copy");
    let nodes = |arguments: &[&str]| {
        let all = rows(&[&["compiled"], arguments].concat());
        all.iter().filter(|row| row["kind"] == "kernel" && row["nodes"].is_string()).count()
    };
    assert_eq!(nodes(&[&trace, "--provenance", &shown(debug.path())]), 11);
    let copied = shown(&debug.path().join("run.json.gz"));
    fs::copy(&trace, &copied).expect("a copy");
    assert_eq!(nodes(&[&copied]), 11);
}

#[test]
fn other_files_are_refused() {
    let trace = shown(&data("inductor/a/trace.json.gz"));
    let empty = tempfile::tempdir().expect("a folder");
    for (path, part) in [
        (data("inductor/b/torch_trace.log.gz"), "they are of another run"),
        (data("inductor/README.md"), "neither a file of torch.compile nor annotations of CUDA graphs"),
        (empty.path().join("absent.log"), "absent.log: "),
        (empty.path().to_owned(), "no file of torch.compile is in this folder"),
    ] {
        let output = kinetoscope(&["compiled", &trace, "--provenance", &shown(&path)]);
        assert_eq!(output.status.code(), Some(2), "{}", path.display());
        assert!(errors(&output).contains(part), "{}", errors(&output));
    }
}
