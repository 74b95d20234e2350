//! The formatting and selection rules of torch.profiler, one golden each: numbers, and which names and frames are
//! shown.

use kinetoscope_core::analysis::torch::averages::Average;
use kinetoscope_core::analysis::torch::device_type::DeviceType;
use kinetoscope_core::analysis::torch::frames::is_shown;
use kinetoscope_core::analysis::torch::function_events::scope;
use kinetoscope_core::analysis::torch::profile::Profile;
use kinetoscope_core::analysis::torch::table_options::TableOptions;
use kinetoscope_core::analysis::torch::torch_table::{Recorded, render};
use kinetoscope_core::base::units::{TimeUnit, bytes, share, time_us};
use kinetoscope_core::base::words::Word;
use kinetoscope_core::internals::HIDDEN;
use kinetoscope_core::internals::rewrite_name;
use kinetoscope_core::output::write::file_name;
use kinetoscope_core::trace::table::metadata::Source;
use kinetoscope_tests::files;
use kinetoscope_tests::torch::cases_as;
use serde_json::Value;

fn rows(name: &str) -> Vec<Value> {
    let rows = golden(name)["rows"].as_array().expect("rows").clone();
    assert!(rows.len() > 10, "{name}");
    rows
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

#[test]
fn sizes_times_and_shares_are_formatted_like_torchs() {
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
        // torch refuses a share of zero.
        if let (Some(part), Some(total), None) =
            (row["in"][0].as_f64(), row["in"][1].as_f64(), row["error"].as_str())
        {
            assert_eq!(share(part, total), text(&row["out"]), "{row}");
        }
    }
}

#[test]
fn names_and_frames_are_filtered_like_torchs() {
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
    let mut average = Average::default();
    (average.key, average.count, average.flops) = (name, 1, flops);
    (average.torch_us.self_cpu_time_total, average.torch_us.cpu_time_total) = (us, us);
    average
}

#[test]
fn tables_have_torchs_units() {
    for row in rows("table_time_unit.json") {
        let (Some(table), Some(us)) = (row["table"].as_str(), row["us"].as_f64()) else { continue };
        let mut options = TableOptions::default();
        options.time_unit = row["time_unit"].as_str().and_then(TimeUnit::from_word);
        let rendered = render(&[average("x".to_owned(), us, 0)], Recorded::default(), &options);
        assert_eq!(rendered, table, "{row}");
    }
    let mut recorded = Recorded::default();
    recorded.with_flops = true;
    for row in rows("table_flops.json") {
        let flops: Option<Vec<i64>> =
            row["flops"].as_array().expect("flops").iter().map(Value::as_i64).collect();
        // Only synthetic events have fractional or missing FLOPs.
        let (Some(flops), Some(table)) = (flops, row["averages_table"].as_str()) else { continue };
        let averages: Vec<Average> =
            flops.iter().enumerate().map(|(at, &flops)| average(format!("op{at}"), 5.0, flops)).collect();
        assert_eq!(render(&averages, recorded, &TableOptions::default()), table, "{row}");
    }
}

fn golden(file: &str) -> Value {
    let bytes = files::read(&files::data().join("torch/units").join(file)).expect("a golden");
    serde_json::from_slice(&bytes).expect("JSON")
}

#[test]
fn numbers_of_devices_and_scopes_equal_torchs() {
    let gold = golden("enums.json");
    let devices = gold["DeviceType"].as_object().expect("devices");
    for (name, number) in devices {
        let by_number = number.as_i64().and_then(DeviceType::from_number);
        assert_eq!(by_number, DeviceType::from_name(name), "{name}");
        assert_eq!(by_number.map(DeviceType::as_str), Some(name.as_str()));
    }
    assert_eq!(devices.len(), 21);
    for (name, ours) in [
        ("FUNCTION", scope::FUNCTION),
        ("BACKWARD_FUNCTION", scope::BACKWARD_FUNCTION),
        ("TORCHSCRIPT_FUNCTION", scope::TORCHSCRIPT_FUNCTION),
        ("USER_SCOPE", scope::USER),
    ] {
        assert_eq!(gold["RecordScope"][name].as_u64(), Some(u64::from(ours)), "{name}");
    }
    assert_eq!(gold["memory_category_index"]["None"], 7);
    assert_eq!(
        gold["memory_action_index"],
        serde_json::json!({"PREEXISTING": 1, "CREATE": 2, "INCREMENT_VERSION": 3, "DESTROY": 4})
    );
}

#[test]
fn files_for_tensorboard_have_torchs_names() {
    let gold = golden("tensorboard_trace_handler.json");
    let (host, pid) = (gold["hostname"].as_str().expect("a host"), gold["pid"].as_u64().expect("a pid"));
    let mut now = gold["time_ns_starts_at"].as_i64().expect("a time");
    let rows = gold["rows"].as_array().expect("rows");
    for row in rows {
        let worker = row["args"]["worker_name"].as_str();
        for path in row["paths_for_two_calls"].as_array().expect("paths") {
            let name = path.as_str().and_then(|path| path.strip_prefix("log/dir/")).expect("a name");
            let process = (host, u32::try_from(pid).expect("a pid"));
            assert_eq!(file_name::tensorboard(worker, process, now, row["args"]["use_gzip"] == true), name);
            now += 1;
        }
    }
    assert_eq!(rows.len(), 6);
}

#[test]
fn displaying_a_profile_prints_its_table() {
    assert_eq!(Profile::Unfinished(Source::Chrome).to_string(), "<unfinished torch.autograd.profile>");
    let case = &cases_as("legacy", "records.json")[0];
    let text = Profile::Finished(&case.trace).to_string();
    assert!(text.contains("Self CPU time total: ") && text.contains("# of Calls"), "{text}");
}
