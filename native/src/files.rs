//! Reads traces from files, folders and standard input, follows recordings that are being written, and writes text to files.

mod follow;
mod inflate;
mod input;
pub(crate) mod output;

pub use follow::{Follower, Following};
pub use inflate::ZlibMember;
pub use input::{InputError, Progress, Reason, Source, open, read, sources, unpacker};
pub use output::Output;
