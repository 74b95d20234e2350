//! Follows a recording while a program writes it: keeps its last seconds, so that the time and the memory to show them do not
//! grow with the file.

use crate::io_error::with_path;
use kinetoscope_stream::block::{self, Block, BlockKind, Found, HEAD_BYTES, MAGIC, find, u64_at};
use kinetoscope_stream::ring::{Piece, Ring};
use serde_json::Value;
use std::convert::Infallible;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read, Seek};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The number of bytes that one call of [`Follower::poll`] reads at most.
const MOST: u64 = 64 << 20;

/// The number of bytes that are compared at each poll. They have the process and the first reading of the clock.
const HEAD: u64 = 4096;

fn first_bytes(file: &mut File, length: u64) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    file.seek(io::SeekFrom::Start(0))?;
    file.take(length).read_to_end(&mut head)?;
    Ok(head)
}

/// Opens a regular file. Opening does not wait for the other end of a pipe.
fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a regular file")) }
}

/// The state of a recording that is followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Following {
    /// The file does not exist, or nothing was recorded to it.
    #[default]
    Waiting,
    /// The program records.
    Recording,
    /// The recording has ended. A later one may be appended to the file.
    Ended,
    /// The program has ended, and its recording has not. Known on Linux only.
    Killed,
}

impl Following {
    /// Returns the word for the state: `waiting`, `recording`, `ended` or `killed`.
    pub fn as_str(self) -> &'static str {
        match self {
            Following::Waiting => "waiting",
            Following::Recording => "recording",
            Following::Ended => "ended",
            Following::Killed => "killed",
        }
    }
}

/// Reads what is appended to a recording (`.ktrace`), and keeps the last seconds of the latest recording in the file.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    keep: Duration,
    limit: usize,
    file: Option<File>,
    read: u64,
    /// The first bytes of the file, by which another recording in its place is recognized.
    head: Vec<u8>,
    /// The start of a block that is not complete yet.
    rest: Vec<u8>,
    version: u64,
    latest: Latest,
}

impl Follower {
    /// Follows a file, which need not exist yet. Keeps what is younger than `keep`, by the recorder's clock, and at most
    /// `limit` bytes of it.
    pub fn new(path: &Path, keep: Duration, limit: usize) -> Follower {
        Follower {
            path: path.to_owned(),
            keep,
            limit,
            file: None,
            read: 0,
            head: Vec::new(),
            rest: Vec::new(),
            version: 0,
            latest: Latest::new(keep, limit),
        }
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads what was appended, at most 64 MiB. Starts again if the file was replaced or shortened. Returns whether there
    /// may be more to read.
    ///
    /// # Errors
    /// Returns an error with the path if the file cannot be read. A file that does not exist is not an error.
    pub fn poll(&mut self) -> io::Result<bool> {
        let known = match fs::metadata(&self.path) {
            Ok(known) => known,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(with_path(&self.path)(error)),
        };
        let result = self.read_from(&known);
        result.map_err(with_path(&self.path))
    }

    fn read_from(&mut self, known: &Metadata) -> io::Result<bool> {
        let is_same = match &mut self.file {
            Some(file) => {
                is_same(&file.metadata()?, known)
                    && known.len() >= self.read
                    && first_bytes(file, self.head.len() as u64)? == self.head
            }
            None => false,
        };
        if !is_same {
            self.file = Some(open_regular(&self.path)?);
            (self.read, self.latest) = (0, Latest::new(self.keep, self.limit));
            self.rest.clear();
            self.head.clear();
            self.version += 1;
        }
        let Some(file) = &mut self.file else { return Ok(false) };
        if (self.head.len() as u64) < HEAD {
            self.head = first_bytes(file, HEAD)?;
        }
        file.seek(io::SeekFrom::Start(self.read))?;
        let before = self.rest.len();
        let length = file.take(MOST).read_to_end(&mut self.rest)?;
        self.read += length as u64;
        if self.rest.len() > before {
            self.version += 1;
            let done = self.latest.read(&self.rest);
            self.rest.drain(..done);
        }
        Ok(length as u64 == MOST)
    }

    /// The state of the latest recording in the file.
    pub fn state(&self) -> Following {
        self.latest.state()
    }

    /// A number that changes whenever [`snapshot`](Self::snapshot) does.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Returns what is kept as a recording of its own; `None` before the recording has started.
    pub fn snapshot(&self) -> Option<Vec<u8>> {
        self.latest.snapshot()
    }
}

#[cfg(unix)]
fn is_same(open: &Metadata, named: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (open.dev(), open.ino()) == (named.dev(), named.ino())
}

#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}

/// The latest recording in a file.
#[derive(Debug)]
struct Latest {
    keep: Duration,
    limit: usize,
    ring: Ring,
    piece: Piece,
    /// The numbers of its last `WINDOW`.
    window: Option<[u64; 4]>,
    /// The process that records.
    pid: Option<u64>,
}

impl Latest {
    fn new(keep: Duration, limit: usize) -> Latest {
        Latest { keep, limit, ring: Ring::new(keep, limit), piece: Piece::default(), window: None, pid: None }
    }

