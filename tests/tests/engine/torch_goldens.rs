//! Key averages, totals, events, tables and stacks are compared with those of the real `PyTorch`.
//!
//! Times are compared in integer nanoseconds, everything else exactly. Fields that a trace does not contain are listed
//! in [`exception`], case by case; nothing else may differ.
//!
//! This is one file because every test uses the same cases, exceptions and comparisons.

use kinetoscope_core::analysis::context::Analysis;
use kinetoscope_core::analysis::query::group_by::GroupBy;
use kinetoscope_core::analysis::torch::averages::{Average, each_event, key_averages, total_average};
use kinetoscope_core::analysis::torch::dynamo::ProfileResult;
use kinetoscope_core::analysis::torch::event_rows::event_rows;
use kinetoscope_core::analysis::torch::function_events::{EventKind, FunctionEvents};
use kinetoscope_core::analysis::torch::profile_metrics::ProfileMetrics;
use kinetoscope_core::analysis::torch::sort_by::SortBy;
use kinetoscope_core::analysis::torch::stacks::{Metric, export};
use kinetoscope_core::analysis::torch::table_options::TableOptions;
use kinetoscope_core::analysis::torch::torch_table::{Recorded, render};
use kinetoscope_core::base::diagnostics::Code;
use kinetoscope_core::base::rows::Cell;
use kinetoscope_core::base::units::TimeUnit;
use kinetoscope_core::base::words::Word;
use kinetoscope_core::output::write::event_list::EventListWriter;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::metadata::Source;
use kinetoscope_tests::files;
use kinetoscope_tests::torch::{Case, Differences, cases, cases_as, ns};
use serde_json::Value;
use std::sync::LazyLock;

/// Returns the reason why a field of a case cannot be computed from its trace.
fn exception(case: &str, field: &str) -> Option<&'static str> {
    match case.strip_prefix("2.15/") {
        Some(case) => exception_of_2_15(case, field),
        None => exception_of_any_version(case, field),
    }
}

fn exception_of_2_15(case: &str, field: &str) -> Option<&'static str> {
    if let Some(case) = case.strip_suffix(" (trace_python.json)") {
        return match field {
            // The Python exporter does not write the start of the profiler, which times are relative to. Another start
            // rounds the last printed digit differently.
            "start_ns" | "end_ns" | "tables" | "stacks" => Some("no start"),
            // Nor its end, which ranges that were open last to.
            "cpu_time_total" | "self_cpu_time_total" if case == "kineto/left_open" => Some("no end"),
            // It writes the names of Python functions.
            _ if case == "kineto/odd_python_names" => None,
            _ => exception_of_2_15(case, field),
        };
    }
    match (case, field) {
        // The trace has a subset of the events, or events() has.
        (
            "kineto/filter_cpu_op"
            | "kineto/filter_user_annotation"
            | "kineto/filter_instant"
            | "kineto/filter_python_function"
            | "kineto/filter_none"
            | "kineto/timeout_0",
            _,
        ) => Some("filtered"),
        // The writer replaces `"` with `'`, and names that are not ASCII with `unknown`.
        ("kineto/odd_names_quote" | "kineto/odd_python_names", "name" | "rows" | "tables" | "total") => {
            Some("names not written")
        }
        _ => exception_of_any_version(case, field),
    }
}

fn exception_of_any_version(case: &str, field: &str) -> Option<&'static str> {
    match (case, field) {
        // A range that ended on another thread has no self time in torch; the trace does not contain the thread of the
        // end.
        ("kineto/distributed_gloo", "self_cpu_time_total" | "is_async" | "tables" | "total") => {
            Some("is_async")
        }
        (
            "cuda/nccl",
            "self_cpu_time_total" | "cpu_parent" | "device_time_total" | "is_async" | "tables" | "total",
        )
        | (
            "kineto/fork_join_async",
            "self_cpu_time_total"
            | "is_async"
            | "self_cpu_memory_usage"
            | "cpu_parent"
            | "scope"
            | "tables"
            | "total",
        ) => Some("is_async"),
        // Scope 2, a TorchScript call, is not in the trace.
        ("kineto/module_hierarchy_ts" | "kineto/source", "scope") => Some("TorchScript scope"),
        // Two threads ran forward operators, and no flow links a backward function to one of them.
        ("kineto/multithreaded_training_no_arrows", "stack" | "rows" | "tables" | "stacks") => {
            Some("no flows")
        }
        // The writer replaces names that are not ASCII with `unknown`.
        ("kineto/odd_names", "name" | "rows" | "tables" | "total") => Some("names not written"),
        // events() accumulated two cycles, the trace holds the last one.
        ("kineto/acc_events", _) => Some("accumulated events"),
        _ => None,
    }
}

