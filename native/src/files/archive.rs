//! Reads the files in archives: `.tar`, `.tar.gz`, `.tgz` and `.zip`. Nothing is written to disk.

use flate2::read::MultiGzDecoder;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// The ends of the names of archives.
const EXTENSIONS: [&str; 4] = [".tar", ".tar.gz", ".tgz", ".zip"];

/// The number of files of an archive that are read.
const MOST_FILES: usize = 100_000;

/// The size up to which a file in an archive is read, however small the archive is, in bytes.
const SMALL: u64 = 256 << 20;

/// The largest size of a file in an archive, in bytes.
const LARGEST: u64 = 4 << 30;

/// How much larger than the archive a file in it may be. Traces compress by less.
const RATIO: u64 = 100;

/// The longest header of a file in an archive, such as a long path, in bytes.
const LONGEST_HEADER: u64 = 1 << 20;

/// The size up to which the files of an archive are read in all, however small the archive is, in bytes.
const SMALL_SUM: u64 = 1 << 30;

/// A file in an archive.
pub(super) struct Member {
    pub(super) name: String,
    /// Its bytes, or why they are not read.
    pub(super) bytes: io::Result<Vec<u8>>,
}

/// Whether a file is an archive, by its name.
pub(super) fn is_archive(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    EXTENSIONS.iter().any(|end| name.ends_with(end))
}

/// Calls `each` with every file of an archive, in the order of the archive.
///
/// # Errors
/// Returns an error if the archive cannot be read to its end.
pub(super) fn members(path: &Path, each: &mut dyn FnMut(Member)) -> io::Result<()> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    let name = path.to_string_lossy().to_lowercase();
    if Path::new(&name).extension().is_some_and(|extension| extension == "zip") {
        return zip_members(file, size, each);
    }
    let mut head = [0; 2];
    let is_gzip = file.read_exact(&mut head).is_ok() && head == [0x1f, 0x8b];
    let file = File::open(path)?;
    if is_gzip { tar_members(MultiGzDecoder::new(file), size, each) } else { tar_members(file, size, each) }
}

fn tar_members(input: impl Read, size: u64, each: &mut dyn FnMut(Member)) -> io::Result<()> {
    let mut archive = tar::Archive::new(input);
    let mut budget = Budget::new(size);
    // The path of the next file, if it is too long for its header.
    let mut long_path: Option<PathBuf> = None;
    for (count, entry) in archive.entries()?.raw(true).enumerate() {
        let mut entry = entry?;
        check_count(count)?;
        let kind = entry.header().entry_type();
        if kind.is_gnu_longname() || kind.is_pax_local_extensions() {
            let text = read_header(&mut entry)?;
            long_path =
                if kind.is_gnu_longname() { Some(path_of(&text)) } else { pax_path(&text) }.or(long_path);
            continue;
        }
        if kind.is_dir() || kind.is_pax_global_extensions() || kind.is_gnu_longlink() {
            continue;
        }
        let path = long_path.take().map_or_else(|| entry.path().map(Cow::into_owned), Ok)?;
        let length = entry.size();
        let bytes = if kind.is_file() || kind.is_contiguous() {
            check(&path, length, &mut budget).and_then(|()| read(&mut entry, length))
        } else {
            Err(refused("a link or a special file in an archive is not followed"))
        };
        each(Member { name: path.to_string_lossy().into_owned(), bytes });
    }
    Ok(())
}

/// Reads an entry that describes the next one.
fn read_header(entry: &mut tar::Entry<'_, impl Read>) -> io::Result<Vec<u8>> {
    let length = entry.size();
    if length > LONGEST_HEADER {
        return Err(refused(format!(
            "a header in the archive is {length} bytes long; at most {LONGEST_HEADER} are read"
        )));
    }
    read(entry, length)
}

/// The path in an entry with a long name, which ends with a zero.
fn path_of(text: &[u8]) -> PathBuf {
    let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
    PathBuf::from(String::from_utf8_lossy(text).into_owned())
}

/// The path in an entry with POSIX extensions.
fn pax_path(text: &[u8]) -> Option<PathBuf> {
    let mut extensions = tar::PaxExtensions::new(text).flatten();
    extensions.find(|extension| extension.key() == Ok("path")).map(|path| path_of(path.value_bytes()))
}

fn zip_members(file: File, size: u64, each: &mut dyn FnMut(Member)) -> io::Result<()> {
    let mut archive = zip::ZipArchive::new(file).map_err(io::Error::other)?;
    let mut budget = Budget::new(size);
    for at in 0..archive.len() {
        check_count(at)?;
        let (name, bytes) = match archive.by_index(at) {
            Ok(entry) if entry.is_dir() => continue,
            Ok(mut entry) => {
                let name = entry.name().map_or_else(|_| format!("file {at}"), Cow::into_owned);
                let length = entry.size();
                let bytes = if entry.is_symlink() {
                    Err(refused("a link in an archive is not followed"))
                } else {
                    check(Path::new(&name), length, &mut budget).and_then(|()| read(&mut entry, length))
                };
                (name, bytes)
            }
            Err(error) => (format!("file {at}"), Err(io::Error::other(error))),
        };
        each(Member { name, bytes });
    }
    Ok(())
}

fn refused(message: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message.into())
}

fn check_count(count: usize) -> io::Result<()> {
    if count < MOST_FILES { Ok(()) } else { Err(refused(format!("more than {MOST_FILES} files"))) }
}

/// The numbers of bytes that are read from an archive: of one file, and of the files that follow in all.
struct Budget {
    file: u64,
    rest: u64,
}

impl Budget {
    /// Returns the budget of an archive of this size.
    fn new(archive: u64) -> Budget {
        let size = archive.saturating_mul(RATIO);
        Budget { file: size.clamp(SMALL, LARGEST), rest: size.max(SMALL_SUM) }
    }
}

/// Checks that a path stays within the archive, and that the archive is not unreasonably large.
fn check(path: &Path, length: u64, budget: &mut Budget) -> io::Result<()> {
    let leaves = |part: Component<'_>| !matches!(part, Component::Normal(_) | Component::CurDir);
    if path.components().any(leaves) {
        return Err(refused("its path leaves the archive"));
    }
    if length > budget.file {
        let most = budget.file;
        return Err(refused(format!("it is {length} bytes long; at most {most} are read from this archive")));
    }
    let Some(rest) = budget.rest.checked_sub(length) else {
        return Err(refused("the files of the archive are unreasonably large in all"));
    };
    budget.rest = rest;
    Ok(())
}

/// Reads a file whose stated length was checked. A longer one is an error.
fn read(input: &mut impl Read, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(length + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(refused("its length is not the stated one")) }
}
