//! Writes a table of a trace as a Parquet file: one group of rows after the other, the columns of each on several threads.

use crate::arrow::{RankTrace, SCHEMA_VERSION, arrow_schema, column, fields};
use crate::error::Error;
use crate::values::Form;
use arrow_array::ArrayRef;
use arrow_schema::{DataType, SchemaRef};
use kinetoscope_core::queries::schema::{Field, FieldType, Schema, Source, VERSION};
use kinetoscope_core::queries::{Join, Task};
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, ArrowWriter, ArrowWriterOptions,
    compute_leaves,
};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;
use std::fs::File;
use std::ops::Range;
use std::path::Path;

/// The number of rows of a group. A reader skips the groups whose ranges of values do not match.
const GROUP: usize = 1 << 17;

/// The values of so many rows are in memory at once.
const PIECE: usize = 1 << 14;

/// The level of zstd: the files are 7 % smaller than with 1, at the same speed.
const ZSTD: i32 = 3;

/// Writes a table of a trace. Returns the number of its rows and the size of the file.
pub(super) fn write_table(
    of: &RankTrace,
    schema: &Schema,
    source: &dyn Source,
    (file, path): (&File, &Path),
    join: Join,
) -> Result<(u64, u64), Error> {
    let file = file.try_clone().map_err(Error::io(path))?;
    let table = Table {
        of,
        source,
        fields: schema.fields(),
        arrow: arrow_schema(schema, fields(schema, Form::Views)),
        join,
    };
    // Readers use the types of Parquet: texts, not views of texts.
    let options = ArrowWriterOptions::new()
        .with_properties(properties(of, schema, &table.fields)?)
        .with_skip_arrow_metadata(true);
    let writer = ArrowWriter::try_new_with_options(file, table.arrow.clone(), options)?;
    let (mut writer, groups) = writer.into_serialized_writer()?;
    for start in (0..source.len()).step_by(GROUP) {
        table.write_group(&mut writer, &groups, start..source.len().min(start + GROUP))?;
    }
    let file = writer.into_inner()?;
    file.sync_data().map_err(Error::io(path))?;
    let bytes = file.metadata().map_err(Error::io(path))?.len();
    Ok((source.len() as u64, bytes))
}

