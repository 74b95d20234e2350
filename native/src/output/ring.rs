//! The ring buffer: the last seconds of a recording. Older batches are dropped, but the begins of spans that are still
//! open are kept.

use crate::output::batch::{Batch, block};
use kinetoscope_stream::block::{Block, BlockKind, Found, HEAD_BYTES, find, u64_at};
use kinetoscope_stream::record::{SLOT_BYTES, Tag, WORD_BYTES, Word, key};
use kinetoscope_stream::records::{Record, Records};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// A batch that is kept.
#[derive(Debug)]
struct KeptBatch {
    taken: Instant,
    ticks: u64,
    definitions: Vec<u8>,
    notes: Vec<u8>,
    events: Vec<u8>,
    ended: Vec<u32>,
}

impl KeptBatch {
    fn len(&self) -> usize {
        self.definitions.len() + self.notes.len() + self.events.len()
    }
}

/// The ring buffer of a recording.
#[derive(Debug)]
pub(crate) struct Ring {
    keep: Duration,
    limit: usize,
    batches: VecDeque<KeptBatch>,
    bytes: usize,
    /// The time at which the last dropped batch was collected, in ticks.
    start: Option<u64>,
    /// The metadata, names and call sites of dropped batches.
    definitions: Vec<u8>,
    /// The definitions of the threads of dropped batches that have not ended in them.
    threads: BTreeMap<u32, Vec<u8>>,
    /// By thread, the spans that were open at the start of the oldest kept batch.
    open: BTreeMap<u32, OpenSpans>,
    /// Threads and positions of spans that ended on other threads, and whose begins are not in `open` yet.
    ended_elsewhere: BTreeSet<(u32, u32)>,
}

impl Ring {
    /// Creates a ring buffer that keeps batches younger than `keep`, and at most `limit` bytes of records.
    pub(crate) fn new(keep: Duration, limit: usize) -> Ring {
        Ring {
            keep,
            limit,
            batches: VecDeque::new(),
            bytes: 0,
            start: None,
            definitions: Vec::new(),
            threads: BTreeMap::new(),
            open: BTreeMap::new(),
            ended_elsewhere: BTreeSet::new(),
        }
    }

    pub(crate) fn append(&mut self, batch: &Batch) {
        let kept = KeptBatch {
            taken: Instant::now(),
            ticks: batch.ticks,
            definitions: batch.definitions.clone(),
            notes: batch.notes.clone(),
            events: batch.events(),
            ended: batch.ended.clone(),
        };
        self.bytes += kept.len();
        self.batches.push_back(kept);
        while self.batches.len() > 1
            && let Some(oldest) = self.batches.front()
            && (oldest.taken.elapsed() > self.keep || self.bytes > self.limit)
            && let Some(oldest) = self.batches.pop_front()
        {
            self.drop_batch(&oldest);
        }
    }

    fn drop_batch(&mut self, batch: &KeptBatch) {
        self.bytes -= batch.len();
        self.start = Some(batch.ticks);
        for (found, bytes) in blocks(&batch.definitions) {
            if found.kind == BlockKind::Thread {
                self.threads.insert(found.thread, bytes.to_vec());
            } else {
                self.definitions.extend_from_slice(bytes);
            }
        }
        for (found, _) in blocks(&batch.events) {
            if found.kind == BlockKind::Records {
                let open = self.open.entry(found.thread).or_default();
                update_open_spans(open, found.payload, &mut self.ended_elsewhere);
                if open.is_empty() {
                    self.open.remove(&found.thread);
                }
            }
        }
        for thread in &batch.ended {
            self.threads.remove(thread);
            self.open.remove(thread);
        }
        let open = &mut self.open;
        self.ended_elsewhere.retain(|&(thread, position)| {
            let span = open.get_mut(&thread).and_then(|open| open.get_mut(position as usize));
            span.map(|span| *span = None).is_none()
        });
    }

    /// Returns the time from which on everything is kept, in ticks; `None` if no batch was dropped.
    pub(crate) fn start(&self) -> Option<u64> {
        self.start
    }

    /// Writes the kept data as one sequence of blocks.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&self.definitions)?;
        self.threads.values().try_for_each(|thread| out.write_all(thread))?;
        for batch in &self.batches {
            out.write_all(&batch.definitions)?;
            out.write_all(&batch.notes)?;
        }
        for (thread, open) in &self.open {
            let mut begins = Vec::new();
            block(&mut begins, BlockKind::Records, *thread, |out| append_open_spans(out, open));
            out.write_all(&begins)?;
        }
        self.batches.iter().try_for_each(|batch| out.write_all(&batch.events))
    }
}

/// Returns the blocks in a sequence, each with its bytes.
fn blocks(mut rest: &[u8]) -> impl Iterator<Item = (Block<'_>, &[u8])> {
    std::iter::from_fn(move || {
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
    for record in Records::of(payload) {
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

/// Appends the records with which a reader has the same open spans.
fn append_open_spans(out: &mut Vec<u8>, open: &OpenSpans) {
    // None of these records is short, so that the base is not used.
    out.extend_from_slice(&0u64.to_le_bytes());
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
    out.extend(std::iter::once(head).chain(slots).flatten().flat_map(u64::to_le_bytes));
}
