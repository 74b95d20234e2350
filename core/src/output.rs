//! What the engine writes: reports for people, JSON documents, and traces.

pub mod report;
pub mod write;
