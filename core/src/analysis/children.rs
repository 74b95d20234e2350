//! Children from parents: the lists of a forest that is kept as the parent of each node.

use alloc::vec;
use alloc::vec::Vec;

/// No node: the parent of a root.
pub const NONE: u32 = u32::MAX;

/// The children of every node, each list in the order of the nodes, and the roots.
#[derive(Clone, Debug, Default)]
pub struct Children {
    starts: Vec<u32>,
    nodes: Vec<u32>,
    roots: Vec<u32>,
}

impl Children {
    /// The lists of the forest with these parents.
    pub fn new(parents: &[u32]) -> Children {
        let mut starts = vec![0u32; parents.len() + 1];
        for &parent in parents.iter().filter(|&&p| p != NONE) {
            starts[parent as usize + 1] += 1;
        }
        for at in 0..parents.len() {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut nodes = vec![0; starts[parents.len()] as usize];
        let mut roots = Vec::new();
        for (node, &parent) in (0u32..).zip(parents) {
            if parent == NONE {
                roots.push(node);
            } else {
                nodes[next[parent as usize] as usize] = node;
                next[parent as usize] += 1;
            }
        }
        Children { starts, nodes, roots }
    }

    /// The children of a node.
    pub fn of(&self, node: u32) -> &[u32] {
        let at = node as usize;
        &self.nodes[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// The nodes without a parent.
    pub fn roots(&self) -> &[u32] {
        &self.roots
    }

    /// Every node, each right behind its parent and the parent's earlier children with all that is below them.
    pub fn depth_first(&self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.starts.len());
        let mut stack: Vec<u32> = self.roots.iter().rev().copied().collect();
        while let Some(node) = stack.pop() {
            order.push(node);
            stack.extend(self.of(node).iter().rev());
        }
        order
    }

    /// Every node, those nearest to the roots first.
    pub fn breadth_first(&self) -> Vec<u32> {
        let mut order = self.roots.clone();
        let mut at = 0;
        while at < order.len() {
            let node = order[at];
            order.extend(self.of(node));
            at += 1;
        }
        order
    }

    /// Everything below a node, depth first.
    pub fn below(&self, node: u32) -> impl Iterator<Item = u32> {
        let mut stack: Vec<u32> = self.of(node).iter().rev().copied().collect();
        core::iter::from_fn(move || {
            let node = stack.pop()?;
            stack.extend(self.of(node).iter().rev());
            Some(node)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_orders() {
        // 0 has 1 and 3, 1 has 2, 4 is a root with 5.
        let children = Children::new(&[NONE, 0, 1, 0, NONE, 4]);
        assert_eq!(children.of(0), [1, 3]);
        assert!(children.of(2).is_empty());
        assert_eq!(children.roots(), [0, 4]);
        assert_eq!(children.depth_first(), [0, 1, 2, 3, 4, 5]);
        assert_eq!(children.breadth_first(), [0, 4, 1, 3, 5, 2]);
        assert_eq!(children.below(0).collect::<Vec<_>>(), [1, 2, 3]);
    }
}
