//! One side of an alignment.

use crate::analysis::device::names::short_name;
use crate::base::demangle::demangled;
use crate::base::names::{NameId, Names};
use crate::runs::compare::profile::{Profile, ProfileNode, ROOTS};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// Not in a group.
pub(super) const NONE: u32 = u32::MAX;

/// One side while it is aligned.
pub(super) struct Side<'a> {
    pub(super) profile: &'a Profile,
    /// The children of each place that most steps have.
    children: Vec<Vec<u32>>,
    /// The id of each name of the profile that both sides have in common.
    names: Vec<u32>,
    /// The same without what distinguishes variants of a kernel.
    plain: Vec<u32>,
    /// Whether each place launches device work in any step.
    pub(super) launches: Vec<bool>,
    pub(super) group: Vec<u32>,
    pub(super) matched: Vec<bool>,
}

impl<'a> Side<'a> {
    pub(super) fn new(profile: &'a Profile, names: &mut Names) -> Side<'a> {
        let nodes = &profile.places.nodes;
        let mut present = vec![0u32; nodes.len()];
        profile
            .places
            .samples
            .iter()
            .filter(|sample| sample.count > 0 || profile.is_summary())
            .for_each(|s| present[s.node as usize] += 1);
        let mut children = vec![Vec::new(); nodes.len()];
        let mut launches = vec![false; nodes.len()];
        for (at, node) in nodes.iter().enumerate().skip(ROOTS.len()) {
            launches[node.parent as usize] |= node.kind.is_on_device();
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
            launches,
            group: vec![NONE; nodes.len()],
            matched: vec![false; nodes.len()],
        }
    }

    pub(super) fn node(&self, at: u32) -> &ProfileNode {
        &self.profile.places.nodes[at as usize]
    }

    /// What places of one kind and name have in common, by the ids of `names`.
    fn keys_by(&self, list: &[u32], names: &[u32]) -> Vec<u64> {
        let nodes = list.iter().map(|&at| self.node(at));
        nodes.map(|node| (node.kind as u64) << 32 | u64::from(names[node.name.0 as usize])).collect()
    }

    pub(super) fn keys(&self, list: &[u32]) -> Vec<u64> {
        self.keys_by(list, &self.names)
    }

    pub(super) fn plain_keys(&self, list: &[u32]) -> Vec<u64> {
        self.keys_by(list, &self.plain)
    }

    pub(super) fn text(&self, id: NameId) -> &str {
        self.profile.places.text(id)
    }

    /// The stream of device work: the id of its name that both sides have in common, and the name.
    pub(super) fn stream(&self, at: u32) -> (i64, &str) {
        let name = self.node(at).types;
        (i64::from(self.names[name.0 as usize]), self.text(name))
    }

    /// The children on the host, or those on devices.
    pub(super) fn list(&self, at: u32, on_device: bool) -> Vec<u32> {
        let is_wanted = |&child: &u32| self.node(child).kind.is_on_device() == on_device;
        self.children[at as usize].iter().copied().filter(is_wanted).collect()
    }

    /// The places of some subtrees, parents before children: those of the host, and those of devices.
    pub(super) fn below(&self, roots: &[u32]) -> [Vec<u32>; 2] {
        let mut lists = [Vec::new(), Vec::new()];
        let mut stack: Vec<u32> = roots.iter().rev().copied().collect();
        while let Some(at) = stack.pop() {
            lists[usize::from(self.node(at).kind.is_on_device())].push(at);
            stack.extend(self.children[at as usize].iter().rev());
        }
        lists
    }

    pub(super) fn put(&mut self, list: &[u32], group: u32) {
        for &at in list {
            self.group[at as usize] = group;
            self.matched[at as usize] = true;
        }
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
