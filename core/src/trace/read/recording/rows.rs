//! Converts records to rows, with the field names of Kineto's traces.
//!
//! This is one file because each tag of a record is one arm, and the arms share how arguments and times are read.

use super::state::{LATEST, Open, Recording};
use crate::base::diagnostics::Code;
use crate::base::names::NameId;
use crate::base::time;
use crate::trace::table::append::RowBuilder;
use crate::trace::table::events::Row;
use crate::trace::table::layout::FieldPlace::{Args, Top};
use crate::trace::table::layout::{FieldType, NodeId};
use crate::trace::table::tracks::{Track, TrackId};
use alloc::format;
use alloc::string::ToString;
use kinetoscope_stream::block::u64_at;
use kinetoscope_stream::record::{Flow, SLOT_BYTES, SpanKind, Tag, WORD_BYTES, Word, key};
use kinetoscope_stream::records::Records;

/// The category of samples of call stacks.
const SAMPLE: &str = "cpu_sample";

/// Arguments of a record that the reader itself uses.
#[derive(Clone, Copy, Default)]
pub(super) struct Reported {
    pub(super) name: Option<NameId>,
    module: Option<NameId>,
    sequence: Option<i64>,
    forward: Option<i64>,
}

impl Recording {
    pub(super) fn records(&mut self, thread: u32, payload: &[u8]) {
        let thread = self.thread_at(thread);
        let mut records = Records::new(payload);
        for record in records.by_ref() {
            self.record(thread, record.ticks.min(LATEST), record.word, record.args);
        }
        if records.is_damaged() {
            self.diagnostics.record(Code::DamagedEvent, Some(self.offset), b"");
        }
    }

    fn track(&mut self, thread: usize) -> TrackId {
        let thread = &mut self.threads[thread];
        if thread.is_known {
            return thread.track;
        }
        let tid = if thread.id == 0 { u64::from(thread.number) } else { thread.tid };
        thread.is_known = true;
        let pid = self.table.names.intern(&self.pid.to_string());
        let tid = tid.to_string();
        let tid = self.table.names.intern(&tid);
        thread.track = self.table.tracks.intern(Track { pid, tid, on_device: false });
        thread.track
    }

    fn record(&mut self, thread: usize, ticks: u64, word: Word, args: &[u8]) {
        let Some(tag) = Tag::from_number(word.tag) else {
            self.diagnostics.record(Code::UnknownKind, Some(self.offset), b"");
            return;
        };
        self.tail.first_ticks = Some(self.tail.first_ticks.map_or(ticks, |first| first.min(ticks)));
        self.tail.last_ticks = self.tail.last_ticks.max(ticks);
        match tag {
            Tag::Begin => self.begin(thread, ticks, word, args),
            Tag::End => self.end(thread, ticks, word),
            Tag::EndOuter => self.end_outer(thread, ticks, word, args),
            Tag::Depth => self.depth(thread, ticks, word, args),
            Tag::More => self.more(thread, word, args),
            Tag::EndElsewhere => {
                let position = u64_at(args, WORD_BYTES);
                self.tail.ended_elsewhere.push((word.id, position as usize, ticks));
            }
            Tag::Open => self.open_at_start(thread, ticks, word, args),
            Tag::Sample => self.sample(ticks, word.id, args),
            Tag::TrackSpan => self.track_span(word, args),
            Tag::Paused => self.paused(ticks, word, args),
            Tag::Memory => self.memory("[memory]", thread, ticks, word, args),
            Tag::OutOfMemory => self.memory("[OutOfMemory]", thread, ticks, word, args),
            Tag::Dropped => self.diagnostics.record_many(Code::DroppedRecord, u64::from(word.id), None, b""),
            _ => self.point(tag, thread, ticks, word, args),
        }
    }

    pub(super) fn site(&mut self, id: u32) -> (NameId, SpanKind) {
        let about = |what| self.sites.get((i64::from(id), what));
        if let (Some(name), Some(kind)) = (about(0), about(1)) {
            return (NameId(name), SpanKind::from_number(kind as u8));
        }
        self.diagnostics.record(Code::UnknownName, Some(self.offset), b"");
        (self.table.names.intern("unknown"), SpanKind::Other)
    }

