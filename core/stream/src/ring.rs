//! The last seconds of a recording. Older pieces are dropped, but what later ones need is kept: names, call sites, threads,
//! and the begins of spans that are still open. The flight recorder keeps its recording like this, and so does a program that
//! follows a recording while it is written.

use crate::block::{self, Block, BlockKind, Found, HEAD_BYTES, find, u64_at};
use crate::record::{SLOT_BYTES, Tag, WORD_BYTES, Word, key};
use crate::records::{Record, Records};
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::time::Duration;

/// A part of a recording: the blocks that are written at once, by their kinds.
#[derive(Clone, Debug, Default)]
pub struct Piece {
    /// Its time: of two pieces, the later one has the greater. Pieces are dropped by it.
    pub at: Duration,
    /// The same time in ticks of the recorder's clock. All of its records precede it.
    pub ticks: u64,
    /// Blocks of metadata, names, call sites and threads.
    pub definitions: Vec<u8>,
    /// Blocks of clock readings and numbers of lost records. They are dropped with the piece.
    pub notes: Vec<u8>,
    /// Blocks of activities and records.
    pub events: Vec<u8>,
    /// The numbers of threads that have ended. Their records are in this piece and in earlier ones.
    pub ended: Vec<u32>,
}

impl Piece {
    /// The length of its blocks, in bytes.
    pub fn len(&self) -> usize {
        self.definitions.len() + self.notes.len() + self.events.len()
    }

    /// Whether it has no blocks.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The last pieces of a recording.
#[derive(Debug)]
pub struct Ring {
    keep: Duration,
    limit: usize,
    pieces: VecDeque<Piece>,
    bytes: usize,
    /// The time of the last dropped piece, in ticks.
    start: Option<u64>,
    /// The metadata, names and call sites of dropped pieces.
    definitions: Vec<u8>,
    /// The definitions of the threads of dropped pieces that have not ended in them.
    threads: BTreeMap<u32, Vec<u8>>,
    /// By thread, the spans that were open at the start of the oldest kept piece.
    open: BTreeMap<u32, OpenSpans>,
    /// Threads and positions of spans that ended on other threads, and whose begins are not in `open` yet.
    ended_elsewhere: BTreeSet<(u32, u32)>,
}

impl Ring {
    /// Creates a ring that keeps pieces of the last `keep`, and at most `limit` bytes of them. The last piece is always kept.
    pub fn new(keep: Duration, limit: usize) -> Ring {
        Ring {
            keep,
            limit,
            pieces: VecDeque::new(),
            bytes: 0,
            start: None,
            definitions: Vec::new(),
            threads: BTreeMap::new(),
            open: BTreeMap::new(),
            ended_elsewhere: BTreeSet::new(),
        }
    }

    /// Appends a piece, and drops those that are too old for it or exceed the limit.
    pub fn append(&mut self, piece: Piece) {
        let now = piece.at;
        self.bytes += piece.len();
        self.pieces.push_back(piece);
        while self.pieces.len() > 1
            && let Some(oldest) = self.pieces.front()
            && (now.saturating_sub(oldest.at) > self.keep || self.bytes > self.limit)
            && let Some(oldest) = self.pieces.pop_front()
        {
            self.drop_piece(&oldest);
        }
    }

    fn drop_piece(&mut self, piece: &Piece) {
        self.bytes -= piece.len();
        self.start = Some(piece.ticks);
        for (found, bytes) in blocks(&piece.definitions) {
            if found.kind == BlockKind::Thread {
                self.threads.insert(found.thread, bytes.to_vec());
            } else {
                self.definitions.extend_from_slice(bytes);
            }
        }
        for (found, _) in blocks(&piece.events) {
            if found.kind == BlockKind::Records {
                let open = self.open.entry(found.thread).or_default();
                update_open_spans(open, found.payload, &mut self.ended_elsewhere);
                if open.is_empty() {
                    self.open.remove(&found.thread);
                }
            }
        }
        for thread in &piece.ended {
            self.threads.remove(thread);
            self.open.remove(thread);
        }
        let open = &mut self.open;
        self.ended_elsewhere.retain(|&(thread, position)| {
            let span = open.get_mut(&thread).and_then(|open| open.get_mut(position as usize));
            span.map(|span| *span = None).is_none()
        });
    }

