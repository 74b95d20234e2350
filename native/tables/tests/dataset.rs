//! Data sets, read with Parquet's own reader and compared with the columns of the schema.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use kinetoscope::files::THREADS;
use kinetoscope_core::analysis::context::Analysis;
use kinetoscope_core::queries::Join;
use kinetoscope_core::queries::schema::{Data, FieldType, Schema, TABLES, VERSION};
use kinetoscope_tables::Error;
use kinetoscope_tables::arrow::{RankTrace, RunId, TableStream};
use kinetoscope_tables::dataset::Dataset;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread;
use tempfile::{TempDir, tempdir};

fn folder() -> TempDir {
    tempdir().expect("a folder")
}

fn trace(file: &str, run: &str, rank: i64) -> RankTrace {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(file);
    let trace = kinetoscope::files::open(&path).expect("a trace");
    RankTrace::new(trace, RunId::new(run).expect("an id"), rank)
}

const GPU: &str = "torch/cuda/nccl/trace.json.gz";
const FILES: [&str; 6] = [
    GPU,
    "torch/cuda/oom/trace.json",
    "torch/cuda/stacks/trace.json.gz",
    "torch/kineto/transformer_training/trace.json.gz",
    "healthy/every_phase.json",
    "healthy/small_gpu_trace.json",
];

/// Every file below a folder, by its path in it.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("a path in it").to_owned();
                found.insert(name, fs::read(&path).expect("a file"));
            }
        }
    }
    found
}

fn batches(path: &Path) -> Vec<RecordBatch> {
    let file = File::open(path).expect("a file");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("a Parquet file");
    reader.build().expect("a reader").map(|batch| batch.expect("rows")).collect()
}

/// The values of a column of the schema as texts.
fn expected(of: &RankTrace, schema: &Schema, column: usize) -> Vec<Option<String>> {
    let analysis = Analysis::new(&of.trace);
    let source = schema.open(&analysis, None);
    let names = &of.trace.table.names;
    fn texts<T: ToString>(values: Vec<Option<T>>) -> Vec<Option<String>> {
        values.into_iter().map(|value| value.map(|value| value.to_string())).collect()
    }
    match source.read(column, 0..source.len()) {
        Data::Ints(values) => texts(values),
        Data::Floats(values) => texts(values),
        Data::Bools(values) => texts(values),
        Data::Names(ids) => texts(ids.into_iter().map(|id| id.map(|id| names.get(id))).collect()),
        Data::Texts(values) => texts(values),
        Data::Maps(maps) => {
            let entry = |(key, value)| format!("{}={value}", names.get(key));
            let text = |map: Vec<_>| map.into_iter().map(entry).collect::<Vec<_>>().join("\n");
            texts(maps.into_iter().map(|map| map.map(text)).collect())
        }
        other => panic!("{other:?}"),
    }
}

/// The values of a column of batches as texts.
fn read(batches: &[RecordBatch], column: &str, kind: FieldType) -> Vec<Option<String>> {
    let mut all = Vec::new();
    for batch in batches {
        let array = batch.column_by_name(column).unwrap_or_else(|| panic!("no column {column}"));
        for at in 0..array.len() {
            let value = || match kind {
                FieldType::Int => array.as_primitive::<Int64Type>().value(at).to_string(),
                FieldType::Float => array.as_primitive::<Float64Type>().value(at).to_string(),
                FieldType::Bool => array.as_boolean().value(at).to_string(),
                FieldType::Map => {
                    let entries = array.as_map().value(at);
                    let (keys, values) =
                        (entries.column(0).as_string::<i32>(), entries.column(1).as_string::<i32>());
                    let entry = |at| format!("{}={}", keys.value(at), values.value(at));
                    (0..keys.len()).map(entry).collect::<Vec<_>>().join("\n")
                }
                _ => match array.as_any_dictionary_opt() {
                    Some(dictionary) => dictionary
                        .values()
                        .as_string::<i32>()
                        .value(dictionary.normalized_keys()[at])
                        .to_owned(),
                    None => array.as_string::<i32>().value(at).to_owned(),
                },
            };
            all.push(array.is_valid(at).then(value));
        }
    }
    all
}

