//! Spans and a table. `cargo run --release -p kinetoscope --features analysis,tracing --example spans`
//!
//! One line starts the profiler and one stops it. The code between them is instrumented with spans.

use kinetoscope::Profiler;
use kinetoscope::RecordError;
use kinetoscope::{GroupBy, SortBy, TableOptions};
use kinetoscope::{instant, scope, user_scope};

/// A matrix, row by row.
struct Matrix {
    sizes: [usize; 2],
    values: Vec<f32>,
}

impl Matrix {
    fn new(rows: usize, columns: usize) -> Matrix {
        let _span = scope!("new", shapes: [[rows, columns]]);
        Matrix { sizes: [rows, columns], values: (0..rows * columns).map(|at| at as f32 % 7.0).collect() }
    }

    /// Multiplies two matrices. Shapes, types and FLOPs of the span are evaluated only while a profiler records.
    fn times(&self, other: &Matrix) -> Matrix {
        let ([rows, inner], [_, columns]) = (self.sizes, other.sizes);
        let _span = scope!("matmul", shapes: [self.sizes, other.sizes], dtype: "float", flops: 2 * rows * inner * columns);
        let cell = |at: usize| {
            let (row, column) = (at / columns, at % columns);
            (0..inner).map(|k| self.values[row * inner + k] * other.values[k * columns + column]).sum()
        };
        Matrix { sizes: [rows, columns], values: (0..rows * columns).map(cell).collect() }
    }
}

fn main() -> Result<(), RecordError> {
    let profiler = Profiler::builder().record_shapes(true).with_flops(true).start()?;
    for size in [64, 128, 192] {
        let _range = user_scope!("one size", size = size);
        let product = Matrix::new(size, size).times(&Matrix::new(size, 2 * size));
        instant!("done", sum = product.values.iter().sum::<f32>());
    }
    let recording = profiler.finish()?;
    let by_shape = GroupBy::default().by_shape();
    let options = TableOptions::default().with_sort_by(SortBy::SelfCpuTimeTotal);
    println!("{}", recording.table_with(by_shape, &options)?);
    let path = std::env::temp_dir().join("spans.pt.trace.json.gz");
    recording.export_chrome_trace(&path)?;
    println!("The trace is in {}: `kinetoscope view` shows it.", path.display());
    Ok(())
}
