//! PyTorch's anti-patterns as findings, one for each pattern.

use super::savings::sort;
use super::{Finding, FindingCode};
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
    ("FP32 MatMul Pattern", FindingCode::NoTensorCores),
];

/// The patterns that say nothing about a program without a device, though PyTorch's matchers find them there.
const ON_DEVICES: [&str; 2] = ["FP32 MatMul Pattern", "Extra CUDA Copy Pattern"];

/// Returns the anti-patterns of a trace that was recorded with shapes or stacks. Without them, few can be detected.
pub(crate) fn anti_patterns(trace: &Trace, has_device: bool, wall_ns: i64) -> Vec<Finding> {
    let has = |key: &str| trace.table.metadata.flag(key) == Some(true);
    if !has("record_shapes") && !has("with_stack") {
        return Vec::new();
    }
    let scene = Scene::new(trace);
    let found = find(&scene, REPORTED);
    let of = |(at, &pattern): (usize, &&dyn Pattern)| {
        let own: Vec<&Match> = found.iter().filter(|one| one.pattern == at).collect();
        let is_no_use = !has_device && ON_DEVICES.contains(&pattern.name());
        (!own.is_empty() && !is_no_use).then(|| finding(&scene, pattern, own, wall_ns))
    };
    REPORTED.iter().enumerate().filter_map(of).collect()
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

fn finding(scene: &Scene<'_>, pattern: &dyn Pattern, mut own: Vec<&Match>, wall_ns: i64) -> Finding {
    let cost = |one: &Match| one.saving_ns.unwrap_or(one.cpu_ns);
    sort_by_key(&mut own, |one| (descending(cost(one)), i64::from(scene.row(one.node))));
    let sum = own.iter().fold(0i64, |sum, one| sum.saturating_add(cost(one)));
    let longest: Vec<Row> = own.iter().take(3).map(|one| scene.row(one.node)).collect();
    let message = format!("{} matches {}", pattern.name(), counted(own.len(), "event"));
    let finding = Finding::new(FindingCode::AntiPattern, sum.min(wall_ns), message, pattern.description());
    finding.shown_by("patterns", longest)
}