    /// Adjusts the number of open spans of a thread to a depth. Surplus spans have lost their end, missing ones their
    /// begin.
    fn adjust_depth(&mut self, thread: usize, depth: u8, ticks: u64) {
        let open = self.threads[thread].open.len();
        // Depths are recorded modulo 64.
        let over = ((open as u8).wrapping_sub(depth) << 2) as i8 >> 2;
        for _ in 0..over.max(0) {
            if let Some(open) = self.threads[thread].open.pop() {
                self.unfinished(open, ticks);
            }
        }
        for _ in over..0 {
            let parent = self.threads[thread].open.last();
            let (hierarchy, module) = parent.map_or((NameId::EMPTY, None), |p| (p.hierarchy, p.module));
            let node = self.table.layouts.root(b'X', None);
            self.threads[thread].open.push(Open { row: None, is_over: false, node, hierarchy, module });
        }
    }

    /// Sets which positions are in use, after records were lost: spans at other positions have lost their end.
    #[cold]
    fn depth(&mut self, thread: usize, ticks: u64, word: Word, args: &[u8]) {
        while self.threads[thread].open.len() > word.id as usize {
            if let Some(open) = self.threads[thread].open.pop() {
                self.unfinished(open, ticks);
            }
        }
        for slot in args.chunks_exact(SLOT_BYTES) {
            let position = u64_at(slot, WORD_BYTES) as usize;
            if let Some(open) = self.threads[thread].open.get_mut(position) {
                let span = *open;
                open.is_over = true;
                self.unfinished(span, ticks);
            }
        }
    }

    #[cold]
    pub(super) fn unfinished(&mut self, open: Open, ticks: u64) {
        self.end_marked(open, ticks, "finished");
    }

    /// Ends a span that was not recorded from its begin to its end: `args` has false under this key.
    fn end_marked(&mut self, open: Open, ticks: u64, key: &str) {
        let Some(row) = open.row.filter(|_| !open.is_over) else { return };
        let start = self.table.ts(row);
        self.table.set_dur(row, (ticks as i64 - start).max(0));
        let key = self.table.names.intern(key);
        let node = self.table.layouts.step(open.node, key, Args, FieldType::False);
        let layout = self.table.layouts.finish(node, &self.table.names);
        self.table.set_layout(row, layout);
    }

    fn begin(&mut self, thread: usize, ticks: u64, word: Word, args: &[u8]) {
        self.adjust_depth(thread, word.small, ticks);
        let (name, kind) = self.site(word.id);
        let parent = self.threads[thread].open.last();
        let (mut hierarchy, mut module) = parent.map_or((NameId::EMPTY, None), |p| (p.hierarchy, p.module));
        let track = self.track(thread);
        let external_id = int_at(args, 0, key::EXTERNAL_ID);
        let function = int_at(args, usize::from(external_id.is_some()), key::RECORD_FUNCTION_ID);
        let mut reported = Reported::default();
        let mut append = if kind == SpanKind::Module {
            let parent = module;
            module = Some(self.tail.modules);
            self.tail.modules += 1;
            let row = RowBuilder::new(&mut self.table, b'X', "python_function").int(
                Args,
                "Python id",
                self.tail.modules,
            );
            match parent {
                Some(parent) => row.int(Args, "Python parent id", parent + 1),
                None => row.null(Args, "Python parent id"),
            }
        } else {
            self.tail.ops += 1;
            let cat = if kind == SpanKind::Annotation { "user_annotation" } else { "cpu_op" };
            let mut row = RowBuilder::new(&mut self.table, b'X', cat);
            if external_id.is_none() {
                self.tail.last_id = self.tail.last_id.saturating_add(1);
                row = row.int(Args, "External id", self.tail.last_id);
            }
            if function.is_some() { row } else { row.int(Args, "Record function id", 0) }
        };
        if kind == SpanKind::Op && hierarchy != NameId::EMPTY {
            let key = append.names().intern("Module Hierarchy");
            append = append.packed(key, FieldType::Text, u64::from(hierarchy.0));
        }
        let node = append.node();
        let node = self.arguments(node, args, &mut reported);
        if let Some(frame) = reported.module {
            let frame = self.table.names.get(frame);
            let instance = frame.split('(').next().unwrap_or("");
            let frame = if hierarchy == NameId::EMPTY {
                format!("TOP{}.", &frame[instance.len()..])
            } else {
                format!("{}{frame}.", self.table.names.get(hierarchy))
            };
            hierarchy = self.table.names.intern(&frame);
        }
        let name = reported.name.unwrap_or(name);
        if let Some(id) = external_id.filter(|_| kind == SpanKind::Annotation) {
            self.tail.annotations.set((id as i64, 0), name.0);
        }
        let row = RowBuilder::at(&mut self.table, node).finish_on(name, (ticks as i64, 0), track);
        self.threads[thread].open.push(Open { row: Some(row), is_over: false, node, hierarchy, module });
        if let Some(sequence) = reported.sequence.filter(|&number| number >= 0) {
            let forward = reported.forward.filter(|&thread| thread > 0);
            let thread_id = i64::from(self.threads[thread].number) + 1;
            self.tail.sequences.push((sequence, forward.unwrap_or(thread_id), forward.is_some(), row));
        }
    }