    /// Reads the complete blocks. Returns the number of bytes read. Damage is left out.
    fn read(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while at < bytes.len() {
            match find(&bytes[at..]) {
                Found::Block(found) => {
                    let length = HEAD_BYTES + found.payload.len();
                    self.add(found, &bytes[at..at + length]);
                    at += length;
                }
                Found::Partial(_) => {
                    // A block that is being written is the last one. Others can follow one that a killed program left.
                    let is_block = |found: &Found<'_>| matches!(found, Found::Block(_));
                    let Some(next) = next_place(&bytes[at + 1..], is_block) else { break };
                    at += 1 + next;
                }
                Found::Damage => {
                    let is_start = |found: &Found<'_>| !matches!(found, Found::Damage);
                    at += 1 + next_place(&bytes[at + 1..], is_start).unwrap_or(bytes.len() - at - 1);
                }
            }
        }
        self.end_piece();
        at
    }

    fn add(&mut self, block: Block<'_>, bytes: &[u8]) {
        use BlockKind::{Activities, Clock, DeviceClock, Meta, Names, Records, Sites, Thread, Window};
        let is_event = matches!(block.kind, Records | Activities);
        if !is_event && !self.piece.events.is_empty() {
            self.end_piece();
        }
        match block.kind {
            Meta => {
                if let Some(pid) = process_of(block.payload) {
                    *self = Latest { pid: Some(pid), ..Latest::new(self.keep, self.limit) };
                }
                self.piece.definitions.extend_from_slice(bytes);
            }
            Names | Sites | Thread => self.piece.definitions.extend_from_slice(bytes),
            Clock => {
                let last = block.payload.len().saturating_sub(16);
                self.piece.ticks = u64_at(block.payload, last);
                self.piece.at = Duration::from_nanos(u64_at(block.payload, last + 8));
                self.piece.notes.extend_from_slice(bytes);
            }
            DeviceClock => self.piece.notes.extend_from_slice(bytes),
            Window => {
                let number = |at: usize| u64_at(block.payload, at * 8);
                self.window = Some([number(0), number(1), number(2), number(3)]);
            }
            Records | Activities => self.piece.events.extend_from_slice(bytes),
        }
    }

    fn end_piece(&mut self) {
        if !self.piece.is_empty() {
            let next = Piece { at: self.piece.at, ticks: self.piece.ticks, ..Piece::default() };
            self.ring.append(std::mem::replace(&mut self.piece, next));
        }
    }

    fn state(&self) -> Following {
        match self.window {
            None => Following::Waiting,
            Some([_, end, ..]) if end != 0 => Following::Ended,
            Some(_) if self.pid.is_some_and(is_gone) => Following::Killed,
            Some(_) => Following::Recording,
        }
    }

    fn snapshot(&self) -> Option<Vec<u8>> {
        let [start, end, cycle, first_id] = self.window?;
        let start = self.ring.start().map_or(start, |kept| kept.max(start));
        let end = if end == 0 { self.piece.ticks.max(start) } else { end };
        let mut out = Vec::new();
        let window: Vec<u8> = [start, end, cycle, first_id].into_iter().flat_map(u64::to_le_bytes).collect();
        block::write(&mut out, BlockKind::Window, 0, &window);
        let Ok(()) = self.ring.write(|bytes| {
            out.extend_from_slice(bytes);
            Ok::<(), Infallible>(())
        });
        Some(out)
    }
}

/// The first place at which the bytes are what is wanted.
fn next_place(bytes: &[u8], is_wanted: impl Fn(&Found<'_>) -> bool) -> Option<usize> {
    (0..bytes.len()).find(|&at| bytes[at] == MAGIC[0] && is_wanted(&find(&bytes[at..])))
}

/// The process in the metadata with which a recording starts; `None` of other metadata.
fn process_of(members: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(members).ok()?;
    let value: Value = serde_json::from_str(&format!("{{{text}}}")).ok()?;
    let is_start = ["recorder", "clock"].iter().all(|key| value.get(key).is_some());
    value.get("pid").and_then(Value::as_u64).filter(|_| is_start)
}

/// Whether a process is known to have ended.
fn is_gone(pid: u64) -> bool {
    cfg!(target_os = "linux") && !Path::new(&format!("/proc/{pid}")).exists()
}
