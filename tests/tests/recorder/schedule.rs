//! Schedules and the profiler's transitions between steps, compared with torch.profiler.

use kinetoscope::schedule::{ProfilerAction, Schedule, ScheduleArgs, is_misordered, transitions};
use kinetoscope_tests::files;
use serde_json::Value;

fn golden(name: &str) -> Value {
    let path = files::data().join("torch/units").join(name);
    serde_json::from_slice(&files::read(&path).expect("a golden")).expect("JSON")
}

fn rows(golden: &Value) -> &[Value] {
    golden["rows"].as_array().expect("rows")
}

fn args(arguments: &Value) -> ScheduleArgs {
    let number = |key: &str| arguments[key].as_i64().unwrap_or(0);
    ScheduleArgs {
        wait: number("wait"),
        warmup: number("warmup"),
        active: number("active"),
        repeat: number("repeat"),
        skip_first: number("skip_first"),
        skip_first_wait: arguments["skip_first_wait"].as_bool().unwrap_or(number("skip_first_wait") != 0),
    }
}

fn action(name: &str) -> ProfilerAction {
    ProfilerAction::ALL.into_iter().find(|a| a.as_str() == name).expect("an action")
}

#[test]
fn actions_equal_torchs() {
    let golden = golden("schedule.json");
    for (name, number) in golden["action_values"].as_object().expect("values") {
        assert_eq!(Some(action(name) as i64), number.as_i64());
    }
    for row in rows(&golden) {
        match Schedule::new(args(&row["args"])) {
            Err(error) => {
                assert!(row["error"].is_string(), "{row}: {error}");
                let active = format!("active={}", row["args"]["active"]);
                assert!(error.to_string().contains(&active), "{error}");
            }
            Ok(schedule) => {
                assert!(row["error"].is_null(), "{row} was accepted");
                let expected = row["actions"].as_array().expect("actions");
                for (step, expected) in (0..).zip(expected) {
                    assert_eq!(schedule.action(step).as_str(), expected, "{} at {step}", row["args"]);
                }
                let warned = !row["warnings"].as_array().expect("warnings").is_empty();
                assert_eq!(schedule.warning().is_some(), warned, "{}", row["args"]);
            }
        }
    }
}

#[test]
fn the_largest_arguments_do_not_overflow() {
    let most = i64::MAX;
    let args = ScheduleArgs {
        wait: most,
        warmup: most,
        active: most,
        repeat: 2,
        skip_first: 0,
        skip_first_wait: true,
    };
    let schedule = Schedule::new(args).expect("a schedule");
    assert_eq!(schedule.action(0), ProfilerAction::Warmup);
    assert_eq!(schedule.action(u64::MAX - 2), ProfilerAction::RecordAndSave);
    assert_eq!(schedule.action(u64::MAX), ProfilerAction::None);
}

/// Returns PyTorch's transitions without the step annotations, which the recorder itself writes.
fn transitions_of(call: &Value) -> Vec<&str> {
    let did = call["did"].as_array().expect("transitions").iter().filter_map(Value::as_str);
    did.filter(|d| !d.contains("ProfilerStep#")).collect()
}

#[test]
fn transitions_between_steps_equal_torchs() {
    for row in rows(&golden("profiler_transitions.json")) {
        let mut from = None;
        let mut warned = false;
        for call in row["calls"].as_array().expect("calls") {
            let to =
                (call["call"] != "stop").then(|| action(call["action_after"].as_str().expect("an action")));
            let done: Vec<&str> = transitions(from, to).iter().map(|d| d.as_str()).collect();
            assert_eq!(done, transitions_of(call), "{}: {call}", row["schedule"]);
            warned |= from.zip(to).is_some_and(|(from, to)| is_misordered(from, to));
            from = to;
        }
        assert_eq!(warned, !row["warnings"].as_array().expect("warnings").is_empty(), "{}", row["schedule"]);
    }
}
