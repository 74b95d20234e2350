//! What compiled graphs compute.

use crate::base::words::words;

words! {
    "CompiledKind"
    /// What a compiled graph computes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum CompiledKind {
        /// The forward pass of a graph that has a backward pass.
        Forward = "forward",
        /// The backward pass.
        Backward = "backward",
        /// A graph without a backward pass.
        Inference = "inference",
    }
}
