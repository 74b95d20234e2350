//! Writes files under a temporary name first, so that no program reads an incomplete one and a failed write leaves the
//! previous file as it was.

#[cfg(feature = "record")]
use crate::io_error::with_path;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::{Builder, TempPath};

/// Who may read a new file. A file that is replaced keeps its permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Access {
    /// Its owner only, whatever the umask of the process is.
    Owner,
    /// Those that the umask of the process allows.
    Umask,
}

/// The temporary names of the files that are being written.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The most links that are followed one after the other.
const MOST_LINKS: usize = 40;

/// A file that takes its name when it is complete. Until then it has a random name in the same folder. If it is dropped before,
/// it is removed, and a file that had the name stays as it was.
#[derive(Debug)]
pub struct Replacement {
    file: File,
    path: PathBuf,
    /// The temporary name; `None` for what is written directly.
    temporary: Option<Temporary>,
}

impl Replacement {
    /// Creates the file under its temporary name. A link stays a link: the file that it leads to is replaced.
    ///
    /// # Errors
    /// Returns an error, without the path, if the file cannot be created, and for a file or a link that another user made in a
    /// folder to which all users write.
    pub fn create(path: &Path, access: Access) -> io::Result<Replacement> {
        let known = fs::metadata(path).ok();
        if let Some(other) = known.as_ref().filter(|known| !known.is_file()) {
            refuse_planted(path, other)?;
            return Replacement::directly(path);
        }
        let place = behind_links(path)?;
        if let Some(known) = &known {
            refuse_planted(&place, known)?;
            if !place.exists() {
                return Replacement::directly(path);
            }
        }
        // What replaces a file gets its permissions at the end, and is never open to more users.
        let access = if known.is_some() { Access::Owner } else { access };
        let (file, temporary) = Temporary::create(&builder(), access, folder_of(&place))?;
        if let Some(known) = known {
            keep_access(&file, &known);
        }
        Ok(Replacement { file, path: place, temporary: Some(temporary) })
    }

    /// Writes to something that has no name to take: what is not a regular file, or a file that was removed and is still open, to
    /// which a link in `/proc` leads.
    fn directly(path: &Path) -> io::Result<Replacement> {
        Ok(Replacement { file: File::create(path)?, path: path.to_owned(), temporary: None })
    }

    /// The open file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// Returns an error, without the path, if the file cannot be renamed. It is removed then.
    pub fn finish(mut self) -> io::Result<()> {
        let Some(mut temporary) = self.temporary.take() else { return Ok(()) };
        temporary.end(|temporary| temporary.persist(&self.path).map_err(|error| error.error))
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A file that is removed when this is dropped, or when a signal ends a process that waits for it.
#[derive(Debug)]
pub struct Temporary(Option<TempPath>);

impl Temporary {
    /// Writes a text to a file in the folder for temporary files. Only its owner may read it.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn write(ending: &str, text: &str) -> io::Result<Temporary> {
        let mut builder = builder();
        builder.prefix("kinetoscope-").suffix(ending);
        let (mut file, temporary) = Temporary::create(&builder, Access::Owner, &std::env::temp_dir())?;
        file.write_all(text.as_bytes())?;
        Ok(temporary)
    }

    /// Creates a file. Its error is that of the system, without the temporary name, which says nothing to a reader.
    fn create(builder: &Builder<'_, '_>, access: Access, folder: &Path) -> io::Result<(File, Temporary)> {
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(
            &mut options,
            if access == Access::Owner { 0o600 } else { 0o666 },
        );
        #[cfg(not(unix))]
        let _ = access;
        let mut unfinished = unfinished();
        let (file, path) = builder.make_in(folder, |path| options.open(path))?.into_parts();
        unfinished.push(path.to_path_buf());
        Ok((file, Temporary(Some(path))))
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        self.0.as_deref().unwrap_or(Path::new(""))
    }

    /// Ends the temporary name, and forgets it.
    fn end(&mut self, end: impl FnOnce(TempPath) -> io::Result<()>) -> io::Result<()> {
        let Some(path) = self.0.take() else { return Ok(()) };
        let name = path.to_path_buf();
        let mut unfinished = unfinished();
        let ended = end(path);
        unfinished.retain(|known| *known != name);
        ended
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = self.end(TempPath::close);
    }
}

/// Writes a complete file that only its owner may read.
///
/// # Errors
/// Returns an error with the path.
#[cfg(feature = "record")]
pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let written = Replacement::create(path, Access::Owner).and_then(|mut file| {
        file.write_all(bytes.as_ref())?;
        file.finish()
    });
    written.map_err(with_path(path))
}

/// The files that a process was writing, which were removed. No other file is created or finished while this lives.
#[derive(Debug)]
#[must_use = "while this lives, no other file is begun"]
#[cfg(all(unix, feature = "analysis"))]
pub(crate) struct Removed {
    _held: MutexGuard<'static, Vec<PathBuf>>,
}

/// Removes the files that are being written, before the process ends.
#[cfg(all(unix, feature = "analysis"))]
pub(crate) fn remove_unfinished() -> Removed {
    let unfinished = unfinished();
    for path in unfinished.iter() {
        let _ = fs::remove_file(path);
    }
    Removed { _held: unfinished }
}

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn builder() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(".kinetoscope-").rand_bytes(12);
    builder
}

/// Gives a file the owner and the permissions of the one that it replaces, as far as the user may.
fn keep_access(file: &File, known: &Metadata) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let _ = fchown(file, Some(known.uid()), Some(known.gid()));
    }
    let _ = file.set_permissions(known.permissions());
}

/// Returns the path that links lead to, which need not exist.
///
/// # Errors
/// Returns an error for a link that another user made in a folder to which all users write, and for too many links.
pub fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::symlink_metadata(&path) {
            Ok(known) if known.is_symlink() => {
                refuse_planted(&path, &known)?;
                path = folder_of(&path).join(fs::read_link(&path)?);
            }
            _ => return Ok(path),
        }
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "too many links"))
}

/// Refuses a link, a file or a pipe of another user in a folder to which all users write, as Linux does where they are opened.
#[cfg(unix)]
fn refuse_planted(path: &Path, known: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    const STICKY_AND_WRITABLE: u32 = 0o1002;
    let folder = fs::metadata(folder_of(path))?;
    let is_open = folder.mode() & STICKY_AND_WRITABLE == STICKY_AND_WRITABLE;
    // SAFETY: the function has no preconditions and always succeeds.
    let user = unsafe { libc::geteuid() };
    if is_open && known.uid() != user && known.uid() != folder.uid() {
        let kind = if known.is_symlink() { "a link" } else { "a file" };
        let text = format!("this is {kind} of another user in a folder to which all users write");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    Ok(())
}

#[cfg(not(unix))]
fn refuse_planted(_: &Path, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// The folder of a path; `.` for a name alone.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
