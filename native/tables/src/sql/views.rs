//! Views with the names of tables and columns that other tools use, so that queries written for them run.
//!
//! `hta` has the columns of the data frames of Holistic Trace Analysis; the others have those of Perfetto's trace processor. Their
//! `ts` counts from the start of the recording. An id of Perfetto's tables is the number of the event plus the rank × 2^40.

macro_rules! views {
    ($($name:literal)*) => {
        /// Every view with its query.
        pub const VIEWS: &[(&str, &str)] = &[$(($name, include_str!(concat!("views/", $name, ".sql")))),*];
    };
}

views! { "args" "counter" "counter_track" "flow" "hta" "process" "slice" "thread" "thread_track" "track" }
