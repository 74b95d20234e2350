//! Key averages, totals, events, tables and stacks equal those of the real `PyTorch`.
//!
//! Times are compared as whole nanoseconds, everything else exactly. What a trace does not carry is listed in
//! [`exception`], case by case; nothing else may differ.

use kinetoscope_core::analysis::averages::{Average, GroupBy, each_event, key_averages, total_average};
use kinetoscope_core::analysis::function_events::{FunctionEvents, Kind, NONE};
use kinetoscope_core::analysis::stacks::{Metric, export};
use kinetoscope_core::report::torch_table::{Recorded, TableOptions, render};
use kinetoscope_core::units::TimeUnit;
use kinetoscope_tests::files;
use kinetoscope_tests::torch::{Case, Differences, cases, ns};
use serde_json::Value;

/// Why a field of a case cannot be known from its trace.
fn exception(case: &str, field: &str) -> Option<&'static str> {
    match (case, field) {
        // A range that ended on another thread has no self time in torch; the trace does not say where it ended.
        ("kineto/distributed_gloo", "self_cpu_time_total" | "is_async" | "tables" | "total") => {
            Some("is_async")
        }
        (
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
        // Two threads ran forward operators and no arrow says which of them a backward function belongs to.
        ("kineto/multithreaded_training_no_arrows", "stack" | "rows" | "tables" | "stacks") => {
            Some("no arrows")
        }
        // The writer turns names that are not ASCII into `unknown`.
        ("kineto/odd_names", "name" | "rows" | "tables" | "total") => Some("names not written"),
        // events() accumulated two cycles, the trace holds the last one.
        ("kineto/acc_events", _) => Some("accumulated events"),
        _ => None,
    }
}

fn all_cases() -> Vec<Case> {
    cases("kineto")
}

/// What a golden is grouped by.
fn group_by(golden: &Value) -> GroupBy {
    GroupBy {
        shape: golden["group_by_input_shape"] == true,
        stack: golden["group_by_stack_n"].as_u64().expect("depth") as usize,
        overload: golden["group_by_overload_name"] == true,
    }
}

fn stack_of(value: &Value) -> Vec<String> {
    serde_json::from_value(value.clone()).unwrap_or_default()
}

