//! Comparisons of runs of several ranks, from traces and from summaries.

use super::{int, rows};
use kinetoscope_core::runs::compare::Comparison;
use kinetoscope_core::runs::compare::profile::Profile;
use kinetoscope_core::runs::compare::query::DiffOptions;
use kinetoscope_core::runs::ranks::summary::Summary;
use kinetoscope_core::trace::Trace;
use kinetoscope_tests::files;
use kinetoscope_tests::runs::{Injected, Plan, generate};
use serde_json::Value;

/// The traces of a recorded run, if it is at hand.
fn recorded(name: &str) -> Option<Vec<Trace>> {
    let folder = files::shared(&format!("runs/{name}"), "a recorded run")?;
    let traces = (0..4).map(|rank| {
        let bytes = files::read(&folder.join(format!("rank{rank}.pt.trace.json"))).expect("a trace");
        Trace::read(&bytes).expect("a trace")
    });
    Some(traces.collect())
}

fn generated(injected: Option<(usize, Injected)>, seed: u64) -> Vec<Trace> {
    let run = generate(&Plan { injected, steps: 8, ..Plan::from_seed(seed) });
    run.traces.iter().map(|text| Trace::read(text.as_bytes()).expect("a trace")).collect()
}

pub(super) fn ranks(traces: &[Trace]) -> Vec<Profile> {
    let named = |(rank, trace): (usize, &Trace)| Profile::from_rank(trace, &format!("rank{rank}.json"));
    traces.iter().enumerate().map(named).collect()
}

fn summaries(traces: &[Trace]) -> Vec<Profile> {
    let named = |(rank, trace): (usize, &Trace)| {
        Profile::from_summary(Summary::from_trace(trace, &format!("rank{rank}.json")))
    };
    traces.iter().enumerate().map(named).collect()
}

pub(super) fn compared(base: &[Profile], new: &[Profile]) -> Vec<Value> {
    rows(&Comparison::between_runs(base, new).expect("a comparison"))
}

fn wait(rows: &[Value]) -> &Value {
    rows.iter().find(|row| row["kind"] == "wait").expect("a row of the waits")
}

/// The traces of a recorded run of the repository.
pub(super) fn committed(name: &str) -> Vec<Trace> {
    let read = |rank| {
        let path = files::data().join(format!("runs/{name}/rank{rank}.json"));
        Trace::read(&files::read(&path).expect("a trace")).expect("a trace")
    };
    (0..4).map(read).collect()
}

#[test]
fn a_recorded_late_rank_is_named() {
    let rows = compared(&ranks(&committed("plain")), &ranks(&committed("slow_forward")));
    let wait = wait(&rows);
    let message = wait["message"].as_str().expect("a message");
    assert_eq!(message, "rank 2 is late in the phase forward");
    assert_eq!(
        compared(&ranks(&committed("slow_forward")), &ranks(&committed("slow_forward"))),
        Vec::<Value>::new()
    );
}

/// A rank sleeps 40 ms a step in its forward pass, and the other three wait for it.
#[test]
fn the_late_rank_is_the_cause_of_the_waits_of_the_others() {
    let (Some(base), Some(slow)) = (recorded("a1_plain"), recorded("c_slow_forward")) else { return };
    let rows = compared(&ranks(&base), &ranks(&slow));
    let wait = wait(&rows);
    assert_eq!((&wait["significant"], &wait["change"]), (&true.into(), &"more".into()), "{wait}");
    assert_eq!(wait["message"], "rank 2 is late in the phase forward");
    // Three ranks of four wait 40 ms in at least one of the collectives of a step.
    assert!(int(&wait["contribution_ns"]) > 30_000_000, "{wait}");
    let first = rows.iter().find(|row| row["part_of"] == "wall").expect("a part");
    assert_eq!(first["name"], "(outside of spans, collective in flight)");
    assert_eq!(first["cause"], "waiting");
    assert!(first["message"].as_str().is_some_and(|text| text.contains("rank 2 is late")), "{first}");
    let sleep = rows.iter().find(|row| row["name"] == "slow_forward").expect("the range of the sleep");
    // 40.15 ms on one of four ranks.
    assert!((int(&sleep["sum_b_ns"]) as f64 / 8.0 / 40_150_000.0 - 1.0).abs() < 0.05, "{sleep}");
}

#[test]
fn runs_without_a_change_are_silent() {
    let recorded_pair = recorded("a1_plain").zip(recorded("a2_plain"));
    let pairs = recorded_pair
        .into_iter()
        .chain((0..10).map(|seed| (generated(None, seed), generated(None, 100 + seed))));
    for (base, again) in pairs {
        for rows in [compared(&ranks(&base), &ranks(&again)), compared(&summaries(&base), &summaries(&again))]
        {
            let significant = rows.iter().find(|row| row["significant"] == true);
            assert_eq!(significant, None);
        }
    }
}

