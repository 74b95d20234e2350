//! Writing traces to files: complete, repaired, cut, thinned or redacted, and in other formats.

pub(crate) mod additions;
pub mod chrome;
pub(crate) mod csv;
pub mod event_list;
pub mod execution_trace;
pub mod file_name;
pub mod memory_timeline;
pub mod merge;
pub mod perfetto;
pub mod redact;
pub mod repair;
pub(crate) mod select;
