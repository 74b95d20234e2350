//! The files of a run: traces and summaries in files, folders and archives, and those that match a pattern.

use super::archive::{Member, is_archive, members};
use super::input::{EXTENSIONS, Progress, Reason, Source, read_from};
use kinetoscope_core::error::Error;
use kinetoscope_core::ranks::file;
use kinetoscope_core::ranks::summary::Summary;
use kinetoscope_core::trace::Trace;
use std::fs;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

/// What a file of a run has.
pub enum Content {
    /// A trace.
    Trace(Box<Trace>),
    /// The summaries of a `.ksum` file.
    Summaries(Vec<Summary>),
}

/// A file of a run.
#[non_exhaustive]
pub struct Found {
    /// The name for reports: of a file in an archive, the path in it.
    pub name: String,
    /// The path for messages.
    pub path: String,
    /// Whether it was named, instead of found in a folder or an archive.
    pub is_named: bool,
    /// The size of the file in bytes, as it is stored.
    pub bytes: u64,
    /// What it has, or why it could not be read.
    pub content: Result<Content, Reason>,
}

impl Found {
    /// Whether it was found and is of another kind: another JSON document, or a name that no trace has.
    pub fn is_other_file(&self) -> bool {
        let is_document = |error: &Error| {
            let Error::NotATrace { looks_like, .. } = error else { return false };
            looks_like.contains("JSON") || *looks_like == OTHER
        };
        !self.is_named && matches!(&self.content, Err(Reason::Trace(error)) if is_document(error))
    }
}

/// What a file looks like whose name is that of no trace.
const OTHER: &str = "a file of another kind, by its name";

/// Reads the files of a run one by one, and calls `each` with each of them before the next one is read. Arguments are
/// files, folders with their subfolders, archives (`.tar`, `.tar.gz`, `.tgz`, `.zip`), patterns such as `rank*.json.gz`,
/// and `-` for standard input.
///
/// # Errors
/// Returns an error if an argument does not exist, or a folder or an archive cannot be read.
pub fn visit(
    arguments: &[PathBuf],
    progress: &mut dyn FnMut(Progress),
    each: &mut dyn FnMut(Found),
) -> io::Result<()> {
    for argument in arguments {
        if argument.as_os_str() == "-" {
            each(file_of(&Source::Stdin, true, progress));
        } else if argument.is_dir() {
            visit_folder(argument, progress, each)?;
        } else if argument.exists() {
            visit_file(argument, true, progress, each);
        } else {
            for path in matching(argument)? {
                if path.is_dir() {
                    visit_folder(&path, progress, each)?;
                } else {
                    visit_file(&path, true, progress, each);
                }
            }
        }
    }
    Ok(())
}

/// The paths that match a pattern.
fn matching(pattern: &Path) -> io::Result<Vec<PathBuf>> {
    let text = pattern.to_string_lossy();
    let missing = || io::Error::new(io::ErrorKind::NotFound, format!("{text}: No such file or directory"));
    if !text.contains(['*', '?', '[']) {
        return Err(missing());
    }
    let found = glob::glob(&text).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    let paths: Result<Vec<PathBuf>, _> = found.collect();
    let paths = paths.map_err(io::Error::from)?;
    if paths.is_empty() { Err(missing()) } else { Ok(paths) }
}

fn visit_folder(
    folder: &Path,
    progress: &mut dyn FnMut(Progress),
    each: &mut dyn FnMut(Found),
) -> io::Result<()> {
    let within = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", folder.display()));
    let entries: io::Result<Vec<PathBuf>> =
        fs::read_dir(folder).and_then(|all| all.map(|entry| Ok(entry?.path())).collect());
    let mut paths = entries.map_err(within)?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            if !path.is_symlink() {
                visit_folder(&path, progress, each)?;
            }
        } else if is_candidate(&path.to_string_lossy()) || is_archive(&path) {
            visit_file(&path, false, progress, each);
        } else {
            let name = Source::File(path.clone()).name();
            each(other(name, path.display().to_string()));
        }
    }
    Ok(())
}

/// Whether the name of a file is that of a trace or a summary.
fn is_candidate(name: &str) -> bool {
    let name = name.to_lowercase();
    EXTENSIONS.iter().chain(&[".ksum"]).any(|end| name.ends_with(end))
}

fn other(name: String, path: String) -> Found {
    let error = Error::NotATrace { looks_like: OTHER, hint: "", offset: 0 };
    Found { name, path, is_named: false, bytes: 0, content: Err(Reason::Trace(error)) }
}

fn visit_file(path: &Path, is_named: bool, progress: &mut dyn FnMut(Progress), each: &mut dyn FnMut(Found)) {
    if !is_archive(path) {
        each(file_of(&Source::File(path.to_owned()), is_named, progress));
        return;
    }
    let archive = path.display().to_string();
    let read = members(path, &mut |member| each(member_of(&archive, member, progress)));
    if let Err(error) = read {
        let name = Source::File(path.to_owned()).name();
        each(Found { name, path: archive, is_named, bytes: 0, content: Err(Reason::Io(error)) });
    }
}

fn member_of(archive: &str, Member { name, bytes }: Member, progress: &mut dyn FnMut(Progress)) -> Found {
    let path = format!("{archive}: {name}");
    match bytes {
        Ok(_) if !is_candidate(&name) => other(name, path),
        Ok(bytes) => {
            let size = bytes.len() as u64;
            let content = content(Box::new(Cursor::new(bytes)), progress);
            Found { name, path, is_named: false, bytes: size, content }
        }
        Err(error) => Found { name, path, is_named: false, bytes: 0, content: Err(Reason::Io(error)) },
    }
}

fn file_of(source: &Source, is_named: bool, progress: &mut dyn FnMut(Progress)) -> Found {
    let content = source.reader().map_err(Reason::Io).and_then(|input| content(input, progress));
    Found { name: source.name(), path: source.path(), is_named, bytes: source.size().unwrap_or(0), content }
}

/// Reads a trace or a file of summaries.
fn content(mut input: Box<dyn Read + Send>, progress: &mut dyn FnMut(Progress)) -> Result<Content, Reason> {
    let mut head = Vec::new();
    input.by_ref().take(4).read_to_end(&mut head)?;
    if file::is_summary(&head) {
        input.read_to_end(&mut head)?;
        return Ok(Content::Summaries(file::decode(&head)?));
    }
    let trace = read_from(Box::new(Cursor::new(head).chain(input)), progress)?;
    Ok(Content::Trace(Box::new(trace)))
}
