//! Recordings of benchmarks of criterion in profile mode.

use crate::support::{alone, row, rows};
use criterion::{Bencher, Criterion};
use kinetoscope::benchmark::CriterionProfiler;
use kinetoscope::{Profiler, open, scope};
use kinetoscope_core::trace::Trace;
use std::path::Path;
use std::time::Duration;
use std::{fs, thread};

/// Criterion warms up for a second, and ends then if that is the time to profile.
const TIME: Duration = Duration::from_secs(1);

fn work(bencher: &mut Bencher<'_>) {
    bencher.iter(|| {
        let _span = scope!("iteration", rows = 3);
        thread::sleep(Duration::from_millis(1));
    });
}

/// Criterion as the command line `--profile-time 1` configures it.
fn profile(profiler: CriterionProfiler, folder: &Path) -> Criterion {
    Criterion::default().with_profiler(profiler).output_directory(folder).profile_time(Some(TIME))
}

fn read(path: &Path) -> Trace {
    let trace = open(path).expect("a trace");
    assert_eq!(trace.diagnostics.findings(), []);
    trace
}

#[test]
fn each_benchmark_has_a_recording_that_replaces_an_older_one() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let first = folder.path().join("first/profile/profile.ktrace");
    fs::create_dir_all(first.parent().expect("a folder")).expect("a folder");
    fs::write(&first, "an older recording").expect("a file");
    let mut criterion = profile(CriterionProfiler::new(), folder.path());
    criterion.bench_function("first", work);
    criterion.bench_function("group of two/second", work);
    let second = folder.path().join("group of two_second/profile/profile.ktrace");
    for (path, id) in [(first, "first"), (second, "group of two/second")] {
        let trace = read(&path);
        let (benchmark, inside) = (row(&trace, id), rows(&trace, "iteration"));
        assert_eq!(trace.table.cat(benchmark), "user_annotation");
        assert!(inside.len() > 100, "{}", inside.len());
        let range = trace.table.ts(benchmark)..=trace.table.end(benchmark);
        assert!(inside.iter().all(|&row| range.contains(&trace.table.ts(row))));
        assert!(trace.table.dur(benchmark) >= 1_000_000_000);
        let metadata = &trace.table.metadata;
        assert!(format!("{metadata:?}").contains(id), "{metadata:?}");
    }
}

#[test]
fn options_of_the_program_apply_and_errors_do_not_end_the_benchmark() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let only = || Profiler::builder().filter(|site| site.name != "iteration").memory_bytes(1 << 20);
    let mut criterion = profile(CriterionProfiler::with(only), folder.path());
    // Another profiler records, and the folder of the second benchmark is a file.
    let mut other = Profiler::builder().start().expect("recording should start");
    criterion.bench_function("too late", work);
    other.stop().expect("a recording");
    fs::write(folder.path().join("file"), "").expect("a file");
    criterion.bench_function("file", work);
    criterion.bench_function("filtered", work);
    assert!(!folder.path().join("too late/profile/profile.ktrace").exists());
    let trace = read(&folder.path().join("filtered/profile/profile.ktrace"));
    assert!(rows(&trace, "iteration").is_empty());
    row(&trace, "filtered");
}
