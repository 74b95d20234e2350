//! SQL on traces and on data sets: functions, views, mistakes.

mod common;

use common::{data, ranked, read, rows_of};
use kinetoscope::files::THREADS;
use kinetoscope_core::queries::schema::TABLES;
use kinetoscope_core::trace::Trace;
use kinetoscope_tables::arrow::RankTrace;
use kinetoscope_tables::dataset::Dataset;
use kinetoscope_tables::sql::{Answer, QUERIES, Session, VIEWS};
use serde_json::{Value, json};
use std::fs;
use tempfile::tempdir;

fn file(name: &str) -> RankTrace {
    read(&data().join(name)).expect("a trace")
}

fn session() -> Session {
    Session::from_traces(vec![file("torch/cuda/steps/trace.json.gz")], None).expect("a session")
}

/// Two ranks of a run.
fn ranks() -> Vec<RankTrace> {
    let of = |rank| {
        let trace = kinetoscope::files::open(data().join("torch/cuda/steps/trace.json.gz")).expect("a trace");
        ranked(trace, "run", rank)
    };
    vec![of(0), of(1)]
}

fn rows(session: &Session, sql: &str) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    let answer = session.run(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    answer.for_each_row(|row| rows.push(row)).expect("values");
    rows
}

fn columns(answer: &Answer) -> Vec<&str> {
    answer.schema.fields().iter().map(|field| field.name().as_str()).collect()
}

#[test]
fn a_data_set_has_the_answers_of_its_traces() {
    let folder = tempdir().expect("a folder");
    let dataset = Dataset::create(folder.path()).expect("a data set");
    for of in ranks() {
        dataset.write(&of, &TABLES, THREADS).expect("files");
    }
    let (of_files, of_traces) = (
        Session::from_dataset(&dataset, None).expect("a session"),
        Session::from_traces(ranks(), None).expect("a session"),
    );
    let mut compared = 0;
    for query in QUERIES {
        let answers = [&of_files, &of_traces]
            .map(|session| session.run(query.sql).unwrap_or_else(|error| panic!("{}: {error}", query.name)));
        assert_eq!(columns(&answers[0]), columns(&answers[1]));
        let [ours, theirs] = [&answers[0], &answers[1]].map(|answer| {
            let mut rows = Vec::new();
            answer.for_each_row(|row| rows.push(row)).expect("values");
            rows
        });
        // The order of the rows is a part of the answer.
        assert_eq!(ours, theirs, "{}", query.name);
        compared += ours.len();
    }
    assert!(compared > 400, "{compared} rows");
    for (view, _) in VIEWS {
        let sql = format!("SELECT * FROM {view}");
        let answers = [&of_files, &of_traces].map(|session| session.run(&sql).expect("an answer"));
        let columns = columns(&answers[0]);
        assert!(rows_of(&answers[0], &columns) == rows_of(&answers[1], &columns), "{view}");
    }
}

#[test]
fn filters_keep_the_rows_that_they_would_keep_later() {
    let session = Session::from_traces(ranks(), None).expect("a session");
    for condition in [
        "dur_ns > 1000",
        "name LIKE 'aten::%' AND dur_ns BETWEEN 10 AND 100000",
        "stream = 7 OR kind = 'cpu_op'",
        "correlation IS NULL",
        "rank = 1",
        "rank = 1 AND run_id = 'run' AND depth = 0",
        "rank > 5",
        "run_id = 'other'",
        "step IS NOT NULL AND rank + event > 100",
        "args['cbid'] = '211'",
        "e.self_ns = e.dur_ns AND e.name <> e.kind",
    ] {
        let pushed = rows(
            &session,
            &format!("SELECT count(*), sum(event), min(name) FROM events e WHERE {condition}"),
        );
        // The result of an aggregate cannot be pushed into the scan.
        let later = format!(
            "SELECT sum(CASE WHEN c THEN n ELSE 0 END), sum(CASE WHEN c THEN s END), min(CASE WHEN c THEN m END) FROM
             (SELECT {condition} AS c, count(*) AS n, sum(event) AS s, min(name) AS m FROM events e GROUP BY {condition})"
        );
        assert_eq!(pushed, rows(&session, &later), "{condition}");
    }
}