/// Returns every case with results of torch: traces, profiling results behind them, synthetic results, legacy records.
fn all_cases() -> &'static [Case] {
    // Read once for all tests.
    static CASES: LazyLock<Vec<Case>> = LazyLock::new(read_cases);
    &CASES
}

fn read_cases() -> Vec<Case> {
    let mut all = cases("kineto");
    all.extend(cases("patterns"));
    all.extend(cases("cuda"));
    all.extend(cases_as("cuda", "kineto_events.json"));
    all.extend(cases_as("kineto", "kineto_events.json"));
    all.extend(cases_as("patterns", "kineto_events.json"));
    all.extend(cases_as("synthetic", "kineto_events.json"));
    all.extend(cases_as("synthetic", "records.json"));
    all.extend(cases_as("legacy", "records.json"));
    for group in ["2.15/kineto", "2.15/patterns"] {
        for file in ["trace.json", "trace_python.json", "kineto_events.json"] {
            all.extend(cases_as(group, file));
        }
    }
    all.extend(cases_as("2.15/synthetic", "kineto_events.json"));
    all.extend(cases_as("2.15/legacy", "records.json"));
    all.extend(cases("2.10/kineto"));
    all.retain(|case| events_of(case).is_some_and(|events| events.get("error").is_none()));
    all
}

fn events_of(case: &Case) -> Option<Value> {
    case.json("events.json").or_else(|| case.json("expected_events.json"))
}

/// Returns the grouping of a golden.
fn group_by(golden: &Value) -> GroupBy {
    let mut by = GroupBy::default().by_stack(golden["group_by_stack_n"].as_u64().expect("depth") as usize);
    by.shape = golden["group_by_input_shape"] == true;
    by.overload = golden["group_by_overload_name"] == true;
    by.python_functions = golden["include_python_functions"] == true;
    by
}

fn stack_of(value: &Value) -> Vec<String> {
    serde_json::from_value(value.clone()).unwrap_or_default()
}

fn shapes_of(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string().replace(',', ", "),
    }
}

fn compare_average(d: &mut Differences, case: &str, at: &str, ours: &Average, gold: &Value) {
    let int = |field: &str| gold[field].as_i64();
    let mut check = |field: &'static str, a: Option<i64>, b: Option<i64>| {
        if exception(case, field).is_none() {
            d.check(|| format!("{case} {at} {field}"), a, b);
        }
    };
    check("count", Some(ours.count as i64), int("count"));
    check("cpu_time_total", Some(ours.cpu_time_total_ns), ns(&gold["cpu_time_total"]));
    check("self_cpu_time_total", Some(ours.self_cpu_time_total_ns), ns(&gold["self_cpu_time_total"]));
    // Times between device events have a finer resolution than nanoseconds.
    let micro = |us: f64| (us * 1e6).round() as i64;
    let times = [
        ("device_time_total", ours.torch_us.device_time_total, ours.device_time_total_ns),
        ("self_device_time_total", ours.torch_us.self_device_time_total, ours.self_device_time_total_ns),
    ];
    for (field, us, ns) in times {
        check(field, Some(micro(us)), gold[field].as_f64().map(micro));
        let near = (us * 1e3 - ns as f64).abs() <= 0.501;
        check(field, Some(i64::from(near)), Some(1));
    }
    check("cpu_memory_usage", Some(ours.cpu_memory_usage), int("cpu_memory_usage"));
    check("self_cpu_memory_usage", Some(ours.self_cpu_memory_usage), int("self_cpu_memory_usage"));
    check("device_memory_usage", Some(ours.device_memory_usage), int("device_memory_usage"));
    check("self_device_memory_usage", Some(ours.self_device_memory_usage), int("self_device_memory_usage"));
    check("flops", Some(ours.flops), int("flops"));
    check("scope", Some(i64::from(ours.scope)), int("scope"));
    let annotation = gold["is_user_annotation"].as_bool().map(i64::from);
    check("is_user_annotation", Some(i64::from(ours.is_user_annotation)), annotation.or(Some(0)));
    let flag = |field: &str| gold[field].as_bool().map(i64::from);
    check("is_async", Some(i64::from(ours.is_async)), flag("is_async"));
    check("is_remote", Some(i64::from(ours.is_remote)), flag("is_remote"));
    check("is_legacy", Some(i64::from(ours.is_legacy)), flag("is_legacy"));
    check("node_id", ours.node_id, int("node_id").filter(|&n| n != -1));
    d.check(
        || format!("{case} {at} device_type"),
        Some(ours.device_type.as_str()),
        gold["device_type"].as_str(),
    );
    if exception(case, "name").is_none() {
        d.check(|| format!("{case} {at} key"), Some(ours.key.as_str()), gold["key"].as_str());
    }
    d.check(|| format!("{case} {at} shapes"), ours.input_shapes.clone(), shapes_of(&gold["input_shapes"]));
    if exception(case, "stack").is_none() {
        d.check(|| format!("{case} {at} stack"), ours.stack.clone(), stack_of(&gold["stack"]));
    }
    d.check(
        || format!("{case} {at} overload"),
        ours.overload_name.as_str(),
        gold["overload_name"].as_str().unwrap_or(""),
    );
}