fn shapes_of(value: &Value) -> String {
    match value {
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
    check("device_time_total", Some(ours.device_time_total_ns), ns(&gold["device_time_total"]));
    check(
        "self_device_time_total",
        Some(ours.self_device_time_total_ns),
        ns(&gold["self_device_time_total"]),
    );
    check("cpu_memory_usage", Some(ours.cpu_memory_usage), int("cpu_memory_usage"));
    check("self_cpu_memory_usage", Some(ours.self_cpu_memory_usage), int("self_cpu_memory_usage"));
    check("device_memory_usage", Some(ours.device_memory_usage), int("device_memory_usage"));
    check("self_device_memory_usage", Some(ours.self_device_memory_usage), int("self_device_memory_usage"));
    check("flops", Some(ours.flops), int("flops"));
    check("scope", Some(i64::from(ours.scope)), int("scope"));
    let annotation = gold["is_user_annotation"].as_bool().map(i64::from);
    check("is_user_annotation", Some(i64::from(ours.is_user_annotation)), annotation.or(Some(0)));
    if exception(case, "name").is_none() {
        d.check(|| format!("{case} {at} key"), Some(ours.key.as_str()), gold["key"].as_str());
    }
    d.check(|| format!("{case} {at} shapes"), ours.input_shapes.clone(), shapes_of(&gold["input_shapes"]));
    if exception(case, "stack").is_none() {
        d.check(|| format!("{case} {at} stack"), ours.stack.clone(), stack_of(&gold["stack"]));
    }
    d.check(
        || format!("{case} {at} overload"),
        Some(ours.overload_name.as_str()),
        gold["overload_name"].as_str(),
    );
}

#[test]
fn key_averages_are_torchs() {
    let mut d = Differences::default();
    for case in all_cases() {
        let table = &case.trace.table;
        let events = FunctionEvents::new(&case.trace);
        let gold = case.json("expected_key_averages.json").expect("averages");
        let groups = gold.as_array().expect("groups");
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
fn total_averages_are_torchs() {
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
fn events_and_their_tree_are_torchs() {
    let mut d = Differences::default();
    for case in all_cases() {
        let gold = case.json("events.json").expect("events");
        let stacks = gold["stack_table"].as_array().expect("stacks");
        let events = FunctionEvents::new(&case.trace);
        let table = &case.trace.table;
        let rows = gold["events"].as_array().expect("events");
        if exception(&case.name, "count").is_some() {
            continue;
        }
        d.check(|| format!("{} events", case.name), events.len(), rows.len());
        let removed = gold["removed_by_tree_build"].as_array().expect("removed").len();
        d.check(|| format!("{} removed", case.name), events.removed, removed);
        for (at, gold) in rows.iter().enumerate().take(events.len()) {
            let mut check = |field: &'static str, a: Option<i64>, b: Option<i64>| {
                if exception(&case.name, field).is_none() {
                    d.check(|| format!("{} event {at} {field}", case.name), a, b);
                }
            };
            let parent = Some(events.parents[at]).filter(|&p| p != NONE).map(i64::from);
            check("cpu_parent", parent, gold["cpu_parent"].as_i64());
            check("start_ns", Some(events.start_ns(table, at)), gold["start_ns"].as_i64());
            let end = events.start_ns(table, at) + events.duration_ns(table, at);
            check("end_ns", Some(end), gold["end_ns"].as_i64());
            check("self_cpu_time_total", Some(events.self_ns[at]), ns(&gold["self_cpu_time_total"]));
            check("cpu_memory_usage", Some(events.memory(at).cpu), gold["cpu_memory_usage"].as_i64());
            check(
                "self_cpu_memory_usage",
                Some(events.self_memory(at).cpu),
                gold["self_cpu_memory_usage"].as_i64(),
            );
            check("scope", Some(i64::from(events.scope(table, at))), gold["scope"].as_i64());
            check("flops", Some(events.flops(at)), gold["flops"].as_i64().or(Some(0)));
            if events.kinds[at] == Kind::Cpu {
                let field = |key| table.int(events.rows[at], key);
                use kinetoscope_core::table::layout::Key;
                check("sequence_nr", field(Key::SequenceNumber).or(Some(-1)), gold["sequence_nr"].as_i64());
                check("fwd_thread", field(Key::FwdThreadId).or(Some(0)), gold["fwd_thread"].as_i64());
                check("id", field(Key::ExternalId).or(Some(0)), gold["id"].as_i64());
            }
            if exception(&case.name, "name").is_none() {
                d.check(
                    || format!("{} event {at} name", case.name),
                    Some(events.name(at)),
                    gold["name"].as_str(),
                );
            }
            if exception(&case.name, "stack").is_none() {
                let stack = gold["stack"].as_u64().map_or(Vec::new(), |i| stack_of(&stacks[i as usize]));
                d.check(
                    || format!("{} event {at} stack", case.name),
                    events.stacks.get(events.stack(at)).to_vec(),
                    stack,
                );
            }
        }
    }
    d.settle(70_000);
}

fn table_options(args: &Value) -> TableOptions {
    let mut options = TableOptions::default();
    for (name, value) in args.as_object().expect("arguments") {
        let text = || value.as_str().map(str::to_owned);
        let width = || value.as_u64().map(|n| n as usize);
        match name.as_str() {
            "sort_by" => options.sort_by = text(),
            "row_limit" => options.row_limit = value.as_i64().expect("a limit"),
            "top_level_events_only" => options.top_level_events_only = value == true,
            "time_unit" => options.time_unit = value.as_str().and_then(TimeUnit::of),
            "max_name_column_width" => options.max_name_column_width = width(),
            "max_shapes_column_width" => options.max_shapes_column_width = width(),
            "max_src_column_width" => options.max_src_column_width = width(),
            "header" => options.header = text(),
            other => panic!("unknown argument {other}"),
        }
    }
    options
}

fn recorded(events: &FunctionEvents) -> Recorded {
    Recorded {
        use_device: events.use_device,
        profile_memory: events.profile_memory,
        with_flops: events.with_flops,
    }
}

#[test]
fn tables_are_torchs_character_for_character() {
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
            let ours = render(&rows, recorded(&events), &table_options(&golden["args"]));
            let what = || format!("{} {}", case.name, golden["label"]);
            match golden["error"].as_str() {
                // torch cannot compare the missing FLOPs of a memory event; here the table is simply printed.
                Some(error) if error.starts_with("TypeError") => assert!(ours.is_ok()),
                Some(_) => d.check(what, ours.is_err(), true),
                None => d.check(what, ours.ok().as_deref(), golden["text"].as_str()),
            }
        }
    }
    d.settle(500);
}

#[test]
fn exported_stacks_are_torchs() {
    let mut d = Differences::default();
    for case in all_cases() {
        let Some(gold) = case.json("expected_stacks.json") else { continue };
        if exception(&case.name, "stacks").is_some() || exception(&case.name, "self_cpu_time_total").is_some()
        {
            continue;
        }
        let events = FunctionEvents::new(&case.trace);
        for golden in gold["stacks"].as_array().expect("stacks") {
            let metric = golden["metric"].as_str().and_then(Metric::of);
            let Some(text) = golden["text"].as_str() else { continue };
            let ours = export(&events, &case.trace.table, metric.expect("a metric"));
            d.check(|| format!("{} {metric:?}", case.name), ours.as_str(), text);
        }
    }
    d.settle(25);
}

/// Older versions: 2.5.1 has exact times but attributes memory by rounded floats; 2.1.2 wrote whole microseconds, so every
/// event may be off by one and may hang elsewhere: a merge of same-named events more or less, and stacks of backward
/// functions that cannot be compared.
#[test]
fn key_averages_of_older_versions_are_torchs() {
    let mut d = Differences::default();
    for (group, slack_ns) in [("compat/torch-2.5.1", 0), ("compat/torch-2.1.2", 1000)] {
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
                        let own = near(ours.self_cpu_time_total_ns, &gold["self_cpu_time_total"]);
                        d.check(|| format!("{at} self {}", gold["self_cpu_time_total"]), own, true);
                        let bytes = gold["cpu_memory_usage"].as_i64();
                        d.check(|| format!("{at} memory"), Some(ours.cpu_memory_usage), bytes);
                    }
                }
            }
        }
    }
    d.settle(500);
}

