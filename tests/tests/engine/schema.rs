//! The tables for queries, compared with the answers of the commands about the same traces.
//!
//! One file: every table is opened and read by the functions at its start, and most tests are about one table.

use kinetoscope_core::analysis::context::Analysis;
use kinetoscope_core::analysis::device::launches::launches;
use kinetoscope_core::analysis::query::options::Options;
use kinetoscope_core::base::names::NameId;
use kinetoscope_core::base::rows::{Cell, Rows};
use kinetoscope_core::queries::schema::{Data, FieldType, Schema, Source, TABLES};
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::events::Row;
use kinetoscope_tests::files;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

/// Traces with threads, streams, steps, collectives, damage, and recordings.
fn traces() -> Vec<(PathBuf, Trace)> {
    let folders = ["torch/cuda", "torch/kineto", "healthy", "malformed", "gpu", "runs"];
    let found = folders.iter().flat_map(|folder| files::below(&files::data().join(folder)));
    let is_trace = |path: &PathBuf| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        name.starts_with("trace.json")
            || ["healthy", "malformed", "gpu"]
                .iter()
                .any(|folder| path.parent().is_some_and(|parent| parent.ends_with(folder)))
    };
    let read = |path: PathBuf| Some((path.clone(), kinetoscope::files::open(&path).ok()?));
    found.into_iter().filter(is_trace).filter_map(read).collect()
}

fn table(name: &str) -> &'static Schema {
    Schema::named(name).expect("a table")
}

fn read_all<'s>(schema: &Schema, source: &'s dyn Source, column: &str) -> Data<'s> {
    source.read(schema.column(column).expect("a column"), 0..source.len())
}

fn ints(schema: &Schema, source: &dyn Source, column: &str) -> Vec<Option<i64>> {
    match read_all(schema, source, column) {
        Data::Ints(values) => values,
        other => panic!("{column} is not a column of integers: {other:?}"),
    }
}

/// The values of a column of texts.
fn texts(trace: &Trace, data: &Data<'_>) -> Vec<Option<String>> {
    match data {
        Data::Names(ids) => {
            let text = |id: NameId| trace.table.names.get(id).to_owned();
            ids.iter().map(|id| id.map(text)).collect()
        }
        Data::Texts(texts) => texts.iter().map(|text| text.as_deref().map(str::to_owned)).collect(),
        other => panic!("not texts: {other:?}"),
    }
}

fn cells<'a>(rows: &'a Rows, key: &str) -> Vec<&'a Cell> {
    let at = rows.columns.iter().position(|column| column.key == key).expect("a column");
    rows.rows.iter().map(|row| &row[at]).collect()
}

fn numbers(rows: &Rows, key: &str) -> Vec<Option<i64>> {
    let number = |cell: &&Cell| match cell {
        Cell::Int(n) | Cell::Ns(n) | Cell::Bytes(n) => Some(*n),
        Cell::Absent | Cell::Null => None,
        other => panic!("{key} is no integer: {other:?}"),
    };
    cells(rows, key).iter().map(number).collect()
}

#[test]
fn columns_are_documented_once_and_have_their_types() {
    for schema in TABLES {
        let fields = schema.fields();
        let names: BTreeSet<&str> = fields.iter().map(|field| field.name).collect();
        assert_eq!(names.len(), fields.len(), "{}", schema.name);
        assert!(schema.sorted_by.iter().all(|name| names.contains(name)), "{}", schema.name);
        assert!(fields.iter().all(|field| field.about.contains('.')), "{}", schema.name);
    }
    for (path, trace) in traces() {
        for schema in TABLES {
            let analysis = Analysis::new(&trace);
            let source = schema.open(&analysis, None);
            for (at, field) in schema.fields().iter().enumerate() {
                let data = source.read(at, 0..source.len());
                let what = format!("{} {} {}", path.display(), schema.name, field.name);
                assert_eq!(data.len(), source.len(), "{what}");
                let has_none = match (&data, field.kind) {
                    (Data::Ints(values), FieldType::Int) => values.contains(&None),
                    (Data::Floats(values), FieldType::Float) => values.contains(&None),
                    (Data::Bools(values), FieldType::Bool) => values.contains(&None),
                    (Data::Maps(values), FieldType::Map) => values.contains(&None),
                    (data, FieldType::Name | FieldType::Text) => texts(&trace, data).contains(&None),
                    other => panic!("{what}: {other:?}"),
                };
                assert!(field.optional || !has_none, "{what} has no value in a row");
            }
        }
    }
}

