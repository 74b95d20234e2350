//! The queries that this build of the engine answers.

use kinetoscope_core::base::error::Error;
use kinetoscope_core::queries::Query;

/// Returns the query with this name.
///
/// # Errors
/// Returns [`Error::BadOption`] if there is none.
#[cfg(feature = "full")]
pub(crate) fn query(name: &str) -> Result<&'static Query, Error> {
    kinetoscope_core::queries::query(name)
}

/// The list of all queries would keep every analysis in the small engine.
#[cfg(not(feature = "full"))]
static QUERIES: [Query; 3] = {
    use kinetoscope_core::analysis::overview::summary_text::SUMMARY;
    use kinetoscope_core::analysis::timeline::tracks::TRACKS;
    use kinetoscope_core::analysis::torch::ops::OPS;
    [SUMMARY, OPS, TRACKS]
};

/// Returns the query with this name.
///
/// # Errors
/// Returns [`Error::BadOption`] if this engine does not have it.
#[cfg(not(feature = "full"))]
pub(crate) fn query(name: &str) -> Result<&'static Query, Error> {
    let unknown = || Error::BadOption(format!("{name} is not an analysis of kinetoscope/lite"));
    QUERIES.iter().find(|query| query.name == name).ok_or_else(unknown)
}
