//! One recording, from its start to its bytes: the writer thread collects published records and writes them to a file,
//! to memory or to a ring buffer.

pub(crate) mod batch;
pub(crate) mod content;
pub(crate) mod document;
pub(crate) mod file;
#[cfg(unix)]
pub(crate) mod fork;
pub(crate) mod lost;
pub(crate) mod session;
pub(crate) mod sink;
pub(crate) mod statistics;
pub(crate) mod stream;
pub(crate) mod writer;
