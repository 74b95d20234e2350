//! What holds for every comparison: contributions add up, the sides can be exchanged, and a trace equals itself.

use super::{diff, int, profile, rows};
use kinetoscope_core::runs::compare::Comparison;
use kinetoscope_core::runs::compare::profile::Profile;
use kinetoscope_core::trace::Trace;
use kinetoscope_tests::pairs::{Changed, Plan, generate};
use kinetoscope_tests::{files, generator};
use proptest::prelude::*;
use serde_json::Value;

/// Checks everything that holds for a pair.
pub(crate) fn check(base: &Profile, new: &Profile, what: &str) {
    let there = diff(base, new);
    check_totals(&there, what);
    check_order(&there, what);
    let back = diff(new, base);
    check_exchanged(&there, &back, what);
    for profile in [base, new] {
        let comparison = Comparison::new(profile, profile);
        let rows = rows(&comparison);
        assert!(rows.iter().all(|row| row["kind"] == "note"), "{what}: {rows:?}");
    }
}

/// The rows of each total add up to it, on both sides.
pub(crate) fn check_parts(rows: &[Value], what: &str) {
    for total in rows.iter().filter(|row| row["kind"] == "total") {
        let parts = || rows.iter().filter(|row| row["part_of"] == total["name"]);
        // Rows that are equal on both sides are left out, so only changes can be added up.
        let sum: i64 = parts().map(|row| int(&row["contribution_ns"])).sum();
        assert_eq!(sum, int(&total["contribution_ns"]), "{what}: {}", total["name"]);
        for row in parts() {
            assert_eq!(int(&row["b_ns"]) - int(&row["a_ns"]), int(&row["contribution_ns"]), "{what}");
        }
    }
}

/// The rows of each total add up to it, on both sides; and devices are busy or idle all the time.
pub(crate) fn check_totals(rows: &[Value], what: &str) {
    check_parts(rows, what);
    let total = |name: &str| rows.iter().find(|row| row["kind"] == "total" && row["name"] == name);
    if let (Some(wall), Some(busy), Some(idle)) = (total("wall"), total("device_busy"), total("device_idle"))
    {
        for side in ["a_ns", "b_ns"] {
            let devices = int(&busy[side]) + int(&idle[side]);
            let wall = int(&wall[side]);
            // With several devices, their times are those of all.
            assert!(
                devices == 0 || devices % wall.max(1) <= 8 || wall - devices % wall <= 8,
                "{what}: {devices} {wall}"
            );
        }
    }
}

/// Significant rows come first, and then those that cannot be decided. Of each, what runs is ordered by its contribution.
fn check_order(rows: &[Value], what: &str) {
    let rank = |row: &Value| match row["significant"].as_bool() {
        Some(true) => 0,
        None => 1,
        Some(false) => 2,
    };
    let rows: Vec<&Value> = rows.iter().filter(|row| row["kind"] != "note").collect();
    assert!(rows.is_sorted_by_key(|row| rank(row)), "{what}");
    let runs = |row: &&&Value| {
        let kind = row["kind"].as_str().expect("a kind");
        !["total", "phase", "wait", "step", "speed", "idle", "memory", "runtime"].contains(&kind)
    };
    let runs: Vec<&&Value> = rows.iter().filter(runs).collect();
    let size = |row: &Value| -int(&row["contribution_ns"]).abs();
    assert!(runs.is_sorted_by_key(|row| (rank(row), size(row))), "{what}");
}

/// A comparison of the sides in the other order has the same rows with the other sign.
pub(crate) fn check_exchanged(there: &[Value], back: &[Value], what: &str) {
    let mut back: Vec<Value> = back.iter().map(exchanged).collect();
    let mut there: Vec<Value> = there.iter().map(comparable).collect();
    let key = |row: &Value| row.to_string();
    there.sort_by_key(key);
    back.sort_by_key(key);
    assert_eq!(there.len(), back.len(), "{what}");
    for (there, back) in there.iter().zip(&back) {
        assert_eq!(there, back, "{what}");
    }
}

/// A row without what is in words.
fn comparable(row: &Value) -> Value {
    let mut row = row.clone();
    let object = row.as_object_mut().expect("an object");
    for key in ["name", "change", "message", "cause", "places", "factor"] {
        object.remove(key);
    }
    row
}

fn exchanged(row: &Value) -> Value {
    let mut out = comparable(row);
    for (left, right) in [
        ("a_ns", "b_ns"),
        ("count_a", "count_b"),
        ("call_a_ns", "call_b_ns"),
        ("sum_a_ns", "sum_b_ns"),
        ("a_bytes", "b_bytes"),
        ("steps_a", "steps_b"),
        ("aligned_a", "aligned_b"),
        ("names_a", "names_b"),
    ] {
        swap(&mut out, left, right);
    }
    swap(&mut out, "low_ns", "high_ns");
    for key in ["contribution_ns", "median_ns", "equal_speed_ns", "low_ns", "high_ns"] {
        if let Some(ns) = out[key].as_i64() {
            out[key] = (-ns).into();
        }
    }
    out
}

/// Exchanges two members, if rows of this kind have them.
fn swap(row: &mut Value, left: &str, right: &str) {
    if row.get(left).is_some() {
        (row[left], row[right]) = (row[right].clone(), row[left].clone());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn identities_hold_for_generated_pairs(
        changes in (0usize..9, 0usize..9),
        steps in (1usize..7, 1usize..7),
        noise in 0u64..20,
        seed in 0u64..1000,
    ) {
        let made = |changed: usize, steps, seed| {
            profile(generate(&Plan { changed: Changed::ALL[changed], steps, noise, seed }).as_bytes())
        };
        check(&made(changes.0, steps.0, seed), &made(changes.1, steps.1, seed + 1), "a generated pair");
    }

    #[test]
    fn identities_hold_for_random_traces(events in (50u64..3000, 50u64..3000), seeds in (0u64..100, 0u64..100)) {
        let made = |events, seed| {
            let mut text = Vec::new();
            generator::generate(&mut text, events, seed).expect("a trace");
            profile(&text)
        };
        check(&made(events.0, seeds.0), &made(events.1, seeds.1), "random traces");
    }
}

/// Each fixture is compared with the next one: most are of different programs.
#[test]
fn identities_hold_for_fixtures() {
    let mut last: Option<Profile> = None;
    let mut pairs = 0;
    for folder in ["healthy", "malformed"] {
        let mut paths: Vec<_> = files::data()
            .join(folder)
            .read_dir()
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        paths.sort();
        for path in paths {
            let Some(trace) = std::fs::read(&path).ok().and_then(|bytes| Trace::read(&bytes).ok()) else {
                continue;
            };
            let profile = Profile::from_trace(&trace, "a fixture");
            if let Some(last) = last.replace(profile.clone()) {
                check(&last, &profile, &path.display().to_string());
                pairs += 1;
            }
        }
    }
    assert!(pairs > 50, "{pairs} pairs");
}