    /// Appends a span that was open when the recording started. It is not inside the spans that are open now.
    #[cold]
    fn open_at_start(&mut self, thread: usize, ticks: u64, word: Word, args: &[u8]) {
        let start = u64_at(args, WORD_BYTES).min(ticks);
        let open = core::mem::take(&mut self.threads[thread].open);
        self.begin(thread, start, Word { small: 0, ..word }, args.get(SLOT_BYTES..).unwrap_or(&[]));
        let span = core::mem::replace(&mut self.threads[thread].open, open).pop();
        if let Some(span) = span {
            self.end_marked(span, ticks, "begun");
        }
    }

    fn end(&mut self, thread: usize, ticks: u64, word: Word) {
        self.adjust_depth(thread, word.small.wrapping_add(1), ticks);
        let Some(open) = self.threads[thread].open.pop() else { return };
        self.end_span(thread, ticks, word.id, open);
        // The positions of spans that ended before this one, which was the last one inside of them.
        while self.threads[thread].open.pop_if(|open| open.is_over).is_some() {}
    }

    /// Ends a span that is not the innermost one. Its position stays in use.
    #[cold]
    fn end_outer(&mut self, thread: usize, ticks: u64, word: Word, args: &[u8]) {
        let position = u64_at(args, WORD_BYTES) as usize;
        let Some(open) = self.threads[thread].open.get_mut(position) else {
            self.diagnostics.record(Code::UnmatchedEnd, Some(self.offset), b"");
            return;
        };
        let span = *open;
        open.is_over = true;
        self.diagnostics.record(Code::EndedOutOfOrder, Some(self.offset), b"");
        self.end_span(thread, ticks, word.id, span);
    }

    pub(super) fn end_span(&mut self, thread: usize, ticks: u64, site: u32, open: Open) {
        if open.is_over {
            return;
        }
        if let Some(row) = open.row {
            let start = self.table.ts(row);
            self.table.set_dur(row, (ticks as i64 - start).max(0));
            return;
        }
        // The begin is missing: the span was open at the start of the recording, or of what is left of it.
        self.diagnostics.record(Code::UnmatchedEnd, Some(self.offset), b"");
        let (name, kind) = self.site(site);
        let cat = if kind == SpanKind::Annotation { "user_annotation" } else { "cpu_op" };
        let start = self.tail.first_ticks.unwrap_or(ticks).min(ticks);
        let track = self.track(thread);
        let append = RowBuilder::new(&mut self.table, b'X', cat).bool(Args, "begun", false);
        append.finish_on(name, (start as i64, (ticks - start) as i64), track);
    }

    /// Adds arguments to an open span.
    #[cold]
    fn more(&mut self, thread: usize, word: Word, args: &[u8]) {
        let position = word.id as usize;
        let Some(open) = self.threads[thread].open.get(position).copied() else { return };
        let Some(row) = open.row.filter(|_| !open.is_over) else { return };
        let node = self.arguments(open.node, args, &mut Reported::default());
        self.table.amend(row, node);
        self.threads[thread].open[position].node = node;
    }

    /// Adds the arguments of a record as fields after a node.
    pub(super) fn arguments(&mut self, mut node: NodeId, args: &[u8], reported: &mut Reported) -> NodeId {
        let had_duplicates = self.table.layouts.repeats(node);
        let mut rest = args;
        while rest.len() >= SLOT_BYTES {
            let (word, value) = (Word::decode(u64_at(rest, 0)), u64_at(rest, WORD_BYTES));
            let length = (1 + usize::from(word.slots)) * SLOT_BYTES;
            let bytes = rest.get(SLOT_BYTES..length).unwrap_or(&[]);
            let text =
                bytes.get(..value as usize).and_then(|text| core::str::from_utf8(text).ok()).unwrap_or("");
            node = self.argument(node, value, word, text, reported);
            rest = rest.get(length..).unwrap_or(&[]);
        }
        if !had_duplicates && self.table.layouts.repeats(node) {
            self.diagnostics.record(Code::DuplicateKey, Some(self.offset), b"");
        }
        node
    }

