//! Recordings of benchmarks that run with criterion.

use crate::error::RecordError;
use crate::io_error::with_path;
use crate::profiler::{Profiler, ProfilerBuilder};
use crate::spans::{Scope, record_function};
use std::fmt;
use std::fs;
use std::path::Path;

/// The name of the file in the folder of a benchmark.
const FILE: &str = "profile.ktrace";

/// The limit of a recording with the default options, in bytes: 8 million spans without arguments.
const MEMORY_BYTES: usize = 256 << 20;

/// Records benchmarks of criterion that run with `--profile-time`. `cargo bench -- --profile-time 5` then writes
/// `target/criterion/BENCHMARK/profile/profile.ktrace` for each benchmark, in place of an older one. Without
/// `--profile-time` it does nothing, so that the measured times are those of the program.
///
/// ```no_run
/// use criterion::{Criterion, criterion_group, criterion_main};
/// use kinetoscope::benchmark::CriterionProfiler;
///
/// fn parse(criterion: &mut Criterion) {
///     criterion.bench_function("parse", |bencher| bencher.iter(|| kinetoscope::scope!("line")));
/// }
///
/// criterion_group! {
///     name = benches;
///     config = Criterion::default().with_profiler(CriterionProfiler::new());
///     targets = parse
/// }
/// criterion_main!(benches);
/// ```
///
/// The recording includes criterion's warm-up of one second. It has a user annotation with the id of the benchmark around
/// everything, and the id as `benchmark` in its metadata. It stays in memory until the benchmark ends; what exceeds its
/// limit is lost and counted. The path and errors are printed on standard error; an error does not end the benchmark.
pub struct CriterionProfiler {
    builder: Box<dyn FnMut() -> ProfilerBuilder>,
    running: Option<Running>,
}

/// The recording of a benchmark. The span ends first.
struct Running {
    span: Scope,
    profiler: Profiler,
}

impl CriterionProfiler {
    /// Records with the default options, and at most 256 MiB for each benchmark.
    pub fn new() -> CriterionProfiler {
        CriterionProfiler::with(|| Profiler::builder().memory_bytes(MEMORY_BYTES))
    }

    /// Records with the options that the function returns for each benchmark, such as
    /// [`sample_stacks`](ProfilerBuilder::sample_stacks). With [`file`](ProfilerBuilder::file), the recording is not limited
    /// by memory, and is copied to the folder of the benchmark when it ends.
    pub fn with(builder: impl FnMut() -> ProfilerBuilder + 'static) -> CriterionProfiler {
        CriterionProfiler { builder: Box::new(builder), running: None }
    }

    fn start(&mut self, id: &str) -> Result<(), RecordError> {
        // If criterion did not stop the last benchmark, because it failed.
        self.running = None;
        let profiler = (self.builder)().metadata("benchmark", id).start()?;
        self.running = Some(Running { span: record_function(id), profiler });
        Ok(())
    }

    fn stop(&mut self, folder: &Path) -> Result<(), RecordError> {
        let Some(Running { span, mut profiler }) = self.running.take() else { return Ok(()) };
        drop(span);
        let Some(recording) = profiler.stop()? else { return Ok(()) };
        fs::create_dir_all(folder).map_err(with_path(folder))?;
        let path = folder.join(FILE);
        recording.save(&path)?;
        let lost = match recording.statistics.dropped {
            0 => String::new(),
            count => format!("; {count} spans or events were lost, because a memory limit was reached"),
        };
        eprintln!("kinetoscope: {}{lost}", path.display());
        Ok(())
    }
}

impl Default for CriterionProfiler {
    fn default() -> Self {
        CriterionProfiler::new()
    }
}

impl fmt::Debug for CriterionProfiler {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CriterionProfiler").finish_non_exhaustive()
    }
}

impl criterion::profiler::Profiler for CriterionProfiler {
    fn start_profiling(&mut self, benchmark_id: &str, _: &Path) {
        if let Err(error) = self.start(benchmark_id) {
            eprintln!("kinetoscope: the benchmark {benchmark_id} is not recorded: {error}");
        }
    }

    fn stop_profiling(&mut self, benchmark_id: &str, benchmark_dir: &Path) {
        if let Err(error) = self.stop(benchmark_dir) {
            eprintln!("kinetoscope: the recording of the benchmark {benchmark_id} is lost: {error}");
        }
    }
}