#[test]
fn only_the_columns_of_a_query_are_read() {
    let plan = rows(&session(), "EXPLAIN SELECT name FROM events WHERE dur_ns > 5 AND rank = 0");
    let text = plan.iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>().join("\n");
    assert!(text.contains("TraceScan: events [name] where dur_ns"), "{text}");
    assert!(!text.contains("FilterExec"), "{text}");
}

#[test]
fn functions_about_intervals_equal_the_engine() {
    let session = Session::from_traces(vec![file("healthy/small_gpu_trace.json")], None).expect("a session");
    let breakdown = rows(
        &session,
        "SELECT compute_ns, exposed_communication_ns, communication_ns FROM breakdown() ORDER BY device",
    );
    let computed = rows(
        &session,
        "SELECT busy_ns(ts_ns, dur_ns) FILTER (WHERE class = 'compute'),
                exposed_ns(ts_ns, dur_ns, class = 'communication') FILTER (WHERE class IN ('compute', 'communication')),
                busy_ns(ts_ns, dur_ns) FILTER (WHERE class = 'communication')
         FROM kernels GROUP BY device ORDER BY device",
    );
    assert_eq!(computed, breakdown);
    assert!(breakdown[0].iter().all(|value| value.as_i64() > Some(0)), "{breakdown:?}");
    let overlaps =
        rows(&session, "SELECT overlap(0, 10, 5, 10), overlap(0, 5, 5, 5), overlap(0, NULL, 5, 5)");
    assert_eq!(overlaps, [[json!(5), json!(0), Value::Null]]);
    let quantile = rows(&session, "SELECT quantile(dur_ns, 1.0), max(dur_ns) FROM kernels");
    assert_eq!(quantile[0][0].as_f64(), quantile[0][1].as_f64());
}

#[test]
fn functions_about_events_follow_the_tables() {
    let session = session();
    let steps = "SELECT count(*) FROM events WHERE step_of(event) IS DISTINCT FROM step";
    assert_eq!(rows(&session, steps), [[json!(0)]]);
    let calls = "SELECT count(*), sum(CASE WHEN launch_of(work) = call THEN 1 ELSE 0 END) FROM launches";
    let calls = rows(&session, calls);
    assert!(calls[0][0].as_i64() > Some(0));
    assert_eq!(calls[0][0], calls[0][1]);
    let ancestors = "SELECT event, parent, depth, ancestors(event) FROM events WHERE depth = 2 LIMIT 5";
    for row in rows(&session, ancestors) {
        let list = row[3].as_array().expect("a list");
        assert_eq!((list.len(), &list[0]), (2, &row[1]), "{row:?}");
    }
    let several = Session::from_traces(ranks(), None).expect("a session");
    let error = several.run("SELECT step_of(event) FROM events").expect_err("it is ambiguous").to_string();
    assert!(error.contains("step_of(run_id, rank, event)"), "{error}");
    let steps = "SELECT count(*) FROM events WHERE step_of(run_id, rank, event) IS DISTINCT FROM step";
    assert_eq!(rows(&several, steps), [[json!(0)]]);
}

#[test]
fn every_query_of_the_engine_is_a_function() {
    let session = session();
    let all = rows(&session, "SELECT DISTINCT cause FROM idle('by=stream') WHERE stream IS NOT NULL");
    assert!(!all.is_empty());
    for query in kinetoscope_core::queries::QUERIES.iter().filter(|query| query.name != "ranks") {
        let name = query.name.replace('-', "_");
        match session.run(&format!("SELECT count(*) FROM {name}()")) {
            Ok(_) => {}
            // It has a required option, or the trace lacks what it needs.
            Err(error) => assert!(["curve", "what_if", "nodes"].contains(&name.as_str()), "{name}: {error}"),
        }
    }
    let error = session.run("SELECT * FROM idle('bye=stream')").expect_err("an option").to_string();
    assert!(error.contains("idle has no option \"bye\"; its options are: by"), "{error}");
}

