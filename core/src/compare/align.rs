//! The alignment of two profiles: which places of one are which of the other.
//!
//! Two places are the same if their parents are, and if they have the same name and a common place in the order of their
//! siblings: the longest common subsequence decides. What has no partner between the same neighbours is a replacement, if
//! both sides have something there: a renamed operator or kernel, or several that became one. Everything else is counted by
//! its name.

mod sequence;

use super::kinds::RowKind;
use super::profile::{Node, Profile, ROOT};
use crate::analysis::device::names::short_name;
use crate::demangle::demangled;
use crate::index::Index;
use crate::names::{NameId, Names};
use alloc::borrow::ToOwned;
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

/// The alignment of two profiles.
#[derive(Clone, Debug, Default)]
pub(super) struct Alignment {
    pub(super) groups: Vec<Group>,
    /// The group of each place of each side.
    pub(super) of: [Vec<u32>; 2],
    /// Whether each place has a partner.
    pub(super) is_matched: [Vec<bool>; 2],
}

const NONE: u32 = u32::MAX;

/// The largest number of siblings that are recognised as a replacement.
const MOST_REPLACED: usize = 16;

/// One side while it is aligned.
struct Side<'a> {
    profile: &'a Profile,
    /// The children of each place that most steps have.
    children: Vec<Vec<u32>>,
    /// The id of each name of the profile that both sides have in common.
    names: Vec<u32>,
    /// The same without what distinguishes variants of a kernel.
    plain: Vec<u32>,
    group: Vec<u32>,
    matched: Vec<bool>,
}

