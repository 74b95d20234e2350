//! Links and pairs of random legal traces, compared with twins that follow the definitions without any index.
//!
//! The traces have what merged and unusual traces have: ids that repeat in and between processes, ids of every kind, every phase of
//! the format, and times in any order.

mod launches;
mod made;
mod pairs;

use kinetoscope_core::base::diagnostics::Code;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::events::Row;
use made::{Random, made};
use std::collections::BTreeMap;

const TRACES: u64 = 10_000;

fn sorted(pairs: &[(Row, Row)]) -> Vec<(usize, usize)> {
    let mut pairs: Vec<(usize, usize)> = pairs.iter().map(|p| (p.0.index(), p.1.index())).collect();
    pairs.sort_unstable();
    pairs
}

#[test]
fn links_and_pairs_are_those_of_the_definitions() {
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in 0..TRACES {
        let events = made(&mut Random(seed));
        let text = serde_json::json!({"schemaVersion": 1, "traceEvents": events}).to_string();
        let trace = Trace::read(text.as_bytes()).expect("a trace");
        let context = || format!("trace {seed}: {text}");
        let launches = launches::launches(&events);
        assert_eq!(sorted(&trace.links.launch_of), launches.chosen, "{}", context());
        let (operators, of_work) = (launches::operators(&events), launches::operators_of_work(&events));
        let of_call = launches.chosen.iter().filter_map(|(work, call)| Some((*work, *operators.get(call)?)));
        let guessed = of_call.clone().filter(|(_, op)| op.1).count() as u64;
        let undecided = launches.undecided + of_work.undecided + guessed;
        assert_eq!(trace.diagnostics.count(Code::AmbiguousLink), undecided, "{}", context());
        let known = of_call.map(|(work, op)| (work, op.0)).chain(of_work.chosen.iter().copied());
        for (work, op) in known.clone() {
            let found = trace.links.op(Row::new(work)).map(Row::index);
            assert_eq!(found, Some(op), "operator of {work}, {}", context());
        }
        let asyncs = pairs::asyncs(&events);
        assert_eq!(sorted(&trace.pairs.asyncs), asyncs.pairs, "{}", context());
        assert_eq!(trace.diagnostics.count(Code::AmbiguousAsync), asyncs.ambiguous, "{}", context());
        assert_eq!(trace.diagnostics.count(Code::UnmatchedAsync), asyncs.unmatched, "{}", context());
        let flows = pairs::flows(&events);
        assert_eq!(sorted(&trace.pairs.flows), flows.pairs, "{}", context());
        assert_eq!(trace.diagnostics.count(Code::UnmatchedFlow), flows.unmatched, "{}", context());
        assert_eq!(sorted(&trace.pairs.spans), pairs::spans(&events), "{}", context());
        for (kind, count) in [
            ("launches", launches.chosen.len() as u64),
            ("undecided launches", undecided),
            ("operators", known.count() as u64),
            ("asyncs", asyncs.pairs.len() as u64),
            ("ambiguous asyncs", asyncs.ambiguous),
            ("flows", flows.pairs.len() as u64),
            ("unmatched flows", flows.unmatched),
        ] {
            *seen.entry(kind).or_default() += count;
        }
    }
    assert!(seen.values().all(|&count| count > TRACES / 10), "too few of a kind: {seen:?}");
}
