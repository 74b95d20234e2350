//! The verdicts of PyTorch's trace validator.

use kinetoscope_core::analysis::overview::validator::{RuleName, validate};
use kinetoscope_core::trace::Trace;
use kinetoscope_tests::files;
use kinetoscope_tests::torch::Differences;
use serde_json::Value;
use std::path::Path;

/// The name of a rule in PyTorch.
fn torch_name(rule: RuleName) -> &'static str {
    match rule {
        RuleName::KernelCausality => "_check_gpu_kernel_causality",
        RuleName::WaitHasRecord => "_check_stream_wait_corr_id_populated",
        RuleName::SyncOverlap => "_check_stream_sync_overlap",
        RuleName::WaitInPast => "_check_stream_wait_corr_id_in_past",
        RuleName::CollectiveMetadata => "_check_nccl_metadata",
        RuleName::SequenceUnique => "_check_backward_seq_id_uniqueness",
        other => panic!("{other:?}"),
    }
}

/// Compares the counts of violations of every trace that PyTorch could read.
fn compare(goldens: &Path, folder: &Path, at_least: usize) {
    let bytes = files::read(goldens).expect("verdicts");
    let goldens: Value = serde_json::from_slice(&bytes).expect("JSON");
    let mut d = Differences::default();
    for golden in goldens["rows"].as_array().expect("rows").iter().filter(|row| row["error"].is_null()) {
        let name = golden["trace"].as_str().expect("a name");
        let bytes = files::read(&folder.join(name)).unwrap_or_else(|| panic!("{name}"));
        // Documents without events have no violations.
        let Ok(trace) = Trace::read(&bytes) else {
            d.check(|| name.to_owned(), golden["passed"].as_bool(), Some(true));
            continue;
        };
        for verdict in validate(&trace) {
            let theirs = golden["counts"][torch_name(verdict.rule)].as_u64().unwrap_or(0);
            d.check(
                || format!("{name} {}: {}", verdict.rule.as_str(), verdict.example),
                verdict.count,
                theirs,
            );
        }
    }
    d.settle(at_least);
}

#[test]
fn verdicts_equal_torchs() {
    let folder = files::data().join("torch/2.15/validator");
    compare(&folder.join("made_up.json"), &folder, 150);
}

#[test]
fn verdicts_of_real_traces_equal_torchs() {
    let Some(traces) = files::shared("traces", "real traces") else { return };
    let Some(goldens) = files::shared("goldens/torch-2.15/validator", "verdicts of real traces") else {
        return;
    };
    compare(&goldens.join("real_traces.json"), &traces, 500);
}
