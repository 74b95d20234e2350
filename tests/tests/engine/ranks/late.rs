//! Late ranks of hand-made runs of two ranks: what the late one did more, and when nothing is known.

use super::{of_kind, rows, run_of};
use kinetoscope_tests::files;
use serde_json::{Value, json};
use std::path::PathBuf;

/// What a rank does in a step before its collective, in us.
#[derive(Clone, Copy)]
struct Step {
    loading: i64,
    /// The time in no span before the first operator.
    nothing: i64,
    /// Four operators.
    operators: [i64; 4],
    optimizer: i64,
}

const USUAL: Step = Step { loading: 60, nothing: 20, operators: [50; 4], optimizer: 40 };

impl Step {
    fn length(&self) -> i64 {
        self.loading + self.nothing + self.operators.iter().sum::<i64>() + self.optimizer
    }
}

/// The time from one step to the next, and of a collective after its last rank arrived, in us.
const PERIOD: i64 = 2_000;
const TRANSFER: i64 = 30;

/// Two ranks: the first one as usual, the second one as stated. Old traces have every span as an operator.
fn run(steps: &[Step], is_old: bool) -> Vec<Value> {
    let traces = (0..2).map(|rank| {
        let mut events = Vec::new();
        for (at, late) in (0..).zip(steps) {
            let step = if rank == 0 { &USUAL } else { late };
            add(&mut events, (at, step, late.length().max(USUAL.length())), is_old);
        }
        let text = json!({"distributedInfo": {"rank": rank, "world_size": 2}, "traceEvents": events});
        (format!("rank{rank}.json"), text.to_string().into_bytes())
    });
    rows(&run_of(traces))
}

fn add(events: &mut Vec<Value>, (number, step, arrived): (i64, &Step, i64), is_old: bool) {
    let (start, annotation) = (number * PERIOD, if is_old { "Operator" } else { "user_annotation" });
    let operator = if is_old { "Operator" } else { "cpu_op" };
    let mut span = |category: &str, name: &str, place: (i64, i64), from: i64, length: i64| {
        events.push(
            json!({"ph": "X", "cat": category, "name": name, "pid": place.0, "tid": place.1, "ts": from,
            "dur": length, "args": {}}),
        );
        from + length
    };
    span(annotation, &format!("ProfilerStep#{number}"), (100, 1), start, PERIOD);
    let mut at = span(
        annotation,
        "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
        (100, 1),
        start,
        step.loading,
    );
    at += step.nothing;
    for (name, length) in ["aten::mm", "aten::add", "aten::relu", "aten::sum"].into_iter().zip(step.operators)
    {
        at = span(operator, name, (100, 1), at, length);
    }
    let optimizer = at;
    span(annotation, "Optimizer.step#SGD.step", (100, 1), optimizer, step.optimizer);
    at = span(operator, "aten::_foreach_add_", (100, 1), optimizer, step.optimizer);
    let end = start + arrived + TRANSFER;
    let kernel = if is_old { "Kernel" } else { "kernel" };
    span(kernel, "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", (0, 7), at, end - at);
}

fn stragglers(rows: &[Value]) -> Vec<(i64, &str, &str)> {
    let text = |row: &'_ Value, key: &str| {
        row[key].as_str().map_or("", |text| Box::leak(text.to_owned().into_boxed_str()))
    };
    of_kind(rows, "straggler")
        .map(|row| (row["rank"].as_i64().expect("a rank"), text(row, "phase"), text(row, "message")))
        .collect()
}

fn notes(rows: &[Value]) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    of_kind(rows, "note").map(|row| (text(&row["code"]), text(&row["message"]))).collect()
}

#[test]
fn time_in_no_span_is_named_by_what_follows() {
    let found = run(&[Step { nothing: 320, ..USUAL }; 8], false);
    let message = "2.400ms more in no recorded span, before aten::mm";
    assert_eq!(stragglers(&found), [(1, "other", message)]);
}