#[test]
fn values_do_not_depend_on_pieces_and_on_other_columns() {
    for (path, trace) in traces() {
        for schema in TABLES {
            let analysis = Analysis::new(&trace);
            let all = schema.open(&analysis, None);
            for column in 0..schema.fields().len() {
                let alone = schema.open(&analysis, Some(&[column]));
                let expected = format!("{:?}", all.read(column, 0..all.len()));
                let is_same = format!("{:?}", alone.read(column, 0..alone.len())) == expected;
                assert!(is_same, "{} {} {column}", path.display(), schema.name);
                let cut = all.len() / 3;
                let pieces = [0..cut, cut..cut, cut..all.len()].map(|rows| alone.read(column, rows));
                assert_eq!(pieces.iter().map(Data::len).sum::<usize>(), all.len());
                if let (Data::Ints(first), Data::Ints(last), Data::Ints(values)) =
                    (&pieces[0], &pieces[2], all.read(column, 0..all.len()))
                {
                    assert_eq!([&first[..], &last[..]].concat(), values);
                }
            }
        }
    }
}

#[test]
fn tables_of_the_summary_are_the_same_without_it() {
    for (path, trace) in traces() {
        let with_summary = Analysis::new(&trace);
        with_summary.summary();
        for schema in TABLES {
            let without = Analysis::new(&trace);
            let (alone, of) = (schema.open(&without, None), schema.open(&with_summary, None));
            for column in 0..schema.fields().len() {
                let values = |source: &dyn Source| format!("{:?}", source.read(column, 0..source.len()));
                let what = format!("{} {} {column}", path.display(), schema.name);
                assert!(values(&*alone) == values(&*of), "{what}");
            }
        }
    }
}

#[test]
fn every_event_has_a_row_in_the_order_of_the_table() {
    let schema = table("events");
    for (path, trace) in traces() {
        let analysis = Analysis::new(&trace);
        let source = schema.open(&analysis, None);
        let int = |column: &str| ints(schema, &*source, column);
        let (events, tracks, starts) = (int("event"), int("track"), int("ts_ns"));
        let distinct: BTreeSet<_> = events.iter().flatten().copied().collect();
        assert_eq!(
            (distinct.len(), source.len()),
            (trace.table.len(), trace.table.len()),
            "{}",
            path.display()
        );
        let keys: Vec<_> = tracks.iter().zip(&starts).collect();
        assert!(keys.is_sorted(), "{}", path.display());
    }
}

#[test]
fn spans_lie_in_their_parents_and_self_times_add_up() {
    let schema = table("events");
    let mut compared = 0;
    for (path, trace) in traces() {
        let analysis = Analysis::new(&trace);
        let source = schema.open(&analysis, None);
        let int = |column: &str| ints(schema, &*source, column);
        let (events, parents, depths) = (int("event"), int("parent"), int("depth"));
        let (starts, durations, self_times, tracks) =
            (int("ts_ns"), int("dur_ns"), int("self_ns"), int("track"));
        let at: BTreeMap<i64, usize> =
            events.iter().enumerate().map(|(at, event)| (event.expect("a number"), at)).collect();
        let end = |row: usize| starts[row].expect("a start") + durations[row].expect("a duration");
        let mut below = vec![0; events.len()];
        for row in 0..events.len() {
            let Some(parent) = parents[row].map(|parent| at[&parent]) else {
                assert!(depths[row].is_none_or(|depth| depth == 0), "{}", path.display());
                continue;
            };
            assert_eq!(depths[row].expect("a depth"), depths[parent].expect("a depth") + 1);
            assert_eq!(tracks[row], tracks[parent]);
            assert!(starts[parent] <= starts[row] && end(row) <= end(parent), "{}", path.display());
            below[parent] += durations[row].expect("a duration");
            compared += 1;
        }
        for row in (0..events.len()).filter(|&row| self_times[row].is_some()) {
            assert_eq!(self_times[row], durations[row].map(|ns| ns - below[row]), "{}", path.display());
        }
    }
    assert!(compared > 10_000, "{compared} spans");
}

