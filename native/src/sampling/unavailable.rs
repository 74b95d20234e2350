//! Where stacks cannot be sampled.

use std::io;

/// Never made.
#[derive(Debug)]
pub(crate) struct Sampler;

impl Sampler {
    /// # Errors
    /// Always returns an error.
    pub(crate) fn start(_: u32, _: u32) -> io::Result<Sampler> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "only on Linux with x86-64 or AArch64"))
    }

    pub(crate) fn end(self) -> u64 {
        0
    }
}
