//! Replays: what a trace would have taken if something had been different, and what its time depended on.
//!
//! A [`Graph`] has the calls and other work of the threads of the host, the activities of the devices, and what each had
//! to wait for. Replayed without changes, it returns nearly the times that were recorded; how far they are off is the
//! error of all answers that come from it.

mod bounds;
mod build;
mod builder;
mod changes;
mod code;
mod device;
mod graph;
mod host;
mod path;
pub(crate) mod path_rows;
mod plan;
mod streams;
mod threads;
mod typical;
mod waits;
mod what_if;
pub(crate) mod what_if_rows;

pub use changes::{Changes, Faster, Free};
pub use graph::{Dependency, Edge, Graph, GraphNode, NodeId, NodeKind, Point};
pub use path::{PathPart, Segment, critical_path};
pub(crate) use what_if::Scratch;
pub use what_if::{LARGEST_ERROR, Replay};