#[test]
fn files_have_every_value_of_the_schema() {
    let folder = folder();
    let dataset = Dataset::create(folder.path()).expect("a data set");
    let mut compared = 0;
    for (rank, file) in (0..).zip(FILES) {
        let of = trace(file, "run", rank);
        let join = if rank % 2 == 0 { THREADS } else { Join::SEQUENTIAL };
        let written = dataset.write(&of, &TABLES, join).expect("files");
        assert_eq!(written.files, TABLES.len());
        for schema in TABLES {
            let path = folder.path().join(format!("{}/run_id=run/rank={rank}/part-0.parquet", schema.name));
            let batches = batches(&path);
            for (at, field) in schema.fields().iter().enumerate() {
                let (ours, theirs) = (read(&batches, field.name, field.kind), expected(&of, schema, at));
                assert!(ours == theirs, "{file} {} {}", schema.name, field.name);
                compared += ours.len();
            }
        }
    }
    assert!(compared > 100_000, "{compared} values");
    Dataset::open(folder.path()).expect("a complete data set");
}

#[test]
fn a_stream_has_every_value_of_the_schema() {
    for schema in TABLES {
        let mut stream = TableStream::new(schema.name, Vec::new()).expect("a stream");
        let traces = [trace(GPU, "run", 3), trace("healthy/every_phase.json", "run", 4)];
        for of in &traces {
            stream.write(of).expect("rows");
        }
        let bytes = stream.finish().expect("a stream");
        let reader = arrow_ipc::reader::StreamReader::try_new(bytes.as_slice(), None).expect("a stream");
        let batches: Vec<RecordBatch> = reader.map(|batch| batch.expect("rows")).collect();
        for (at, field) in schema.fields().iter().enumerate() {
            let theirs: Vec<_> = traces.iter().flat_map(|of| expected(of, schema, at)).collect();
            assert!(read(&batches, field.name, field.kind) == theirs, "{} {}", schema.name, field.name);
        }
        let ranks = read(&batches, "rank", FieldType::Int);
        assert!(ranks.iter().flatten().all(|rank| rank == "3" || rank == "4"));
    }
    assert!(matches!(TableStream::new("evnts", Vec::new()), Err(Error::NoTable(_))));
}

#[test]
fn rows_are_in_groups_whose_ranges_prune() {
    let folder = folder();
    let spans: Vec<String> = (0..300_000)
        .map(|at| format!(r#"{{"ph":"X","name":"a","pid":1,"tid":1,"ts":{},"dur":5}}"#, at * 10))
        .collect();
    let text = format!("[{}]", spans.join(","));
    let trace = kinetoscope_core::trace::Trace::read(text.as_bytes()).expect("a trace");
    let of = RankTrace::new(trace, RunId::new("run").expect("an id"), 0);
    let dataset = Dataset::create(folder.path()).expect("a data set");
    let events = Schema::named("events").expect("a table");
    dataset.write(&of, &[events], THREADS).expect("files");
    let path = folder.path().join("events/run_id=run/rank=0/part-0.parquet");
    let reader = SerializedFileReader::new(File::open(path).expect("a file")).expect("a Parquet file");
    let column = events.column("ts_ns").expect("a column");
    let ranges: Vec<(i64, i64)> = reader
        .metadata()
        .row_groups()
        .iter()
        .map(|group| {
            let statistics = group.column(column).statistics().expect("statistics");
            let number = |bytes: Option<&[u8]>| {
                i64::from_le_bytes(bytes.expect("a value").try_into().expect("eight bytes"))
            };
            (number(statistics.min_bytes_opt()), number(statistics.max_bytes_opt()))
        })
        .collect();
    assert_eq!(ranges.len(), 3);
    assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0), "{ranges:?}");
    let size: i64 = reader.metadata().row_groups().iter().map(RowGroupMetaData::compressed_size).sum();
    assert!((size as usize) < text.len() / 20, "{size} bytes");
}

#[test]
fn a_trace_that_is_written_again_replaces_the_first() {
    let folder = folder();
    let dataset = Dataset::create(folder.path()).expect("a data set");
    dataset.write(&trace(GPU, "run", 0), &TABLES, THREADS).expect("files");
    dataset.write(&trace(GPU, "run", 1), &TABLES, THREADS).expect("files");
    let before = files(folder.path());
    let dataset = Dataset::create(folder.path()).expect("the same data set");
    dataset.write(&trace(GPU, "run", 0), &TABLES, THREADS).expect("files");
    assert!(files(folder.path()) == before);
}