#[test]
fn views_have_the_names_of_other_tools() {
    let session = session();
    let slices = "SELECT count(*), sum(s.dur) FROM slice s JOIN track t ON s.track_id = t.id WHERE t.type = 'gpu_track'";
    let spans = "SELECT count(*), sum(dur_ns) FROM events WHERE stream IS NOT NULL AND depth IS NOT NULL";
    assert_eq!(rows(&session, slices), rows(&session, spans));
    let flows =
        "SELECT count(*) FROM flow f JOIN slice a ON a.id = f.slice_out JOIN slice b ON b.id = f.slice_in";
    assert_eq!(rows(&session, flows), rows(&session, "SELECT count(*) FROM launches"));
    let linked = "SELECT count(*) FROM hta k JOIN hta c ON k.index_correlation = c.\"index\"
                  WHERE k.stream >= 0 AND k.cat = 'kernel' AND c.index_correlation >= 0";
    let expected = "SELECT count(*) FROM launches l JOIN kernels k ON k.event = l.work
                    WHERE k.class IN ('compute', 'communication')";
    assert_eq!(rows(&session, linked), rows(&session, expected));
    let grids = "SELECT count(*) FROM args WHERE key = 'args.registers per thread' AND int_value > 0";
    assert_eq!(rows(&session, grids), rows(&session, "SELECT count(*) FROM kernels WHERE registers > 0"));
}

#[test]
fn a_mistake_is_explained_with_the_nearest_name() {
    let session = session();
    for (sql, expected) in [
        ("SELECT durr_ns FROM events", "there is no column \"durr_ns\"; did you mean `dur_ns`"),
        ("SELECT e.nam FROM events e", "there is no column \"nam\"; did you mean `name`?"),
        ("SELECT x.name FROM kernels k", "the query has no table \"x\""),
        ("SELECT 1 FROM evnts", "there is no table \"evnts\"; did you mean `events`"),
        ("SELECT busy_n(ts_ns, dur_ns) FROM kernels", "busy_ns"),
        ("SELEC 1", "SELEC"),
        (
            "SELECT sum(name) FROM events",
            "no function matches the given name and argument types 'sum(Utf8View)'",
        ),
        ("", "No SQL statements"),
        ("SELECT 1; SELECT 2", "single SQL statement"),
    ] {
        let error = session.run(sql).expect_err("a mistake").to_string();
        assert!(error.contains(expected), "{sql}: {error}");
        assert!(!error.contains('\n'), "{sql}: {error}");
    }
}