fn properties(of: &RankTrace, schema: &Schema, fields: &[Field]) -> Result<WriterProperties, Error> {
    let zstd = ZstdLevel::try_new(ZSTD)?;
    let pairs = [
        (SCHEMA_VERSION, VERSION.to_string()),
        ("kinetoscope.run_id", of.run_id.as_str().to_owned()),
        ("kinetoscope.rank", of.rank.to_string()),
    ];
    let pairs = pairs.map(|(key, value)| KeyValue::new(key.to_owned(), value));
    let sorted = |name: &&str| {
        let column_idx = i32::try_from(schema.column(name)?).ok()?;
        Some(SortingColumn { column_idx, descending: false, nulls_first: true })
    };
    let builder = WriterProperties::builder()
        .set_created_by(format!("kinetoscope {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::ZSTD(zstd))
        .set_max_row_group_row_count(Some(GROUP))
        // With pages of 20,000 rows, the default, the files are 6 % larger.
        .set_data_page_row_count_limit(GROUP)
        .set_key_value_metadata(Some(pairs.to_vec()))
        .set_sorting_columns(Some(schema.sorted_by.iter().filter_map(sorted).collect()));
    Ok(fields.iter().fold(builder, column_properties).build())
}

fn column_properties(builder: WriterPropertiesBuilder, field: &Field) -> WriterPropertiesBuilder {
    let encoding = match field.kind {
        FieldType::Int => integers(field.name),
        // Other columns of numbers have few values.
        FieldType::Float if field.name == "value" => Some(Encoding::BYTE_STREAM_SPLIT),
        // The ranges of values of arguments help no query.
        FieldType::Map => {
            return ["key", "value"].into_iter().fold(builder, |builder, part| {
                let path = vec![field.name.to_owned(), "key_value".to_owned(), part.to_owned()];
                builder.set_column_statistics_enabled(ColumnPath::new(path), EnabledStatistics::None)
            });
        }
        _ => None,
    };
    match encoding {
        Some(encoding) => {
            let path = ColumnPath::from(field.name);
            builder.set_column_dictionary_enabled(path.clone(), false).set_column_encoding(path, encoding)
        }
        None => builder,
    }
}

/// Returns the encoding of a column of integers; `None` is a dictionary.
///
/// The encodings were compared on generated and real traces. Times and ids of sorted rows differ little from those before. Sizes of
/// grids and inputs have few values. Most other columns have values with few bytes and repeated distances, which zstd finds if bytes
/// of the same place are next to each other.
fn integers(name: &str) -> Option<Encoding> {
    match name {
        "ts_ns" | "op" | "point" | "call" | "work" | "released" | "forward" | "sequence_nr"
        | "correlation" | "external_id" | "ev_idx" | "python_id" => Some(Encoding::DELTA_BINARY_PACKED),
        "grid_x" | "grid_y" | "grid_z" | "block_x" | "block_y" | "block_z" | "input_bytes" | "flops"
        | "kernels" | "scope" => None,
        _ => Some(Encoding::BYTE_STREAM_SPLIT),
    }
}

/// A table that is being written.
struct Table<'t> {
    of: &'t RankTrace,
    source: &'t dyn Source,
    fields: Vec<Field>,
    arrow: SchemaRef,
    join: Join,
}

/// A column of a group of rows: the writers of its parts, and what they wrote.
struct Column {
    writers: Vec<ArrowColumnWriter>,
    written: Result<Vec<ArrowColumnChunk>, Error>,
}

impl Table<'_> {
    fn write_group(
        &self,
        file: &mut SerializedFileWriter<File>,
        groups: &ArrowRowGroupWriterFactory,
        rows: Range<usize>,
    ) -> Result<(), Error> {
        let mut writers = groups.create_column_writers(file.flushed_row_groups().len())?.into_iter();
        let mut columns: Vec<Column> = Vec::new();
        for field in self.arrow.fields() {
            let writers = writers.by_ref().take(leaves(field.data_type())).collect();
            columns.push(Column { writers, written: Ok(Vec::new()) });
        }
        let rows = &rows;
        let tasks = columns.iter_mut().enumerate().map(|(at, column)| {
            move || {
                column.written = self.write_column(at, rows.clone(), std::mem::take(&mut column.writers));
            }
        });
        let mut tasks: Vec<_> = tasks.collect();
        self.join.run(&mut tasks.iter_mut().map(|task| task as Task<'_>).collect::<Vec<_>>());
        let mut group = file.next_row_group()?;
        for column in columns {
            for chunk in column.written? {
                chunk.append_to_row_group(&mut group)?;
            }
        }
        group.close()?;
        Ok(())
    }

    fn write_column(
        &self,
        at: usize,
        rows: Range<usize>,
        mut writers: Vec<ArrowColumnWriter>,
    ) -> Result<Vec<ArrowColumnChunk>, Error> {
        for start in rows.clone().step_by(PIECE) {
            let piece = start..rows.end.min(start + PIECE);
            let array: ArrayRef = column(self.of, self.source, (at, &self.fields[at]), piece, Form::Views)?;
            let leaves = compute_leaves(self.arrow.field(at), &array)?;
            for (writer, leaf) in writers.iter_mut().zip(&leaves) {
                writer.write(leaf)?;
            }
        }
        Ok(writers.into_iter().map(ArrowColumnWriter::close).collect::<Result<_, _>>()?)
    }
}

/// The number of columns of Parquet that a column has.
fn leaves(kind: &DataType) -> usize {
    if matches!(kind, DataType::Map(..)) { 2 } else { 1 }
}
