//! The alignment of two profiles: which places of one are which of the other.
//!
//! Two places are the same if their parents are, and if they have the same name and a common place in the order of their
//! siblings: the longest common subsequence decides. What has no partner between the same neighbours is a replacement, if
//! both sides have something there: a renamed operator or kernel, or several that became one. Everything else is counted by
//! its name.

mod sequence;
mod side;

use self::side::{NONE, Side};
use super::kinds::RowKind;
use super::profile::{Profile, ROOTS};
use crate::base::index::{Index, Keyed};
use crate::base::names::{NameId, Names};
use crate::base::order::{descending, sort_by_key};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// Whether two aligned groups of places do the same work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// As far as the traces show it.
    Same,
    /// The shapes of the inputs differ.
    OtherShapes,
    /// The types of the inputs differ.
    OtherTypes,
    /// The same work of a device is on another stream.
    OtherStream,
    /// Only one side launches device work.
    OtherDevice,
    /// Something else runs at the same place.
    Replaced,
}

/// A group of places of both sides that is compared as one.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) kind: RowKind,
    pub(super) work: Work,
    /// The names on each side, in order; one name that both have, if nothing was replaced.
    pub(super) names: [Vec<String>; 2],
    /// The shapes or types of the first place where they differ.
    pub(super) inputs: Option<[String; 2]>,
}

impl Group {
    /// The name, or the names of both sides where something was replaced.
    pub(super) fn name(&self) -> String {
        let [a, b] = &self.names;
        if self.work == Work::Replaced {
            format!("{} → {}", a.join(" + "), b.join(" + "))
        } else {
            b.concat()
        }
    }

    /// What groups of the same work with the same names have in common.
    pub(super) fn key(&self, texts: &mut Names) -> (i64, i64) {
        let [a, b] = [0, 1].map(|side: usize| i64::from(texts.intern(&self.names[side].join("\u{1f}")).0));
        (a << 32 | b, (self.kind as i64) << 8 | self.work as i64)
    }
}

/// The alignment of two profiles.
#[derive(Clone, Debug, Default)]
pub(super) struct Alignment {
    pub(super) groups: Vec<Group>,
    /// The group of each place of each side.
    pub(super) of: [Vec<u32>; 2],
    /// Whether each place has a partner.
    pub(super) is_matched: [Vec<bool>; 2],
}

/// The largest number of siblings that are recognised as a replacement.
const MOST_REPLACED: usize = 16;

/// Whether each item of two lists has no partner at its place, and an equal item of the other list has none either: it is
/// only at another place.
fn moved(a: &[u64], b: &[u64], pairs: &[(usize, usize)]) -> [Vec<bool>; 2] {
    let mut paired = [vec![false; a.len()], vec![false; b.len()]];
    for &(x, y) in pairs {
        (paired[0][x], paired[1][y]) = (true, true);
    }
    let alone = |list: &[u64], paired: &[bool]| {
        let mut items = Index::default();
        list.iter().zip(paired).filter(|(_, is_paired)| !**is_paired).for_each(|(item, _)| {
            items.insert((*item as i64, 0));
        });
        items
    };
    let (of_a, of_b) = (alone(a, &paired[0]), alone(b, &paired[1]));
    let is_moved = |list: &[u64], paired: &[bool], other: &Index| {
        list.iter()
            .zip(paired)
            .map(|(&item, paired)| !paired && other.get((item as i64, 0)).is_some())
            .collect()
    };
    [is_moved(a, &paired[0], &of_b), is_moved(b, &paired[1], &of_a)]
}

/// Aligns two profiles.
pub(super) fn align(a: &Profile, b: &Profile) -> Alignment {
    let mut names = Names::default();
    let sides = [Side::new(a, &mut names), Side::new(b, &mut names)];
    let mut aligner = Aligner {
        sides,
        groups: Vec::new(),
        index: Index::default(),
        names,
        work: Vec::new(),
        on_devices: Vec::new(),
    };
    aligner.work.extend(ROOTS.map(|root| (root, root)));
    while let Some((x, y)) = aligner.work.pop() {
        aligner.pair(x, y);
    }
    aligner.pair_devices();
    aligner.finish()
}

struct Aligner<'a> {
    sides: [Side<'a>; 2],
    groups: Vec<Group>,
    /// The groups by kind of work and names.
    index: Index,
    names: Names,
    /// Pairs of places whose children are to be aligned.
    work: Vec<(u32, u32)>,
    /// Pairs of places on devices.
    on_devices: Vec<(u32, u32)>,
}