    fn argument(
        &mut self,
        node: NodeId,
        value: u64,
        word: Word,
        text: &str,
        reported: &mut Reported,
    ) -> NodeId {
        let zigzag = |value: i64| ((value << 1) ^ (value >> 63)) as u64;
        let (field_type, packed) = match Tag::from_number(word.tag) {
            Some(Tag::Int) => {
                match word.id {
                    key::SEQUENCE_NUMBER => reported.sequence = Some(value as i64),
                    key::FWD_THREAD_ID => reported.forward = Some(value as i64),
                    key::CUT => {
                        self.diagnostics.record_many(Code::CutArgument, value, Some(self.offset), b"");
                    }
                    _ => {}
                }
                (FieldType::Int, zigzag(value as i64))
            }
            Some(Tag::Float) => {
                let float = f64::from_bits(value);
                let number = serde_json::Number::from_f64(float);
                let word = match float {
                    f64::INFINITY => "Infinity",
                    f64::NEG_INFINITY => "-Infinity",
                    _ => "NaN",
                };
                let text = number.as_ref().map_or_else(|| word.to_string(), ToString::to_string);
                let id = self.table.names.intern(&text);
                (if number.is_some() { FieldType::Number } else { FieldType::Text }, u64::from(id.0))
            }
            Some(Tag::Bool) => {
                let key = self.name(word.id);
                let field_type = if value == 0 { FieldType::False } else { FieldType::True };
                return RowBuilder::at(&mut self.table, node).unit(key, field_type).node();
            }
            Some(Tag::Name) => (FieldType::Text, u64::from(self.name(value as u32).0)),
            Some(Tag::Text) => (FieldType::Text, u64::from(self.table.names.intern(text).0)),
            Some(Tag::Number) => {
                let is_number = serde_json::from_str::<serde_json::Number>(text).is_ok();
                let id = self.table.names.intern(text);
                (if is_number { FieldType::Number } else { FieldType::Text }, u64::from(id.0))
            }
            Some(Tag::Json) => {
                let id = self.table.names.intern(text);
                (if self.is_json(id) { FieldType::Json } else { FieldType::Text }, u64::from(id.0))
            }
            _ => {
                self.diagnostics.record(Code::UnknownKind, Some(self.offset), b"");
                return node;
            }
        };
        match word.id {
            key::NAME if field_type == FieldType::Text => reported.name = Some(NameId(packed as u32)),
            key::MODULE if field_type == FieldType::Text => reported.module = Some(NameId(packed as u32)),
            id => {
                let key = self.name(id);
                return RowBuilder::at(&mut self.table, node).packed(key, field_type, packed).node();
            }
        }
        node
    }

    /// Whether a string is a JSON array or object. Each string is parsed once.
    fn is_json(&mut self, id: NameId) -> bool {
        if let Some(known) = self.tail.is_json.get((i64::from(id.0), 0)) {
            return known == 1;
        }
        let text = self.table.names.get(id);
        let known = text.starts_with(['[', '{']) && is_json(text);
        self.tail.is_json.set((i64::from(id.0), 0), u32::from(known));
        known
    }

    /// Appends a span for a time in which an activity was not recorded.
    #[cold]
    fn paused(&mut self, ticks: u64, word: Word, args: &[u8]) {
        let start = u64_at(args, WORD_BYTES).min(ticks);
        let name = self.name(word.id);
        let activity = self.table.names.get(name);
        let (text, tid) =
            (format!("not recorded: {activity}"), serde_json::Value::from(activity).to_string());
        let builder = RowBuilder::new(&mut self.table, b'X', "not_recorded");
        let row = builder.finish(&text, start as i64, ("\"Spans\"", &tid));
        self.table.set_dur(row, (ticks - start) as i64);
    }

    /// Appends a sample of a call stack. Its name is the innermost function.
    fn sample(&mut self, ticks: u64, thread: u32, args: &[u8]) {
        let thread = self.thread_at(thread);
        let track = self.track(thread);
        let node = RowBuilder::new(&mut self.table, b'i', SAMPLE).text(Top, "s", "t").node();
        let node = self.arguments(node, args, &mut Reported::default());
        let word = Word::decode(u64_at(args, 0));
        let stack = match Tag::from_number(word.tag) {
            Some(Tag::Name) => self.name(u64_at(args, WORD_BYTES) as u32),
            _ => self.table.names.intern(text_at(args)),
        };
        let innermost = self.table.names.get(stack).split(';').next().unwrap_or("").to_string();
        let name = self.table.names.intern(if innermost.is_empty() { "[unknown]" } else { &innermost });
        RowBuilder::at(&mut self.table, node).finish_on(name, (ticks as i64, time::NONE), track);
    }

