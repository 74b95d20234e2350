//! The hot path: what the begin and the end of a span execute.
//!
//! A span's begin or end stores one word in the thread's [chunk](chunk), a buffer of 64 KiB. The writer thread, in
//! [`output`](crate::output), reads the chunks meanwhile. See `docs/src/design/hot-path.md`.

pub(crate) mod chunk;
pub(crate) mod clock;
pub(crate) mod local;
pub(crate) mod lock;
pub(crate) mod names;
pub(crate) mod pool;
pub(crate) mod registry;
#[cfg(feature = "stacks")]
pub(crate) mod stack;
pub(crate) mod state;
pub(crate) mod sync;
pub(crate) mod system;
pub(crate) mod text;
pub(crate) mod wake;
