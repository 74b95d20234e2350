//! Tracks that are not threads, such as the queue of a GPU. The program supplies the times of their spans.

use super::rows::{Reported, int_at, text_at};
use super::state::{Named, Recording};
use crate::base::diagnostics::Code;
use crate::trace::table::append::RowBuilder;
use crate::trace::table::events::Table;
use crate::trace::table::layout::FieldPlace::Args;
use crate::trace::table::tracks::Track;
use alloc::string::ToString;
use kinetoscope_stream::block::u64_at;
use kinetoscope_stream::record::{SLOT_BYTES, Tag, Word, key};

/// The category of the spans.
const CATEGORY: &str = "track_span";

/// The sort index of the first track, which is above the ids of threads.
const FIRST: i64 = 1 << 30;

impl Recording {
    /// Appends a span of a track. One that ends before its begin gets the duration 0.
    pub(super) fn track_span(&mut self, word: Word, args: &[u8]) {
        let times = [0, 1].map(|at| int_at(args, at, key::VALUE));
        let [Some(begin), Some(end)] = times.map(|time| time.map(|time| (time as i64).max(-i64::MAX))) else {
            self.diagnostics.record(Code::DamagedEvent, Some(self.offset), b"");
            return;
        };
        let args = args.get(2 * SLOT_BYTES..).unwrap_or(&[]);
        let text = Word::decode(u64_at(args, 0));
        let (track, args) = if text.tag == Tag::Text as u8 {
            (text_at(args), args.get((1 + usize::from(text.slots)) * SLOT_BYTES..).unwrap_or(&[]))
        } else {
            ("", args)
        };
        let tid = self.table.names.intern(&serde_json::Value::from(track).to_string());
        let pid = self.table.names.intern(&self.pid.to_string());
        if self.named.known_tracks.insert((self.pid, i64::from(tid.0))) {
            self.named.tracks.push((self.pid, tid));
        }
        let (name, _) = self.site(word.id);
        let mut reported = Reported::default();
        let node = RowBuilder::new(&mut self.table, b'X', CATEGORY).node();
        let node = self.arguments(node, args, &mut reported);
        if end < begin {
            self.diagnostics.record(Code::NegativeDuration, Some(self.offset), b"");
        }
        let times = (begin, end.saturating_sub(begin).max(0));
        let track = self.table.tracks.intern(Track { pid, tid, on_device: false });
        let builder = RowBuilder::at(&mut self.table, node);
        let row = builder.finish_on(reported.name.unwrap_or(name), times, track);
        self.tail.of_tracks.push(row);
    }
}

/// Appends metadata events with the names of the tracks.
#[cold]
pub(super) fn name_tracks(table: &mut Table, of: &Named, [name_key, order_key]: [&str; 2]) {
    let ts = of.start.unwrap_or(0);
    for (order, &(pid, tid)) in (FIRST..).zip(&of.tracks) {
        let (pid, tid) = (pid.to_string(), table.names.get(tid).to_string());
        let track = (&*pid, &*tid);
        let name = serde_json::from_str(&tid).unwrap_or_else(|_| tid.clone());
        RowBuilder::new(table, b'M', "").text(Args, "name", &name).finish(name_key, ts, track);
        RowBuilder::new(table, b'M', "").int(Args, "sort_index", order).finish(order_key, ts, track);
    }
}
