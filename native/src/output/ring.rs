//! The ring buffer: the last seconds of a recording. Older batches are dropped, but the begins of spans that are still
//! open are kept.

use crate::output::batch::{Batch, block};
use kinetoscope_stream::block::{BlockKind, Found, HEAD_BYTES, find, u64_at};
use kinetoscope_stream::record::{SLOT_BYTES, Short, Tag, WORD_BYTES, Word};
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

/// A batch that is kept.
#[derive(Debug)]
struct KeptBatch {
    taken: Instant,
    ticks: u64,
    definitions: Vec<u8>,
    notes: Vec<u8>,
    events: Vec<u8>,
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
    /// The names, call sites and threads of dropped batches.
    definitions: Vec<u8>,
    /// By thread, the begins of the spans that were open at the start of the oldest kept batch.
    open: BTreeMap<u32, Vec<Vec<u8>>>,
}

impl Ring {
    /// Creates a ring buffer that keeps batches younger than `keep`, and at most `limit` bytes of records.
    pub(crate) fn new(keep: Duration, limit: usize) -> Ring {
        let (definitions, open) = (Vec::new(), BTreeMap::new());
        Ring { keep, limit, batches: VecDeque::new(), bytes: 0, start: None, definitions, open }
    }

    pub(crate) fn append(&mut self, batch: &Batch) {
        let kept = KeptBatch {
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
            self.drop_batch(&oldest);
        }
    }

    fn drop_batch(&mut self, batch: &KeptBatch) {
        self.bytes -= batch.events.len();
        self.start = Some(batch.ticks);
        self.definitions.extend_from_slice(&batch.definitions);
        let mut rest = batch.events.as_slice();
        while let Found::Block(found) = find(rest) {
            if found.kind == BlockKind::Records {
                let open = self.open.entry(found.thread).or_default();
                update_open_spans(open, found.payload);
            }
            rest = &rest[HEAD_BYTES + found.payload.len()..];
        }
    }

    /// Returns the time from which on everything is kept, in ticks; `None` if no batch was dropped.
    pub(crate) fn start(&self) -> Option<u64> {
        self.start
    }

    /// Returns the kept data as one sequence of blocks.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = self.definitions.clone();
        for batch in &self.batches {
            out.extend_from_slice(&batch.definitions);
            out.extend_from_slice(&batch.notes);
        }
        for (thread, open) in &self.open {
            block(&mut out, BlockKind::Records, *thread, |out| {
                if !open.is_empty() {
                    // None of these records is short, so that the base is not used.
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

/// The largest depth in a record: depths are stored modulo 64.
const MAX_DEPTH: usize = 63;

/// Returns the long form of a short begin: a head slot without arguments.
fn long_form(short: Short) -> Vec<u8> {
    let word = Word::pack(Tag::Begin, 0, short.depth, short.site);
    [word, short.ticks].into_iter().flat_map(u64::to_le_bytes).collect()
}

/// Updates the list of a thread's open spans with the records of a block. The list holds their begins in the long form.
fn update_open_spans(open: &mut Vec<Vec<u8>>, payload: &[u8]) {
    let base = u64_at(payload, 0);
    let mut rest = payload.get(WORD_BYTES..).unwrap_or(&[]);
    while rest.len() >= WORD_BYTES {
        let short = Short::of(u64_at(rest, 0), base);
        let word = short.map_or_else(|| Word::of(u64_at(rest, 0)), Word::from);
        let length = if short.is_some() { WORD_BYTES } else { (1 + usize::from(word.slots)) * SLOT_BYTES };
        let length = length.min(rest.len());
        let depth = usize::from(word.small) & MAX_DEPTH;
        // Depths are stored modulo 64, so that a deeper stack cannot be truncated to the depth of the record.
        let is_deep = open.len() > MAX_DEPTH;
        if word.tag == Tag::Begin as u8 {
            open.truncate(if is_deep { open.len() } else { depth });
            open.push(short.map_or_else(|| rest[..length].to_vec(), long_form));
        } else if word.tag == Tag::End as u8 {
            open.truncate(if is_deep { open.len() - 1 } else { depth });
        }
        rest = &rest[length..];
    }
}