/// The others wait in kernels of NCCL.
#[test]
fn collectives_of_devices_wait_for_the_slow_rank() {
    let rows = compared(&ranks(&generated(None, 1)), &ranks(&generated(Some((2, Injected::Forward)), 1)));
    let wait = wait(&rows);
    assert_eq!(wait["significant"], true, "{wait}");
    assert!(
        wait["message"].as_str().is_some_and(|text| text.contains("rank 2 is late in the phase forward")),
        "{wait}"
    );
    let collective = rows.iter().find(|row| row["kind"] == "collective" && row["significant"] == true);
    let collective = collective.expect("a collective that takes longer");
    assert_eq!(collective["cause"], "waiting", "{collective}");
    assert!(collective["message"].as_str().is_some_and(|text| text.contains("rank 2")), "{collective}");
}

/// Each rank is late in a quarter of the steps.
#[test]
fn no_rank_is_named_if_all_are_late_in_turn() {
    let rows = compared(&ranks(&committed("plain")), &ranks(&committed("alternating")));
    let message = wait(&rows)["message"].as_str().expect("a message");
    assert_eq!(message, "ranks 0-3 are late, none of them most of the time");
}

/// Two files of each rank: one recording after the other.
#[test]
fn recordings_of_a_rank_follow_one_another() {
    let twice = |first, second| [ranks(&generated(None, first)), ranks(&generated(None, second))].concat();
    let (base, new) = (twice(1, 2), twice(3, 4));
    let rows = compared(&base, &new);
    let steps = |rows: &[Value]| {
        let total = rows.iter().find(|row| row["kind"] == "total" && row["name"] == "wall").expect("a total");
        (int(&total["steps_a"]), int(&total["steps_b"]))
    };
    assert_eq!(steps(&rows), (16, 16));
    let page = Comparison::between_runs(&base, &new)
        .expect("a comparison")
        .page(&DiffOptions::default())
        .to_text(None);
    assert!(page.starts_with("A: 4 ranks with 8 recordings (16 steps)\n"), "{page}");
    let rows = compared(&base, &ranks(&generated(None, 3)));
    assert_eq!(steps(&rows), (8, 8));
    let notes: Vec<&Value> =
        rows.iter().filter(|row| row["kind"] == "note").map(|row| &row["message"]).collect();
    let note = "the first run has more recordings of ranks 0-3 than the other; they are not compared";
    assert!(notes.iter().any(|message| **message == note), "{notes:?}");
}

#[test]
fn the_sides_of_runs_can_be_exchanged() {
    let (base, slow) = (ranks(&generated(None, 3)), ranks(&generated(Some((1, Injected::Backward)), 4)));
    let (there, back) = (compared(&base, &slow), compared(&slow, &base));
    super::identities::check_exchanged(&there, &back, "runs");
    super::identities::check_totals(&there, "runs");
}

/// Summaries have the phases of each step, so that the phases and the waits are those of the traces.
#[test]
fn summaries_have_the_phases_and_waits_of_their_traces() {
    let (base, slow) = (generated(None, 5), generated(Some((3, Injected::DataLoading)), 5));
    let of_traces = compared(&ranks(&base), &ranks(&slow));
    let of_summaries = compared(&summaries(&base), &summaries(&slow));
    let is_phase = |row: &&Value| ["phase", "wait"].iter().any(|kind| row["kind"] == *kind);
    let phases = |rows: &[Value]| -> Vec<Value> {
        let columns = ["kind", "name", "significant", "contribution_ns", "a_ns", "b_ns", "message"];
        let mut phases: Vec<Value> =
            rows.iter().filter(is_phase).map(|row| columns.map(|key| row[key].clone()).into()).collect();
        phases.sort_by_key(Value::to_string);
        phases
    };
    let names: Vec<Value> = phases(&of_traces).iter().map(|phase| phase[1].clone()).collect();
    assert_eq!(names, ["communication", "data_loading", "other", "waiting for other ranks"]);
    assert_eq!(phases(&of_traces), phases(&of_summaries));
    super::identities::check_parts(&of_summaries, "summaries");
    let wall = |rows: &[Value]| {
        rows.iter()
            .find(|row| row["kind"] == "total" && row["name"] == "wall")
            .map(|row| row["contribution_ns"].clone())
    };
    assert_eq!(wall(&of_traces), wall(&of_summaries));
    // The times of names are sums, of which noise and change cannot be distinguished.
    let operator = of_summaries.iter().find(|row| row["kind"] == "operator").expect("an operator");
    assert_eq!((&operator["significant"], &operator["part_of"]), (&Value::Null, &Value::Null));
}

#[test]
fn a_summary_is_not_compared_with_a_trace() {
    let traces = generated(None, 6);
    let error = Comparison::between_runs(&ranks(&traces), &summaries(&traces)).expect_err("an error");
    assert_eq!(
        error.to_string(),
        "summaries are compared with summaries: there is one of rank0.json, and the trace rank0.json"
    );
}

#[test]
fn profiles_of_ranks_and_of_summaries_read_back_equal() {
    let traces = generated(None, 7);
    for profiles in [ranks(&traces), summaries(&traces)] {
        let again: Vec<Profile> = profiles
            .iter()
            .map(|profile| Profile::from_bytes(&profile.to_bytes()).expect("a profile"))
            .collect();
        let other = ranks(&generated(Some((0, Injected::Forward)), 8));
        if !profiles[0].is_summary() {
            assert_eq!(compared(&profiles, &other), compared(&again, &other));
        }
        assert_eq!(compared(&profiles, &again).len(), compared(&profiles, &profiles).len());
    }
}
