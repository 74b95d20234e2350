//! Decompresses an input to pieces of text, and reads them with several threads.
//!
//! One thread decompresses, others parse the pieces as segments, and the thread of the caller joins the segments in order. An input of
//! one piece is read without threads.

use super::error::Reason;
use super::inflate::unpacker;
use super::threads::processors;
use kinetoscope_core::base::diagnostics::Diagnostics;
use kinetoscope_core::base::error::Error;
use kinetoscope_core::trace::TextReader;
use kinetoscope_core::trace::read::limits::Limits;
use kinetoscope_core::trace::read::segment::Segment;
use kinetoscope_core::trace::read::unpack::Unpacker;
use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The progress of reading a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes that were read from the source, before decompression.
    pub bytes: u64,
    /// Events that were read.
    pub events: usize,
}

/// The size of a piece of text, in bytes. What the segments have in common is parsed again in each.
const PIECE_BYTES: usize = 2 << 20;

/// The number of bytes that are read from the input at once.
const READ_BYTES: usize = 256 << 10;

/// The number of compressed bytes that are decompressed at once. They may become a thousand times as many.
const STEP_BYTES: usize = 16 << 10;

/// The number of pieces that wait for the caller, for each thread that parses.
const QUEUED: usize = 2;

/// What reads pieces of text.
pub(super) trait PieceReader {
    /// What a thread parses of a piece.
    type Part: Send;

    fn takes_parts(&self) -> bool;

    fn parse(text: &[u8]) -> Option<Self::Part>;

    fn feed(&mut self, text: &[u8]) -> Result<(), Error>;

    fn feed_parsed(&mut self, text: &[u8], part: &Self::Part) -> Result<(), Error>;

    fn events(&self) -> usize;
}

impl PieceReader for TextReader {
    type Part = Segment;

    fn takes_parts(&self) -> bool {
        self.takes_segments()
    }

    fn parse(text: &[u8]) -> Option<Segment> {
        Segment::parse(text, Limits::default())
    }

    fn feed(&mut self, text: &[u8]) -> Result<(), Error> {
        self.feed(text)
    }

    fn feed_parsed(&mut self, text: &[u8], part: &Segment) -> Result<(), Error> {
        self.feed_parsed(text, part).map(drop)
    }

    fn events(&self) -> usize {
        self.table().len()
    }
}

/// A piece of decompressed text, and the number of bytes read from the input so far.
pub(super) struct Piece {
    pub(super) text: Vec<u8>,
    pub(super) bytes: u64,
}

/// An input as pieces of text.
pub(super) struct Pieces {
    input: Box<dyn Read + Send>,
    /// Absent after the end of the input.
    unpacker: Option<Unpacker>,
    buffer: Vec<u8>,
    /// The part of the buffer that is not decompressed yet.
    rest: std::ops::Range<usize>,
    bytes: u64,
    diagnostics: Diagnostics,
}

impl Pieces {
    pub(super) fn new(input: Box<dyn Read + Send>) -> Pieces {
        Pieces {
            input,
            unpacker: Some(unpacker()),
            buffer: vec![0; READ_BYTES],
            rest: 0..0,
            bytes: 0,
            diagnostics: Diagnostics::default(),
        }
    }

    /// Passes over bytes of text by moving the position of the file that is read. Returns whether that is possible: the text must not be
    /// compressed.
    pub(super) fn skip(&mut self, file: &mut File, bytes: u64) -> io::Result<bool> {
        let is_plain = self.unpacker.as_ref().is_some_and(Unpacker::is_plain) && self.rest.is_empty();
        if let (true, Ok(offset)) = (is_plain, i64::try_from(bytes)) {
            file.seek(SeekFrom::Current(offset))?;
            self.bytes += bytes;
        }
        Ok(is_plain)
    }

    /// Returns the diagnostics of the decompression.
    pub(super) fn finish(self) -> Diagnostics {
        self.diagnostics
    }

    /// Fills `text` with the next piece. Returns `None` after the last one.
    pub(super) fn next(&mut self, mut text: Vec<u8>) -> io::Result<Option<Piece>> {
        text.clear();
        while text.len() < PIECE_BYTES && self.advance(&mut text)? {}
        let is_last = text.is_empty() && self.unpacker.is_none();
        Ok((!is_last).then_some(Piece { text, bytes: self.bytes }))
    }

