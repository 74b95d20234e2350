//! Reads traces from files, folders and standard input.

use crate::files::error::{InputError, Reason};
use crate::files::pieces::{Pieces, Progress};
use crate::files::threads::THREADS;
use crate::io_error::with_path;
use kinetoscope_core::queries::Join;
use kinetoscope_core::trace::read::limits::Limits;
use kinetoscope_core::trace::{TextReader, Trace};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

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
    read_source(&Source::File(path.as_ref().to_path_buf()), Limits::default(), Some(threads), &mut |_| {})
}

/// Reads a trace from a source and reports its progress to `progress`.
///
/// # Errors
/// Returns [`Reason::Io`] if the source cannot be read, and [`Reason::Trace`] if it is not a trace.
pub fn read(source: &Source, mut progress: impl FnMut(Progress)) -> Result<Trace, InputError> {
    read_source(source, Limits::default(), None, &mut progress)
}

/// Reads a trace from a source within limits, and reports its progress to `progress`.
///
/// # Errors
/// As [`read`]. That a limit was reached is no error: the diagnostics say so.
pub fn read_within(
    source: &Source,
    limits: Limits,
    mut progress: impl FnMut(Progress),
) -> Result<Trace, InputError> {
    read_source(source, limits, None, &mut progress)
}

fn read_source(
    source: &Source,
    limits: Limits,
    threads: Option<usize>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Trace, InputError> {
    let read = source.reader().map_err(Reason::from);
    let trace = read.and_then(|input| read_on(input, limits, threads, progress));
    trace.map_err(|reason| InputError { source_name: source.path(), reason })
}

/// Reads a trace from any input.
pub(super) fn read_from(
    input: Box<dyn Read + Send>,
    mut progress: impl FnMut(Progress),
) -> Result<Trace, Reason> {
    read_on(input, Limits::default(), None, &mut progress)
}

fn read_on(
    input: Box<dyn Read + Send>,
    limits: Limits,
    threads: Option<usize>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Trace, Reason> {
    let mut text = TextReader::new(limits);
    let unpacking = Pieces::new(input).read_into(&mut text, threads, progress)?;
    let (table, mut diagnostics) = text.finish()?;
    diagnostics.append(&unpacking);
    let join = if threads == Some(1) { Join::SEQUENTIAL } else { THREADS };
    Ok(Trace::new_by(table, diagnostics, join))
}
