//! Seeds for inputs that no run has tried before.

use crate::shell::Failure;
use std::time::{SystemTime, UNIX_EPOCH};

/// A seed of 32 bits from the time, not 0.
pub(crate) fn fresh() -> Result<u64, Failure> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|e| e.to_string())?;
    Ok(now.as_nanos() as u64 % u64::from(u32::MAX) + 1)
}