#[test]
fn counts_of_tracks_equal_the_query() {
    for (path, trace) in traces() {
        let rows = trace.ask("tracks", &Options::default()).expect("tracks");
        let (events, tracks) = (table("events"), table("tracks"));
        let analysis = Analysis::new(&trace);
        let source = events.open(&analysis, None);
        let phases = texts(&trace, &read_all(events, &*source, "phase"));
        let (starts, on, depths) = (
            ints(events, &*source, "ts_ns"),
            ints(events, &*source, "track"),
            ints(events, &*source, "depth"),
        );
        let mut counts: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
        for row in
            (0..source.len()).filter(|&row| starts[row].is_some() && phases[row].as_deref() != Some("M"))
        {
            let count = counts.entry(on[row].expect("a track")).or_default();
            count.0 += 1;
            count.1 += i64::from(depths[row].is_some());
        }
        let expected: BTreeMap<i64, (i64, i64)> = numbers(&rows, "track")
            .into_iter()
            .zip(numbers(&rows, "events").into_iter().zip(numbers(&rows, "spans")))
            .map(|(track, (events, spans))| {
                (track.expect("a number"), (events.expect("a count"), spans.expect("a count")))
            })
            .collect();
        assert_eq!(counts, expected, "{}", path.display());
        let analysis = Analysis::new(&trace);
        let source = tracks.open(&analysis, None);
        let threads = texts(&trace, &read_all(tracks, &*source, "thread"));
        let numbers = ints(tracks, &*source, "track");
        for (track, cell) in expected.keys().zip(cells(&rows, "thread")) {
            let at = numbers.iter().position(|number| *number == Some(*track)).expect("the track");
            assert_eq!(Cell::from(threads[at].as_deref()), *cell, "{}", path.display());
        }
    }
}

#[test]
fn steps_equal_the_query() {
    let mut compared = 0;
    for (path, trace) in traces() {
        let rows = trace.ask("steps", &Options::default()).expect("steps");
        let schema = table("steps");
        let analysis = Analysis::new(&trace);
        let source = schema.open(&analysis, None);
        for field in
            schema.fields().iter().filter(|field| field.kind == FieldType::Int && field.name != "event")
        {
            let field = field.name;
            let key = match field {
                "ts_ns" => "start_ns",
                "dur_ns" => "wall_ns",
                same => same,
            };
            assert_eq!(ints(schema, &*source, field), numbers(&rows, key), "{} {field}", path.display());
        }
        compared += source.len();
    }
    assert!(compared > 20, "{compared} steps");
}

