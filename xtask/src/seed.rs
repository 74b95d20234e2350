//! Fresh seeds for random inputs.

use crate::shell::Failure;
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns a nonzero seed of 32 bits, derived from the time.
pub(crate) fn fresh() -> Result<u64, Failure> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|e| e.to_string())?;
    Ok(now.as_nanos() as u64 % u64::from(u32::MAX) + 1)
}
