//! The rows of a table of a trace as Arrow batches.

use crate::error::Error;
use crate::values::{Arrays, Form, NameViews, data_type};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field, SchemaRef};
use kinetoscope_core::analysis::context::Analysis;
use kinetoscope_core::queries::schema::{Schema, Source, VERSION};
use kinetoscope_core::trace::Trace;
use std::collections::HashMap;
use std::io::Write;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// The column of the run, which every table begins with.
pub const RUN_ID: &str = "run_id";
/// The column of the rank, which follows it.
pub const RANK: &str = "rank";

/// The number of rows of a batch.
const BATCH: usize = 1 << 15;

/// The id of a run: letters, digits, `.`, `_` and `-`, so that it can be a part of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(String);

impl RunId {
    /// Returns the id.
    ///
    /// # Errors
    /// Returns [`Error::BadRunId`] if a text is empty, begins with `.`, or has other characters.
    pub fn new(id: &str) -> Result<RunId, Error> {
        let is_valid = !id.is_empty() && !id.starts_with('.') && id.chars().all(is_of_id);
        if is_valid { Ok(RunId(id.to_owned())) } else { Err(Error::BadRunId(id.to_owned())) }
    }

    /// Returns an id that resembles a name: other characters become `_`.
    pub fn resembling(name: &str) -> RunId {
        let id: String = name.chars().map(|c| if is_of_id(c) { c } else { '_' }).collect();
        let id = id.trim_start_matches('.');
        RunId(if id.is_empty() { "run".to_owned() } else { id.to_owned() })
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_of_id(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

/// A trace, and which part of which run it is.
#[derive(Debug)]
pub struct RankTrace {
    /// The trace.
    pub trace: Trace,
    /// The run.
    pub run_id: RunId,
    /// The rank.
    pub rank: i64,
    views: OnceLock<NameViews>,
}

impl RankTrace {
    /// Returns a trace as a rank of a run.
    pub fn new(trace: Trace, run_id: RunId, rank: i64) -> RankTrace {
        RankTrace { trace, run_id, rank, views: OnceLock::new() }
    }

    pub(crate) fn arrays(&self, form: Form) -> Arrays<'_> {
        let names = &self.trace.table.names;
        let views = (form == Form::Views).then(|| self.views.get_or_init(|| NameViews::new(names)));
        Arrays { names, views }
    }
}

/// Returns the fields of a table, without the run and the rank.
pub(crate) fn fields(schema: &Schema, form: Form) -> Vec<Field> {
    let field = |field: kinetoscope_core::queries::schema::Field| {
        Field::new(field.name, data_type(field.kind, form), field.optional)
    };
    schema.fields().into_iter().map(field).collect()
}

/// Returns the Arrow schema of these fields of a table, with the version of the schema as metadata.
pub(crate) fn arrow_schema(schema: &Schema, fields: Vec<Field>) -> SchemaRef {
    let metadata = [("kinetoscope.table", schema.name.to_owned()), (SCHEMA_VERSION, VERSION.to_string())];
    let metadata: HashMap<String, String> = metadata.map(|(key, value)| (key.to_owned(), value)).into();
    Arc::new(arrow_schema::Schema::new_with_metadata(fields, metadata))
}

/// The key of the version of the schema among the metadata of Arrow and Parquet.
pub(crate) const SCHEMA_VERSION: &str = "kinetoscope.schema_version";

/// Returns the columns of the run and the rank.
pub(crate) fn rank_fields(text: DataType) -> [Field; 2] {
    [Field::new(RUN_ID, text, false), Field::new(RANK, DataType::Int64, false)]
}

/// Returns the fields of a table with those of the run, a text of this type, and the rank.
pub(crate) fn fields_of_rank(schema: &Schema, text: DataType, form: Form) -> Vec<Field> {
    rank_fields(text).into_iter().chain(fields(schema, form)).collect()
}

/// Returns the values of the first column, the run, or of the second, the rank.
#[cfg(feature = "sql")]
pub(crate) fn rank_column(of: &RankTrace, column: usize, rows: usize) -> ArrayRef {
    if column == 1 {
        return Arc::new(Int64Array::from_value(of.rank, rows));
    }
    let mut builder = arrow_array::builder::StringViewBuilder::new().with_deduplicate_strings();
    (0..rows).for_each(|_| builder.append_value(of.run_id.as_str()));
    Arc::new(builder.finish())
}

/// Returns one column of a table for a range of rows.
///
/// # Errors
/// Returns an error if the texts are longer than the offsets of Arrow allow.
pub(crate) fn column(
    of: &RankTrace,
    source: &dyn Source,
    (at, field): (usize, &kinetoscope_core::queries::schema::Field),
    rows: Range<usize>,
    form: Form,
) -> Result<ArrayRef, Error> {
    Ok(of.arrays(form).build(&source.read(at, rows), field.kind)?)
}

/// Writes a table of traces as a stream of Arrow's IPC format. Texts are dictionaries.
pub struct TableStream<W: Write> {
    schema: &'static Schema,
    arrow: SchemaRef,
    writer: StreamWriter<W>,
}

impl<W: Write> TableStream<W> {
    /// Begins a stream of the table of this name.
    ///
    /// # Errors
    /// Returns [`Error::NoTable`], or an error if `output` cannot be written.
    pub fn new(table: &str, output: W) -> Result<TableStream<W>, Error> {
        let schema = Schema::named(table).ok_or_else(|| Error::NoTable(table.to_owned()))?;
        let arrow = arrow_schema(schema, fields_of_rank(schema, DataType::Utf8, Form::Dictionaries));
        Ok(TableStream { schema, writer: StreamWriter::try_new(output, &arrow)?, arrow })
    }

    /// Writes the rows of a trace.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn write(&mut self, of: &RankTrace) -> Result<(), Error> {
        let analysis = Analysis::new(&of.trace);
        let source = self.schema.open(&analysis, None);
        for start in (0..source.len()).step_by(BATCH) {
            let rows = start..source.len().min(start + BATCH);
            self.writer.write(&batch(of, self.schema, &*source, rows, &self.arrow)?)?;
        }
        Ok(())
    }

    /// Ends the stream and returns the output.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn finish(self) -> Result<W, Error> {
        Ok(self.writer.into_inner()?)
    }
}

fn batch(
    of: &RankTrace,
    schema: &Schema,
    source: &dyn Source,
    rows: Range<usize>,
    arrow: &SchemaRef,
) -> Result<RecordBatch, Error> {
    let run = StringArray::from_iter_values(rows.clone().map(|_| of.run_id.as_str()));
    let ranks = Int64Array::from_value(of.rank, rows.len());
    let mut columns: Vec<ArrayRef> = vec![Arc::new(run), Arc::new(ranks)];
    for field in schema.fields().iter().enumerate() {
        columns.push(column(of, source, field, rows.clone(), Form::Dictionaries)?);
    }
    Ok(RecordBatch::try_new(arrow.clone(), columns)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_runs_are_parts_of_paths() {
        assert!(["a", "run-1.2_x", "7"].iter().all(|id| RunId::new(id).is_ok()));
        assert!(["", "a/b", "..", ".a", "a b", "é", "a=b", "a%"].iter().all(|id| RunId::new(id).is_err()));
        assert_eq!(RunId::resembling("../a b").as_str(), "_a_b");
        assert_eq!(RunId::resembling("..").as_str(), "run");
        assert!(
            ["../x", "", "é", "a/b"].iter().all(|name| RunId::new(RunId::resembling(name).as_str()).is_ok())
        );
    }
}
