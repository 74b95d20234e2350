//! Recordings of an H100 with CUDA 13.0, made by `cargo xtask test-gpu`.

use kinetoscope_core::analysis::context::Analysis;
use kinetoscope_core::base::diagnostics::Code;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::category::Category;
use kinetoscope_core::trace::table::events::Row;
use kinetoscope_core::trace::table::layout::FieldPlace::Args;
use kinetoscope_tests::files;
use std::collections::BTreeSet;
use std::fs;

/// Reads a recording. All identities must hold for it.
fn recording(name: &str) -> Trace {
    let path = files::data().join("gpu").join(name).with_extension("ktrace");
    let trace = Trace::read(&fs::read(path).expect("a recording")).expect("a trace");
    for identity in Analysis::new(&trace).identities() {
        assert!(identity.holds, "{name}: {identity:?}");
    }
    trace
}

fn rows(trace: &Trace, category: Category) -> Vec<Row> {
    let table = &trace.table;
    table.rows().filter(|&row| table.category(row) == category && table.is_span(row)).collect()
}

fn int(trace: &Trace, row: Row, key: &str) -> Option<i64> {
    trace.table.field_named(row, Args, key)?.as_i64()
}

#[test]
fn every_kind_of_activity_is_read_without_diagnostics() {
    let trace = recording("kinds");
    assert_eq!(trace.diagnostics.findings(), [], "waits of the host cross the work of their stream");
    let count = |category| rows(&trace, category).len();
    assert_eq!([Category::Kernel, Category::Memcpy, Category::Memset].map(count), [4, 3, 2]);
    for work in [Category::Kernel, Category::Memcpy, Category::Memset].map(|c| rows(&trace, c)).concat() {
        let launch = trace.links.launch(work).expect("a launch");
        assert!(trace.table.ts(launch) <= trace.table.ts(work));
    }
    // Work is on the first lane of its stream, whatever the host waited for.
    for lane in trace.tree.lanes().iter().filter(|lane| lane.extra > 0) {
        let is_wait = |&row: &Row| trace.table.category(row) == Category::Sync;
        assert!(trace.tree.rows_of(lane).iter().all(is_wait));
    }
}

#[test]
fn waits_have_the_call_that_recorded_their_event() {
    let trace = recording("kinds");
    let records: BTreeSet<_> = rows(&trace, Category::Driver)
        .into_iter()
        .filter(|&row| trace.table.name(row) == "cuEventRecord")
        .filter_map(|row| int(&trace, row, "correlation"))
        .collect();
    let waits = rows(&trace, Category::Sync).into_iter();
    let named = waits.filter_map(|row| int(&trace, row, "wait_on_cuda_event_record_corr_id"));
    // An event that was recorded before the recording, or never, has no call.
    let named: Vec<i64> = named.filter(|&id| id >= 0).collect();
    assert!(named.len() > 5 && named.iter().all(|id| records.contains(id)), "{named:?} of {records:?}");
}

#[test]
fn kernels_of_a_graph_belong_to_its_launches() {
    let trace = recording("graph_within");
    let kernels = rows(&trace, Category::Kernel);
    let launches: BTreeSet<_> = kernels.iter().filter_map(|&row| trace.links.launch(row)).collect();
    assert_eq!((kernels.len(), launches.len()), (20, 4));
    assert!(launches.iter().all(|&row| trace.table.name(row) == "cuGraphLaunch"));
    // The launches that were captured ran no kernel.
    assert_eq!(trace.diagnostics.count(Code::LaunchWithoutKernel), 5);
}

#[test]
fn kernels_of_two_streams_overlap() {
    let trace = recording("two_streams");
    let analysis = Analysis::new(&trace);
    let [device] = analysis.devices() else { panic!("one device") };
    assert!(device.sum_ns > 40_000_000 && device.busy_ns < 21_000_000, "{device:?}");
}
