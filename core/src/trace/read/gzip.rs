//! The interface for inflating gzip members. The engine has an implementation; a native caller can supply a faster one.

/// The progress of one step of a [`GzipMember`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GzipProgress {
    /// The number of input bytes consumed.
    pub consumed: usize,
    /// The number of output bytes produced.
    pub produced: usize,
    /// The state of the member.
    pub state: MemberState,
}

/// The state of a gzip member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberState {
    /// More input or more output space is needed.
    Running,
    /// The member ended and its checksum is correct.
    Ended,
    /// The member is damaged, or its checksum is wrong.
    Damaged,
}

/// Inflates one gzip member, header and trailer included.
pub trait GzipMember {
    /// Begins a new member.
    fn reset(&mut self);
    /// Inflates from `input` into `output`.
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> GzipProgress;
}
