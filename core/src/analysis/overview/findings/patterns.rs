//! PyTorch's anti-patterns as findings, one for each pattern.

use super::savings::sort;
use super::{Finding, FindingCode, SHOWN};
use crate::analysis::torch::patterns::{Match, Pattern, REPORTED, Scene, find};
use crate::base::order::{descending, sort_by_key};
use crate::base::units::counted;
use crate::trace::Trace;
use crate::trace::table::events::Row;
use alloc::format;
use alloc::vec::Vec;

/// The patterns that other findings are about, too: those are not repeated.
const SAME: [(&str, FindingCode); 2] = [
    ("Synchronized DataLoader Pattern", FindingCode::DataLoading),
    ("Optimizer Single Tensor Pattern", FindingCode::UnfusedOptimizer),
];

/// The patterns that other findings decide by more evidence, such as the names and the data types of kernels.
const DECIDED: [&str; 2] = ["FP32 MatMul Pattern", "Matrix Multiplication Dimension Not Aligned Pattern"];

/// The patterns that say nothing about a program without a device, though PyTorch's matchers find them there.
const ON_DEVICES: [&str; 1] = ["Extra CUDA Copy Pattern"];

/// The share of the wall time from which on the events of a pattern are a finding.
const LEAST: f64 = 0.01;

/// Returns the anti-patterns of a trace that was recorded with shapes or stacks. Without them, few can be detected.
pub(crate) fn anti_patterns(trace: &Trace, has_device: bool, wall_ns: i64) -> Vec<Finding> {
    let has = |key: &str| trace.table.metadata.flag(key) == Some(true);
    if !has("record_shapes") && !has("with_stack") {
        return Vec::new();
    }
    let scene = Scene::new(trace);
    let found = find(&scene, REPORTED);
    let of = |(at, &pattern): (usize, &&dyn Pattern)| {
        let matches: Vec<&Match> = found.iter().filter(|matched| matched.pattern == at).collect();
        let is_no_use = !has_device && ON_DEVICES.contains(&pattern.name());
        let is_decided = DECIDED.contains(&pattern.name());
        let is_used = !matches.is_empty() && !is_no_use && !is_decided;
        is_used.then(|| finding(&scene, pattern, matches, wall_ns))
    };
    let findings = REPORTED.iter().enumerate().filter_map(of);
    findings.filter(|finding| finding.cost_ns as f64 >= LEAST * wall_ns as f64).collect()
}

/// Adds anti-patterns to other findings, except those that another one is about.
pub(crate) fn with_patterns(mut findings: Vec<Finding>, patterns: Vec<Finding>) -> Vec<Finding> {
    let known: Vec<FindingCode> = findings.iter().map(|finding| finding.code).collect();
    let is_known = |pattern: &Finding| {
        SAME.iter().any(|(name, code)| pattern.message.starts_with(name) && known.contains(code))
    };
    findings.extend(patterns.into_iter().filter(|pattern| !is_known(pattern)));
    sort(&mut findings);
    findings
}

fn finding(scene: &Scene<'_>, pattern: &dyn Pattern, mut matches: Vec<&Match>, wall_ns: i64) -> Finding {
    let cost = |matched: &Match| matched.saving_ns.unwrap_or(matched.cpu_ns);
    sort_by_key(&mut matches, |matched| (descending(cost(matched)), i64::from(scene.row(matched.node))));
    let sum = matches.iter().fold(0i64, |sum, matched| sum.saturating_add(cost(matched)));
    let longest: Vec<Row> = matches.iter().take(SHOWN).map(|matched| scene.row(matched.node)).collect();
    let message = format!("{} matches {}", pattern.name(), counted(matches.len(), "event"));
    let finding = Finding::new(FindingCode::AntiPattern, sum.min(wall_ns), message, pattern.description());
    finding.shown_by("patterns", longest)
}
