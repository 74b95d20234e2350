//! Bytes to table: `unpack` undoes compression, `encoding` makes UTF-8, `chrome` walks the document, `event` reads one
//! event (with `number` and `escape`), `repair` mends one that is damaged, `sniff` names what is no trace; `snapshot` (with `pickle`) reads what the
//! CUDA allocator left, `recording` what Kinetoscope's own recorder wrote.

pub(crate) mod chrome;
pub(crate) mod encoding;
mod escape;
mod event;
pub mod gzip;
pub(crate) mod inflate;
pub mod limits;
mod number;
mod pickle;
pub(crate) mod recording;
mod repair;
mod scan;
pub(crate) mod snapshot;
mod sniff;
pub mod unpack;
