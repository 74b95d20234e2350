//! Generated runs, whose truth is known exactly.

use super::{of_kind, rows, run_of};
use kinetoscope_tests::runs::{self, Injected, Plan, START};
use serde_json::Value;

/// The number of seeds.
const SEEDS: u64 = 100;

fn answer(plan: &Plan) -> (runs::Run, Vec<Value>) {
    let run = runs::generate(plan);
    let traces = run.traces.iter().enumerate();
    let named = traces.map(|(rank, text)| (format!("rank{rank}.json"), text.clone().into_bytes()));
    let rows = rows(&run_of(named));
    (run, rows)
}

/// A plan that varies with the seed: groups, sequence numbers and missing calls.
fn varied(seed: u64) -> Plan {
    Plan {
        pairs: seed.is_multiple_of(2),
        numbered: !seed.is_multiple_of(3),
        missing: if seed.is_multiple_of(5) { 4 } else { 0 },
        ranks: if seed.is_multiple_of(7) { 8 } else { 4 },
        ..Plan::from_seed(seed)
    }
}

#[test]
fn offsets_are_within_their_errors() {
    let mut wrong = Vec::new();
    for seed in 0..SEEDS {
        let (run, rows) = answer(&Plan { shifted: true, ..varied(seed) });
        let clocks: Vec<&Value> = of_kind(&rows, "clock").collect();
        assert_eq!(clocks.len(), run.clocks.len());
        let misses = clocks.iter().filter_map(|clock| miss(clock, &run));
        wrong.extend(misses.take(1).map(|miss| (seed, miss)));
    }
    assert!(wrong.len() as u64 * 100 <= SEEDS, "{} seeds: {wrong:?}", wrong.len());
}

/// By how much an offset misses the truth, with its error, if that is more than its error.
fn miss(clock: &Value, run: &runs::Run) -> Option<(i64, Option<i64>)> {
    let (offset, drift) = run.clocks[clock["rank"].as_u64().expect("a rank") as usize];
    let Some(found) = clock["offset_ns"].as_i64() else { return Some((0, None)) };
    // The offset is that at a time of the rank's own clock.
    let at = clock["at_ns"].as_i64().expect("a time") - found;
    let exact = offset + (drift * (at - START) as f64) as i64;
    let error = clock["error_ns"].as_i64().expect("an error");
    ((found - exact).abs() > error).then_some((found - exact, Some(error)))
}

#[test]
fn the_culprit_and_its_phase_come_first() {
    let mut wrong = Vec::new();
    for seed in 0..SEEDS {
        let (injected, phase) = [
            (Injected::DataLoading, "data_loading"),
            (Injected::Forward, "forward"),
            (Injected::Backward, "backward"),
        ][(seed % 3) as usize];
        let plan = Plan { per_node: 2, ..varied(seed / 3) };
        let culprit = (seed as usize * 7) % plan.ranks;
        let (_, rows) =
            answer(&Plan { injected: Some((culprit, injected)), shifted: seed.is_multiple_of(4), ..plan });
        let first = of_kind(&rows, "straggler").next();
        // One of the two ranks of its machine.
        let names_node = of_kind(&rows, "slow_node").next().is_some();
        if names_node || first.is_none_or(|row| row["rank"] != culprit || row["phase"] != phase) {
            wrong.push((seed, culprit, phase, first.cloned()));
        }
    }
    assert!(wrong.len() as u64 * 20 <= SEEDS, "{} seeds: {wrong:?}", wrong.len());
}

/// With two machines, half of all ranks are late, so none of them is an exception.
#[test]
fn a_slow_node_comes_first() {
    let mut wrong = Vec::new();
    for seed in 0..SEEDS {
        let nodes = 2 + seed as usize % 3;
        let plan = Plan { ranks: 4 * nodes, per_node: 4, ..Plan::from_seed(seed) };
        let slow = seed as usize % nodes;
        let (_, rows) = answer(&Plan { injected: Some((4 * slow, Injected::Node)), ..plan });
        let named: Vec<&Value> = of_kind(&rows, "slow_node").collect();
        let ranks: Vec<usize> = (4 * slow..4 * slow + 4).collect();
        let is_right = |row: &Value| {
            row["host"] == format!("node{slow}")
                && row["phase"] == "forward"
                && row["ranks"] == serde_json::json!(ranks)
        };
        if named.len() != 1 || !is_right(named[0]) {
            wrong.push((seed, slow, named.into_iter().cloned().collect::<Vec<_>>()));
        }
    }
    assert!(wrong.len() as u64 * 20 <= SEEDS, "{} seeds: {wrong:?}", wrong.len());
}

#[test]
fn a_slow_link_comes_first() {
    let mut wrong = Vec::new();
    for seed in 0..SEEDS {
        let culprit = 2 * (seed as usize % 4);
        let plan = Plan { pairs: true, ranks: 8, steps: 4, ..Plan::from_seed(seed) };
        let (_, rows) = answer(&Plan { injected: Some((culprit, Injected::SlowLink)), ..plan });
        let first = of_kind(&rows, "slow_link").next();
        if first.is_none_or(|row| row["ranks"] != serde_json::json!([culprit, culprit + 1])) {
            wrong.push((seed, culprit, first.cloned()));
        }
    }
    assert!(wrong.len() as u64 * 20 <= SEEDS, "{} seeds: {wrong:?}", wrong.len());
}

#[test]
fn no_rank_is_named_when_nothing_is_injected() {
    for seed in 0..SEEDS {
        let (_, rows) = answer(&Plan { shifted: seed.is_multiple_of(2), per_node: 2, ..varied(seed) });
        let kinds = ["straggler", "slow_node", "slow_link"];
        let named: Vec<&Value> = kinds.iter().flat_map(|kind| of_kind(&rows, kind)).collect();
        assert!(named.is_empty(), "seed {seed}: {named:?}");
    }
}
