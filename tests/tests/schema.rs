//! The tables for queries, compared with the answers of the commands about the same traces.

use kinetoscope_core::analysis::device::launches::launches;
use kinetoscope_core::names::NameId;
use kinetoscope_core::queries::options::Options;
use kinetoscope_core::rows::{Cell, Rows};
use kinetoscope_core::schema::{Data, FieldType, Schema, Source, TABLES};
use kinetoscope_core::table::events::Row;
use kinetoscope_core::trace::Trace;
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

fn read_all(schema: &Schema, source: &dyn Source, column: &str) -> Data {
    source.read(schema.column(column).expect("a column"), 0..source.len())
}

fn ints(schema: &Schema, source: &dyn Source, column: &str) -> Vec<Option<i64>> {
    match read_all(schema, source, column) {
        Data::Ints(values) => values,
        other => panic!("{column} is not a column of integers: {other:?}"),
    }
}

/// The values of a column of texts.
fn texts(trace: &Trace, data: &Data) -> Vec<Option<String>> {
    match data {
        Data::Names(ids) => {
            let text = |id: NameId| trace.table.names.get(id).to_owned();
            ids.iter().map(|id| id.map(text)).collect()
        }
        Data::Words(words) => words.iter().map(|&word| Some(word.to_owned())).collect(),
        Data::Texts(texts) => texts.clone(),
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
        Cell::Null => None,
        other => panic!("{key} is no integer: {other:?}"),
    };
    cells(rows, key).iter().map(number).collect()
}

#[test]
fn columns_are_documented_once_and_have_their_types() {
    for schema in TABLES {
        let names: BTreeSet<&str> = schema.fields.iter().map(|field| field.name).collect();
        assert_eq!(names.len(), schema.fields.len(), "{}", schema.name);
        assert!(schema.sorted_by.iter().all(|name| names.contains(name)), "{}", schema.name);
        assert!(schema.fields.iter().all(|field| field.about.ends_with('.')), "{}", schema.name);
    }
    for (path, trace) in traces() {
        for schema in TABLES {
            let source = schema.open_all(&trace);
            for (at, field) in schema.fields.iter().enumerate() {
                let data = source.read(at, 0..source.len());
                let what = format!("{} {} {}", path.display(), schema.name, field.name);
                assert_eq!(data.len(), source.len(), "{what}");
                let has_none = match (&data, field.kind) {
                    (Data::Ints(values), FieldType::Int) => values.contains(&None),
                    (data, FieldType::Name | FieldType::Json) => texts(&trace, data).contains(&None),
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
            let all = schema.open_all(&trace);
            for column in 0..schema.fields.len() {
                let alone = schema.open(&trace, &[column]);
                let whole = format!("{:?}", all.read(column, 0..all.len()));
                assert_eq!(format!("{:?}", alone.read(column, 0..alone.len())), whole, "{}", path.display());
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
fn every_event_has_a_row_in_the_order_of_the_table() {
    let schema = table("events");
    for (path, trace) in traces() {
        let source = schema.open_all(&trace);
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
        let source = schema.open_all(&trace);
        let int = |column: &str| ints(schema, &*source, column);
        let (events, parents, depths) = (int("event"), int("parent"), int("depth"));
        let (starts, durations, own, tracks) = (int("ts_ns"), int("dur_ns"), int("self_ns"), int("track"));
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
        for row in (0..events.len()).filter(|&row| own[row].is_some()) {
            assert_eq!(own[row], durations[row].map(|ns| ns - below[row]), "{}", path.display());
        }
    }
    assert!(compared > 10_000, "{compared} spans");
}

#[test]
fn counts_of_tracks_equal_the_query() {
    for (path, trace) in traces() {
        let rows = trace.ask("tracks", &Options::default()).expect("tracks");
        let (events, tracks) = (table("events"), table("tracks"));
        let source = events.open_all(&trace);
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
        let source = tracks.open_all(&trace);
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
        let source = schema.open_all(&trace);
        for field in schema.fields.iter().map(|field| field.name).filter(|&name| name != "event") {
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
        let (source, steps) = (schema.open_all(&trace), of_steps.open_all(&trace));
        let all = launches(&trace);
        let sums = |column: &str| ints(schema, &*source, column).into_iter().flatten().sum::<i64>();
        let expected = |value: fn(&kinetoscope_core::analysis::device::launches::Launch) -> i64| {
            all.iter().map(value).sum::<i64>()
        };
        assert_eq!(source.len(), all.len());
        assert_eq!(sums("call_ns"), expected(|launch| launch.call_ns), "{}", path.display());
        assert_eq!(sums("delay_ns"), expected(|launch| launch.delay_ns), "{}", path.display());
        assert_eq!(sums("work_ns"), expected(|launch| launch.work_ns), "{}", path.display());
        let is_work = |&row: &Row| trace.table.category(row).is_device_work() && trace.table.is_span(row);
        // Work without a launch counts for a step, and is no launch.
        if trace.table.rows().filter(is_work).count() == all.len() {
            let launched = ints(schema, &*source, "step");
            for (step, count) in
                ints(of_steps, &*steps, "step").into_iter().zip(ints(of_steps, &*steps, "launched"))
            {
                let own = launched.iter().filter(|&&of| of == step).count();
                assert_eq!(i64::try_from(own).ok(), count, "{} {step:?}", path.display());
                compared += own;
            }
        }
    }
    assert!(compared > 10, "{compared} launches");
}

#[test]
fn arguments_are_those_of_the_file() {
    let schema = table("events");
    let path = files::data().join("healthy/small_gpu_trace.json");
    let file: Value = serde_json::from_slice(&fs::read(&path).expect("a file")).expect("JSON");
    let trace = kinetoscope::files::open(&path).expect("a trace");
    let source = schema.open_all(&trace);
    let events = ints(schema, &*source, "event");
    let arguments = texts(&trace, &read_all(schema, &*source, "args"));
    let names = texts(&trace, &read_all(schema, &*source, "name"));
    for ((event, arguments), name) in events.into_iter().zip(arguments).zip(names) {
        let expected = &file["traceEvents"][event.expect("a number") as usize];
        assert_eq!(name.as_deref(), expected["name"].as_str());
        let ours = arguments.map_or(Value::Null, |text| serde_json::from_str(&text).expect("JSON"));
        let theirs =
            expected.get("args").filter(|args| args.as_object().is_some_and(|args| !args.is_empty()));
        assert_eq!(&ours, theirs.unwrap_or(&Value::Null), "{expected}");
    }
}
