//! The identity of tensors, for execution traces.

/// The identity of an input or output tensor: with it, a tool that replays an execution trace knows which operators use
/// the same tensor. A `u64` is the id of a tensor of which nothing else is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorId<'a> {
    /// The id of the tensor; 0 for an input that is not a tensor.
    pub tensor: u64,
    /// The id of the storage, which tensors can share.
    pub storage: u64,
    /// The offset in the storage, in elements.
    pub offset: u64,
    /// The device, such as `cpu` or `cuda:0`.
    pub device: &'a str,
}

impl From<u64> for TensorId<'_> {
    fn from(tensor: u64) -> Self {
        TensorId { tensor, storage: 0, offset: 0, device: "cpu" }
    }
}