/// Returns the groupings of a case with Python functions as rows.
fn averages_with_python_functions(case: &Case) -> Vec<Value> {
    let Some(Value::Array(groups)) = case.json("expected_key_averages_python.json") else {
        return Vec::new();
    };
    let complete = |group: &Value| {
        let same = group["same_as"].as_u64().and_then(|n| groups.get(n as usize)).unwrap_or(group);
        let mut group = group.clone();
        group["rows"] = same["rows"].clone();
        group["include_python_functions"] = true.into();
        group.as_object_mut().expect("a group").remove("same_as");
        group
    };
    groups.iter().map(complete).collect()
}

#[test]
fn key_averages_equal_torchs() {
    let mut d = Differences::default();
    for case in all_cases() {
        let table = &case.trace.table;
        let events = FunctionEvents::new(&case.trace);
        let Some(mut gold) = case.json("expected_key_averages.json") else { continue };
        let groups = gold.as_array_mut().expect("groups");
        groups.extend(averages_with_python_functions(case));
        for (i, group) in groups.iter().enumerate() {
            if exception(&case.name, "count").is_some() {
                continue;
            }
            let by = group_by(group);
            let same = group["same_as"].as_u64().map_or(i, |n| n as usize);
            let rows = groups[same]["rows"].as_array().expect("rows");
            let ours = key_averages(&events, table, by);
            if exception(&case.name, "rows").is_none() {
                d.check(|| format!("{} {by:?} rows", case.name), ours.len(), rows.len());
                for (ours, gold) in ours.iter().zip(rows) {
                    compare_average(&mut d, &case.name, &format!("{by:?} {}", ours.key), ours, gold);
                }
            }
        }
    }
    d.settle(50_000);
}

#[test]
fn total_averages_equal_torchs() {
    let mut d = Differences::default();
    for case in all_cases() {
        let Some(gold) = case.json("expected_total_average.json") else { continue };
        if gold.get("error").is_some() || exception(&case.name, "total").is_some() {
            continue;
        }
        let total = total_average(&FunctionEvents::new(&case.trace), &case.trace.table);
        d.check(|| format!("{} key", case.name), Some(total.key.as_str()), gold["key"].as_str());
        if gold["count"] == 0 {
            d.check(|| format!("{} count", case.name), total.count, 0);
        } else {
            compare_average(&mut d, &case.name, "total", &total, &gold);
        }
    }
    d.settle(500);
}

