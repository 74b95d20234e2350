//! The interface of anti-patterns.

use super::scene::{Needs, Scene};
use crate::analysis::torch::event_tree::EventNode;
use alloc::vec::Vec;

/// An anti-pattern: a known inefficiency.
pub trait Pattern {
    /// Returns the name.
    fn name(&self) -> &str;

    /// Returns what is wrong and what to do, in one or two sentences.
    fn description(&self) -> &str;

    /// Returns the address of further documentation; may be empty.
    #[allow(clippy::unnecessary_literal_bound)]
    fn url(&self) -> &str {
        ""
    }

    /// Returns whether PyTorch's report shows the source location of its matches.
    fn reports_place(&self) -> bool {
        true
    }

    /// Returns the recording settings without which it cannot be detected.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Returns whether an event of this name can match. [`Pattern::is_match`] decides on those with such a name.
    fn fits(&self, _: &str) -> bool {
        true
    }

    /// Returns whether the node of [`Scene::tree`] matches.
    fn is_match(&self, scene: &Scene<'_>, node: EventNode) -> bool;

    /// Returns every matching node in the order of the report: depth first, unless a pattern defines another order.
    fn matches(&self, scene: &Scene<'_>) -> Vec<EventNode> {
        let mut nodes = scene.named(|name| self.fits(name));
        nodes.retain(|&node| self.is_match(scene, node));
        nodes
    }

    /// Returns the maximum time that fixing this match can save, in ns; `None` if a trace does not determine it.
    fn saving_ns(&self, _: &Scene<'_>, _: EventNode) -> Option<i64> {
        None
    }
}
