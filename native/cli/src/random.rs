//! Random secrets: salts of redaction and the path of the page server.

use crate::failure::Failure;

/// Random bytes from the operating system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], Failure> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| Failure::usage(format!("no random numbers: {error}")))?;
    Ok(bytes)
}
