//! The last seconds of a recording: older batches are forgotten, but not which spans began in them and still run.

use crate::output::batch::{Batch, block};
use kinetoscope_stream::block::{BlockKind, Found, HEAD_BYTES, find, u64_at};
use kinetoscope_stream::record::{SLOT_BYTES, Short, Tag, WORD_BYTES, Word};
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

/// A batch that is kept.
#[derive(Debug)]
struct Kept {
    taken: Instant,
    ticks: u64,
    definitions: Vec<u8>,
    notes: Vec<u8>,
    events: Vec<u8>,
}

/// What is kept of a recording that has no end.
#[derive(Debug)]
pub(crate) struct Ring {
    keep: Duration,
    limit: usize,
    batches: VecDeque<Kept>,
    bytes: usize,
    /// When the last one was collected that was forgotten, in ticks.
    start: Option<u64>,
    /// What records refer to, of the batches that were forgotten.
    definitions: Vec<u8>,
    /// The begins of spans that were open when the oldest batch that is kept began, by thread.
    open: BTreeMap<u32, Vec<Vec<u8>>>,
}

impl Ring {
    /// Keeps what is younger than `keep`, and not more than `limit` bytes of records.
    pub(crate) fn new(keep: Duration, limit: usize) -> Ring {
        let (definitions, open) = (Vec::new(), BTreeMap::new());
        Ring { keep, limit, batches: VecDeque::new(), bytes: 0, start: None, definitions, open }
    }

    pub(crate) fn append(&mut self, batch: &Batch) {
        let kept = Kept {
            taken: Instant::now(),
            ticks: batch.ticks,
            definitions: batch.definitions.clone(),
            notes: batch.notes.clone(),
            events: batch.events(),
        };
        self.bytes += kept.events.len();
        self.batches.push_back(kept);
        while self.batches.len() > 1
            && let Some(oldest) = self.batches.front()
            && (oldest.taken.elapsed() > self.keep || self.bytes > self.limit)
            && let Some(oldest) = self.batches.pop_front()
        {
            self.forget(&oldest);
        }
    }

    fn forget(&mut self, batch: &Kept) {
        self.bytes -= batch.events.len();
        self.start = Some(batch.ticks);
        self.definitions.extend_from_slice(&batch.definitions);
        let mut rest = batch.events.as_slice();
        while let Found::Block(found) = find(rest) {
            if found.kind == BlockKind::Records {
                let open = self.open.entry(found.thread).or_default();
                follow(open, found.payload);
            }
            rest = &rest[HEAD_BYTES + found.payload.len()..];
        }
    }

    /// From when on everything is kept, in ticks; from the start, where there is none.
    pub(crate) fn start(&self) -> Option<u64> {
        self.start
    }

    /// What is kept, as one sequence of blocks.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = self.definitions.clone();
        for batch in &self.batches {
            out.extend_from_slice(&batch.definitions);
            out.extend_from_slice(&batch.notes);
        }
        for (thread, open) in &self.open {
            block(&mut out, BlockKind::Records, *thread, |out| {
                if !open.is_empty() {
                    // None of them is short, so that any base will do.
                    out.extend_from_slice(&0u64.to_le_bytes());
                    out.extend(open.iter().flatten());
                }
            });
        }
        for batch in &self.batches {
            out.extend_from_slice(&batch.events);
        }
        out
    }
}

/// The deepest that records tell apart.
const DEEPEST: usize = 63;

/// A begin in as many words as it would have with arguments.
fn long(short: Short) -> Vec<u8> {
    let word = Word::pack(Tag::Begin, 0, short.depth, short.site);
    [word, short.ticks].into_iter().flat_map(u64::to_le_bytes).collect()
}

/// Follows which spans of a thread are open: their begins, none of which is short.
fn follow(open: &mut Vec<Vec<u8>>, payload: &[u8]) {
    let base = u64_at(payload, 0);
    let mut rest = payload.get(WORD_BYTES..).unwrap_or(&[]);
    while rest.len() >= WORD_BYTES {
        let short = Short::of(u64_at(rest, 0), base);
        let word = short.map_or_else(|| Word::of(u64_at(rest, 0)), Word::from);
        let length = if short.is_some() { WORD_BYTES } else { (1 + usize::from(word.slots)) * SLOT_BYTES };
        let length = length.min(rest.len());
        let depth = usize::from(word.small) & DEEPEST;
        // Depths are told modulo 64; so deep a stack is kept as it is.
        let is_deep = open.len() > DEEPEST;
        if word.tag == Tag::Begin as u8 {
            open.truncate(if is_deep { open.len() } else { depth });
            open.push(short.map_or_else(|| rest[..length].to_vec(), long));
        } else if word.tag == Tag::End as u8 {
            open.truncate(if is_deep { open.len() - 1 } else { depth });
        }
        rest = &rest[length..];
    }
}
