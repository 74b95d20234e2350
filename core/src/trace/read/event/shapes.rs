//! The shapes of events: the texts between the values of an event, as a trie that all events share.
//!
//! A writer formats its events alike. Everything from the end of one value to the start of the next is therefore compared
//! as a whole with what followed before: punctuation, white space, the key, and also phase, category and track with
//! their values. Only the values between are parsed.
//!
//! Invariant: where the text of a step matches, [`parse_gap`](super::EventReader::parse_gap) would find the same
//! [`Gap`]. That depends on nothing but the text, the first byte of the value, and the steps before it.

use super::gap::Gap;
use crate::base::names::NameId;
use crate::trace::table::layout::{FieldType, NodeId};
use alloc::vec::Vec;

/// The index of a step in its [`Shapes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StepId(u32);

/// No step.
const NONE: StepId = StepId(u32::MAX);

impl StepId {
    /// The start of an event, after its bracket.
    pub(super) const START: StepId = StepId(0);

    /// The step for text that is not kept.
    const OTHER: StepId = StepId(1);
}

/// A text between two values, after those before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Separator {
    pub(super) gap: Gap,
    /// The last field that followed: the node before it, its type, the node after it.
    pub(super) edge: Option<(NodeId, FieldType, NodeId)>,
    /// The last array or object that followed.
    pub(super) last: Option<NameId>,
    /// The text in `texts`.
    start: u32,
    length: u32,
    /// The alternatives that follow. The one that was found last comes first.
    first: StepId,
    alternatives: u8,
    /// The next alternative to this step.
    next: StepId,
}

impl Separator {
    /// Whether the ids of tracks are part of the texts that follow. They are not once there are many.
    pub(super) fn joins_ids(&self) -> bool {
        self.alternatives < MOST_TRACKS
    }
}

/// The steps of all events.
#[derive(Clone, Debug)]
pub(super) struct Shapes {
    steps: Vec<Separator>,
    texts: Vec<u8>,
}

/// The longest text of a step, in bytes.
const LONGEST: usize = 256;

/// The largest number of steps. Events of a program differ in fewer ways; those of a hostile file may not.
const MOST_STEPS: usize = 4096;

/// The largest number of alternatives, which are compared one after the other.
const MOST_ALTERNATIVES: u8 = 24;

/// The number of alternatives with the ids of a track.
const MOST_TRACKS: u8 = 12;

impl Default for Shapes {
    fn default() -> Self {
        let mut shapes = Shapes { steps: Vec::new(), texts: Vec::new() };
        for _ in [StepId::START, StepId::OTHER] {
            shapes.push(b"", Gap::default());
        }
        shapes.steps[StepId::OTHER.0 as usize].alternatives = MOST_ALTERNATIVES;
        shapes
    }
}

impl Shapes {
    pub(super) fn get(&self, id: StepId) -> &Separator {
        &self.steps[id.0 as usize]
    }

    pub(super) fn get_mut(&mut self, id: StepId) -> &mut Separator {
        &mut self.steps[id.0 as usize]
    }

    /// Returns the step after `from` whose text begins at `at`, with the position of its value.
    #[inline]
    pub(super) fn follow(&mut self, from: StepId, buf: &[u8], at: usize) -> Option<(StepId, usize)> {
        let first = self.get(from).first;
        match self.end(self.steps.get(first.0 as usize)?, buf, at) {
            Some(value) => Some((first, value)),
            None => self.follow_other(from, buf, at),
        }
    }

    /// Searches the alternatives after the first. The one that is found becomes the first.
    #[inline(never)]
    fn follow_other(&mut self, from: StepId, buf: &[u8], at: usize) -> Option<(StepId, usize)> {
        let first = self.get(from).first;
        let mut before = first;
        loop {
            let id = self.get(before).next;
            let step = self.steps.get(id.0 as usize)?;
            if let Some(value) = self.end(step, buf, at) {
                self.get_mut(before).next = step.next;
                self.get_mut(id).next = first;
                self.get_mut(from).first = id;
                return Some((id, value));
            }
            before = id;
        }
    }

    /// The position of the value after the text of a step, if `buf` has the text at `at`.
    #[inline]
    fn end(&self, step: &Separator, buf: &[u8], at: usize) -> Option<usize> {
        let text = self.texts.get(step.start as usize..)?.get(..step.length as usize)?;
        let value = at + text.len();
        (is_same(buf.get(at..value)?, text) && step.gap.slot.begins(buf, value)).then_some(value)
    }

    /// Adds a step after `from`. If it is not kept, it lasts until the next one is added.
    #[cold]
    pub(super) fn add(&mut self, from: StepId, text: &[u8], gap: Gap) -> StepId {
        let is_kept = self.get(from).alternatives < MOST_ALTERNATIVES
            && gap.repeats
            && text.len() <= LONGEST
            && self.steps.len() < MOST_STEPS;
        if !is_kept {
            let other = self.get_mut(StepId::OTHER);
            (other.gap, other.edge, other.last) = (gap, None, None);
            return StepId::OTHER;
        }
        let id = self.push(text, gap);
        let first = self.get(from).first;
        self.get_mut(id).next = first;
        let from = self.get_mut(from);
        from.first = id;
        from.alternatives += 1;
        id
    }

    fn push(&mut self, text: &[u8], gap: Gap) -> StepId {
        let id = StepId(self.steps.len() as u32);
        let (start, length) = (self.texts.len() as u32, text.len() as u32);
        self.texts.extend_from_slice(text);
        self.steps.push(Separator {
            gap,
            edge: None,
            last: None,
            start,
            length,
            first: NONE,
            alternatives: 0,
            next: NONE,
        });
        id
    }
}

/// Whether two texts of one length are equal. A call of `memcmp` takes longer than most of these comparisons.
#[inline]
fn is_same(a: &[u8], b: &[u8]) -> bool {
    if a.len() >= 16 {
        return is_same_at_ends::<16>(a, b) && (a.len() <= 32 || a == b);
    }
    if a.len() >= 8 { is_same_at_ends::<8>(a, b) } else { a == b }
}

#[inline]
fn is_same_at_ends<const N: usize>(a: &[u8], b: &[u8]) -> bool {
    a.first_chunk::<N>() == b.first_chunk() && a.last_chunk::<N>() == b.last_chunk()
}
