//! Reads traces from files, folders, archives and standard input, follows recordings that are being written, and writes text to files.

mod archive;
mod error;
mod follow;
mod inflate;
mod input;
mod outline;
pub(crate) mod output;
mod pieces;
mod run;
#[cfg(unix)]
mod signals;
mod threads;

pub use crate::replace::{Access, Replacement, Temporary, behind_links, folder_of};
pub use error::{InputError, Reason};
pub use follow::{Follower, Following};
pub use inflate::{ZlibMember, unpacker};
pub use input::{Source, open, open_on, read, read_within, sources};
pub use outline::{read_outline, read_window};
pub use output::Output;
pub use pieces::Progress;
pub use run::{At, Content, Found, RunFiles};
#[cfg(unix)]
pub use signals::remove_unfinished_on_signals;
pub use threads::THREADS;
