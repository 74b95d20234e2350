//! Counts the spans and events of batches that a recording has no room for. A span counts once: at its begin, or at its
//! end if the recording has its begin.

use kinetoscope_stream::record::Tag;
use kinetoscope_stream::records::Records;
use std::collections::BTreeMap;

/// By thread, the number of lost spans that are open.
#[derive(Debug, Default)]
pub(crate) struct Lost {
    open: BTreeMap<u32, u64>,
}

impl Lost {
    /// Counts the spans and events in the payload of a `RECORDS` block of a thread.
    pub(crate) fn count(&mut self, thread: u32, payload: &[u8]) -> u64 {
        let open = self.open.entry(thread).or_default();
        let mut lost = 0;
        for record in Records::of(payload) {
            match record.tag() {
                Some(Tag::Begin) => {
                    *open += 1;
                    lost += 1;
                }
                Some(Tag::End | Tag::EndOuter) if *open > 0 => *open -= 1,
                Some(Tag::Depth | Tag::More | Tag::EndElsewhere) => {}
                _ => lost += 1,
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
        let record = |tag: Tag, id: u32| [Word::pack(tag, 0, 0, id), 7];
        let payload = |tags: &[Tag]| -> Vec<u8> {
            let records = tags.iter().flat_map(|&tag| record(tag, 1));
            std::iter::once(0).chain(records).flat_map(u64::to_le_bytes).collect()
        };
        let mut lost = Lost::default();
        // The end of a span that was kept, a span, an instant event, the begin of a span.
        let tags = [Tag::End, Tag::Begin, Tag::End, Tag::Instant, Tag::Begin];
        assert_eq!(lost.count(0, &payload(&tags)), 4);
        assert_eq!(lost.count(1, &payload(&[Tag::End, Tag::Depth])), 1);
        assert_eq!(lost.count(0, &payload(&[Tag::End, Tag::EndOuter])), 1);
    }
}