#[test]
fn events_and_their_tree_equal_torchs() {
    let mut d = Differences::default();
    for case in all_cases() {
        let gold = events_of(case).expect("events");
        let stacks = gold["stack_table"].as_array().expect("stacks");
        let events = FunctionEvents::new(&case.trace);
        let table = &case.trace.table;
        let rows = gold["events"].as_array().expect("events");
        if exception(&case.name, "count").is_some() {
            continue;
        }
        d.check(|| format!("{} events", case.name), events.len(), rows.len());
        if let Some(removed) = gold["removed_by_tree_build"].as_array() {
            d.check(|| format!("{} removed", case.name), events.removed, removed.len());
        }
        for (event, gold) in events.events().zip(rows) {
            let at = event.index();
            let mut check = |field: &'static str, a: Option<i64>, b: Option<i64>| {
                if exception(&case.name, field).is_none() {
                    d.check(|| format!("{} event {at} {field}", case.name), a, b);
                }
            };
            let parent = events.parent(event).map(i64::from);
            check("cpu_parent", parent, gold["cpu_parent"].as_i64());
            check("start_ns", Some(events.start_ns(table, event)), gold["start_ns"].as_i64());
            let end = events.start_ns(table, event) + events.duration_ns(table, event);
            check("end_ns", Some(end), gold["end_ns"].as_i64());
            check("self_cpu_time_total", Some(events.self_ns(event)), ns(&gold["self_cpu_time_total"]));
            check("cpu_memory_usage", Some(events.memory(event).cpu), gold["cpu_memory_usage"].as_i64());
            check(
                "self_cpu_memory_usage",
                Some(events.self_memory(event).cpu),
                gold["self_cpu_memory_usage"].as_i64(),
            );
            check("scope", Some(i64::from(events.scope(table, event))), gold["scope"].as_i64());
            check("flops", Some(events.flops(event)), gold["flops"].as_i64().or(Some(0)));
            if events.kind(event) == EventKind::Cpu {
                let field = |key| table.int(events.row(event), key);
                use kinetoscope_core::trace::table::layout::Key;
                check("sequence_nr", field(Key::SequenceNumber).or(Some(-1)), gold["sequence_nr"].as_i64());
                check("fwd_thread", field(Key::FwdThreadId).or(Some(0)), gold["fwd_thread"].as_i64());
            }
            if exception(&case.name, "name").is_none() {
                d.check(
                    || format!("{} event {at} name", case.name),
                    Some(events.name(event)),
                    gold["name"].as_str(),
                );
            }
            if exception(&case.name, "stack").is_none() {
                let stack = gold["stack"].as_u64().map_or(Vec::new(), |i| stack_of(&stacks[i as usize]));
                d.check(
                    || format!("{} event {at} stack", case.name),
                    events.stacks.get(events.stack(event)).to_vec(),
                    stack,
                );
            }
        }
    }
    d.settle(70_000);
}

/// Fields that only profiling results or records have, under the names of the query `events`.
#[test]
fn fields_of_events_from_records_equal_torchs() {
    let mut d = Differences::default();
    for case in all_cases().iter().filter(|case| case.trace.table.metadata.source != Source::Chrome) {
        if case.name.starts_with("kineto/acc_events") {
            continue;
        }
        let gold = events_of(case).expect("events");
        let rows = event_rows(&case.trace, &FunctionEvents::new(&case.trace));
        let column = |key: &str| rows.columns.iter().position(|c| c.key == key).expect("a column");
        for (at, (ours, gold)) in rows.rows.iter().zip(gold["events"].as_array().expect("events")).enumerate()
        {
            let mut check = |ours: &Cell, key: &str, gold: Cell| {
                d.check(|| format!("{} event {at} {key}", case.name), ours.clone(), gold);
            };
            for key in ["id", "sequence_nr", "scope", "fwd_thread"] {
                let none = if key == "sequence_nr" { -1 } else { 0 };
                check(&ours[column(key)], key, Cell::Int(gold[key].as_i64().unwrap_or(none)));
            }
            for key in ["is_async", "is_remote", "is_legacy", "is_user_annotation"] {
                check(&ours[column(key)], key, Cell::Bool(gold[key] == true));
            }
            check(&ours[column("device_type")], "device_type", gold["device_type"].as_str().into());
            check(&ours[column("trace_name")], "trace_name", gold["trace_name"].as_str().into());
            let overload = gold["overload_name"].as_str().unwrap_or_default();
            check(&ours[column("overload_name")], "overload_name", overload.into());
            if gold["device_type"] == "CPU" {
                check(&ours[column("thread")], "thread", gold["thread"].to_string().into());
            }
            check(&ours[column("cpu_children")], "cpu_children", Cell::Json(gold["cpu_children"].clone()));
            for key in
                ["device_index", "device_resource_id", "node_id", "external_id", "linked_correlation_id"]
            {
                if let Some(number) = gold[key].as_i64() {
                    check(&ours[column(key)], key, Cell::Int(number));
                }
            }
            check(&ours[column("use_device")], "use_device", gold["use_device"].as_str().into());
            check(
                &ours[column("is_python_function")],
                "is_python_function",
                Cell::Bool(gold["is_python_function"] == true),
            );
            for key in ["concrete_inputs", "kwinputs"] {
                check(&ours[column(key)], key, Cell::Json(gold[key].clone()));
            }
            check_details(
                &mut d,
                &format!("{} event {at}", case.name),
                &|key| ours[column(key)].clone(),
                gold,
            );
        }
    }
    d.settle(50_000);
}

