//! A table function for each query of the engine: `ops()`, `idle('by=stream')`. Its rows are those of the command.

use crate::arrow::{RANK, RankTrace, rank_column, rank_fields};
use crate::sql::cached::Cached;
use crate::values::{Form, data_type};
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema};
use datafusion::catalog::{MemTable, TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::{DataFusionError, Result, ScalarValue, plan_err};
use datafusion::logical_expr::Expr;
use kinetoscope_core::analysis::query::options::Options;
use kinetoscope_core::analysis::query::value::OptionValue;
use kinetoscope_core::analysis::query::value::ValueKind;
use kinetoscope_core::base::rows::Rows;
use kinetoscope_core::queries::schema::table;
use kinetoscope_core::queries::{QUERIES, Query};
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

/// The answer of a query of the engine about every trace.
pub(super) struct Answer {
    query: &'static Query,
    traces: Arc<[Cached]>,
}

/// Returns the function of each query about a single trace, with its name in SQL.
pub(super) fn all(traces: &Arc<[Cached]>) -> impl Iterator<Item = (String, Answer)> {
    let of_traces = QUERIES.iter().filter(|query| query.name != "ranks");
    of_traces.map(|query| (query.name.replace('-', "_"), Answer { query, traces: Arc::clone(traces) }))
}

impl Debug for Answer {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.query.name)
    }
}

impl TableFunctionImpl for Answer {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        let mut options = Options::default();
        for argument in args.exprs() {
            self.set(&mut options, argument)?;
        }
        let mut batches = Vec::new();
        for trace in self.traces.iter() {
            let answer = trace.of.trace.ask(self.query.name, &options).map_err(|error| refused(&error))?;
            batches.push(batch(&trace.of, answer)?);
        }
        let Some(first) = batches.first() else { return plan_err!("there is no trace") };
        Ok(Arc::new(MemTable::try_new(first.schema(), vec![batches])?))
    }
}

impl Answer {
    /// Sets an option, given as `name` or `name=value`.
    fn set(&self, options: &mut Options, argument: &Expr) -> Result<()> {
        let text = match argument {
            Expr::Literal(ScalarValue::Utf8(Some(text)) | ScalarValue::Utf8View(Some(text)), _) => text,
            other => return plan_err!("{} takes texts such as 'by=name', not {other}", self.query.name),
        };
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let known = || self.query.options.iter().map(|option| option.name).collect::<Vec<_>>().join(", ");
        let Some(option) = self.query.options.iter().find(|option| option.name == name) else {
            return plan_err!("{} has no option {name:?}; its options are: {}", self.query.name, known());
        };
        let value = match option.kind {
            ValueKind::Nothing => OptionValue::Given,
            _ => option.parse(value).map_err(|error| DataFusionError::Plan(format!("{name}: {error}")))?,
        };
        options.set(option, value);
        Ok(())
    }
}

fn refused(error: &kinetoscope_core::base::error::Error) -> DataFusionError {
    DataFusionError::Plan(error.to_string())
}

/// Returns an answer as a batch.
fn batch(of: &RankTrace, answer: Rows) -> Result<RecordBatch> {
    let (fields, source) = table(answer);
    let arrays = of.arrays(Form::Views);
    let mut all = rank_fields(DataType::Utf8View).to_vec();
    let mut columns = vec![rank_column(of, 0, source.len()), rank_column(of, 1, source.len())];
    // One query states the rank as well.
    for (at, field) in fields.iter().enumerate().filter(|(_, field)| field.name != RANK) {
        all.push(Field::new(field.name, data_type(field.kind, Form::Views), true));
        columns.push(arrays.build(&source.read(at, 0..source.len()), field.kind)?);
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(all)), columns)?)
}
