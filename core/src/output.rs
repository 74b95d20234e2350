//! What the engine writes: JSON and HTML documents of answers, and traces.

pub mod document;
pub mod write;