#[test]
fn the_steps_of_launches_add_up_to_those_of_the_table() {
    let mut compared = 0;
    for (path, trace) in traces() {
        let (schema, of_steps) = (table("launches"), table("steps"));
        let analysis = Analysis::new(&trace);
        let (source, steps) = (schema.open(&analysis, None), of_steps.open(&analysis, None));
        let all = launches(&trace);
        let sums = |column: &str| ints(schema, &*source, column).into_iter().flatten().sum::<i64>();
        let expected = |value: fn(&kinetoscope_core::analysis::device::launches::Launch) -> i64| {
            all.iter().map(value).sum::<i64>()
        };
        assert_eq!(source.len(), all.len());
        assert_eq!(sums("call_ns"), expected(|launch| launch.call_ns), "{}", path.display());
        assert_eq!(
            sums("delay_ns"),
            expected(|launch| launch.delay_ns * i64::from(launch.is_first)),
            "{}",
            path.display()
        );
        assert_eq!(sums("work_ns"), expected(|launch| launch.work_ns), "{}", path.display());
        let is_work = |&row: &Row| trace.table.category(row).is_device_work() && trace.table.is_span(row);
        // Work without a launch counts for a step, and is no launch.
        if trace.table.rows().filter(is_work).count() == all.len() {
            let launched = ints(schema, &*source, "step");
            for (step, count) in
                ints(of_steps, &*steps, "step").into_iter().zip(ints(of_steps, &*steps, "launched"))
            {
                let matching = launched.iter().filter(|&&of| of == step).count();
                assert_eq!(i64::try_from(matching).ok(), count, "{} {step:?}", path.display());
                compared += matching;
            }
        }
    }
    assert!(compared > 10, "{compared} launches");
}

/// The arguments that are columns of `events`, with their columns.
const OF_EVENTS: [(&str, &str); 12] = [
    ("correlation", "correlation"),
    ("External id", "external_id"),
    ("device", "device"),
    ("stream", "stream"),
    ("Sequence number", "sequence_nr"),
    ("Fwd thread id", "fwd_thread"),
    ("Ev Idx", "ev_idx"),
    ("Record function id", "record_function_id"),
    ("Python id", "python_id"),
    ("Python parent id", "python_parent_id"),
    ("Input Dims", "input_dims"),
    ("Input type", "input_types"),
];

/// The arguments that are columns of `kernels`.
const OF_KERNELS: [(&str, &[&str]); 7] = [
    ("registers per thread", &["registers"]),
    ("shared memory", &["shared_bytes"]),
    ("blocks per SM", &["blocks_per_sm"]),
    ("warps per SM", &["warps_per_sm"]),
    ("est. achieved occupancy %", &["occupancy_percent"]),
    ("grid", &["grid_x", "grid_y", "grid_z"]),
    ("block", &["block_x", "block_y", "block_z"]),
];

/// The values of a column as JSON.
fn values(trace: &Trace, schema: &Schema, source: &dyn Source, column: &str) -> Vec<Value> {
    match read_all(schema, source, column) {
        Data::Ints(values) => values.into_iter().map(Value::from).collect(),
        Data::Floats(values) => values.into_iter().map(Value::from).collect(),
        data => {
            let json = |text: String| serde_json::from_str(&text).unwrap_or(Value::from(text));
            texts(trace, &data).into_iter().map(|text| text.map_or(Value::Null, json)).collect()
        }
    }
}

