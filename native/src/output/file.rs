//! Opens the file of a recording.

use crate::options::Existing;
use kinetoscope_stream::block::MAGIC;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Opens a file for appending, and locks it until it is closed. A new file can be read by its owner only, whatever the umask is.
///
/// # Errors
/// Returns [`ErrorKind::AlreadyExists`] if the file is not empty and must be, [`ErrorKind::InvalidInput`] if a recording
/// cannot be appended to its content, and [`ErrorKind::ResourceBusy`] if another profiler writes to it. The errors lack
/// the path.
pub(crate) fn open(path: &Path, existing: Existing) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true).read(true);
    // A recording shows paths, arguments and names of the program: it is for the user of the program.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    let known = file.metadata()?;
    // Devices, such as `/dev/null`, have no content.
    if !known.is_file() {
        return Ok(file);
    }
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            return Err(io::Error::new(ErrorKind::ResourceBusy, "another profiler writes to this file"));
        }
        // Some file systems have no locks.
        Ok(()) | Err(TryLockError::Error(_)) => {}
    }
    if known.len() > 0 {
        match existing {
            Existing::Refuse => {
                let text = "the file is not empty: set `overwrite(true)` or `append(true)`";
                return Err(io::Error::new(ErrorKind::AlreadyExists, text));
            }
            Existing::Overwrite => file.set_len(0)?,
            Existing::Append => check_recording(&mut file)?,
        }
    }
    Ok(file)
}

fn check_recording(file: &mut File) -> io::Result<()> {
    let mut head = Vec::new();
    file.by_ref().take(MAGIC.len() as u64).read_to_end(&mut head)?;
    if MAGIC.starts_with(&head) {
        return Ok(());
    }
    Err(io::Error::new(ErrorKind::InvalidInput, "cannot append: the file is not a recording"))
}
