//! The energy of iterations by counters of power, on programs whose energy is known.

use kinetoscope_core::trace::Trace;
use kinetoscope_tests::answers::{made, rows, text};
use serde_json::{Value, json};

/// Ten iterations of 1 ms, the odd ones prefill and the even ones decode, each with a kernel.
fn iterations(device: i64) -> Vec<Value> {
    (0..10_i64)
        .flat_map(|at| {
            let (start, name) = match at % 2 {
                0 => (at * 1000, "execute_context_0(0)_generation_4(4)"),
                _ => (at * 1000, "execute_context_2(100)_generation_0(0)"),
            };
            let (launch, kernel) = (start + 10, start + 20);
            [
                json!({"ph":"X","cat":"user_annotation","name":name,"pid":1,"tid":1,"ts":start,"dur":1000}),
                json!({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":launch,"dur":5,"args":{"correlation":at}}),
                json!({"ph":"X","cat":"kernel","name":"gemm","pid":device,"tid":7,"ts":kernel,"dur":900,"args":{"correlation":at}}),
            ]
        })
        .collect()
}

/// Readings of the power of a device, one for each time in microseconds.
fn readings(name: &str, times: impl Iterator<Item = i64>, power: impl Fn(i64) -> i64) -> Vec<Value> {
    let reading = |ts: i64| json!({"ph":"C","name":name,"pid":1,"tid":1,"ts":ts,"args":{"power":power(ts)}});
    times.map(reading).collect()
}

fn trace(parts: &[Vec<Value>]) -> Trace {
    made(&Value::Array(parts.concat()))
}

/// The energy and that of a token of the groups of a kind, by phase.
fn energy(trace: &Trace, kind: &str, phase: &Value) -> (Option<f64>, Option<f64>) {
    let row = rows(trace, "serving").into_iter().find(|row| row["kind"] == kind && row["phase"] == *phase);
    let row = row.expect("a group");
    (row["joules"].as_f64(), row["joules_per_token"].as_f64())
}

fn is_near(found: Option<f64>, expected: f64) -> bool {
    found.is_some_and(|found| (found - expected).abs() < 1e-9)
}

#[test]
fn energy_is_the_power_times_the_time() {
    // Decodes take 150 W and prefills 400 W.
    let power = |ts: i64| if ts.rem_euclid(2000) < 1000 { 150_000 } else { 400_000 };
    let every = |step: usize| (0..=10_000).step_by(step);
    let fine = trace(&[iterations(0), readings("GPU 0 power (mW)", every(100), power)]);
    let (decode, prefill) = (5.0 * 150.0 * 1e-3, 5.0 * 400.0 * 1e-3);
    for (kind, phase, joules, tokens) in [
        ("phase", json!("decode"), decode, 20.0),
        ("phase", json!("prefill"), prefill, 500.0),
        ("batch", json!("prefill"), prefill, 500.0),
        ("total", Value::Null, decode + prefill, 520.0),
    ] {
        let found = energy(&fine, kind, &phase);
        assert!(is_near(found.0, joules) && is_near(found.1, joules / tokens), "{kind} {phase}: {found:?}");
    }
    let page = text(&fine, "serving");
    assert!(page.contains("energy by counters of power: 2.75 J, 0.005 J/token"), "{page}");
    // Readings that are farther apart than iterations mix their phases: only the sum is known.
    let coarse = trace(&[iterations(0), readings("GPU 0 power (mW)", every(2000), |_| 250_000)]);
    assert!(is_near(energy(&coarse, "total", &Value::Null).0, 2.5));
    assert_eq!(energy(&coarse, "phase", &json!("decode")), (None, None));
    // Two readings are no measurement of ten iterations.
    let two = trace(&[iterations(0), readings("GPU 0 power (mW)", every(10_000), |_| 250_000)]);
    assert_eq!(energy(&two, "total", &Value::Null).0, None);
}

#[test]
fn energy_is_unknown_without_readings_of_every_device_and_time() {
    let of = |name: &str, times: std::iter::StepBy<std::ops::RangeInclusive<i64>>| {
        energy(&trace(&[iterations(1), readings(name, times, |_| 200)]), "total", &Value::Null).0
    };
    let all = || (0..=10_000).step_by(500);
    assert!(is_near(of("GPU 1 power (W)", all()), 2.0));
    assert_eq!(of("GPU 0 power (W)", all()), None, "another device");
    assert_eq!(of("GPU 1 power", all()), None, "no unit");
    assert_eq!(of("GPU 1 power (W)", (0..=6000).step_by(500)), None, "the end is missing");
    assert_eq!(of("GPU 1 power (W)", (3000..=10_000).step_by(500)), None, "the start is missing");
    let hole = |ts: &i64| !(3000..7000).contains(ts);
    let holed = trace(&[iterations(1), readings("GPU 1 power (W)", all().filter(hole), |_| 200)]);
    assert_eq!(energy(&holed, "total", &Value::Null).0, None, "the middle is missing");
    let readings = readings("GPU 1 power (W)", all(), |_| 200);
    let other = trace(&[iterations(1), iterations(0), readings]);
    assert_eq!(energy(&other, "total", &Value::Null).0, None, "a second device");
}
