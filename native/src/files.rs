//! Reads traces from files, folders, archives and standard input, follows recordings that are being written, and writes text to files.

mod archive;
mod follow;
mod inflate;
mod input;
pub(crate) mod output;
mod pieces;
mod run;
mod threads;

pub use follow::{Follower, Following};
pub use inflate::ZlibMember;
pub use input::{InputError, Progress, Reason, Source, open, open_on, read, sources, unpacker};
pub use output::Output;
pub use run::{At, Content, Found, RunFiles};
pub use threads::THREADS;
