//! Reading bytes into a table. `unpack` decompresses, `encoding` converts to UTF-8, `chrome` reads the document,
//! `event` reads one event (with `number` and `escape`), `segment` reads events apart from the rest, `repair` repairs a damaged value, `sniff` names the format of
//! an input that is not a trace. `snapshot` (with `pickle`) reads memory snapshots of the CUDA allocator, `recording`
//! reads recordings of Kinetoscope, `perfetto` Perfetto's protobuf traces.

pub(crate) mod chrome;
pub(crate) mod encoding;
mod escape;
mod event;
pub mod gzip;
pub(crate) mod inflate;
mod json_text;
pub mod limits;
mod number;
pub(crate) mod perfetto;
pub(crate) mod pickle;
pub(crate) mod recording;
mod repair;
pub(crate) mod scan;
pub mod segment;
pub(crate) mod snapshot;
mod sniff;
pub mod unpack;