#[test]
fn every_argument_is_in_one_column() {
    let (schema, of_kernels, mut compared) = (table("events"), table("kernels"), [0; 3]);
    for (path, trace) in traces() {
        let text = fs::read(&path).expect("a file");
        let Ok(file) = serde_json::from_slice::<Value>(&text) else { continue };
        let Some(file) = file["traceEvents"].as_array() else { continue };
        let analysis = Analysis::new(&trace);
        let (source, kernels) = (schema.open(&analysis, None), of_kernels.open(&analysis, None));
        let Data::Maps(others) = read_all(schema, &*source, "args") else { panic!("not a map") };
        let columns = OF_EVENTS.map(|(key, column)| (key, values(&trace, schema, &*source, column)));
        let work: Vec<(&str, Vec<Value>)> = OF_KERNELS
            .iter()
            .map(|(key, columns)| {
                let columns: Vec<_> =
                    columns.iter().map(|column| values(&trace, of_kernels, &*kernels, column)).collect();
                let row = |at: usize| match &columns[..] {
                    [only] => only[at].clone(),
                    all => all.iter().map(|column| column[at].clone()).collect(),
                };
                (*key, (0..kernels.len()).map(row).collect())
            })
            .collect();
        let kernel_of: BTreeMap<i64, usize> = ints(of_kernels, &*kernels, "event")
            .into_iter()
            .enumerate()
            .map(|(at, event)| (event.expect("a number"), at))
            .collect();
        for (at, event) in ints(schema, &*source, "event").into_iter().enumerate() {
            let event = event.expect("a number");
            let Some(expected) = file[event as usize]["args"].as_object() else { continue };
            let kept: BTreeMap<&str, &String> =
                others[at].iter().flatten().map(|(key, text)| (trace.table.names.get(*key), text)).collect();
            for (key, value) in expected {
                let column = || Some(columns.iter().find(|column| column.0 == key)?.1[at].clone());
                let kernel = || {
                    let column = work.iter().find(|column| column.0 == key)?;
                    Some(column.1[*kernel_of.get(&event)?].clone())
                };
                let what = format!("{} {event} {key}", path.display());
                if let Some(text) = kept.get(key.as_str()) {
                    compared[0] += 1;
                    let same = value.as_str().map_or_else(
                        || serde_json::from_str::<Value>(text).is_ok_and(|ours| ours == *value),
                        |value| value == *text,
                    );
                    assert!(same, "{what}: {text}");
                } else if let Some(ours) = column() {
                    compared[1] += 1;
                    assert_eq!(ours, *value, "{what}");
                } else {
                    compared[2] += 1;
                    assert_eq!(kernel().and_then(|v| number(&v)), number(value), "{what}");
                }
            }
        }
    }
    assert!(compared.iter().all(|&count| count > 100), "{compared:?}");
}

/// A number, or a list of them, as numbers.
fn number(value: &Value) -> Option<Vec<f64>> {
    value
        .as_array()
        .map_or_else(|| Some(vec![value.as_f64()?]), |all| all.iter().map(Value::as_f64).collect())
}

#[test]
fn operators_add_up_to_key_averages() {
    const SUMS: [&str; 9] = [
        "cpu_time_total_ns",
        "self_cpu_time_total_ns",
        "device_time_total_ns",
        "self_device_time_total_ns",
        "cpu_memory_usage_bytes",
        "self_cpu_memory_usage_bytes",
        "device_memory_usage_bytes",
        "self_device_memory_usage_bytes",
        "flops",
    ];
    let (schema, mut compared) = (table("ops"), 0);
    for (path, trace) in traces() {
        let rows = trace.ask("ops", &Options::default()).expect("ops");
        let analysis = Analysis::new(&trace);
        let source = schema.open(&analysis, None);
        let text = |column: &str| texts(&trace, &read_all(schema, &*source, column));
        let (names, devices) = (text("name"), text("device_type"));
        let bools = |column: &str| match read_all(schema, &*source, column) {
            Data::Bools(values) => values,
            other => panic!("{other:?}"),
        };
        let (annotations, counted) = (bools("is_user_annotation"), bools("is_counted"));
        let columns = SUMS.map(|column| ints(schema, &*source, column));
        let mut sums: BTreeMap<(String, String, bool), [i64; 10]> = BTreeMap::new();
        for at in (0..source.len()).filter(|&at| counted[at] == Some(true)) {
            let key = (
                names[at].clone().expect("a name"),
                devices[at].clone().expect("a type"),
                annotations[at].expect("a value"),
            );
            let sum = sums.entry(key).or_default();
            sum[9] += 1;
            for (sum, column) in sum.iter_mut().zip(&columns) {
                *sum += column[at].expect("a value");
            }
        }
        let text = |cell: &Cell| if let Cell::Text(text) = cell { text.clone() } else { panic!("{cell:?}") };
        let keys =
            cells(&rows, "name").into_iter().map(text).zip(cells(&rows, "device_type").into_iter().map(text));
        let keys =
            keys.zip(cells(&rows, "is_user_annotation").into_iter().map(|cell| *cell == Cell::Bool(true)));
        let expected: Vec<Vec<Option<i64>>> =
            SUMS.iter().copied().chain(["count"]).map(|key| numbers(&rows, key)).collect();
        assert_eq!(sums.len(), rows.rows.len(), "{}", path.display());
        for (at, ((name, device), is_annotation)) in keys.enumerate() {
            let ours = sums[&(name.clone(), device, is_annotation)];
            for (ours, theirs) in ours.iter().zip(&expected) {
                assert_eq!(Some(*ours), theirs[at], "{} {name}", path.display());
            }
            compared += 1;
        }
    }
    assert!(compared > 1_000, "{compared} averages");
}