#[test]
fn the_table_of_an_older_version_is_torchs() {
    let mut d = Differences::default();
    for case in cases("compat/torch-2.5.1") {
        let events = FunctionEvents::new(&case.trace);
        let gold = case.text("expected_table.txt").expect("a table");
        let shape = gold.contains("Input Shapes");
        let rows = key_averages(&events, &case.trace.table, GroupBy { shape, ..GroupBy::default() });
        let sort_by = Some("self_cpu_time_total".to_owned());
        let options = TableOptions { sort_by, row_limit: -1, ..TableOptions::default() };
        let ours = render(&rows, recorded(&events), &options).expect("a table");
        // That version wrote memory units in lower case.
        let units = |text: &str| text.replace("Kb", "KB").replace(" b ", " B ");
        d.check(|| case.name.clone(), ours, units(&gold));
    }
    d.settle(2);
}

#[test]
fn the_large_trace_is_torchs() {
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
        let ours = render(&rows, recorded(&events), &table_options(&golden["args"])).ok();
        d.check(|| format!("large {}", golden["label"]), ours.as_deref(), golden["text"].as_str());
    }
    let stacks = case.text("expected_stacks_self_cpu_time_total.txt").expect("stacks");
    d.check(|| "large stacks".to_owned(), export(&events, table, Metric::SelfCpuTime) == stacks, true);
    d.settle(10_000);
}
