//! Reads rows of traces: the columns of the filter first, and the others only where it keeps a row.

use super::cached::Open;
use crate::arrow::{RankTrace, rank_column};
use crate::values::Form;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use datafusion::arrow::compute::{filter_record_batch, prep_null_mask_filter};
use datafusion::common::cast::as_boolean_array;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, Statistics, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, ReplaceChildrenOptions};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::stream;
use kinetoscope_core::queries::schema::Schema;
use std::fmt::{self, Formatter};
use std::ops::Range;
use std::sync::Arc;

/// The number of rows that are read at once.
const ROWS: usize = 1 << 14;

/// The number of columns that are not columns of the trace: the run and the rank.
pub(super) const OF_RANK: usize = 2;

/// Which rows to keep.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    /// The columns of the table that it needs.
    pub(super) columns: Vec<usize>,
    /// The schema of these columns.
    pub(super) arrow: SchemaRef,
    pub(super) expression: Arc<dyn PhysicalExpr>,
}

impl Filter {
    /// Returns which rows of a batch are kept.
    fn mask(&self, batch: &RecordBatch) -> Result<BooleanArray> {
        let kept = self.expression.evaluate(batch)?.into_array(batch.num_rows())?;
        let kept = as_boolean_array(&kept)?;
        Ok(if kept.null_count() > 0 { prep_null_mask_filter(kept) } else { kept.clone() })
    }

    /// Whether a trace can have rows that are kept, if the filter needs only its run and rank.
    pub(super) fn has_rank(&self, of: &RankTrace) -> Result<bool> {
        let columns = self.columns.iter().map(|&column| rank_column(of, column, 1)).collect();
        Ok(self.mask(&batch(&self.arrow, columns, 1)?)?.true_count() > 0)
    }
}

/// Rows of a trace.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) of: Arc<RankTrace>,
    pub(super) open: Arc<Open>,
    pub(super) rows: Range<usize>,
}

/// A plan that reads some columns of a table.
#[derive(Debug)]
pub(super) struct Scan {
    reader: Arc<Reader>,
    /// The rows of each partition.
    partitions: Vec<Vec<Piece>>,
    properties: Arc<PlanProperties>,
}

/// What is read.
#[derive(Debug)]
struct Reader {
    schema: &'static Schema,
    arrow: SchemaRef,
    columns: Vec<usize>,
    filter: Option<Filter>,
}

impl Scan {
    pub(super) fn new(
        schema: &'static Schema,
        arrow: arrow_schema::Schema,
        columns: Vec<usize>,
        filter: Option<Filter>,
        pieces: Vec<Piece>,
        partitions: usize,
    ) -> Scan {
        let arrow = Arc::new(arrow);
        let partitions = split(pieces, partitions);
        let properties = PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&arrow)),
            Partitioning::UnknownPartitioning(partitions.len()),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        let reader = Arc::new(Reader { schema, arrow, columns, filter });
        Scan { reader, partitions, properties: Arc::new(properties) }
    }

    fn rows(&self, partition: Option<usize>) -> usize {
        let chosen = |at: &usize| partition.is_none_or(|partition| partition == *at);
        let pieces = (0..self.partitions.len()).filter(chosen).flat_map(|at| &self.partitions[at]);
        pieces.map(|piece| piece.rows.len()).sum()
    }
}

/// Distributes rows evenly, in ranges that are read at once.
fn split(pieces: Vec<Piece>, partitions: usize) -> Vec<Vec<Piece>> {
    let total: usize = pieces.iter().map(|piece| piece.rows.len()).sum();
    let share = total.div_ceil(partitions.max(1)).next_multiple_of(ROWS).max(ROWS);
    let (mut all, mut current, mut room) = (Vec::new(), Vec::new(), share);
    for mut piece in pieces {
        while !piece.rows.is_empty() {
            let end = piece.rows.end.min(piece.rows.start + room);
            current.push(Piece { rows: piece.rows.start..end, ..piece.clone() });
            room -= end - piece.rows.start;
            piece.rows.start = end;
            if room == 0 {
                all.push(std::mem::take(&mut current));
                room = share;
            }
        }
    }
    if !current.is_empty() || all.is_empty() {
        all.push(current);
    }
    all
}

impl Reader {
    /// Reads at most [`ROWS`] rows.
    fn read(&self, piece: &Piece) -> Result<Option<RecordBatch>> {
        let all = || self.batch(piece, &self.columns, &self.arrow);
        let Some(filter) = &self.filter else { return all().map(Some) };
        let mask = filter.mask(&self.batch(piece, &filter.columns, &filter.arrow)?)?;
        Ok(match mask.true_count() {
            0 => None,
            kept if kept == mask.len() => Some(all()?),
            _ => Some(filter_record_batch(&all()?, &mask)?),
        })
    }

    fn batch(&self, piece: &Piece, columns: &[usize], arrow: &SchemaRef) -> Result<RecordBatch> {
        let columns = columns.iter().map(|&column| self.column(piece, column)).collect::<Result<_>>()?;
        batch(arrow, columns, piece.rows.len())
    }

    fn column(&self, piece: &Piece, column: usize) -> Result<ArrayRef> {
        let Some(at) = column.checked_sub(OF_RANK) else {
            return Ok(rank_column(&piece.of, column, piece.rows.len()));
        };
        let data = piece.open.read(at, piece.rows.clone());
        let kind = self.schema.fields()[at].kind;
        piece.of.arrays(Form::Views).build(&data, kind).map_err(DataFusionError::from)
    }
}

/// Returns a batch, which can have no columns.
fn batch(arrow: &SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(Arc::clone(arrow), columns, &options)?)
}

impl DisplayAs for Scan {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.reader.arrow.fields().iter().map(|field| field.name().as_str()).collect();
        write!(f, "TraceScan: {} [{}]", self.reader.schema.name, names.join(", "))?;
        match &self.reader.filter {
            Some(filter) => write!(f, " where {}", filter.expression),
            None => Ok(()),
        }
    }
}

impl ExecutionPlan for Scan {
    fn name(&self) -> &'static str {
        "TraceScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if children.is_empty() { Ok(self) } else { internal_err!("a scan has no children") }
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if children.is_empty() { Ok(self) } else { internal_err!("a scan has no children") }
    }

    fn execute(&self, partition: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let reader = Arc::clone(&self.reader);
        let pieces = self.partitions[partition].clone().into_iter().flat_map(|piece| {
            let starts = piece.rows.clone().step_by(ROWS);
            starts.map(move |start| Piece { rows: start..piece.rows.end.min(start + ROWS), ..piece.clone() })
        });
        let batches = pieces.filter_map(move |piece| reader.read(&piece).transpose());
        let arrow = Arc::clone(&self.reader.arrow);
        Ok(Box::pin(RecordBatchStreamAdapter::new(arrow, stream::iter(batches))))
    }

    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>> {
        let rows = self.rows(partition);
        let mut statistics = Statistics::new_unknown(&self.reader.arrow);
        statistics.num_rows =
            if self.reader.filter.is_some() { Precision::Inexact(rows / 4) } else { Precision::Exact(rows) };
        Ok(Arc::new(statistics))
    }
}
