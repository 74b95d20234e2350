//! What a pattern is.

use super::scene::{Needs, Scene};
use crate::analysis::torch::event_tree::Node;
use alloc::vec::Vec;

/// A way of losing time.
pub trait Pattern {
    /// What it is called.
    fn name(&self) -> &str;

    /// What is wrong and what to do, in a sentence or two.
    fn description(&self) -> &str;

    /// Where more is said about it; may be empty.
    #[allow(clippy::unnecessary_literal_bound)]
    fn url(&self) -> &str {
        ""
    }

    /// What it cannot be told without.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Whether the node of [`Scene::tree`] shows it.
    fn is_match(&self, scene: &Scene<'_>, node: Node) -> bool;

    /// Every node that shows it, in the order of the report: depth first, unless a pattern has an order of its own.
    fn matches(&self, scene: &Scene<'_>) -> Vec<Node> {
        let nodes = scene.tree.children.depth_first();
        nodes.into_iter().filter(|&node| self.is_match(scene, node)).collect()
    }

    /// The most time that doing otherwise can save at this match, in ns; nothing where a trace cannot tell.
    fn saving_ns(&self, _: &Scene<'_>, _: Node) -> Option<i64> {
        None
    }
}