#[test]
fn a_data_set_that_lacks_a_part_is_refused() {
    let folder = folder();
    let dataset = Dataset::create(folder.path()).expect("a data set");
    dataset.write(&trace(GPU, "run", 0), &TABLES, THREADS).expect("files");
    fs::create_dir(folder.path().join("_unfinished")).expect("a folder");
    let mark = folder.path().join("_unfinished/run_id=run,rank=1");
    fs::write(&mark, "").expect("a mark");
    let message = Dataset::open(folder.path()).expect_err("incomplete").to_string();
    assert!(message.contains("run_id=run/rank=1 was begun and not finished"), "{message}");
    // The export of the rank that was interrupted makes it complete.
    dataset.write(&trace(GPU, "run", 1), &TABLES, THREADS).expect("files");
    Dataset::open(folder.path()).expect("a complete data set");
}

#[test]
fn an_export_of_other_tables_does_not_complete_an_interrupted_one() {
    let folder = folder();
    let dataset = Dataset::create(folder.path()).expect("a data set");
    let table = |name| Schema::named(name).expect("a table");
    // In the way of the export of two tables.
    fs::write(folder.path().join("kernels"), "in the way").expect("a file");
    let of = trace(GPU, "run", 0);
    dataset.write(&of, &[table("steps"), table("kernels")], THREADS).expect_err("a failure");
    fs::remove_file(folder.path().join("kernels")).expect("a file");
    dataset.write(&of, &[table("traces")], THREADS).expect("a file");
    dataset.write(&of, &[table("steps")], THREADS).expect("a file");
    assert!(matches!(Dataset::open(folder.path()), Err(Error::Unfinished { .. })));
    dataset.write(&of, &[table("kernels")], THREADS).expect("a file");
    Dataset::open(folder.path()).expect("a complete data set");
}

#[test]
fn processes_can_create_one_data_set_at_the_same_time() {
    let folder = folder();
    for name in ["_unfinished", "events", ".kinetoscope.json.1-2.tmp"] {
        fs::create_dir(folder.path().join(name)).expect("a folder");
    }
    Dataset::create(folder.path()).expect("a data set");
    let of = trace(GPU, "run", 0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let dataset = Dataset::create(folder.path()).expect("the same data set");
                dataset.write(&of, &TABLES, Join::SEQUENTIAL).expect("files");
            });
        }
    });
    Dataset::open(folder.path()).expect("a complete data set");
}

#[test]
fn a_table_that_cannot_be_written_leaves_the_data_set_incomplete() {
    let folder = folder();
    let dataset = Dataset::create(folder.path()).expect("a data set");
    fs::write(folder.path().join("kernels"), "in the way").expect("a file");
    let error = dataset.write(&trace(GPU, "run", 0), &TABLES, THREADS).expect_err("a failure");
    assert!(matches!(error, Error::Io(..)), "{error}");
    assert!(matches!(Dataset::open(folder.path()), Err(Error::Unfinished { .. })));
}

#[test]
fn folders_that_are_no_data_sets_are_refused() {
    let other = folder();
    fs::write(other.path().join("notes.txt"), "mine").expect("a file");
    assert!(matches!(Dataset::create(other.path()), Err(Error::NotADataset(_))));
    assert_eq!(files(other.path()).len(), 1);
    for (version, is_known) in [(u64::from(VERSION), true), (u64::from(VERSION) + 1, false)] {
        let folder = folder();
        let manifest = format!(r#"{{"schema_version":{version}}}"#);
        fs::write(folder.path().join("kinetoscope.json"), manifest).expect("a file");
        assert_eq!(Dataset::open(folder.path()).is_ok(), is_known);
        assert_eq!(Dataset::create(folder.path()).is_ok(), is_known);
    }
    let damaged = folder();
    fs::write(damaged.path().join("kinetoscope.json"), "{").expect("a file");
    assert!(matches!(Dataset::open(damaged.path()), Err(Error::NotADataset(_))));
}

#[test]
fn nothing_is_written_outside_of_the_folder() {
    let outer = folder();
    let inner = outer.path().join("tables");
    let dataset = Dataset::create(&inner).expect("a data set");
    dataset.write(&trace(GPU, RunId::resembling("../../x").as_str(), 0), &TABLES, THREADS).expect("files");
    assert!(files(outer.path()).keys().all(|path| path.starts_with("tables")));
    let ids: Vec<String> = fs::read_dir(inner.join("events"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(ids, ["run_id=_.._x"]);
}
