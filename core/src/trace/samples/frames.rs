//! Frames of call stacks: names with their callers.

use super::NONE;
use crate::base::index::Index;
use crate::base::names::{NameId, Names};
use alloc::vec::Vec;

#[derive(Clone, Debug)]
struct Frame {
    name: NameId,
    caller: u32,
}

/// The frames of all stacks of a trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames {
    names: Names,
    list: Vec<Frame>,
    /// The frames of [`Frames::called`], by caller plus 1 and name.
    known: Index,
}

impl Frames {
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn get(&self, frame: u32) -> (&str, u32) {
        let Frame { name, caller } = &self.list[frame as usize];
        (self.names.get(*name), *caller)
    }

    /// Adds a frame whose caller is set later.
    pub(super) fn add(&mut self, name: &str) -> u32 {
        self.list.push(Frame { name: self.names.intern(name), caller: NONE });
        self.list.len() as u32 - 1
    }

    pub(super) fn set_caller(&mut self, frame: u32, caller: u32) {
        self.list[frame as usize].caller = caller;
    }

    /// The frame with this name below its caller, or below none.
    pub(super) fn called(&mut self, caller: u32, name: &str) -> u32 {
        let name = self.names.intern(name);
        let next = self.list.len() as u32;
        let key = (i64::from(caller.wrapping_add(1)), i64::from(name.0));
        let frame = self.known.get_or_insert(key, next);
        if frame == next {
            self.list.push(Frame { name, caller });
        }
        frame
    }

    /// Cuts each cycle of callers at one of its frames. Returns their number.
    pub(super) fn cut_cycles(&mut self) -> u64 {
        let mut cut = 0;
        // The walk that reached each frame.
        let mut reached = alloc::vec![NONE; self.list.len()];
        for start in 0..self.list.len() as u32 {
            let mut at = start;
            while at != NONE && reached[at as usize] == NONE {
                reached[at as usize] = start;
                let caller = self.list[at as usize].caller;
                if caller != NONE && reached[caller as usize] == start {
                    self.list[at as usize].caller = NONE;
                    cut += 1;
                    break;
                }
                at = caller;
            }
        }
        cut
    }
}