#[test]
fn kernels_add_up_to_the_query() {
    let (schema, mut compared) = (table("kernels"), 0);
    for (path, trace) in traces() {
        let rows = trace.ask("kernels", &Options::default()).expect("kernels");
        let analysis = Analysis::new(&trace);
        let source = schema.open(&analysis, None);
        let text = |column: &str| texts(&trace, &read_all(schema, &*source, column));
        let (names, classes) = (text("name"), text("class"));
        let (durations, bytes) = (ints(schema, &*source, "dur_ns"), ints(schema, &*source, "bytes"));
        let mut sums: BTreeMap<(MaybeText, MaybeText), (i64, i64, i64)> = BTreeMap::new();
        for at in 0..source.len() {
            let sum = sums.entry((names[at].clone(), classes[at].clone())).or_default();
            *sum = (sum.0 + 1, sum.1 + durations[at].expect("a duration"), sum.2 + bytes[at].unwrap_or(0));
        }
        let text = |cell: &Cell| if let Cell::Text(text) = cell { Some(text.clone()) } else { None };
        let keys =
            cells(&rows, "name").into_iter().map(text).zip(cells(&rows, "class").into_iter().map(text));
        let counts =
            numbers(&rows, "count").into_iter().zip(numbers(&rows, "sum_ns")).zip(numbers(&rows, "bytes"));
        let expected: BTreeMap<_, _> = keys
            .zip(counts)
            .map(|(key, ((count, sum), bytes))| {
                (key, (count.expect("a count"), sum.expect("a sum"), bytes.unwrap_or(0)))
            })
            .collect();
        compared += expected.len();
        assert_eq!(sums, expected, "{}", path.display());
    }
    assert!(compared > 50, "{compared} kernels");
}

/// A text that can be missing.
type MaybeText = Option<String>;

#[test]
fn gaps_add_up_to_the_idle_time() {
    let (schema, mut compared) = (table("gaps"), 0);
    for (path, trace) in traces() {
        let analysis = Analysis::new(&trace);
        let source = schema.open(&analysis, None);
        let text = |column: &str| texts(&trace, &read_all(schema, &*source, column));
        let (devices, causes) = (text("device"), text("cause"));
        let durations = ints(schema, &*source, "dur_ns");
        let mut sums: BTreeMap<(MaybeText, MaybeText), i64> = BTreeMap::new();
        for at in 0..source.len() {
            *sums.entry((devices[at].clone(), causes[at].clone())).or_default() +=
                durations[at].expect("a duration");
        }
        let rows = trace.ask("idle", &Options::default()).expect("idle");
        let text = |cell: &Cell| if let Cell::Text(text) = cell { Some(text.clone()) } else { None };
        let keys =
            cells(&rows, "device").into_iter().map(text).zip(cells(&rows, "cause").into_iter().map(text));
        let expected: BTreeMap<_, _> =
            keys.zip(numbers(&rows, "time_ns").into_iter().map(|ns| ns.expect("a time"))).collect();
        compared += expected.len();
        assert_eq!(sums, expected, "{}", path.display());
    }
    assert!(compared > 20, "{compared} causes");
}

