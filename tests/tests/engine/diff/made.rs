//! Generated pairs: the change is found, is the first row, and contributes what was changed.

use super::{diff, int, profile, significant};
use kinetoscope_core::runs::compare::profile::Profile;
use kinetoscope_tests::pairs::{
    Changed, DELAY, KERNEL, LAYERS, OPERATOR, Plan, REDUCTION, RENAMED, generate, truth,
};
use serde_json::Value;

const STEPS: usize = 12;

fn made(changed: Changed, noise: u64, seed: u64) -> Profile {
    profile(generate(&Plan { changed, steps: STEPS, noise, seed }).as_bytes())
}

/// Compares the program with a changed one, and returns the significant rows.
fn found(changed: Changed, noise: u64, seed: u64) -> Vec<Value> {
    let rows = diff(&made(Changed::Nothing, noise, 2 * seed), &made(changed, noise, 2 * seed + 1));
    significant(&rows).into_iter().cloned().collect()
}

/// What the first row is expected to be.
fn expected(changed: Changed) -> (&'static str, &'static str, &'static str, String) {
    match changed {
        Changed::SlowKernel => ("kernel", "slower", "time_per_call", KERNEL.into()),
        Changed::CalledTwice => ("kernel", "more_calls", "calls", KERNEL.into()),
        Changed::RenamedKernel => ("kernel", "slower", "other_kernel", format!("{KERNEL} → {RENAMED}")),
        Changed::LostOverlap => ("collective", "slower", "overlap", REDUCTION.into()),
        Changed::HostDelay => ("range", "new", "work", DELAY.into()),
        Changed::LargerInput | Changed::OtherType => {
            let change = if changed == Changed::OtherType { "faster" } else { "slower" };
            ("kernel", change, "time_per_call", KERNEL.into())
        }
        Changed::FusedOperators => {
            let three = "elementwise_mul_kernel + elementwise_add_kernel + elementwise_relu_kernel";
            ("kernel", "fused", "fusion", format!("{three} → triton_poi_fused_add_mul_relu_0"))
        }
        Changed::Nothing => unreachable!(),
    }
}

/// Every change.
fn all() -> impl Iterator<Item = Changed> {
    Changed::ALL.into_iter().filter(|&changed| changed != Changed::Nothing)
}

#[test]
fn a_change_is_the_first_row_with_its_exact_contribution() {
    for changed in all() {
        let rows = found(changed, 0, 1);
        let (kind, change, cause, name) = expected(changed);
        // Fewer operators also save time of the host.
        let at = usize::from(changed == Changed::FusedOperators);
        let first = rows.get(at).unwrap_or_else(|| panic!("{changed:?}: no row"));
        assert_eq!((&first["kind"], &first["name"]), (&kind.into(), &name.as_str().into()), "{changed:?}");
        assert_eq!(rows[0]["change"], change, "{changed:?}");
        assert_eq!((&first["change"], &first["cause"]), (&change.into(), &cause.into()), "{changed:?}");
        assert_eq!(int(&first["contribution_ns"]), truth(changed), "{changed:?}");
        assert!(
            int(&first["low_ns"]) <= truth(changed) && truth(changed) <= int(&first["high_ns"]),
            "{changed:?}"
        );
    }
}

/// Steps of 10 ms, and of 8 ms with one of 30 ms among them: the medians differ by a fifth, and the means hardly.
#[test]
fn one_slow_step_does_not_hide_that_the_others_are_faster() {
    let steps = |lengths: &[i64]| {
        let mut at = 0;
        let mut events = Vec::new();
        for (number, &length) in lengths.iter().enumerate() {
            let span = |category: &str, name: &str| {
                format!(
                    r#"{{"ph":"X","cat":"{category}","name":"{name}","pid":1,"tid":1,"ts":{at},"dur":{length}}}"#
                )
            };
            events.push(span("user_annotation", &format!("ProfilerStep#{number}")));
            events.push(span("cpu_op", "aten::mm"));
            at += length;
        }
        profile(format!("[{}]", events.join(",")).as_bytes())
    };
    let wall = |a: &[i64], b: &[i64]| {
        let rows = diff(&steps(a), &steps(b));
        rows.into_iter().find(|row| row["kind"] == "total").expect("a total")
    };
    let before = [10_000, 10_040, 9_980, 10_010, 10_020, 9_990, 10_000, 10_030, 9_970, 10_000];
    let after = [8_020, 30_000, 7_980, 8_010, 8_000, 8_030, 7_990, 8_000, 8_010, 7_970];
    let row = wall(&before, &after);
    assert_eq!(row["significant"], true, "{row}");
    assert!(int(&row["contribution_ns"]) > 100_000 && int(&row["high_ns"]) < -1_900_000, "{row}");
    // One slow step alone is no change of the program.
    let mut slow = before;
    slow[4] = 30_000;
    assert_eq!(wall(&before, &slow)["significant"], false);
}

