//! The hot path: from a span's begin or end to a word in the chunk of its thread.

pub(crate) mod chunk;
pub(crate) mod clock;
pub(crate) mod local;
pub(crate) mod lock;
pub(crate) mod pool;
pub(crate) mod registry;
pub(crate) mod stack;
pub(crate) mod state;
pub(crate) mod sync;
pub(crate) mod system;
pub(crate) mod wake;