impl Aligner<'_> {
    /// Returns the place of this group, or of the same one.
    fn group(&mut self, group: Group) -> u32 {
        let key = group.key(&mut self.names);
        let next = self.groups.len() as u32;
        let at = self.index.get_or_insert(key, next);
        if at == next {
            self.groups.push(group);
        }
        at
    }

    fn own_name(&self, side: usize, at: u32) -> String {
        self.sides[side].text(self.sides[side].node(at).name).to_owned()
    }

    /// Makes two places one, and aligns their children.
    fn pair(&mut self, x: u32, y: u32) {
        let [a, b] = [self.sides[0].node(x), self.sides[1].node(y)].map(|node| *node);
        if a.kind.is_on_device() {
            self.on_devices.push((x, y));
            return;
        }
        let names = [self.own_name(0, x), self.own_name(1, y)];
        let inputs = |id: [NameId; 2]| [self.sides[0].text(id[0]), self.sides[1].text(id[1])];
        let differ = |[x, y]: [&str; 2]| !x.is_empty() && !y.is_empty() && x != y;
        let (types, shapes) = (inputs([a.types, b.types]), inputs([a.shape, b.shape]));
        let (work, inputs) = if names[0] != names[1] {
            (Work::Replaced, None)
        } else if differ(types) {
            (Work::OtherTypes, Some(types.map(ToOwned::to_owned)))
        } else if differ(shapes) {
            (Work::OtherShapes, Some(shapes.map(ToOwned::to_owned)))
        } else if self.runs_elsewhere(x, y) {
            (Work::OtherDevice, None)
        } else {
            (Work::Same, None)
        };
        self.put((x, y), work, inputs);
        for on_device in [false, true] {
            let lists = [self.sides[0].list(x, on_device), self.sides[1].list(y, on_device)];
            self.lists(&lists);
        }
    }

    /// Makes two places one.
    fn put(&mut self, (x, y): (u32, u32), work: Work, inputs: Option<[String; 2]>) {
        let names = [vec![self.own_name(0, x)], vec![self.own_name(1, y)]];
        let group = self.group(Group { kind: self.sides[0].node(x).kind, work, names, inputs });
        self.sides[0].put(&[x], group);
        self.sides[1].put(&[y], group);
    }

    /// Makes pairs of places on devices one. Streams have other numbers in other processes, so work has moved only if its
    /// stream is not the one that most work of its old stream is on now.
    fn pair_devices(&mut self) {
        let pairs = core::mem::take(&mut self.on_devices);
        let mut counts: Keyed<i64> = Keyed::default();
        for &pair in &pairs {
            *counts.entry(self.streams(pair)) += 1;
        }
        let mut by_count: Vec<((i64, i64), i64)> = counts.entries().to_vec();
        sort_by_key(&mut by_count, |&(streams, count)| (descending(count), streams.0 << 32 | streams.1));
        let mut kept: Vec<(i64, i64)> = Vec::new();
        for (streams, _) in by_count {
            if kept.iter().all(|known| known.0 != streams.0 && known.1 != streams.1) {
                kept.push(streams);
            }
        }
        for (x, y) in pairs {
            let (work, inputs) = if self.own_name(0, x) != self.own_name(1, y) {
                (Work::Replaced, None)
            } else if kept.contains(&self.streams((x, y))) {
                (Work::Same, None)
            } else {
                let texts = [(0, x), (1, y)].map(|(side, at)| self.sides[side].stream(at).1.to_owned());
                (Work::OtherStream, Some(texts))
            };
            self.put((x, y), work, inputs);
        }
    }

    fn streams(&self, (x, y): (u32, u32)) -> (i64, i64) {
        (self.sides[0].stream(x).0, self.sides[1].stream(y).0)
    }

    /// Whether an operator launches device work on one side only.
    fn runs_elsewhere(&self, x: u32, y: u32) -> bool {
        self.sides[0].node(x).kind == RowKind::Operator
            && self.sides.iter().all(|side| side.profile.facts.used_devices > 0)
            && self.sides[0].launches[x as usize] != self.sides[1].launches[y as usize]
    }

    /// Aligns two lists of siblings.
    fn lists(&mut self, [a, b]: &[Vec<u32>; 2]) {
        if a.is_empty() || b.is_empty() {
            return;
        }
        let (of_a, of_b) = (self.sides[0].keys(a), self.sides[1].keys(b));
        let pairs = sequence::common(&of_a, &of_b);
        self.work.extend(pairs.iter().map(|&(x, y)| (a[x], b[y])));
        let is_moved = moved(&of_a, &of_b, &pairs);
        let mut reached = (0, 0);
        for &(x, y) in pairs.iter().chain([&(a.len(), b.len())]) {
            let left = (reached.0..x).filter(|&at| !is_moved[0][at]).map(|at| a[at]);
            let right = (reached.1..y).filter(|&at| !is_moved[1][at]).map(|at| b[at]);
            let (left, right): (Vec<u32>, Vec<u32>) = (left.collect(), right.collect());
            if !left.is_empty() && !right.is_empty() {
                self.gap(&left, &right);
            }
            reached = (x + 1, y + 1);
        }
    }

    /// If most of the siblings of one side are inside the only one of the other, as after a new annotation around them, aligns
    /// them with what is inside. The annotation itself has no partner.
    fn unwrap(&mut self, a: &[u32], b: &[u32]) -> bool {
        let inside = |side: usize, list: &[u32]| match list {
            [only] => self.sides[side].list(*only, false),
            _ => Vec::new(),
        };
        for (left, right) in [(a.to_vec(), inside(1, b)), (inside(0, a), b.to_vec())] {
            let common = sequence::common(&self.sides[0].keys(&left), &self.sides[1].keys(&right)).len();
            if common > 0 && common * 2 >= left.len().min(right.len()) {
                self.lists(&[left, right]);
                return true;
            }
        }
        false
    }

    /// Aligns what is between the same neighbours and has no partner of its name.
    fn gap(&mut self, a: &[u32], b: &[u32]) {
        if self.unwrap(a, b) {
            return;
        }
        let pairs = sequence::common(&self.sides[0].plain_keys(a), &self.sides[1].plain_keys(b));
        self.work.extend(pairs.iter().map(|&(x, y)| (a[x], b[y])));
        let mut reached = (0, 0);
        for &(x, y) in pairs.iter().chain([&(a.len(), b.len())]) {
            let (left, right) = (&a[reached.0..x], &b[reached.1..y]);
            let is_of_one_kind = |x: u32, y: u32| self.sides[0].node(x).kind == self.sides[1].node(y).kind;
            if left.len() == 1 && right.len() == 1 && is_of_one_kind(left[0], right[0]) {
                self.work.push((left[0], right[0]));
            } else if !left.is_empty() && !right.is_empty() && left.len().max(right.len()) <= MOST_REPLACED {
                self.replace(left, right);
            }
            reached = (x + 1, y + 1);
        }
    }

    /// Makes some siblings with everything inside them one group.
    fn replace(&mut self, a: &[u32], b: &[u32]) {
        let kinds =
            [(0, a), (1, b)].map(|(side, list)| list.iter().map(|&at| self.sides[side].node(at).kind).min());
        // The first kinds of the vocabulary are those that say most: operators before calls, kernels before copies.
        let Some(kind) = kinds.into_iter().flatten().min() else { return };
        let names =
            [(0, a), (1, b)].map(|(side, list)| list.iter().map(|&at| self.own_name(side, at)).collect());
        let group = self.group(Group { kind, work: Work::Replaced, names, inputs: None });
        let below = [self.sides[0].below(a), self.sides[1].below(b)];
        let on_device = usize::from(kind.is_on_device());
        for (side, lists) in self.sides.iter_mut().zip(&below) {
            side.put(&lists[on_device], group);
        }
        if on_device == 0 {
            self.lists(&below.map(|[_, device]| device));
        }
    }

    /// Groups everything else by its name.
    fn finish(mut self) -> Alignment {
        for side in 0..2 {
            for at in 0..self.sides[side].group.len() as u32 {
                if self.sides[side].group[at as usize] == NONE {
                    let (kind, name) = (self.sides[side].node(at).kind, self.own_name(side, at));
                    let names = [vec![name.clone()], vec![name]];
                    let group = self.group(Group { kind, work: Work::Same, names, inputs: None });
                    self.sides[side].group[at as usize] = group;
                }
            }
        }
        let [a, b] = self.sides;
        Alignment { groups: self.groups, of: [a.group, b.group], is_matched: [a.matched, b.matched] }
    }
}