#[test]
fn values_of_counters_and_memory_are_those_of_the_queries() {
    let (mut points, mut allocations) = (0, 0);
    for (path, trace) in traces() {
        let (schema, rows) =
            (table("counters"), trace.ask("counters", &Options::default()).expect("counters"));
        let analysis = Analysis::new(&trace);
        let source = schema.open(&analysis, None);
        let numbers_of = ints(schema, &*source, "counter");
        for (counter, count) in numbers(&rows, "points").into_iter().enumerate() {
            let matching = numbers_of.iter().filter(|&&number| number == i64::try_from(counter).ok()).count();
            assert_eq!(i64::try_from(matching).ok(), count, "{}", path.display());
            points += matching;
        }
        let (schema, rows) = (table("memory"), trace.ask("memory", &Options::default()).expect("memory"));
        let analysis = Analysis::new(&trace);
        let source = schema.open(&analysis, None);
        let text = |column: &str| texts(&trace, &read_all(schema, &*source, column));
        let (kinds, devices, bytes) = (text("kind"), text("device"), ints(schema, &*source, "bytes"));
        let text = |cell: &Cell| if let Cell::Text(text) = cell { Some(text.clone()) } else { None };
        let (row_kinds, row_devices) = (cells(&rows, "kind"), cells(&rows, "device"));
        let (gained, peaks) = (numbers(&rows, "allocated_bytes"), numbers(&rows, "peak_bytes"));
        let totals = ints(schema, &*source, "allocated_bytes");
        for at in (0..rows.rows.len()).filter(|&at| text(row_kinds[at]).as_deref() == Some("device")) {
            let device = text(row_devices[at]);
            let is_of_device =
                |at: &usize| devices[*at] == device && kinds[*at].as_deref() != Some("out_of_memory");
            let allocated =
                (0..source.len()).filter(is_of_device).filter_map(|at| bytes[at]).filter(|&bytes| bytes > 0);
            assert_eq!(Some(allocated.sum()), gained[at], "{}", path.display());
            let peak = (0..source.len()).filter(is_of_device).filter_map(|at| totals[at]).max();
            // What was allocated before the recording can be more than all that follows.
            assert!(peak <= peaks[at], "{}", path.display());
            allocations += (0..source.len()).filter(is_of_device).count();
        }
    }
    assert!(points > 1_000 && allocations > 500, "{points} points, {allocations} allocations");
}

#[test]
fn answers_of_queries_are_tables() {
    for (path, trace) in traces() {
        for (name, query) in [("collectives", "collectives"), ("diagnostics", "check"), ("traces", "info")] {
            let (schema, rows) = (table(name), trace.ask(query, &Options::default()).expect("an answer"));
            let analysis = Analysis::new(&trace);
            let source = schema.open(&analysis, None);
            assert_eq!(source.len(), rows.rows.len(), "{} {name}", path.display());
            let renamed = [
                ("ts_ns", "start_ns"),
                ("process_group", "group"),
                ("left_value", "left"),
                ("right_value", "right"),
            ];
            for field in schema.fields().iter().filter(|field| field.kind == FieldType::Int) {
                let other = renamed.iter().find(|pair| pair.0 == field.name && query != "info");
                let key = other.map_or(field.name, |pair| pair.1);
                if rows.columns.iter().any(|column| column.key == key) {
                    let expected: Vec<Option<i64>> = cells(&rows, key)
                        .into_iter()
                        .map(|cell| match cell {
                            Cell::Int(n) | Cell::Ns(n) | Cell::Bytes(n) | Cell::UnixNs(n) => Some(*n),
                            _ => None,
                        })
                        .collect();
                    assert_eq!(ints(schema, &*source, field.name), expected, "{} {name}", path.display());
                } else {
                    assert!(["event", "step"].contains(&field.name), "{name} {}", field.name);
                }
            }
        }
        let schema = table("findings");
        let analysis = Analysis::new(&trace);
        let source = schema.open(&analysis, None);
        let codes = texts(&trace, &read_all(schema, &*source, "code"));
        let findings = &analysis.summary().findings;
        let expected: Vec<_> =
            findings.iter().map(|finding| Some(finding.code.as_str().to_owned())).collect();
        assert_eq!(codes, expected, "{}", path.display());
    }
}