    /// Reads or decompresses some bytes. Returns whether more may follow.
    fn advance(&mut self, text: &mut Vec<u8>) -> io::Result<bool> {
        let Some(unpacker) = &mut self.unpacker else { return Ok(false) };
        let step = self.rest.start..self.rest.end.min(self.rest.start + STEP_BYTES);
        self.rest.start = step.end;
        if !step.is_empty() {
            let Ok(()) = unpacker.feed(&self.buffer[step], &mut append_to(text));
            return Ok(true);
        }
        let length = if unpacker.is_plain() {
            // Plain text needs no buffer.
            self.input.by_ref().take((PIECE_BYTES - text.len()) as u64).read_to_end(text)?
        } else {
            match self.input.read(&mut self.buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(true),
                length => length?,
            }
        };
        self.bytes += length as u64;
        if length == 0 {
            if let Some(unpacker) = self.unpacker.take() {
                let Ok(diagnostics) = unpacker.finish(&mut append_to(text));
                self.diagnostics = diagnostics;
            }
        } else if !unpacker.is_plain() {
            self.rest = 0..length;
        }
        Ok(length > 0)
    }

    /// Reads the complete input into `text`, on this many threads or as many as there are processors. Returns the diagnostics of the
    /// decompression.
    pub(super) fn read_into<R: PieceReader>(
        mut self,
        text: &mut R,
        threads: Option<usize>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Diagnostics, Reason> {
        let mut buffer = Vec::with_capacity(PIECE_BYTES);
        while let Some(piece) = self.next(buffer)? {
            text.feed(&piece.text)?;
            progress(Progress { bytes: piece.bytes, events: text.events() });
            if self.unpacker.is_some() && threads != Some(1) {
                let parsers = if text.takes_parts() { threads.unwrap_or_else(processors) } else { 0 };
                return self.read_in_parallel(text, parsers, progress);
            }
            buffer = piece.text;
        }
        Ok(self.diagnostics)
    }

    fn read_in_parallel<R: PieceReader>(
        self,
        text: &mut R,
        parsers: usize,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Diagnostics, Reason> {
        let (jobs, open_jobs) = channel();
        let open_jobs = &Mutex::new(open_jobs);
        thread::scope(|scope| {
            let (give_back, empty) = channel();
            let (results, in_order) = sync_channel(parsers.max(1) * QUEUED);
            let reading = scope.spawn(move || self.send(parsers > 0, &empty, &jobs, &results));
            for _ in 0..parsers {
                scope.spawn(move || parse::<R>(open_jobs));
            }
            for result in in_order {
                let Parsed { piece, part } =
                    result.recv().map_err(|_| io::Error::other("a parsing thread panicked"))?;
                match part {
                    Some(part) => text.feed_parsed(&piece.text, &part)?,
                    None => text.feed(&piece.text)?,
                }
                progress(Progress { bytes: piece.bytes, events: text.events() });
                let _ = give_back.send(piece.text);
            }
            Ok(reading.join().map_err(|_| io::Error::other("the reading thread panicked"))??)
        })
    }

    /// Sends the rest of the input: each piece to the threads that parse, if there are any, and its future result to
    /// the caller. Ends early if the caller is gone.
    fn send<P>(
        mut self,
        parses: bool,
        empty: &Receiver<Vec<u8>>,
        jobs: &Sender<Job<P>>,
        results: &SyncSender<Receiver<Parsed<P>>>,
    ) -> io::Result<Diagnostics> {
        while let Some(piece) = self.next(empty.try_recv().unwrap_or_default())? {
            let (done, result) = channel();
            let sent = if parses {
                jobs.send(Job { piece, done }).is_ok()
            } else {
                done.send(Parsed { piece, part: None }).is_ok()
            };
            if !sent || results.send(result).is_err() {
                break;
            }
        }
        Ok(self.diagnostics)
    }
}

fn append_to(text: &mut Vec<u8>) -> impl FnMut(&[u8]) -> Result<(), Infallible> {
    |part| {
        text.extend_from_slice(part);
        Ok(())
    }
}

/// A piece to parse.
struct Job<P> {
    piece: Piece,
    done: Sender<Parsed<P>>,
}

/// A piece with its events, if it was parsed.
struct Parsed<P> {
    piece: Piece,
    part: Option<P>,
}

/// Parses pieces until there are no more.
fn parse<R: PieceReader>(jobs: &Mutex<Receiver<Job<R::Part>>>) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { piece, done }) = job else { return };
        let part = R::parse(&piece.text);
        let _ = done.send(Parsed { piece, part });
    }
}
