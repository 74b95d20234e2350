//! The ranking of calls during which the queue ran empty, by idle and self time.

use super::call::{Call, Evaluation, Metrics};
use super::overlaps::Overlaps;
use crate::analysis::children::Children;
use crate::analysis::intervals::Interval;
use crate::analysis::torch::event_tree::EventNode;
use crate::base::order::{descending, float_key, sort_by_key};
use alloc::vec::Vec;

/// The minimum depth from which the queue has to fall.
pub const PEAK: usize = 4;

/// The weight of self time relative to idle time.
pub const SELF_WEIGHT: f32 = 0.6;

pub(super) fn rank(out: &Evaluation, calls: &[Call]) -> Vec<EventNode> {
    let falls = Overlaps::new(falls(&out.queue));
    let mut chosen = torch_order(calls);
    chosen.retain(|&call| falls.with(calls[call.index()].time) > 0);
    let values = |value: fn(&Metrics) -> f32| -> Vec<f32> {
        chosen.iter().map(|&call| value(&out.metrics[call.index()])).collect()
    };
    let idle = normalised(values(|m| m.fraction_idle() as f32));
    let self_times = normalised(values(|m| m.self_ns as f32));
    let scores: Vec<f32> =
        idle.iter().zip(&self_times).map(|(idle, self_time)| idle + SELF_WEIGHT * self_time).collect();
    let mut order: Vec<usize> = (0..chosen.len()).collect();
    sort_by_key(&mut order, |&at| (descending(float_key(f64::from(scores[at]))), 0));
    order.into_iter().map(|at| chosen[at]).collect()
}

/// Returns the order of calls with equal scores: depth first, siblings in reverse.
fn torch_order(calls: &[Call]) -> Vec<EventNode> {
    let parents: Vec<Option<EventNode>> = calls.iter().map(|call| call.parent).collect();
    let children = Children::new(&parents);
    let mut stack = children.roots().to_vec();
    let mut order = Vec::with_capacity(calls.len());
    while let Some(call) = stack.pop() {
        order.push(call);
        stack.extend(children.get(call));
    }
    order
}

/// Returns the distance of each value from the mean, in standard deviations.
fn normalised(mut values: Vec<f32>) -> Vec<f32> {
    let count = values.len() as f64;
    let mean = values.iter().map(|&v| f64::from(v)).sum::<f64>() / count;
    let squares: f64 = values.iter().map(|&v| (f64::from(v) - mean) * (f64::from(v) - mean)).sum();
    let deviation = libm::sqrt(squares / (count - 1.0)) as f32;
    for value in &mut values {
        *value = (*value - mean as f32) / deviation;
    }
    values
}

/// Returns the periods in which the queue fell from a peak to empty: from the peak to the first empty queue after it.
/// PyTorch searches backwards.
fn falls(queue: &[(Interval, usize)]) -> Vec<Interval> {
    let backwards: Vec<(i64, usize)> = queue.iter().rev().map(|q| (q.0.0, q.1)).collect();
    let mut falls = Vec::new();
    let mut at = 0;
    while at < backwards.len() {
        if backwards[at].1 > 0 {
            at += 1;
            continue;
        }
        let empty = at;
        let mut next = at + 1;
        // Runs between empty queues, until one has a peak.
        while next < backwards.len() {
            let end = backwards[next..].iter().position(|q| q.1 == 0).map_or(backwards.len(), |n| next + n);
            let deepest = backwards[next..end].iter().map(|q| q.1).max().unwrap_or(0);
            if deepest >= PEAK {
                let peak = next + backwards[next..end].iter().position(|q| q.1 == deepest).unwrap_or(0);
                falls.push((backwards[peak].0, backwards[empty].0));
                if end < backwards.len() {
                    at = end;
                }
                break;
            }
            next = end + 1;
        }
        if next >= backwards.len() {
            break;
        }
        at += 1;
    }
    falls
}