/// The kernels, flows, Python ids and inputs of an event. Goldens of PyTorch 2.11 have only the kernels.
fn check_details(d: &mut Differences, what: &str, ours: &dyn Fn(&str) -> Cell, gold: &Value) {
    let kernels: Vec<Value> = (gold["kernels"].as_array().expect("kernels").iter())
        .map(|kernel| {
            let ns = (kernel[2].as_f64().expect("a duration") * 1e3).round() as i64;
            serde_json::json!({"name": kernel[0], "device": kernel[1], "duration_ns": ns})
        })
        .collect();
    d.check(|| format!("{what} kernels"), ours("kernels"), Cell::Json(kernels.into()));
    let Some(flow) = gold["flow"].as_array() else { return };
    d.check(|| format!("{what} flow"), ours("flow"), Cell::Json(flow.clone().into()));
    for key in
        ["python_ids", "input_dtypes", "structured_input_shapes", "structured_input_strides", "metadata"]
    {
        d.check(|| format!("{what} {key}"), ours(key), Cell::Json(gold[key].clone()));
    }
    let activity = gold["activity_type"].as_str();
    d.check(|| format!("{what} activity_type"), ours("activity_type"), activity.into());
}

/// Traces of the Python exporter are recognised, and only those.
#[test]
fn the_python_exporter_is_recognised() {
    let mut d = Differences::default();
    for case in all_cases().iter().filter(|case| case.trace.table.metadata.source == Source::Chrome) {
        let is_python = case.name.ends_with("(trace_python.json)");
        let has_spans = case.trace.tree.len() > 1;
        let counted = case.trace.diagnostics.count(Code::StartUnknown);
        d.check(|| case.name.clone(), counted, u64::from(is_python && has_spans));
    }
    d.settle(150);
}

/// Fields of events that a trace and a profiling result have.
#[test]
fn details_of_events_from_traces_equal_torchs() {
    let mut d = Differences::default();
    for case in all_cases().iter().filter(|case| case.trace.table.metadata.source == Source::Chrome) {
        let Some(gold) = events_of(case) else { continue };
        let Some(gold) = gold["events"].as_array().cloned() else { continue };
        let rows = event_rows(&case.trace, &FunctionEvents::new(&case.trace));
        if exception(&case.name, "names").is_some() || rows.rows.len() != gold.len() {
            continue;
        }
        let column = |key: &str| rows.columns.iter().position(|c| c.key == key).expect("a column");
        for (at, (ours, gold)) in rows.rows.iter().zip(&gold).enumerate() {
            let what = format!("{} event {at}", case.name);
            let ours = |key: &str| ours[column(key)].clone();
            for key in ["node_id", "external_id", "linked_correlation_id"] {
                if let Some(number) = gold[key].as_i64() {
                    d.check(|| format!("{what} {key}"), ours(key), Cell::Int(number));
                }
            }
            let inputs = gold["concrete_inputs"].clone();
            d.check(|| format!("{what} concrete_inputs"), ours("concrete_inputs"), Cell::Json(inputs));
            check_details(&mut d, &what, &ours, gold);
        }
    }
    d.settle(50_000);
}

#[test]
fn event_lists_exported_as_chrome_traces_equal_torchs() {
    let mut d = Differences::default();
    for case in all_cases().iter().filter(|case| case.trace.table.metadata.source != Source::Chrome) {
        let golden = ["expected_eventlist_chrome_trace.json", "expected_chrome_trace.json"];
        let Some(gold) = golden.iter().find_map(|file| case.text(file)) else { continue };
        let mut writer = EventListWriter::new(FunctionEvents::new(&case.trace));
        let mut ours = String::new();
        while writer.next(&case.trace.table, &mut ours, usize::MAX) {}
        serde_json::from_str::<Value>(&ours).unwrap_or_else(|e| panic!("{}: {e}", case.name));
        // Before 2.14, torch wrote names without escaping them.
        let ours = if case.trace.rules().writes_ascii {
            ours
        } else {
            ours.replace("\\t", "\t").replace("\\\"", "\"").replace("\\\\", "\\")
        };
        d.check_text(|| case.name.clone(), &ours.replace("}, ", "},\n"), &gold.trim().replace("}, ", "},\n"));
    }
    d.settle(30);
}

