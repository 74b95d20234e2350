//! The small rules of torch.profiler, one golden each: how numbers are written, which names and frames are shown.

use kinetoscope_core::analysis::averages::{Average, TorchTimes};
use kinetoscope_core::analysis::function_events::rewrite_name;
use kinetoscope_core::analysis::stacks::is_shown;
use kinetoscope_core::names::HIDDEN;
use kinetoscope_core::report::torch_table::{Recorded, TableOptions, render};
use kinetoscope_core::units::{TimeUnit, bytes, share, time_us};
use kinetoscope_tests::files;
use serde_json::Value;

fn rows(name: &str) -> Vec<Value> {
    let path = files::data().join("torch/units").join(name);
    let golden: Value = serde_json::from_slice(&files::read(&path).expect("a golden")).expect("JSON");
    let rows = golden["rows"].as_array().expect("rows").clone();
    assert!(rows.len() > 10, "{name}");
    rows
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

#[test]
fn sizes_times_and_shares_are_written_alike() {
    for row in rows("format_memory.json") {
        if let Some(count) = row["in"][0].as_i64() {
            assert_eq!(bytes(count), text(&row["out"]), "{row}");
        }
    }
    for row in rows("format_time.json") {
        if let Some(us) = row["in"][0].as_f64() {
            assert_eq!(time_us(us, None), text(&row["out"]), "{row}");
        }
    }
    for row in rows("format_time_share.json") {
        // torch refuses a part of nothing.
        if let (Some(part), Some(whole), None) =
            (row["in"][0].as_f64(), row["in"][1].as_f64(), row["error"].as_str())
        {
            assert_eq!(share(part, whole), text(&row["out"]), "{row}");
        }
    }
}

#[test]
fn names_and_frames_are_chosen_alike() {
    for row in rows("rewrite_name.json") {
        assert_eq!(rewrite_name(text(&row["in"])), text(&row["wildcard"]), "{row}");
    }
    for row in rows("filter_name.json") {
        assert_eq!(HIDDEN.contains(&text(&row["in"][0])), row["out"] == true, "{row}");
    }
    for row in rows("filter_stack_entry.json") {
        assert_eq!(is_shown(text(&row["in"][0])), row["out"] == true, "{row}");
    }
}

fn average(name: String, us: f64, flops: i64) -> Average {
    let torch_us = TorchTimes { self_cpu_time_total: us, cpu_time_total: us, ..TorchTimes::default() };
    Average { key: name, count: 1, torch_us, flops, ..Average::default() }
}

#[test]
fn tables_have_the_same_units() {
    for row in rows("table_time_unit.json") {
        let (Some(table), Some(us)) = (row["table"].as_str(), row["us"].as_f64()) else { continue };
        let time_unit = row["time_unit"].as_str().and_then(TimeUnit::of);
        let options = TableOptions { time_unit, ..TableOptions::default() };
        let rendered =
            render(&[average("x".to_owned(), us, 0)], Recorded::default(), &options).expect("a table");
        assert_eq!(rendered, table, "{row}");
    }
    let recorded = Recorded { with_flops: true, ..Recorded::default() };
    for row in rows("table_flops.json") {
        let flops: Option<Vec<i64>> =
            row["flops"].as_array().expect("flops").iter().map(Value::as_i64).collect();
        // Only made-up events have broken numbers of operations.
        let (Some(flops), Some(table)) = (flops, row["averages_table"].as_str()) else { continue };
        let averages: Vec<Average> =
            flops.iter().enumerate().map(|(at, &flops)| average(format!("op{at}"), 5.0, flops)).collect();
        assert_eq!(render(&averages, recorded, &TableOptions::default()).expect("a table"), table, "{row}");
    }
}
