//! SQL on traces in memory, or on a data set.
//!
//! The engine is DataFusion. The tables are those of [`kinetoscope_core::queries::schema`]; [`VIEWS`] have the names of other tools. Besides
//! DataFusion's functions there are:
//!
//! - `busy_ns(ts, dur)`, an aggregate: the length of the union of intervals;
//! - `exposed_ns(ts, dur, counts)`, an aggregate: the time in which an interval with `counts` is open, and none without it;
//! - `overlap(ts_a, dur_a, ts_b, dur_b)`: the time that two intervals have in common;
//! - `quantile(value, share)`, an aggregate: an estimate by a t-digest, `approx_percentile_cont` of DataFusion;
//! - on traces, not on data sets: `ancestors(event)`, `step_of(event)` and `launch_of(work)`, with several traces
//!   `ancestors(run_id, rank, event)`; and for each query of the engine a function of its name, such as `FROM idle('by=stream')`.

mod cached;
mod cells;
mod damage;
mod functions;
mod library;
mod mistakes;
mod scan;
mod table;
mod views;

use crate::arrow::{RANK, RUN_ID, RankTrace, fields};
use crate::dataset::Dataset;
use crate::error::Error;
use crate::place::DatasetPlace;
use crate::values::Form;
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, SchemaRef};
use cached::Cached;
use datafusion::common::DataFusionError;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::ListingOptions;
use datafusion::execution::context::{SQLOptions, SessionConfig, SessionContext};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use kinetoscope_core::queries::schema::{Schema, TABLES};
use std::path::PathBuf;
use std::sync::Arc;
use table::TraceTable;
use tokio::runtime::Runtime;

pub use library::{QUERIES, Query, query};
pub use views::VIEWS;

/// Tables that can be queried.
pub struct Session {
    context: SessionContext,
    runtime: Runtime,
    /// The folder of the data set.
    folder: Option<PathBuf>,
}

/// The result of a query.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// The columns.
    pub schema: SchemaRef,
    /// The rows.
    pub batches: Vec<RecordBatch>,
}

impl Session {
    /// Returns the tables of traces. What queries sort and group takes at most `memory_limit` bytes; more is written to the folder for
    /// temporary files.
    ///
    /// # Errors
    /// Returns [`Error::Query`] if the tables cannot be set up.
    pub fn from_traces(traces: Vec<RankTrace>, memory_limit: Option<usize>) -> Result<Session, Error> {
        let session = Session::new(memory_limit)?;
        let traces: Arc<[Cached]> = traces.into_iter().map(Cached::new).collect();
        for schema in TABLES {
            let table = TraceTable::new(schema, Arc::clone(&traces));
            session.context.register_table(schema.name, Arc::new(table)).map_err(|error| plain(&error))?;
        }
        functions::register_for(&session.context, &traces);
        session.add_views()?;
        Ok(session)
    }

    /// Returns the tables of a data set. A column that the version of the data set lacks has no values. The limit is that of
    /// [`from_traces`](Self::from_traces).
    ///
    /// # Errors
    /// Returns [`Error::Query`] if its files cannot be listed, or one is empty.
    pub fn from_dataset(dataset: &Dataset, memory_limit: Option<usize>) -> Result<Session, Error> {
        let mut session = Session::new(memory_limit)?;
        if let Some(folder) = dataset.place().folder() {
            if let Some(path) = damage::empty(folder) {
                return Err(Error::Query(format!("{}: the file is empty", path.display())));
            }
            session.folder = Some(folder.to_owned());
        }
        for schema in TABLES {
            if dataset.has(schema)? {
                session.add_files(dataset, schema)?;
            }
        }
        session.add_views()?;
        Ok(session)
    }