impl<'a> Side<'a> {
    fn new(profile: &'a Profile, names: &mut Names) -> Side<'a> {
        let nodes = &profile.places.nodes;
        let mut present = vec![0u32; nodes.len()];
        profile
            .places
            .samples
            .iter()
            .filter(|sample| sample.count > 0)
            .for_each(|s| present[s.node as usize] += 1);
        let mut children = vec![Vec::new(); nodes.len()];
        for (at, node) in nodes.iter().enumerate().skip(3) {
            if present[at] as usize * 2 >= profile.len() {
                children[node.parent as usize].push(at as u32);
            }
        }
        let texts = &profile.places.texts;
        Side {
            profile,
            children,
            names: texts.iter().map(|text| names.intern(text).0).collect(),
            plain: texts.iter().map(|text| names.intern(&plain(text)).0).collect(),
            group: vec![NONE; nodes.len()],
            matched: vec![false; nodes.len()],
        }
    }

    fn node(&self, at: u32) -> &Node {
        &self.profile.places.nodes[at as usize]
    }

    fn key(&self, at: u32) -> u64 {
        let node = self.node(at);
        (node.kind as u64) << 32 | u64::from(self.names[node.name.0 as usize])
    }

    fn plain_key(&self, at: u32) -> u64 {
        let node = self.node(at);
        (node.kind as u64) << 32 | u64::from(self.plain[node.name.0 as usize])
    }

    fn text(&self, id: NameId) -> &str {
        self.profile.places.text(id)
    }

    /// The children on the host, or those on devices.
    fn list(&self, at: u32, on_device: bool) -> Vec<u32> {
        let is_wanted = |&child: &u32| self.node(child).kind.is_on_device() == on_device;
        self.children[at as usize].iter().copied().filter(is_wanted).collect()
    }

    /// The places of some subtrees, parents before children: those of the host, and those of devices.
    fn below(&self, roots: &[u32]) -> (Vec<u32>, Vec<u32>) {
        let (mut host, mut device) = (Vec::new(), Vec::new());
        let mut stack: Vec<u32> = roots.iter().rev().copied().collect();
        while let Some(at) = stack.pop() {
            let list = if self.node(at).kind.is_on_device() { &mut device } else { &mut host };
            list.push(at);
            stack.extend(self.children[at as usize].iter().rev());
        }
        (host, device)
    }
}

/// Returns a name without numbers, parameters and arguments of templates, which differ between variants of a kernel, and
/// without the prefix that differs between the interfaces of vendors.
fn plain(name: &str) -> String {
    let name = short_name(&demangled(name));
    let name = name.split('<').next().unwrap_or("");
    let name =
        ["cuda", "hip", "nccl", "rccl"].iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    name.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// Whether each item of two lists has no partner at its place, and an equal item of the other list has none either: it is
/// only at another place.
fn moved(a: &[u64], b: &[u64], pairs: &[(usize, usize)]) -> [Vec<bool>; 2] {
    let mut paired = [vec![false; a.len()], vec![false; b.len()]];
    for &(x, y) in pairs {
        (paired[0][x], paired[1][y]) = (true, true);
    }
    let alone = |list: &[u64], paired: &[bool]| {
        let mut items = Index::default();
        list.iter().zip(paired).filter(|one| !one.1).for_each(|one| {
            items.insert((*one.0 as i64, 0));
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
    let mut aligner = Aligner { sides, groups: Vec::new(), index: Index::default(), names, work: Vec::new() };
    for root in [ROOT, ROOT + 1, ROOT + 2] {
        aligner.work.push((root, root));
    }
    while let Some((x, y)) = aligner.work.pop() {
        aligner.pair(x, y);
    }
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
}

impl Aligner<'_> {
    /// Returns the group of this work with these names on each side.
    fn group(
        &mut self,
        kind: RowKind,
        work: Work,
        names: [Vec<String>; 2],
        inputs: Option<[String; 2]>,
    ) -> u32 {
        let key = |names: &[String], all: &mut Names| i64::from(all.intern(&names.join("\u{1f}")).0);
        let (x, y) = (key(&names[0], &mut self.names), key(&names[1], &mut self.names));
        let key = (x << 32 | y, (kind as i64) << 8 | work as i64);
        let next = self.groups.len() as u32;
        let at = self.index.of(key, next);
        if at == next {
            self.groups.push(Group { kind, work, names, inputs });
        }
        at
    }

    fn own_name(&self, side: usize, at: u32) -> String {
        self.sides[side].text(self.sides[side].node(at).name).to_owned()
    }

    /// Makes two places one, and aligns their children.
    fn pair(&mut self, x: u32, y: u32) {
        let [a, b] = [self.sides[0].node(x), self.sides[1].node(y)].map(|node| *node);
        let names = [self.own_name(0, x), self.own_name(1, y)];
        let inputs = |id: [NameId; 2]| [self.sides[0].text(id[0]), self.sides[1].text(id[1])];
        let differ = |[x, y]: [&str; 2]| !x.is_empty() && !y.is_empty() && x != y;
        let (types, shapes) = (inputs([a.types, b.types]), inputs([a.shape, b.shape]));
        let (work, inputs) = if names[0] != names[1] {
            (Work::Replaced, None)
        } else if differ(types) {
            let work = if a.kind.is_on_device() { Work::OtherStream } else { Work::OtherTypes };
            (work, Some(types.map(ToOwned::to_owned)))
        } else if differ(shapes) {
            (Work::OtherShapes, Some(shapes.map(ToOwned::to_owned)))
        } else {
            (Work::Same, None)
        };
        let group = self.group(a.kind, work, names.map(|name| vec![name]), inputs);
        self.put(0, x, group);
        self.put(1, y, group);
        for on_device in [false, true] {
            let lists = [self.sides[0].list(x, on_device), self.sides[1].list(y, on_device)];
            self.lists(&lists);
        }
    }

    fn put(&mut self, side: usize, at: u32, group: u32) {
        self.sides[side].group[at as usize] = group;
        self.sides[side].matched[at as usize] = true;
    }

    /// Aligns two lists of siblings.
    fn lists(&mut self, [a, b]: &[Vec<u32>; 2]) {
        if a.is_empty() || b.is_empty() {
            return;
        }
        let keys = |side: usize, list: &[u32]| -> Vec<u64> {
            list.iter().map(|&at| self.sides[side].key(at)).collect()
        };
        let pairs = sequence::common(&keys(0, a), &keys(1, b));
        self.work.extend(pairs.iter().map(|&(x, y)| (a[x], b[y])));
        let is_moved = moved(&keys(0, a), &keys(1, b), &pairs);
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
            [one] => self.sides[side].list(*one, false),
            _ => Vec::new(),
        };
        let keys = |side: usize, list: &[u32]| -> Vec<u64> {
            list.iter().map(|&at| self.sides[side].key(at)).collect()
        };
        for (left, right) in [(a.to_vec(), inside(1, b)), (inside(0, a), b.to_vec())] {
            let common = sequence::common(&keys(0, &left), &keys(1, &right)).len();
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
        let plain = |side: usize, list: &[u32]| -> Vec<u64> {
            list.iter().map(|&at| self.sides[side].plain_key(at)).collect()
        };
        let pairs = sequence::common(&plain(0, a), &plain(1, b));
        self.work.extend(pairs.iter().map(|&(x, y)| (a[x], b[y])));
        let mut reached = (0, 0);
        for &(x, y) in pairs.iter().chain([&(a.len(), b.len())]) {
            let (left, right) = (&a[reached.0..x], &b[reached.1..y]);
            if left.len() == 1 && right.len() == 1 && self.is_alike(left[0], right[0]) {
                self.work.push((left[0], right[0]));
            } else if !left.is_empty() && !right.is_empty() && left.len().max(right.len()) <= MOST_REPLACED {
                self.replace(left, right);
            }
            reached = (x + 1, y + 1);
        }
    }

    /// Whether two places can be renamed forms of each other.
    fn is_alike(&self, x: u32, y: u32) -> bool {
        self.sides[0].node(x).kind == self.sides[1].node(y).kind
    }

    /// Makes some siblings with everything inside them one group.
    fn replace(&mut self, a: &[u32], b: &[u32]) {
        let kinds =
            [(0, a), (1, b)].map(|(side, list)| list.iter().map(|&at| self.sides[side].node(at).kind).min());
        // The first kinds of the vocabulary are those that say most: operators before calls, kernels before copies.
        let Some(kind) = kinds.into_iter().flatten().min() else { return };
        let names =
            [(0, a), (1, b)].map(|(side, list)| list.iter().map(|&at| self.own_name(side, at)).collect());
        let group = self.group(kind, Work::Replaced, names, None);
        let ([host_a, device_a], [host_b, device_b]) =
            (<[_; 2]>::from(self.sides[0].below(a)), <[_; 2]>::from(self.sides[1].below(b)));
        if kind.is_on_device() {
            for &at in &device_a {
                self.put(0, at, group);
            }
            for &at in &device_b {
                self.put(1, at, group);
            }
        } else {
            for &at in &host_a {
                self.put(0, at, group);
            }
            for &at in &host_b {
                self.put(1, at, group);
            }
            self.lists(&[device_a, device_b]);
        }
    }

    /// Groups everything else by its name.
    fn finish(mut self) -> Alignment {
        for side in 0..2 {
            for at in 0..self.sides[side].group.len() as u32 {
                if self.sides[side].group[at as usize] == NONE {
                    let (kind, name) = (self.sides[side].node(at).kind, self.own_name(side, at));
                    let group = self.group(kind, Work::Same, [vec![name.clone()], vec![name]], None);
                    self.sides[side].group[at as usize] = group;
                }
            }
        }
        let [a, b] = self.sides;
        Alignment { groups: self.groups, of: [a.group, b.group], is_matched: [a.matched, b.matched] }
    }
}