#[test]
fn queries_write_no_files() {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join("out.parquet").display().to_string();
    let session = session();
    let statements = [
        format!("COPY (SELECT 1 AS a) TO '{path}'"),
        format!("COPY events TO '{path}' STORED AS CSV"),
        "INSERT INTO events SELECT * FROM events".to_owned(),
        "DELETE FROM events".to_owned(),
    ];
    for sql in statements {
        session.run(&sql).expect_err("it is refused");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn a_damaged_file_of_a_data_set_is_named() {
    let folder = tempdir().expect("a folder");
    let dataset = Dataset::create(folder.path()).expect("a data set");
    dataset.write(&file("torch/cuda/steps/trace.json.gz"), &TABLES, THREADS).expect("files");
    let path = folder.path().join("kernels/run_id=run/rank=0/part-0.parquet");
    let bytes = fs::read(&path).expect("a file");
    fs::write(&path, &bytes[..bytes.len() / 2]).expect("a file");
    let session = Session::from_dataset(&dataset, None).expect("a session");
    let error = session.run("SELECT count(*) FROM kernels").expect_err("a cut file").to_string();
    assert!(error.starts_with(&path.display().to_string()), "{error}");
    session.run("SELECT count(*) FROM steps").expect("another table");
    fs::write(&path, "").expect("a file");
    let error = Session::from_dataset(&dataset, None).err().expect("an empty file").to_string();
    assert!(error.starts_with(&path.display().to_string()), "{error}");
}

#[test]
fn a_data_set_with_fewer_columns_and_tables_reads() {
    let folder = tempdir().expect("a folder");
    let dataset = Dataset::create(folder.path()).expect("a data set");
    dataset.write(&file("torch/cuda/steps/trace.json.gz"), &TABLES, THREADS).expect("files");
    // As an earlier version would have written it.
    fs::remove_dir_all(folder.path().join("counters")).expect("a folder");
    let path = folder.path().join("steps/run_id=run/rank=0/part-0.parquet");
    let session = Session::from_dataset(&dataset, None).expect("a session");
    let frame = session.run("SELECT step, dur_ns FROM steps ORDER BY step").expect("steps");
    let output = fs::File::create(&path).expect("a file");
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(output, frame.schema.clone(), None).expect("a writer");
    for batch in &frame.batches {
        writer.write(batch).expect("rows");
    }
    writer.close().expect("a file");
    let session = Session::from_dataset(&dataset, None).expect("a session");
    let steps = rows(&session, "SELECT step, dur_ns, kernel_ns FROM steps ORDER BY step");
    assert!(!steps.is_empty() && steps.iter().all(|step| step[1].is_i64() && step[2].is_null()), "{steps:?}");
    let error = session.run("SELECT * FROM counters").expect_err("no such table").to_string();
    assert!(
        error.contains("there is no table \"counters\": the data set was exported without it"),
        "{error}"
    );
    let error = session.run("SELECT step_of(1)").expect_err("no such function").to_string();
    assert!(error.contains("need traces, not a data set"), "{error}");
    session.run("SELECT * FROM slice LIMIT 1").expect("a view");
}

#[test]
fn a_trace_without_events_has_empty_tables() {
    let trace = Trace::read(b"[]").expect("a trace");
    let session = Session::from_traces(vec![ranked(trace, "run", 0)], None).expect("a session");
    for query in QUERIES {
        session.run(query.sql).unwrap_or_else(|error| panic!("{}: {error}", query.name));
    }
    assert_eq!(rows(&session, "SELECT count(*) FROM events"), [[json!(0)]]);
}

#[test]
fn values_of_every_type_are_json() {
    let session = session();
    let row = &rows(
        &session,
        "SELECT row_number() OVER () AS n, CAST(18446744073709551615 AS BIGINT UNSIGNED) AS u, CAST(1.5 AS REAL) AS f,
                CAST('NaN' AS DOUBLE) AS nan, CAST(NULL AS DOUBLE) AS nothing, true AS b, [1, 2] AS l, make_array('a') AS t,
                MAP {'k': 1} AS m, {a: 1, b: 'x'} AS s, CAST(1.25 AS DECIMAL(5, 2)) AS d, DATE '2026-01-02' AS day",
    )[0];
    let expected = json!([
        1, 18_446_744_073_709_551_615_u64, 1.5, "NaN", null, true, [1, 2], ["a"], {"k": 1}, {"a": 1, "b": "x"}, "1.25", "2026-01-02"
    ]);
    assert_eq!(Value::Array(row.clone()), expected);
}

#[test]
fn what_exceeds_the_memory_of_queries_is_written_to_files() {
    let session = Session::from_traces(Vec::new(), Some(3 << 20)).expect("a session");
    session.run("SET datafusion.execution.sort_spill_reservation_bytes = 100000").expect("a setting");
    let sorted = "SELECT count(*), sum(number * value) FROM (
        SELECT value, row_number() OVER (ORDER BY value % 977, value) AS number FROM generate_series(1, 400000) t(value))";
    let unlimited = Session::from_traces(Vec::new(), None).expect("a session");
    assert_eq!(rows(&session, sorted), rows(&unlimited, sorted));
    let error = session.run("SELECT array_agg(value) FROM generate_series(1, 2000000) t(value)");
    let error = error.expect_err("more than the limit").to_string();
    assert!(error.contains("the query needs more memory than it was given"), "{error}");
}

#[test]
fn arguments_have_one_value_for_a_key_and_whole_numbers_as_integers() {
    let text =
        r#"[{"ph":"X","name":"a","ts":1,"dur":1,"pid":1,"tid":1,"args":{"k":1,"x":0.75,"e":"1e3","k":2}}]"#;
    let trace = Trace::read(text.as_bytes()).expect("a trace");
    let session = Session::from_traces(vec![ranked(trace, "run", 0)], None).expect("a session");
    assert_eq!(rows(&session, "SELECT cardinality(args), args['k'] FROM events"), [[json!(3), json!("2")]]);
    let found = rows(&session, "SELECT key, int_value, string_value, real_value FROM args ORDER BY key");
    let expected = [
        [json!("args.e"), Value::Null, json!("1e3"), json!(1000.0)],
        [json!("args.k"), json!(2), Value::Null, json!(2.0)],
        [json!("args.x"), Value::Null, json!("0.75"), json!(0.75)],
    ];
    assert_eq!(found, expected);
}