#[test]
fn operators_of_a_change_carry_its_cause() {
    let of = |changed, name: &str| {
        let rows = diff(&made(Changed::Nothing, 0, 1), &made(changed, 0, 1));
        rows.into_iter().find(|row| row["kind"] == "operator" && row["name"] == name).unwrap_or_default()
    };
    let larger = of(Changed::LargerInput, OPERATOR);
    assert_eq!(larger["cause"], "shapes");
    assert_eq!(larger["message"], "[64,512] became [128,512]");
    assert_eq!(of(Changed::OtherType, OPERATOR)["cause"], "data_type");
    let twice = of(Changed::CalledTwice, OPERATOR);
    assert_eq!(
        (&twice["change"], &twice["message"]),
        (&"more_calls".into(), &"4 calls a step became 5".into())
    );
    let steps = STEPS as i64;
    assert_eq!((int(&twice["count_a"]), int(&twice["count_b"])), (LAYERS * steps, (LAYERS + 1) * steps));
    let fused =
        of(Changed::FusedOperators, "aten::mul + aten::add + aten::relu → triton_poi_fused_add_mul_relu_0");
    assert_eq!(fused["message"], "3 operators became 1");
}

/// Half a percent of noise: the contribution is the change and the noise of the mean.
#[test]
fn a_change_is_found_in_noise() {
    for changed in all() {
        let rows = found(changed, 1, 3);
        let at = usize::from(changed == Changed::FusedOperators);
        let first = rows.get(at).unwrap_or_else(|| panic!("{changed:?}: no row"));
        assert_eq!(first["name"], expected(changed).3.as_str(), "{changed:?}");
        let (contribution, truth) = (int(&first["contribution_ns"]) as f64, truth(changed) as f64);
        assert!((contribution / truth - 1.0).abs() < 0.1, "{changed:?}: {contribution} {truth}");
    }
}

#[test]
fn noise_without_a_change_is_silent() {
    let silent = (0..100).filter(|&seed| {
        let rows =
            diff(&made(Changed::Nothing, 5, 1000 + 2 * seed), &made(Changed::Nothing, 5, 1001 + 2 * seed));
        !rows.iter().any(|row| row["significant"] == true)
    });
    assert!(silent.count() >= 99);
}

/// Returns the trace with another text in place of one.
fn replaced(text: &str, from: &str, to: &str) -> Profile {
    assert!(text.contains(from), "{from}");
    profile(text.replace(from, to).as_bytes())
}

#[test]
fn a_renamed_kernel_of_equal_speed_is_a_change_without_time() {
    let text = generate(&Plan { changed: Changed::Nothing, steps: STEPS, noise: 0, seed: 1 });
    let rows = diff(&profile(text.as_bytes()), &replaced(&text, KERNEL, RENAMED));
    let rows = significant(&rows);
    assert_eq!((rows.len(), &rows[0]["change"], int(&rows[0]["contribution_ns"])), (1, &"renamed".into(), 0));
}

#[test]
fn another_program_is_not_aligned() {
    let text = generate(&Plan { changed: Changed::Nothing, steps: STEPS, noise: 0, seed: 1 });
    // Other names of all operators and kernels, and another number of them in a row.
    let other = text
        .replace("aten::", "ns::x")
        .replace("_kernel", "_core")
        .replace("autograd::", "other::")
        .replace("ampere_", "volta ");
    let other = other.replace("softmax_warp_forward", "other_forward");
    let rows = diff(&profile(text.as_bytes()), &profile(other.as_bytes()));
    let total = rows.iter().find(|row| row["kind"] == "total").expect("a total");
    assert!(total["aligned_a"].as_f64().expect("a share") < 0.5, "{total}");
    let is_note =
        |row: &Value| row["message"].as_str().is_some_and(|text| text.contains("different programs"));
    assert!(rows.iter().any(is_note));
}

/// A new annotation around all operators of a layer does not hide which of them changed.
#[test]
fn a_new_annotation_around_operators_is_no_fusion() {
    let event = |cat: &str, name: &str, ts: i64, dur: i64| {
        format!(
            "{{\"ph\": \"X\", \"cat\": \"{cat}\", \"name\": \"{name}\", \"pid\": 1, \"tid\": 1, \"ts\": {ts}, \"dur\": {dur}}}"
        )
    };
    let trace = |is_wrapped: bool, slow: i64| {
        let mut events = Vec::new();
        for step in 0..6 {
            let start = step * 1000;
            events.push(event("user_annotation", &format!("ProfilerStep#{step}"), start, 1000));
            if is_wrapped {
                events.push(event("user_annotation", "my_range", start + 90, 800));
            }
            for (at, name) in ["aten::mm", "aten::add", "aten::relu", "aten::mul"].iter().enumerate() {
                let dur = if *name == "aten::relu" { slow } else { 100 };
                events.push(event("cpu_op", name, start + 100 + 190 * at as i64, dur));
            }
        }
        profile(format!("[{}]", events.join(",")).as_bytes())
    };
    let rows = diff(&trace(false, 60), &trace(true, 180));
    assert!(rows.iter().all(|row| row["change"] != "fused"), "{rows:?}");
    let relu = rows.iter().find(|row| row["name"] == "aten::relu").expect("a row");
    assert_eq!((int(&relu["contribution_ns"]), &relu["significant"]), (120_000, &true.into()));
    assert!(rows.iter().any(|row| row["name"] == "my_range" && row["change"] == "new"));
}
