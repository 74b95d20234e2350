//! The extension of Perfetto's format by which a Chrome trace is written without loss.
//!
//! Perfetto ignores fields of a packet that it does not know. The numbers are from the range that its schema leaves to
//! extensions.

/// Fields of a packet.
pub(crate) mod packet {
    /// What the rows of the trace have in common: fields of [`super::header`].
    pub(crate) const HEADER: u32 = 1909;
    /// An event that Perfetto does not draw: a `TrackEvent`.
    pub(crate) const HIDDEN: u32 = 1910;
    /// The ids of a track in the Chrome trace: fields of [`super::ids`].
    pub(crate) const IDS: u32 = 1911;
    /// A row: fields of [`super::row`]. An event without it ends a slice, or is a value of a counter.
    pub(crate) const ROW: u32 = 1912;
}

/// Fields of the header.
pub(crate) mod header {
    /// The Unix time of ts 0, in ns.
    pub(crate) const BASE: u32 = 1;
    /// What is added to a packet's timestamp to get the ts, in ns.
    pub(crate) const SHIFT: u32 = 2;
    /// Whether the Chrome trace is a bare array.
    pub(crate) const IS_BARE: u32 = 3;
    /// The number of the last members of the metadata that follow the events.
    pub(crate) const TRAILING: u32 = 4;
}

/// Fields of a track's ids.
pub(crate) mod ids {
    /// The track.
    pub(crate) const UUID: u32 = 1;
    /// The JSON text of `pid`.
    pub(crate) const PID: u32 = 2;
    /// The JSON text of `tid`.
    pub(crate) const TID: u32 = 3;
    /// Whether it is a device stream.
    pub(crate) const ON_DEVICE: u32 = 4;
}

/// The field of a `DebugAnnotation` with the text of a number that is no integer. Its `double_value` is rounded.
pub(crate) const NUMBER: u32 = 1909;

/// Fields of a row that a `TrackEvent` does not have.
pub(crate) mod row {
    /// Its index.
    pub(crate) const INDEX: u32 = 1;
    /// The duration in ns.
    pub(crate) const DURATION: u32 = 2;
    /// The phase, if it is not `X`; 0 for none.
    pub(crate) const PHASE: u32 = 3;
    /// The track.
    pub(crate) const TRACK: u32 = 4;
    /// A field next to `ph` and `ts`: a `DebugAnnotation`.
    pub(crate) const TOP: u32 = 5;
}
