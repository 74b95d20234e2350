//! A table of traces in memory, for DataFusion. Only the columns and rows that a query needs become Arrow arrays.

use super::cached::Cached;
use super::scan::{Filter, OF_RANK, Piece, Scan};
use crate::arrow::{RANK, RUN_ID, fields_of_rank};
use crate::values::Form;
use arrow_schema::{DataType, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use kinetoscope_core::queries::schema::Schema;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A table of all traces of a session.
#[derive(Debug)]
pub(super) struct TraceTable {
    schema: &'static Schema,
    arrow: SchemaRef,
    traces: Arc<[Cached]>,
}

impl TraceTable {
    pub(super) fn new(schema: &'static Schema, traces: Arc<[Cached]>) -> TraceTable {
        let fields = fields_of_rank(schema, DataType::Utf8View, Form::Views);
        TraceTable { schema, arrow: Arc::new(arrow_schema::Schema::new(fields)), traces }
    }

    /// Returns the filter of expressions, all of which are true for the rows that it keeps.
    fn filter(&self, session: &dyn Session, filters: Vec<Expr>) -> Result<Option<Filter>> {
        let Some(all) = conjunction(filters) else { return Ok(None) };
        let names: BTreeSet<String> =
            all.column_refs().into_iter().map(|column| column.name.clone()).collect();
        let columns: Vec<usize> = names.iter().filter_map(|name| self.arrow.index_of(name).ok()).collect();
        let arrow: SchemaRef = Arc::new(self.arrow.project(&columns)?);
        let expression =
            session.create_physical_expr(unqualified(all)?, &DFSchema::try_from(arrow.clone())?)?;
        Ok(Some(Filter { columns, arrow, expression }))
    }
}

/// The expression with columns of no particular table.
fn unqualified(expression: Expr) -> Result<Expr> {
    use datafusion::common::tree_node::{Transformed, TreeNode};
    let plain = |expr: Expr| match expr {
        Expr::Column(column) => Ok(Transformed::yes(Expr::Column(column.name.into()))),
        other => Ok(Transformed::no(other)),
    };
    Ok(expression.transform(plain)?.data)
}

#[async_trait]
impl TableProvider for TraceTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.arrow)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Exact; filters.len()])
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        _limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let columns = projection.cloned().unwrap_or_else(|| (0..self.arrow.fields().len()).collect());
        let is_of_rank =
            |expr: &&Expr| expr.column_refs().iter().all(|column| [RUN_ID, RANK].contains(&column.name()));
        let (of_rank, of_rows): (Vec<&Expr>, Vec<&Expr>) = filters.iter().partition(is_of_rank);
        let of_rank = self.filter(session, of_rank.into_iter().cloned().collect())?;
        let filter = self.filter(session, of_rows.into_iter().cloned().collect())?;
        let filtered = filter.iter().flat_map(|filter| &filter.columns);
        let needed: BTreeSet<usize> =
            columns.iter().chain(filtered).filter_map(|column| column.checked_sub(OF_RANK)).collect();
        let mut pieces = Vec::new();
        for trace in self.traces.iter() {
            if of_rank.as_ref().map_or(Ok(true), |filter| filter.has_rank(&trace.of))? {
                let open = trace.open(self.schema, &needed);
                pieces.push(Piece { of: Arc::clone(&trace.of), rows: 0..open.len(), open });
            }
        }
        let partitions = session.config().target_partitions();
        Ok(Arc::new(Scan::new(
            self.schema,
            self.arrow.project(&columns)?,
            columns,
            filter,
            pieces,
            partitions,
        )))
    }
}
