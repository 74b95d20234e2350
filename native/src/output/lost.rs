//! Counts the spans and events of batches that a recording has no room for. A span counts once: at its begin, or at its
//! end if the recording has its begin.

use kinetoscope_stream::block::u64_at;
use kinetoscope_stream::record::{Tag, WORD_BYTES};
use kinetoscope_stream::records::Records;
use std::collections::{BTreeMap, BTreeSet};

/// By thread, the positions (modulo 64) of lost spans that are open, innermost last.
#[derive(Debug, Default)]
pub(crate) struct Lost {
    open: BTreeMap<u32, Vec<u8>>,
    /// The ids of asynchronous spans of which one of the two ends was lost and counted. The ends can be on two threads,
    /// whose records come in any order.
    asyncs: BTreeSet<u64>,
}

/// Positions are recorded modulo 64.
const POSITIONS: u8 = 64;

impl Lost {
    /// Counts the spans and events in the payload of a `RECORDS` block of a thread.
    pub(crate) fn count(&mut self, thread: u32, payload: &[u8]) -> u64 {
        let open = self.open.entry(thread).or_default();
        let mut lost = 0;
        for record in Records::new(payload) {
            let id = u64_at(record.args, WORD_BYTES);
            let position = match record.tag() {
                Some(Tag::Begin) => {
                    open.push(record.word.small % POSITIONS);
                    None
                }
                Some(Tag::Depth | Tag::EndElsewhere) => continue,
                Some(Tag::End) => Some(record.word.small % POSITIONS),
                Some(Tag::EndOuter) => Some(id as u8 % POSITIONS),
                Some(Tag::AsyncBegin | Tag::AsyncEnd) if self.asyncs.remove(&id) => continue,
                Some(Tag::AsyncBegin | Tag::AsyncEnd) => {
                    self.asyncs.insert(id);
                    None
                }
                _ => None,
            };
            let of_lost = position.and_then(|position| open.iter().rposition(|&known| known == position));
            match of_lost {
                Some(at) => drop(open.remove(at)),
                None => lost += 1,
            }
        }
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kinetoscope_stream::record::Word;

    #[test]
    fn a_span_counts_once() {
        let payload = |records: &[(Tag, u8)]| -> Vec<u8> {
            let words = records.iter().flat_map(|&(tag, position)| [Word::pack(tag, 0, position, 1), 7]);
            std::iter::once(0).chain(words).flat_map(u64::to_le_bytes).collect()
        };
        let mut lost = Lost::default();
        // The end of a span that was kept, a span, an instant event, the begin of a span that is forgotten.
        let records = [(Tag::End, 5), (Tag::Begin, 5), (Tag::End, 5), (Tag::Instant, 0), (Tag::Begin, 5)];
        assert_eq!(lost.count(0, &payload(&records)), 4);
        assert_eq!(lost.count(1, &payload(&[(Tag::End, 5), (Tag::Depth, 0)])), 1);
        assert_eq!(lost.count(0, &payload(&[(Tag::End, 4), (Tag::End, 69)])), 1);
    }
}