/// Input that torch refuses is read, with a diagnostic for the defect.
#[test]
fn input_that_torch_refuses_has_a_diagnostic() {
    let mut refused = 0;
    for file in ["kineto_events.json", "records.json"] {
        for case in cases_as("synthetic", file) {
            let error = events_of(&case).and_then(|events| events["error"].as_str().map(str::to_owned));
            let Some(error) = error else { continue };
            let code = match error {
                e if e.contains("start_record") => Code::NoStartRecord,
                e if e.contains("range_starts") => Code::UnmatchedPop,
                e if e.contains("negative correlation") => Code::NegativeCorrelation,
                e if e.contains("fwd_thread") => Code::NoForwardThread,
                other => panic!("{}: {other}", case.name),
            };
            assert_eq!(case.trace.diagnostics.count(code), 1, "{}", case.name);
            refused += 1;
        }
    }
    assert_eq!(refused, 5);
}

/// Returns the options of a table, or `None` if torch has no such column.
fn table_options(args: &Value) -> Option<TableOptions> {
    let mut options = TableOptions::default();
    for (name, value) in args.as_object().expect("arguments") {
        let text = || value.as_str().map(str::to_owned);
        let width = || value.as_u64().map(|n| n as usize);
        match name.as_str() {
            "sort_by" => {
                options.sort_by = match value.as_str() {
                    Some(name) => Some(SortBy::from_name(name)?),
                    None => None,
                };
            }
            "row_limit" => options.row_limit = usize::try_from(value.as_i64().expect("a limit")).ok(),
            "top_level_events_only" => options.top_level_events_only = value == true,
            "time_unit" => options.time_unit = value.as_str().and_then(TimeUnit::from_word),
            "max_name_column_width" => options.max_name_column_width = width(),
            "max_shapes_column_width" => options.max_shapes_column_width = width(),
            "max_src_column_width" => options.max_src_column_width = width(),
            "header" => options.header = text(),
            other => panic!("unknown argument {other}"),
        }
    }
    Some(options)
}

#[test]
fn tables_equal_torchs_character_by_character() {
    let mut d = Differences::default();
    for case in all_cases() {
        let Some(gold) = case.json("expected_tables.json") else { continue };
        if exception(&case.name, "tables").is_some() {
            continue;
        }
        let events = FunctionEvents::new(&case.trace);
        for golden in gold["tables"].as_array().expect("tables") {
            let rows = if golden["source"] == "events" {
                each_event(&events, &case.trace.table)
            } else {
                let by = group_by(golden);
                key_averages(&events, &case.trace.table, by)
            };
            let recorded = Recorded::new(&events);
            let ours = table_options(&golden["args"]).map(|options| render(&rows, recorded, &options));
            let what = || format!("{} {}", case.name, golden["label"]);
            match golden["error"].as_str() {
                // torch cannot compare the missing FLOPs of a memory event, and loses the device of legacy records;
                // this engine prints the table.
                Some(error) if error.starts_with("TypeError") || error.contains("use_device") => {
                    assert!(ours.is_some());
                }
                Some(_) => d.check(what, ours.is_none(), true),
                None => {
                    let text = golden["text"].as_str().unwrap_or_default();
                    d.check_text(what, &ours.unwrap_or_default(), text);
                }
            }
        }
    }
    d.settle(500);
}

#[test]
fn exported_stacks_equal_torchs() {
    let mut d = Differences::default();
    for case in all_cases() {
        let Some(gold) = case.json("expected_stacks.json") else { continue };
        if exception(&case.name, "stacks").is_some() || exception(&case.name, "self_cpu_time_total").is_some()
        {
            continue;
        }
        let events = FunctionEvents::new(&case.trace);
        for golden in gold["stacks"].as_array().expect("stacks") {
            let name = golden["metric"].as_str().expect("a metric");
            let metric = Metric::from_word(name);
            let Some(text) = golden["text"].as_str() else {
                d.check(|| format!("{} {name}", case.name), metric, None);
                continue;
            };
            let ours = export(&events, &case.trace.table, metric.expect("a metric"));
            d.check(|| format!("{} {metric:?}", case.name), ours.as_str(), text);
        }
    }
    d.settle(25);
}

