//! One recording, from its start to its bytes.

pub(crate) mod batch;
pub(crate) mod document;
#[cfg(unix)]
pub(crate) mod fork;
pub(crate) mod ring;
pub(crate) mod session;
pub(crate) mod sink;
pub(crate) mod statistics;
pub(crate) mod stream;
pub(crate) mod writer;
