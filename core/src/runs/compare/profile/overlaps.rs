//! Lanes of one thread whose spans overlap, as asynchronous spans do: each instant belongs to the first lane that is in a
//! span.

use crate::analysis::intervals::Interval;
use crate::base::order::sort_by_key;
use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// A period with the place that it belongs to.
pub(super) type Segment = (Interval, u32);

/// Returns disjoint segments in order of time, from those of each lane with the number of the lane.
pub(super) fn first_lanes(mut segments: Vec<(Segment, u32)>) -> Vec<Segment> {
    sort_by_key(&mut segments, |&((time, _), lane)| (time.0, i64::from(lane)));
    let mut open: BinaryHeap<Reverse<(i64, u32)>> = BinaryHeap::new();
    let mut all: Vec<Segment> = Vec::with_capacity(segments.len());
    let (mut next, mut now) = (0, i64::MIN);
    loop {
        while let Some(&((time, _), lane)) = segments.get(next).filter(|segment| segment.0.0.0 <= now) {
            if time.1 > now {
                open.push(Reverse((i64::from(lane), next as u32)));
            }
            next += 1;
        }
        let start = segments.get(next).map_or(i64::MAX, |segment| segment.0.0.0);
        let Some(&Reverse((_, top))) = open.peek() else {
            if next == segments.len() {
                return all;
            }
            now = start;
            continue;
        };
        let ((time, node), _) = segments[top as usize];
        if time.1 <= now {
            open.pop();
            continue;
        }
        let until = time.1.min(start);
        match all.last_mut().filter(|last| last.1 == node && last.0.1 == now) {
            Some(last) => last.0.1 = until,
            None => all.push(((now, until), node)),
        }
        now = until;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_belongs_to_the_first_lane_that_is_in_a_span() {
        let lanes = [((0, 10), 7, 0), ((20, 30), 7, 0), ((5, 15), 8, 1), ((40, 50), 9, 1), ((0, 60), 6, 2)];
        let segments = lanes.map(|(time, node, lane)| ((time, node), lane));
        let expected = [
            ((0, 10), 7),
            ((10, 15), 8),
            ((15, 20), 6),
            ((20, 30), 7),
            ((30, 40), 6),
            ((40, 50), 9),
            ((50, 60), 6),
        ];
        assert_eq!(first_lanes(segments.into()), expected);
    }
}