/// Older versions: 2.5.1 has exact times but attributes memory by rounded floats. 2.1.2 wrote integer microseconds, so
/// every event may be off by one and may have another parent: the number of merged events of equal names may differ,
/// and stacks of backward functions cannot be compared.
#[test]
fn key_averages_of_older_versions_equal_torchs() {
    let mut d = Differences::default();
    for (group, slack_ns) in [
        ("2.15/compat/torch-2.14.1", 0),
        ("2.15/compat/torch-2.13.0", 0),
        ("2.15/compat/torch-2.12.1", 0),
        ("compat/torch-2.5.1", 0),
        ("compat/torch-2.1.2", 1000),
    ] {
        for case in cases(group) {
            let events = FunctionEvents::new(&case.trace);
            let gold = case.json("expected_key_averages.json").expect("averages");
            for group in gold.as_array().expect("groups") {
                let by = group_by(group);
                if slack_ns > 0 && by.stack > 0 {
                    continue;
                }
                let ours = key_averages(&events, &case.trace.table, by);
                let rows = group["rows"].as_array().expect("rows");
                d.check(|| format!("{} {by:?} rows", case.name), ours.len(), rows.len());
                for (ours, gold) in ours.iter().zip(rows) {
                    let at = format!("{} {by:?} {}", case.name, ours.key);
                    d.check(|| format!("{at} key"), Some(ours.key.as_str()), gold["key"].as_str());
                    let merged = ours.count.abs_diff(gold["count"].as_u64().expect("a count"));
                    d.check(|| format!("{at} count"), merged <= u64::from(slack_ns > 0), true);
                    let slack = slack_ns * ours.count as i64;
                    let near = |ns: i64, gold: &Value| {
                        let us = gold.as_f64().expect("a time");
                        (ns - (us * 1e3).round() as i64).abs() <= slack
                    };
                    let total = near(ours.cpu_time_total_ns, &gold["cpu_time_total"]);
                    d.check(|| format!("{at} total {}", gold["cpu_time_total"]), total, true);
                    d.check(
                        || format!("{at} shapes"),
                        ours.input_shapes.clone(),
                        shapes_of(&gold["input_shapes"]),
                    );
                    if slack == 0 {
                        let is_near = near(ours.self_cpu_time_total_ns, &gold["self_cpu_time_total"]);
                        d.check(|| format!("{at} self {}", gold["self_cpu_time_total"]), is_near, true);
                        let bytes = gold["cpu_memory_usage"].as_i64();
                        d.check(|| format!("{at} memory"), Some(ours.cpu_memory_usage), bytes);
                        let bytes = gold["self_cpu_memory_usage"].as_i64();
                        d.check(|| format!("{at} self memory"), Some(ours.self_cpu_memory_usage), bytes);
                    }
                }
            }
        }
    }
    d.settle(500);
}

#[test]
fn the_table_of_an_older_version_equals_torchs() {
    let mut d = Differences::default();
    for case in cases("compat/torch-2.5.1") {
        let events = FunctionEvents::new(&case.trace);
        let gold = case.text("expected_table.txt").expect("a table");
        let shape = gold.contains("Input Shapes");
        let by = if shape { GroupBy::default().by_shape() } else { GroupBy::default() };
        let rows = key_averages(&events, &case.trace.table, by);
        let options = TableOptions::default().with_sort_by(SortBy::SelfCpuTimeTotal).with_row_limit(None);
        let ours = render(&rows, Recorded::new(&events), &options);
        // That version wrote memory units in lower case.
        let units = |text: &str| text.replace("Kb", "KB").replace(" b ", " B ");
        d.check(|| case.name.clone(), ours, units(&gold));
    }
    d.settle(2);
}

