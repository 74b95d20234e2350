//! The files of a run: traces and summaries in files, folders and archives, and those that match a pattern.

use super::archive::{Member, is_archive, members};
use super::error::Reason;
use super::input::{EXTENSIONS, Source, files_in, read_from};
use super::pieces::Progress;
use kinetoscope_core::base::error::Error;
use kinetoscope_core::runs::ranks::file::{Summaries, is_summary};
use kinetoscope_core::trace::Trace;
use std::collections::HashMap;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

/// What a file of a run has.
pub enum Content {
    /// A trace.
    Trace(Box<Trace>),
    /// The summaries of a `.ksum` file.
    Summaries(Summaries),
}

/// A file of a run.
#[non_exhaustive]
pub struct Found {
    /// The name for reports, which no other file of the run has: of a file in a folder or an archive, the path in it.
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
    /// The same with another path for messages, and whether that was named.
    #[must_use]
    pub fn at(mut self, path: &str, is_named: bool) -> Found {
        path.clone_into(&mut self.path);
        self.is_named = is_named;
        self
    }

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

/// The files of a run, before they are read.
#[derive(Clone, Debug, Default)]
pub struct RunFiles {
    files: Vec<File>,
}

#[derive(Clone, Debug)]
struct File {
    source: Source,
    name: String,
    /// Whether it was named, instead of found in a folder.
    is_named: bool,
}

/// Where reading is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct At<'a> {
    /// The number of files before this one.
    pub index: usize,
    /// The name of the file; of a file in an archive, the path in it.
    pub name: &'a str,
    /// What was read of it.
    pub progress: Progress,
}

impl RunFiles {
    /// Returns the files for arguments of a command line: files, folders with their subfolders, archives (`.tar`,
    /// `.tar.gz`, `.tgz`, `.zip`), patterns such as `rank*.json.gz`, and `-` for standard input.
    ///
    /// A file that does not exist is one that cannot be read.
    ///
    /// # Errors
    /// Returns an error if a folder cannot be read, or a pattern is invalid.
    pub fn find(arguments: &[PathBuf]) -> io::Result<RunFiles> {
        let mut files = RunFiles::default();
        for argument in arguments {
            if argument.as_os_str() == "-" {
                let source = Source::Stdin;
                files.files.push(File { name: source.name(), source, is_named: true });
                continue;
            }
            let found = if argument.exists() { Vec::new() } else { matching(argument)? };
            if found.is_empty() {
                files.add(argument)?;
            }
            found.iter().try_for_each(|path| files.add(path))?;
        }
        Ok(files)
    }

    fn add(&mut self, path: &Path) -> io::Result<()> {
        if !path.is_dir() {
            let source = Source::File(path.to_owned());
            self.files.push(File { name: source.name(), source, is_named: true });
            return Ok(());
        }
        for found in files_in(path)? {
            let name = found.strip_prefix(path).unwrap_or(&found).to_string_lossy().replace('\\', "/");
            self.files.push(File { name, source: Source::File(found), is_named: false });
        }
        Ok(())
    }

    /// The number of files; an archive is one.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Where the files are read from.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        self.files.iter().map(|file| &file.source)
    }

    /// Reads the files one by one, and calls `each` with each of them before the next one is read.
    pub fn read(&self, progress: &mut dyn FnMut(At<'_>), each: &mut dyn FnMut(Found)) {
        let mut names = HashMap::new();
        for (index, file) in self.files.iter().enumerate() {
            let reader = &mut |name: &str, read| progress(At { index, name, progress: read });
            file.read(reader, &mut |mut found| {
                found.name = unused(found.name, &mut names);
                each(found);
            });
        }
    }
}

/// Returns the name, with a number if another file has it.
fn unused(name: String, names: &mut HashMap<String, usize>) -> String {
    let count = names.entry(name.clone()).and_modify(|count| *count += 1).or_insert(1);
    if *count == 1 { name } else { format!("{name} ({count})") }
}

/// Receives the name of a file, and what was read of it.
type Report<'a> = &'a mut dyn FnMut(&str, Progress);

impl File {
    fn read(&self, report: Report<'_>, each: &mut dyn FnMut(Found)) {
        let found = |content| Found {
            name: self.name.clone(),
            path: self.source.path(),
            is_named: self.is_named,
            bytes: self.source.size().unwrap_or(0),
            content,
        };
        match &self.source {
            Source::File(path) if is_archive(path) => {
                let read = members(path, &mut |member| each(member_of(&self.source.path(), member, report)));
                if let Err(error) = read {
                    each(found(Err(Reason::Io(error))));
                }
            }
            Source::File(path) if !self.is_named && !is_candidate(&path.to_string_lossy()) => {
                each(found(Err(other())));
            }
            source => {
                let name = &self.name;
                let input = source.reader().map_err(Reason::Io);
                each(found(input.and_then(|input| content(input, &mut |read| report(name, read)))));
            }
        }
    }
}

/// The paths that match a pattern; none if it is none.
fn matching(pattern: &Path) -> io::Result<Vec<PathBuf>> {
    let text = pattern.to_string_lossy();
    if !text.contains(['*', '?', '[']) {
        return Ok(Vec::new());
    }
    let found = glob::glob(&text).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    let paths: Result<Vec<PathBuf>, _> = found.collect();
    paths.map_err(io::Error::from)
}

/// Whether the name of a file is that of a trace or a summary.
fn is_candidate(name: &str) -> bool {
    let name = name.to_lowercase();
    EXTENSIONS.iter().chain(&[".ksum"]).any(|end| name.ends_with(end))
}

fn other() -> Reason {
    Reason::Trace(Error::NotATrace { looks_like: OTHER, hint: "", offset: 0 })
}

fn member_of(archive: &str, Member { name, bytes }: Member, report: Report<'_>) -> Found {
    let size = bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
    let content = match bytes {
        Ok(_) if !is_candidate(&name) => Err(other()),
        Ok(bytes) => content(Box::new(Cursor::new(bytes)), &mut |read| report(&name, read)),
        Err(error) => Err(Reason::Io(error)),
    };
    Found { path: format!("{archive}: {name}"), name, is_named: false, bytes: size, content }
}

/// Reads a trace or a file of summaries.
fn content(mut input: Box<dyn Read + Send>, progress: &mut dyn FnMut(Progress)) -> Result<Content, Reason> {
    let mut head = Vec::new();
    input.by_ref().take(4).read_to_end(&mut head)?;
    if is_summary(&head) {
        input.read_to_end(&mut head)?;
        let mut summaries = Summaries::default();
        summaries.read(&head)?;
        return Ok(Content::Summaries(summaries));
    }
    let trace = read_from(Box::new(Cursor::new(head).chain(input)), progress)?;
    Ok(Content::Trace(Box::new(trace)))
}