#[test]
fn a_name_is_the_reason_only_if_it_explains_half_of_the_cost() {
    let slow = |operators: [i64; 4]| run(&[Step { operators, ..USUAL }; 8], false);
    assert_eq!(stragglers(&slow([350, 50, 50, 50])), [(1, "forward", "2.400ms more in aten::mm")]);
    let spread = slow([110, 130, 110, 110]);
    assert_eq!(stragglers(&spread), [(1, "forward", "cannot tell; at most 640.000us more in aten::add")]);
}

/// The data loader and the optimizer of old traces are operators. They are phases all the same.
#[test]
fn ranges_of_old_traces_are_phases() {
    for is_old in [true, false] {
        let found = run(&[Step { loading: 360, ..USUAL }; 8], is_old);
        let late = stragglers(&found);
        assert_eq!(late.iter().map(|late| (late.0, late.1)).collect::<Vec<_>>(), [(1, "data_loading")]);
        let rank = of_kind(&found, "rank").next().expect("a rank");
        // Device work without a call counts where the host does not.
        let phase = |key: &str| rank[key].as_i64().expect("a time") / 8_000;
        assert_eq!((phase("data_loading_ns"), phase("optimizer_ns")), (60, 40), "{rank}");
    }
}

/// The second rank is late in each step, and each time in another phase.
#[test]
fn a_rank_that_is_always_last_is_named_without_a_phase() {
    let late = [
        Step { loading: 160, ..USUAL },
        Step { nothing: 120, ..USUAL },
        Step { operators: [150, 50, 50, 50], ..USUAL },
        Step { optimizer: 140, ..USUAL },
    ];
    let found = run(&late.repeat(4), false);
    assert_eq!(stragglers(&found), []);
    let (code, message) = &notes(&found)[0];
    assert_eq!(code, "arrives_last");
    let expected =
        "rank 1 arrived last at 16 of 16 collectives, in all 1.600ms later than the median of the others";
    assert!(message.starts_with(expected), "{message}");
    // Each rank is last in turn.
    let in_turn: Vec<Step> =
        (0..16).map(|at| Step { loading: if at % 2 == 0 { 160 } else { 10 }, ..USUAL }).collect();
    let found = run(&in_turn, false);
    assert!(notes(&found).is_empty() && stragglers(&found).is_empty(), "{:?}", notes(&found));
}

#[test]
fn lateness_is_unknown_without_collectives_or_repetition() {
    let (code, message) = &notes(&run(&[Step { loading: 360, ..USUAL }], false))[0];
    assert_eq!(code, "lateness_unknown");
    assert!(message.contains("1 step and 1 matched collective"), "{message}");
    let alone = |rank: i64| {
        let event =
            json!({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": 5});
        let text = json!({"distributedInfo": {"rank": rank, "world_size": 2}, "traceEvents": [event]});
        (format!("rank{rank}.json"), text.to_string().into_bytes())
    };
    let (code, message) = notes(&rows(&run_of([alone(0), alone(1)]))).remove(0);
    assert_eq!(code, "lateness_unknown");
    assert!(message.contains("no collective"), "{message}");
}

/// Real ranks: computation is the same on all, and launches of ranks 0 and 6 come late.
#[test]
fn arrivals_of_a_real_run_name_the_ranks_that_come_last() {
    let Some(traces) = files::shared("traces", "a run of eight ranks") else { return };
    let path = |rank: usize| -> PathBuf {
        traces.join(format!("astra-sim/megatron-tp8/megatron_kineto_{rank}.json.gz"))
    };
    let trace = |rank| (format!("rank{rank}.json"), files::read(&path(rank)).expect("a trace"));
    let found = rows(&run_of((0..8).map(trace)));
    let late: Vec<String> =
        notes(&found).into_iter().filter(|note| note.0 == "arrives_last").map(|note| note.1).collect();
    assert_eq!(late.len(), 2, "{late:?}");
    assert!(late[0].starts_with("rank 0 arrived last at 32 of 84 collectives"), "{late:?}");
    assert!(late[1].starts_with("rank 6 arrived last at 25 of 84 collectives"), "{late:?}");
}
