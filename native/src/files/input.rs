//! Reads traces from files, folders and standard input.

use crate::files::inflate::ZlibMember;
use crate::files::pieces::Pieces;
use crate::files::threads::THREADS;
use crate::io_error::with_path;
use kinetoscope_core::error::Error;
use kinetoscope_core::queries::Join;
use kinetoscope_core::read::unpack::Unpacker;
use kinetoscope_core::trace::{TextReader, Trace};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The error of reading a trace, with the name of its source.
#[derive(Debug)]
pub struct InputError {
    /// The name of the source.
    pub source_name: String,
    /// The error.
    pub reason: Reason,
}

/// The reason why a trace could not be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum Reason {
    /// An I/O error.
    Io(io::Error),
    /// The input is not a trace.
    Trace(Error),
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.source_name, self.reason)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Io(error) => error.fmt(f),
            Reason::Trace(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for InputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.reason {
            Reason::Io(error) => Some(error),
            Reason::Trace(error) => Some(error),
        }
    }
}

impl From<io::Error> for Reason {
    fn from(error: io::Error) -> Self {
        Reason::Io(error)
    }
}

impl From<Error> for Reason {
    fn from(error: Error) -> Self {
        Reason::Trace(error)
    }
}

/// The source of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
}

impl Source {
    /// Returns the name of the source in reports.
    pub fn name(&self) -> String {
        match self {
            Source::Stdin => "standard input".to_owned(),
            Source::File(path) => path
                .file_name()
                .map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned()),
        }
    }

    /// Returns the path for messages: of a file as it was given, or found in a folder.
    pub fn path(&self) -> String {
        match self {
            Source::Stdin => self.name(),
            Source::File(path) => path.display().to_string(),
        }
    }

    /// Returns the size in bytes, if it is known.
    pub fn size(&self) -> Option<u64> {
        match self {
            Source::Stdin => None,
            Source::File(path) => fs::metadata(path).ok().map(|m| m.len()),
        }
    }

    /// Opens the source.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened.
    pub fn reader(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Source::Stdin => Box::new(io::stdin()),
            Source::File(path) => Box::new(File::open(path)?),
        })
    }
}

/// Returns the sources for arguments of a command line: files, `-` for standard input, and all traces in a folder and
/// its subfolders.
///
/// # Errors
/// Returns an error if a folder cannot be read or contains no traces.
pub fn sources(arguments: &[PathBuf]) -> io::Result<Vec<Source>> {
    let mut sources = Vec::new();
    for argument in arguments {
        if argument.as_os_str() == "-" {
            sources.push(Source::Stdin);
        } else if argument.is_dir() {
            let mut found = files_in(argument)?;
            found.retain(|path| is_trace(path));
            if found.is_empty() {
                let message = format!(
                    "{}: no file in this folder ends in {}",
                    argument.display(),
                    EXTENSIONS.join(", ")
                );
                return Err(io::Error::new(io::ErrorKind::NotFound, message));
            }
            sources.extend(found.into_iter().map(Source::File));
        } else {
            sources.push(Source::File(argument.clone()));
        }
    }
    Ok(sources)
}

/// The ends of the names of files that are read from a folder.
pub(super) const EXTENSIONS: [&str; 6] =
    [".json", ".json.gz", ".json.zst", ".ktrace", ".pftrace", ".perfetto-trace"];

fn is_trace(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    EXTENSIONS.iter().any(|end| name.ends_with(end))
}

/// Returns the files in a folder and its subfolders, sorted. Links to folders are not followed; pipes and devices are not
/// files.
pub(super) fn files_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    walk(folder, &mut files)?;
    files.sort();
    Ok(files)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder).map_err(with_path(folder))? {
        let path = entry.map_err(with_path(folder))?.path();
        if path.is_file() {
            files.push(path);
        } else if path.is_dir() && !path.is_symlink() {
            walk(&path, files)?;
        }
    }
    Ok(())
}

/// The progress of reading a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes that were read from the source, before decompression.
    pub bytes: u64,
    /// Events that were read.
    pub events: usize,
}

/// Reads a trace from a file.
///
/// # Errors
/// Returns [`Reason::Io`] if the file cannot be read, and [`Reason::Trace`] if it is not a trace.
pub fn open(path: impl AsRef<Path>) -> Result<Trace, InputError> {
    read(&Source::File(path.as_ref().to_path_buf()), |_| {})
}

/// Reads a trace from a file, on this many threads that parse; 1 uses no thread but that of the caller. The result does not depend
/// on it.
///
/// # Errors
/// As [`open`].
pub fn open_on(path: impl AsRef<Path>, threads: usize) -> Result<Trace, InputError> {
    let source = Source::File(path.as_ref().to_path_buf());
    let trace =
        source.reader().map_err(Reason::from).and_then(|input| read_on(input, Some(threads), &mut |_| {}));
    trace.map_err(|reason| InputError { source_name: source.path(), reason })
}

/// Returns an unpacker that inflates with [`ZlibMember`].
pub fn unpacker() -> Unpacker {
    Unpacker::new(Box::<ZlibMember>::default())
}

/// Reads a trace from a source and reports its progress to `progress`.
///
/// # Errors
/// Returns [`Reason::Io`] if the source cannot be read, and [`Reason::Trace`] if it is not a trace.
pub fn read(source: &Source, progress: impl FnMut(Progress)) -> Result<Trace, InputError> {
    read_text(source, progress).map_err(|reason| InputError { source_name: source.path(), reason })
}

fn read_text(source: &Source, progress: impl FnMut(Progress)) -> Result<Trace, Reason> {
    read_from(source.reader()?, progress)
}

/// Reads a trace from any input.
pub(super) fn read_from(
    input: Box<dyn Read + Send>,
    mut progress: impl FnMut(Progress),
) -> Result<Trace, Reason> {
    read_on(input, None, &mut progress)
}

fn read_on(
    input: Box<dyn Read + Send>,
    threads: Option<usize>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Trace, Reason> {
    let mut text = TextReader::default();
    let unpacking = Pieces::new(input).read_into(&mut text, threads, progress)?;
    let (table, mut diagnostics) = text.finish()?;
    diagnostics.append(&unpacking);
    let join = if threads == Some(1) { Join::SEQUENTIAL } else { THREADS };
    Ok(Trace::new_by(table, diagnostics, join))
}
