//! What inflates a gzip member: the engine has one of its own, a native caller brings a faster one.

/// How far one step of a [`GzipMember`] came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Bytes of the input used.
    pub consumed: usize,
    /// Bytes of the output filled.
    pub produced: usize,
    /// Whether the member goes on.
    pub state: MemberState,
}

/// Whether a gzip member goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberState {
    /// More input or more room is needed.
    Running,
    /// The member ended and its checksum is right.
    Ended,
    /// The member is damaged, or its checksum is wrong.
    Damaged,
}

/// Inflates one gzip member, header and trailer included.
pub trait GzipMember {
    /// Begins a new member.
    fn reset(&mut self);
    /// Inflates from `input` into `output`.
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Step;
}