    fn memory(&mut self, name: &str, thread: usize, ticks: u64, word: Word, args: &[u8]) {
        let device = (i64::from(word.small), i64::from(word.id) - 1);
        self.tail.has_device_memory |= device.1 >= 0;
        let numbers = [0, 1, 2, 3].map(|at| u64_at(args, at * WORD_BYTES) as i64);
        let track = self.track(thread);
        self.memory_on(name, track, ticks as i64, device, numbers);
    }

    /// Appends a memory event: address, signed bytes, total allocated, total reserved.
    pub(super) fn memory_on(
        &mut self,
        name: &str,
        track: TrackId,
        ticks: i64,
        (device_type, device): (i64, i64),
        [address, bytes, allocated, reserved]: [i64; 4],
    ) {
        let mut append = RowBuilder::new(&mut self.table, b'i', "cpu_instant_event")
            .int(Args, "Total Reserved", reserved)
            .int(Args, "Total Allocated", allocated)
            .int(Args, "Bytes", bytes)
            .int(Args, "Addr", address)
            .int(Args, "Device Id", device)
            .int(Args, "Device Type", device_type)
            .text(Top, "s", "t");
        let name = append.names().intern(name);
        append.finish_on(name, (ticks, time::NONE), track);
    }

    /// Appends an instant event, a counter, a flow event, or one end of an asynchronous span.
    fn point(&mut self, tag: Tag, mut thread: usize, ticks: u64, word: Word, args: &[u8]) {
        let flow = Flow::from_number(word.small);
        let flow_cat = match flow {
            Flow::Program => "flow",
            Flow::Polls => "async_poll",
            Flow::Follows => "follows_from",
        };
        let (ph, cat) = match tag {
            Tag::Instant => (b'i', "cpu_instant_event"),
            Tag::Counter => (b'C', ""),
            Tag::FlowStart => (b's', flow_cat),
            Tag::FlowStep => (b't', flow_cat),
            Tag::FlowEnd => (b'f', flow_cat),
            Tag::AsyncBegin => (b'b', "async"),
            Tag::AsyncEnd => (b'e', "async"),
            _ => {
                self.diagnostics.record(Code::UnknownKind, Some(self.offset), b"");
                return;
            }
        };
        let (name, _) = self.site(word.id);
        let mut args = args;
        let id = u64_at(args, WORD_BYTES);
        if flow != Flow::Program && args.len() >= 2 * SLOT_BYTES {
            args = &args[SLOT_BYTES..];
            if let Some(number) = u64_at(args, WORD_BYTES).checked_sub(1) {
                thread = self.thread_at(number as u32);
            }
        }
        let track = self.track(thread);
        let mut append = RowBuilder::new(&mut self.table, ph, cat);
        match tag {
            Tag::Instant => append = append.text(Top, "s", "t"),
            Tag::Counter => {}
            _ => {
                append = append.text(Top, "id", &format!("0x{id:x}"));
                args = args.get(SLOT_BYTES..).unwrap_or(&[]);
            }
        }
        if tag == Tag::FlowEnd {
            append = append.text(Top, "bp", "e");
        }
        let node = append.node();
        let mut reported = Reported::default();
        let node = self.arguments(node, args, &mut reported);
        let append = RowBuilder::at(&mut self.table, node);
        append.finish_on(reported.name.unwrap_or(name), (ticks as i64, time::NONE), track);
    }

    /// Appends one end of a flow at the start of a row.
    pub(super) fn flow(&mut self, name: &str, ph: u8, id: u64, row: Row) {
        let (ts, track) = (self.table.ts(row), self.table.track_id(row));
        let mut append = RowBuilder::new(&mut self.table, ph, name).int(Top, "id", id as i64);
        if ph == b'f' {
            append = append.text(Top, "bp", "e");
        }
        let name = append.names().intern(name);
        append.finish_on(name, (ts, time::NONE), track);
    }
}

/// The string of the first argument.
pub(super) fn text_at(args: &[u8]) -> &str {
    let length = u64_at(args, WORD_BYTES) as usize;
    let bytes = args.get(SLOT_BYTES..).and_then(|bytes| bytes.get(..length));
    bytes.and_then(|bytes| core::str::from_utf8(bytes).ok()).unwrap_or("")
}

/// The value of the argument at an index, if it is an integer with this key and follows only integers.
pub(super) fn int_at(args: &[u8], index: usize, key: u32) -> Option<u64> {
    let slot = args.get(index * SLOT_BYTES..(index + 1) * SLOT_BYTES)?;
    let word = Word::decode(u64_at(slot, 0));
    (word.tag == Tag::Int as u8 && word.id == key).then(|| u64_at(slot, WORD_BYTES))
}

/// Whether a string is valid JSON.
fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text).is_ok()
}