    /// Returns the time from which on everything is kept, in ticks; `None` if no piece was dropped.
    pub fn start(&self) -> Option<u64> {
        self.start
    }

    /// Passes the blocks that are kept to `write`, in the order of a recording without its `WINDOW`.
    ///
    /// # Errors
    /// Returns the first error of `write`.
    pub fn write<E>(&self, mut write: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        write(&self.definitions)?;
        self.threads.values().try_for_each(|thread| write(thread))?;
        for piece in &self.pieces {
            write(&piece.definitions)?;
            write(&piece.notes)?;
        }
        for (thread, open) in &self.open {
            let mut begins = Vec::new();
            block::write(&mut begins, BlockKind::Records, *thread, &open_spans(open));
            write(&begins)?;
        }
        self.pieces.iter().try_for_each(|piece| write(&piece.events))
    }
}

/// Returns the blocks in a sequence, each with its bytes.
fn blocks(mut rest: &[u8]) -> impl Iterator<Item = (Block<'_>, &[u8])> {
    core::iter::from_fn(move || {
        let Found::Block(found) = find(rest) else { return None };
        let (bytes, behind) = rest.split_at(HEAD_BYTES + found.payload.len());
        rest = behind;
        Some((found, bytes))
    })
}

/// The positions in use on a thread, outermost first: of each span its begin in the long form and its later arguments;
/// `None` if it has ended before the spans inside of it.
type OpenSpans = Vec<Option<Vec<u8>>>;

/// Returns the long form of the begin of a span.
fn long_form(record: &Record<'_>) -> Vec<u8> {
    if !record.is_short() {
        return record.bytes.to_vec();
    }
    let word = Word::pack(Tag::Begin, 0, record.word.small, record.word.id);
    [word, record.ticks].into_iter().flat_map(u64::to_le_bytes).collect()
}

/// Updates the list of a thread's open spans with the records of a block. Spans of other threads that end in it are added
/// to `elsewhere`: their begins may be in a later block.
fn update_open_spans(open: &mut OpenSpans, payload: &[u8], elsewhere: &mut BTreeSet<(u32, u32)>) {
    for record in Records::new(payload) {
        match record.tag() {
            Some(Tag::Begin) => open.push(Some(long_form(&record))),
            Some(Tag::End) => {
                open.pop();
                while open.pop_if(|span| span.is_none()).is_some() {}
            }
            Some(Tag::EndOuter) => end_at(open, record.args),
            Some(Tag::EndElsewhere) => {
                elsewhere.insert((record.word.id, u64_at(record.args, WORD_BYTES) as u32));
            }
            Some(Tag::Depth) => {
                open.truncate(record.word.id as usize);
                record.args.chunks_exact(SLOT_BYTES).for_each(|slot| end_at(open, slot));
            }
            Some(Tag::More) => {
                if let Some(Some(span)) = open.get_mut(record.word.id as usize) {
                    span.extend_from_slice(record.bytes);
                }
            }
            _ => {}
        }
    }
}

/// Ends the span at the position in a slot.
fn end_at(open: &mut OpenSpans, slot: &[u8]) {
    if let Some(span) = open.get_mut(u64_at(slot, WORD_BYTES) as usize) {
        *span = None;
    }
}

/// Returns the payload of a block with which a reader has the same open spans.
fn open_spans(open: &OpenSpans) -> Vec<u8> {
    // None of these records is short, so that the base is not used.
    let mut out = 0u64.to_le_bytes().to_vec();
    let (mut ended, mut last) = (Vec::new(), 0);
    for (position, span) in open.iter().enumerate() {
        match span {
            Some(records) => {
                out.extend_from_slice(records);
                last = u64_at(records, WORD_BYTES);
            }
            None => ended.push(position),
        }
    }
    let slots = ended.iter().map(|&position| [Word::pack(Tag::Int, 0, 0, key::VALUE), position as u64]);
    let head = [Word::pack(Tag::Depth, ended.len() as u16, 0, open.len() as u32), last];
    out.extend(core::iter::once(head).chain(slots).flatten().flat_map(u64::to_le_bytes));
    out
}