#[test]
fn averages_of_the_large_trace_equal_torchs() {
    let Some(folder) = files::shared("goldens/torch/large", "the golden of 312,413 events") else { return };
    let mut d = Differences::default();
    let case = Case::open(&folder, "large");
    let events = FunctionEvents::new(&case.trace);
    let table = &case.trace.table;
    let total = total_average(&events, table);
    compare_average(
        &mut d,
        "large",
        "total",
        &total,
        &case.json("expected_total_average.json").expect("a total"),
    );
    let gold = case.json("expected_key_averages.json").expect("averages");
    let groups = gold.as_array().expect("groups");
    for (i, group) in groups.iter().enumerate() {
        let by = group_by(group);
        let rows =
            groups[group["same_as"].as_u64().map_or(i, |n| n as usize)]["rows"].as_array().expect("rows");
        let ours = key_averages(&events, table, by);
        d.check(|| format!("large {by:?} rows"), ours.len(), rows.len());
        for (ours, gold) in ours.iter().zip(rows) {
            compare_average(&mut d, "large", &ours.key, ours, gold);
        }
    }
    for golden in case.json("expected_tables.json").expect("tables")["tables"].as_array().expect("tables") {
        if golden["source"] == "events" || golden["text"].is_null() {
            continue;
        }
        let by = group_by(golden);
        let rows = key_averages(&events, table, by);
        let recorded = Recorded::new(&events);
        let ours = table_options(&golden["args"]).map(|options| render(&rows, recorded, &options));
        d.check(|| format!("large {}", golden["label"]), ours.as_deref(), golden["text"].as_str());
    }
    let stacks = case.text("expected_stacks_self_cpu_time_total.txt").expect("stacks");
    d.check(|| "large stacks".to_owned(), export(&events, table, Metric::SelfCpuTime) == stacks, true);
    d.settle(10_000);
}

/// Every analysis reads record files like other traces, and its identities hold.
#[test]
fn identities_hold_for_records() {
    let mut checked = 0;
    for case in all_cases().iter().filter(|case| case.trace.table.metadata.source != Source::Chrome) {
        for identity in Analysis::new(&case.trace).identities() {
            assert!(identity.holds, "{}: {identity:?}", case.name);
            checked += 1;
        }
    }
    assert!(checked > 400, "{checked} identities");
}

/// The number of graphs is the number of compiled regions around the annotations.
#[test]
fn results_of_dynamos_profiler_equal_torchs() {
    let folder = files::data().join("torch/2.15/kineto/dynamo_profiles");
    let gold = files::read(&folder.join("profile_results.json")).expect("results");
    let gold: Value = serde_json::from_slice(&gold).expect("JSON");
    let rows = gold["rows"].as_array().expect("rows");
    for row in rows {
        let name = row["name"].as_str().expect("a name");
        let bytes = files::read(&folder.join(format!("{name}.trace.json"))).expect("a trace");
        let trace = Trace::read(&bytes).expect("a trace");
        let found = ProfileResult::new(&trace.table, &FunctionEvents::new(&trace));
        assert_eq!(Some(found.to_string().as_str()), row["str"].as_str());
        let metrics = |of: ProfileMetrics| {
            let us = of.time_ns as f64 / 1e3;
            [us, of.operators as f64, of.fusions as f64, of.graphs as f64]
        };
        for (ours, theirs) in [(found.captured, &row["captured"]), (found.total, &row["total"])] {
            let theirs: Vec<f64> =
                theirs.as_array().expect("metrics").iter().filter_map(Value::as_f64).collect();
            assert!(
                metrics(ours).iter().zip(&theirs).all(|(a, b)| (a - b).abs() < 1e-6),
                "{name}: {theirs:?}"
            );
            assert_eq!(theirs.len(), 4);
        }
        let csv: Vec<f64> = row["csv"].as_array().expect("csv").iter().filter_map(Value::as_f64).collect();
        assert_eq!(found.to_csv().to_vec(), csv);
    }
    assert_eq!(rows.len(), 2);
}

/// PyTorch's metadata of calls and device work, of a program that copies the product of two matrices.
#[test]
fn metadata_of_calls_and_device_work_equals_torchs() {
    let folder = files::data().join("torch/cuda_metadata");
    let trace = Trace::read(&files::read(&folder.join("trace.json")).expect("a trace")).expect("a trace");
    let gold = files::read(&folder.join("metadata.json")).expect("metadata");
    let gold: Vec<Value> = serde_json::from_slice(&gold).expect("JSON");
    let rows = event_rows(&trace, &FunctionEvents::new(&trace));
    let at = |key: &str| rows.columns.iter().position(|column| column.key == key).expect("a column");
    let ours = rows.rows.iter().filter_map(|row| match &row[at("metadata")] {
        Cell::Json(Value::Object(metadata)) if !metadata.is_empty() => {
            Some((row[at("name")].clone(), Value::Object(metadata.clone())))
        }
        _ => None,
    });
    let gold: Vec<(Cell, Value)> =
        gold.iter().map(|event| (event["name"].as_str().into(), event["metadata"].clone())).collect();
    assert_eq!(ours.collect::<Vec<_>>(), gold);
    assert_eq!(gold.len(), 100);
}
