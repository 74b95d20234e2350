//! Reads traces from files, folders and standard input, and writes text to files.

mod inflate;
mod input;
pub(crate) mod output;

pub use inflate::ZlibMember;
pub use input::{InputError, Progress, Reason, Source, open, read, sources, unpacker};
pub use output::Output;
