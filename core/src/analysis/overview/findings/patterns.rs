//! PyTorch's anti-patterns as findings, one for each pattern.

use super::{Basis, Finding, FindingCode};
use crate::analysis::torch::patterns::{Match, Pattern, REPORTED, Scene, find};
use crate::order::{descending, sort_by_key};
use crate::table::events::Row;
use crate::units::counted;
use alloc::format;
use alloc::vec::Vec;

/// The patterns that other findings are about, too: those are not repeated.
const SAME: [(&str, FindingCode); 2] = [
    ("Synchronized DataLoader Pattern", FindingCode::DataLoading),
    ("FP32 MatMul Pattern", FindingCode::NoTensorCores),
];

/// The patterns that say nothing about a program without a device, though PyTorch's matchers find them there.
const ON_DEVICES: [&str; 2] = ["FP32 MatMul Pattern", "Extra CUDA Copy Pattern"];

/// Adds the anti-patterns of a trace that was recorded with shapes or stacks. Without them, few can be detected.
pub(super) fn patterns(out: &mut Vec<Finding>, basis: &Basis<'_>) {
    let trace = basis.trace;
    let has = |key: &str| trace.table.metadata.flag(key) == Some(true);
    if !has("record_shapes") && !has("with_stack") {
        return;
    }
    let scene = Scene::new(trace);
    let found = find(&scene, REPORTED);
    for (at, &pattern) in REPORTED.iter().enumerate() {
        let own: Vec<&Match> = found.iter().filter(|one| one.pattern == at).collect();
        let is_known = |&(name, code): &(&str, FindingCode)| {
            name == pattern.name() && out.iter().any(|finding| finding.code == code)
        };
        let is_no_use = basis.devices.is_empty() && ON_DEVICES.contains(&pattern.name());
        if !own.is_empty() && !is_no_use && !SAME.iter().any(is_known) {
            out.push(finding(&scene, pattern, own, basis.wall_ns));
        }
    }
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
