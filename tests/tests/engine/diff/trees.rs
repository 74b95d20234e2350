//! The call tree of two traces: it adds up to the totals, and its sides can be exchanged.

use super::{int, profile};
use kinetoscope_core::analysis::query::options::Options;
use kinetoscope_core::queries::{Request, query};
use kinetoscope_core::runs::compare::Comparison;
use kinetoscope_core::runs::compare::profile::Profile;
use kinetoscope_tests::files;
use kinetoscope_tests::pairs::{Changed, DELAY, DELAYED, KERNEL, OPERATOR, Plan, generate, truth};
use serde_json::Value;

fn tree(base: &Profile, new: &Profile) -> Vec<Value> {
    let query = query("diff-tree").expect("a query");
    let comparison = Comparison::new(base, new);
    let rows = comparison.answer(query, Request::new(&Options::default())).expect("an answer").rows;
    (0..rows.rows.len()).map(|at| serde_json::from_str(&rows.json_row(at)).expect("JSON")).collect()
}

fn made(changed: Changed, seed: u64) -> Profile {
    profile(generate(&Plan { changed, steps: 6, noise: 3, seed }).as_bytes())
}

/// The time of a row with everything inside is its own time and the times of its children.
fn check_sums(rows: &[Value], what: &str) {
    for (at, row) in rows.iter().enumerate() {
        let depth = int(&row["depth"]);
        let inside = rows[at + 1..].iter().take_while(|below| int(&below["depth"]) > depth);
        let children: Vec<&Value> = inside.filter(|below| int(&below["depth"]) == depth + 1).collect();
        for side in ["a", "b"] {
            let sum = |key: &str| children.iter().map(|child| int(&child[key])).sum::<i64>();
            let total = |key: &str| int(&row[key]);
            let rest =
                total(&format!("{side}_ns")) - sum(&format!("{side}_ns")) - total(&format!("self_{side}_ns"));
            // Each is rounded down by less than 1 ns.
            assert!((0..=children.len() as i64 + 1).contains(&rest), "{what}: {row} {rest}");
            let device = total(&format!("device_{side}_ns")) - sum(&format!("device_{side}_ns"));
            let is_leaf = children.is_empty();
            assert!(is_leaf || device >= 0, "{what}: {row} {device}");
        }
    }
}

/// Returns each row with its path.
fn with_paths(rows: &[Value]) -> Vec<(Vec<String>, &Value)> {
    let mut path: Vec<String> = Vec::new();
    let mut all = Vec::new();
    for row in rows {
        path.truncate(int(&row["depth"]) as usize);
        path.push(row["name"].as_str().expect("a name").to_owned());
        all.push((path.clone(), row));
    }
    all
}

#[test]
fn times_add_up_to_the_totals() {
    for changed in Changed::ALL {
        let (base, new) = (made(Changed::Nothing, 1), made(changed, 2));
        let rows = tree(&base, &new);
        check_sums(&rows, &format!("{changed:?}"));
        let comparison = Comparison::new(&base, &new);
        let totals = super::rows(&comparison);
        let total = |name: &str| {
            totals.iter().find(|row| row["kind"] == "total" && row["name"] == name).expect("a total")
        };
        for (name, a, b) in [("wall", "a_ns", "b_ns"), ("device_busy", "device_a_ns", "device_b_ns")] {
            let rest = [(a, "a_ns"), (b, "b_ns")]
                .map(|(key, of)| (int(&rows[0][key]) - int(&total(name)[of])).abs());
            assert!(rest.iter().all(|&ns| ns <= 1), "{changed:?}: {name} {rest:?}");
        }
    }
}

#[test]
fn the_sides_can_be_exchanged() {
    let (base, new) = (made(Changed::CalledTwice, 1), made(Changed::HostDelay, 2));
    let there = tree(&base, &new);
    let back = tree(&new, &base);
    let sorted = |rows: &[Value], a: &str, b: &str| {
        let mut all: Vec<String> =
            with_paths(rows).iter().map(|(path, row)| format!("{path:?} {} {}", row[a], row[b])).collect();
        all.sort();
        all
    };
    assert_eq!(sorted(&there, "a_ns", "b_ns"), sorted(&back, "b_ns", "a_ns"));
    assert_eq!(sorted(&there, "device_a_ns", "device_b_ns"), sorted(&back, "device_b_ns", "device_a_ns"));
}

#[test]
fn a_change_is_at_its_place() {
    let plan = |changed| Plan { changed, steps: 6, noise: 0, seed: 1 };
    let exact = |changed| profile(generate(&plan(changed)).as_bytes());
    let rows = tree(&exact(Changed::Nothing), &exact(Changed::SlowKernel));
    let all = with_paths(&rows);
    let at = |path: &[&str]| all.iter().find(|place| place.0 == path).map(|place| place.1).expect("a place");
    let kernel = at(&["step", OPERATOR, KERNEL]);
    assert_eq!(int(&kernel["device_b_ns"]) - int(&kernel["device_a_ns"]), truth(Changed::SlowKernel));
    assert_eq!((&kernel["kind"], &kernel["significant"]), (&"kernel".into(), &true.into()));
    let rows = tree(&exact(Changed::Nothing), &exact(Changed::HostDelay));
    let all = with_paths(&rows);
    let delay = all.iter().find(|place| place.0 == ["step", DELAY]).expect("a place").1;
    assert_eq!((int(&delay["a_ns"]), int(&delay["b_ns"])), (0, DELAYED));
}

/// Places that are small on both sides are left out, never an ancestor of one that is shown.
#[test]
fn small_places_are_left_out() {
    let read = |name: &str| {
        profile(&files::read(&files::data().join(format!("pairs/{name}.json"))).expect("a trace"))
    };
    let comparison = Comparison::new(&read("base1"), &read("op_slow1"));
    let (all, large) = (comparison.tree(0.0).rows.len(), comparison.tree(0.05));
    assert!(large.rows.len() < all / 4, "{} of {all}", large.rows.len());
    let rows: Vec<Value> =
        (0..large.rows.len()).map(|at| serde_json::from_str(&large.json_row(at)).expect("JSON")).collect();
    let depths: Vec<i64> = rows.iter().map(|row| int(&row["depth"])).collect();
    assert!(depths.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{depths:?}");
    let totals = [int(&rows[0]["a_ns"]), int(&rows[0]["b_ns"])];
    let share = |row: &Value| {
        (int(&row["a_ns"]) as f64 / totals[0] as f64).max(int(&row["b_ns"]) as f64 / totals[1] as f64)
    };
    assert!(rows.iter().all(|row| share(row) >= 0.05));
}
