//! PyTorch's numbers of record scopes.

/// An operator.
pub const FUNCTION: u8 = 0;
/// A backward function called by autograd.
pub const BACKWARD_FUNCTION: u8 = 1;
/// A TorchScript call. Only records contain it.
pub const TORCHSCRIPT_FUNCTION: u8 = 2;
/// A user annotation.
pub const USER: u8 = 7;