    fn new(memory_limit: Option<usize>) -> Result<Session, Error> {
        let config = SessionConfig::new().with_information_schema(true);
        let mut environment = RuntimeEnvBuilder::new();
        if let Some(bytes) = memory_limit {
            environment = environment.with_memory_pool(Arc::new(FairSpillPool::new(bytes)));
        }
        let environment = environment.build_arc().map_err(|error| plain(&error))?;
        let runtime = Runtime::new().map_err(|error| Error::Query(error.to_string()))?;
        let context = SessionContext::new_with_config_rt(config, environment);
        let session = Session { context, runtime, folder: None };
        functions::register(&session.context);
        Ok(session)
    }

    fn add_files(&self, dataset: &Dataset, schema: &Schema) -> Result<(), Error> {
        let partitions = [(RUN_ID, DataType::Utf8View), (RANK, DataType::Int64)];
        let options = ListingOptions::new(Arc::new(ParquetFormat::default()))
            .with_file_extension(".parquet")
            .with_table_partition_cols(partitions.map(|(name, kind)| (name.to_owned(), kind)).to_vec());
        let optional = |field: Field| field.with_nullable(true);
        let fields: Vec<Field> = fields(schema, Form::Views).into_iter().map(optional).collect();
        let arrow = Arc::new(arrow_schema::Schema::new(fields));
        let folder = match dataset.place() {
            DatasetPlace::Folder(folder) => folder.join(schema.name).display().to_string(),
            #[cfg(feature = "cloud")]
            DatasetPlace::Store(store) => {
                let (bucket, objects) = store.bucket();
                self.context.register_object_store(&bucket, objects);
                store.address_of(schema.name)
            }
        };
        let register = self.context.register_listing_table(schema.name, &folder, options, Some(arrow), None);
        self.runtime.block_on(register).map_err(|error| plain(&error))
    }

    /// Adds the views whose tables exist.
    fn add_views(&self) -> Result<(), Error> {
        for (name, sql) in VIEWS {
            if let Err(error) = self.execute(&format!("CREATE VIEW {name} AS {sql}"), SQLOptions::new())
                && mistakes::unknown_table(&error).is_none()
            {
                return Err(plain(&error));
            }
        }
        Ok(())
    }

    fn execute(&self, sql: &str, options: SQLOptions) -> Result<Answer, DataFusionError> {
        self.runtime.block_on(async {
            let frame = self.context.sql_with_options(sql, options).await?;
            let schema = Arc::new(frame.schema().as_arrow().clone());
            let batches = frame.collect().await?;
            Ok(Answer { schema, batches })
        })
    }

    /// Runs a query. Statements that write files are refused; views can be created.
    ///
    /// # Errors
    /// Returns [`Error::Query`] with the reason; for an unknown table, column or function with the names that resemble it.
    pub fn run(&self, sql: &str) -> Result<Answer, Error> {
        // COPY and INSERT would write files.
        let options = SQLOptions::new().with_allow_dml(false);
        self.execute(sql, options)
            .map_err(|error| self.damage(&error).unwrap_or_else(|| mistakes::explain(&error, &self.names())))
    }

    /// Returns the error with the name of the file, if a file of the data set is damaged.
    fn damage(&self, error: &DataFusionError) -> Option<Error> {
        let DataFusionError::ParquetError(reason) = error.find_root() else { return None };
        let path = damage::damaged(self.folder.as_deref()?)?;
        Some(Error::Query(format!("{}: {reason}", path.display())))
    }

    /// The names of tables, views, columns and functions.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = VIEWS.iter().map(|view| view.0.to_owned()).collect();
        for schema in TABLES {
            names.push(schema.name.to_owned());
            names.extend(schema.fields().iter().map(|field| field.name.to_owned()));
        }
        let state = self.context.state();
        names.extend(state.scalar_functions().keys().cloned());
        names.extend(state.aggregate_functions().keys().cloned());
        names.extend(state.window_functions().keys().cloned());
        names.extend(state.table_functions().keys().cloned());
        names.sort();
        names.dedup();
        names
    }
}

fn plain(error: &DataFusionError) -> Error {
    Error::Query(error.strip_backtrace())
}
