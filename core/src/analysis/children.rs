//! Lists of children, computed from the parent of each node of a forest.

use crate::base::handle::Handle;
use alloc::vec;
use alloc::vec::Vec;

/// The children of every node, each list in the order of the nodes, and the roots.
#[derive(Clone, Debug)]
pub struct Children<H> {
    starts: Vec<u32>,
    nodes: Vec<H>,
    roots: Vec<H>,
}

impl<H: Handle> Children<H> {
    /// Computes the lists of the forest with these parents.
    #[inline(never)]
    pub(crate) fn new(parents: &[Option<H>]) -> Children<H> {
        let mut starts = vec![0u32; parents.len() + 1];
        for parent in parents.iter().flatten() {
            starts[parent.index() + 1] += 1;
        }
        for at in 0..parents.len() {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut nodes = vec![H::new(0); starts[parents.len()] as usize];
        let mut roots = Vec::new();
        for (at, &parent) in parents.iter().enumerate() {
            let node = H::new(at);
            if let Some(parent) = parent {
                let place = &mut next[parent.index()];
                nodes[*place as usize] = node;
                *place += 1;
            } else {
                roots.push(node);
            }
        }
        Children { starts, nodes, roots }
    }

    /// Returns the children of a node.
    pub fn get(&self, node: H) -> &[H] {
        let at = node.index();
        &self.nodes[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// Returns the nodes without a parent.
    pub fn roots(&self) -> &[H] {
        &self.roots
    }

    /// Returns every node in depth-first order: parents before children, siblings in order.
    pub fn depth_first(&self) -> Vec<H> {
        let mut order = Vec::with_capacity(self.starts.len());
        let mut stack: Vec<H> = self.roots.iter().rev().copied().collect();
        while let Some(node) = stack.pop() {
            order.push(node);
            stack.extend(self.get(node).iter().rev());
        }
        order
    }

    /// Visits every node before and after everything below it, depth first.
    pub(crate) fn walk(&self, mut visit: impl FnMut(H, bool)) {
        let mut open: Vec<(H, bool)> = self.roots.iter().rev().map(|&node| (node, true)).collect();
        while let Some((node, enters)) = open.pop() {
            visit(node, enters);
            if enters {
                open.push((node, false));
                open.extend(self.get(node).iter().rev().map(|&node| (node, true)));
            }
        }
    }

    /// Returns every node in breadth-first order.
    pub fn breadth_first(&self) -> Vec<H> {
        let mut order = self.roots.clone();
        let mut at = 0;
        while at < order.len() {
            let node = order[at];
            order.extend(self.get(node));
            at += 1;
        }
        order
    }

    /// Returns all descendants of a node in depth-first order.
    pub fn below(&self, node: H) -> impl Iterator<Item = H> {
        let mut stack: Vec<H> = self.get(node).iter().rev().copied().collect();
        core::iter::from_fn(move || {
            let node = stack.pop()?;
            stack.extend(self.get(node).iter().rev());
            Some(node)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::handle::handle;

    handle! {
        struct Leaf;
    }

    #[test]
    fn children_roots_and_traversal_orders() {
        // 0 has 1 and 3, 1 has 2, 4 is a root with 5.
        let parents = [None, Some(0), Some(1), Some(0), None, Some(4)];
        let children = Children::new(&parents.map(|parent| parent.map(Leaf::new)));
        let leaves = |indexes: &[usize]| -> Vec<Leaf> { indexes.iter().map(|&at| Leaf::new(at)).collect() };
        assert_eq!(children.get(Leaf::new(0)), leaves(&[1, 3]));
        assert!(children.get(Leaf::new(2)).is_empty());
        assert_eq!(children.roots(), leaves(&[0, 4]));
        assert_eq!(children.depth_first(), leaves(&[0, 1, 2, 3, 4, 5]));
        assert_eq!(children.breadth_first(), leaves(&[0, 4, 1, 3, 5, 2]));
        assert_eq!(children.below(Leaf::new(0)).collect::<Vec<_>>(), leaves(&[1, 2, 3]));
    }
}
