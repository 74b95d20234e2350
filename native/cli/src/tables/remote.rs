//! Traces in object stores, which are copied to the disk one at a time.

use crate::failure::Failure;
use crate::joins::Joins;
use crate::reading::{ChosenRules, read_run};
use kinetoscope::files::{Found, RunFiles};
use kinetoscope_tables::remote::Remote;
use std::path::Path;

/// Reads the traces of an address one after the other.
pub(super) fn read(
    remote: &Remote,
    (rules, joins): (&ChosenRules, &Joins),
    each: &mut dyn FnMut(Found),
) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let address = remote.name();
    for name in remote.files()? {
        let full = if name.is_empty() {
            address.clone()
        } else {
            format!("{}/{name}", address.trim_end_matches('/'))
        };
        let local = folder.path().join(Path::new(&full).file_name().unwrap_or_default());
        remote.download(&name, &local)?;
        let mut renamed = |found: Found| each(found.at(&full, name.is_empty()));
        read_run(&RunFiles::find(std::slice::from_ref(&local))?, rules, joins, &mut renamed);
        std::fs::remove_file(&local)?;
    }
    Ok(())
}
