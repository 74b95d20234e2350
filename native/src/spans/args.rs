//! The arguments of a record. They are collected outside the thread's chunk and copied into it at once, with the
//! record.

use super::sequence::Sequence;
use super::shape::InputShape;
use super::tensor::TensorId;
use super::value::Value;
#[cfg(feature = "tracing")]
use crate::hot::local::ThreadInstant;
use crate::hot::local::{self, BegunSpan, DEPTH_WORDS, unrecorded};
use crate::hot::pool::LARGE_WORDS;
use crate::hot::registry::{Name, Site};
#[cfg(feature = "sampling")]
use crate::hot::stack::Sampled;
use crate::hot::state::{CUT, START, wants_flops, wants_mirror, wants_shapes};
use crate::hot::text::up_to;
use crate::json::{append_list, quote};
use kinetoscope_stream::record::{Flow, SLOT_BYTES, Slot, Tag, Word, key};
use smallvec::{SmallVec, smallvec};
use std::fmt::{self, Debug, Display, Write};
use std::sync::atomic::Ordering;

/// The maximum number of slots of a record. A chunk has room for it, for two slots that are inserted before the
/// arguments, for one with the number of arguments that were cut, and for the depth of the thread.
const MAX_SLOTS: usize = (LARGE_WORDS - DEPTH_WORDS) / 2 - 3;

/// The arguments of a record.
#[derive(Debug)]
pub struct Args {
    state: u32,
    /// What the flow of the record connects.
    flow: Flow,
    /// The record's head, then its arguments.
    slots: SmallVec<[Slot; 24]>,
    /// The number of inputs in `Input Dims`.
    inputs: usize,
    /// The number of arguments that were cut or left out, because the record is too long.
    cut: u32,
    /// The name of the record for mirrors, if it differs from the name of the call site.
    name: Option<String>,
}

impl Args {
    /// Returns an empty list of arguments.
    pub fn new(state: u32) -> Args {
        Args { state, flow: Flow::Program, slots: smallvec![[0, 0]], inputs: 0, cut: 0, name: None }
    }

    /// Sets the name of the record, in place of the name of the call site.
    pub fn name(&mut self, name: impl AsRef<str>) {
        let name = name.as_ref();
        if !name.is_empty() {
            self.text(key::NAME, name);
            if wants_mirror(self.state) {
                self.name = unrecorded(|| Some(name.to_owned()));
            }
        }
    }

    /// Adds an argument.
    pub fn value<T: Value + ?Sized>(&mut self, name: &'static Name, value: &T) {
        let key = unrecorded(|| name.id());
        value.put(key, self);
    }

    /// Adds an argument that is formatted with `Debug`.
    pub fn debug(&mut self, name: &'static Name, value: &dyn Debug) {
        let key = unrecorded(|| name.id());
        self.formatted(key, format_args!("{value:?}"));
    }

    /// Adds an argument that is formatted with `Display`.
    pub fn display(&mut self, name: &'static Name, value: &dyn Display) {
        let key = unrecorded(|| name.id());
        self.formatted(key, format_args!("{value}"));
    }

    pub(super) fn int(&mut self, key: u32, value: i64) {
        self.push(Tag::Int, key, value as u64);
    }

    pub(super) fn float(&mut self, key: u32, value: f64) {
        self.push(Tag::Float, key, value.to_bits());
    }

    pub(super) fn bool(&mut self, key: u32, value: bool) {
        self.push(Tag::Bool, key, u64::from(value));
    }

    pub(super) fn text(&mut self, key: u32, text: &str) {
        self.string(Tag::Text, key, text);
    }

    /// Adds a string, cut to its last character that fits.
    pub(super) fn formatted(&mut self, key: u32, text: fmt::Arguments<'_>) {
        unrecorded(|| self.text(key, &text.to_string()));
    }

    /// Adds a JSON number that is not an `i64`.
    pub(super) fn number(&mut self, key: u32, text: fmt::Arguments<'_>) {
        unrecorded(|| self.string(Tag::Number, key, &text.to_string()));
    }

    /// Adds a JSON array.
    pub(super) fn list(&mut self, key: u32, append: impl FnOnce(&mut String)) {
        unrecorded(|| {
            let mut json = String::new();
            append(&mut json);
            self.string(Tag::Json, key, &json);
        });
    }

    /// Adds `Input Dims`: the shapes of the inputs, `[]` for an input without a shape. Recorded with `record_shapes`.
    pub fn shapes<T: InputShape>(&mut self, shapes: impl IntoIterator<Item = T>) {
        self.inputs = self.dims(key::INPUT_DIMS, shapes);
    }

    /// Adds `Input Strides`. Recorded with `record_shapes`.
    pub fn strides<T: InputShape>(&mut self, strides: impl IntoIterator<Item = T>) {
        self.dims(key::INPUT_STRIDES, strides);
    }

    fn dims<T: InputShape>(&mut self, key: u32, shapes: impl IntoIterator<Item = T>) -> usize {
        let mut count = 0;
        if wants_shapes(self.state) {
            self.list(key, |json| {
                append_list(json, shapes, |json, shape| {
                    shape.append_to(json);
                    count += 1;
                });
            });
        }
        count
    }

    /// Adds `Input type`, with this type for each input of the `shapes` before it, or for one input if there are none.
    pub fn dtype(&mut self, dtype: &str) {
        self.texts(key::INPUT_TYPE, std::iter::repeat_n(dtype, self.inputs.max(1)));
    }

    /// Adds `Input type`, one for each input: PyTorch's name, `Scalar`, or an empty string. Recorded with
    /// `record_shapes`.
    pub fn dtypes(&mut self, dtypes: &[&str]) {
        self.texts(key::INPUT_TYPE, dtypes.iter().copied());
    }

    /// Adds `Concrete Inputs`: the values of non-tensor inputs, and an empty string for tensors. Recorded with
    /// `record_shapes`.
    pub fn concrete(&mut self, values: &[&dyn Display]) {
        self.texts(key::CONCRETE_INPUTS, values.iter().map(ToString::to_string));
    }

    fn texts<T: AsRef<str>>(&mut self, key: u32, texts: impl IntoIterator<Item = T>) {
        if wants_shapes(self.state) {
            self.list(key, |json| append_list(json, texts, |json, text| quote(text.as_ref(), json)));
        }
    }

    /// Adds the identities of the inputs, which are inputs of execution traces. Recorded with `record_shapes`.
    pub fn tensors<'a, T: Into<TensorId<'a>>>(&mut self, ids: impl IntoIterator<Item = T>) {
        if wants_shapes(self.state) {
            let append = |json: &mut String, id: T| {
                let TensorId { tensor, storage, offset, device } = id.into();
                if tensor == 0 {
                    json.push_str("[]");
                } else {
                    let _ = write!(json, "[{tensor},{storage},{offset},");
                    quote(device, json);
                    json.push(']');
                }
            };
            self.list(key::TENSOR_IDS, |json| append_list(json, ids, append));
        }
    }

    /// Records the outputs of the enclosing span, with the arguments of inputs. Recorded with `record_shapes`.
    pub fn outputs(mut self, site: &'static Site) {
        if !wants_shapes(self.state) {
            return;
        }
        let mut at = 1;
        while let Some(slot) = self.slots.get_mut(at) {
            let word = Word::decode(slot[0]);
            let key = match word.id {
                key::INPUT_DIMS => key::OUTPUT_DIMS,
                key::INPUT_TYPE => key::OUTPUT_TYPE,
                key::INPUT_STRIDES => key::OUTPUT_STRIDES,
                other => other,
            };
            slot[0] = slot[0] & u64::from(u32::MAX) | u64::from(key) << 32;
            at += 1 + usize::from(word.slots);
        }
        self.write(Tag::Instant, site);
    }

    /// Adds the number of floating point operations. Recorded with `with_flops`.
    pub fn flops<T: TryInto<i64>>(&mut self, flops: T) {
        if wants_flops(self.state) {
            self.int(key::FLOPS, flops.try_into().unwrap_or(i64::MAX));
        }
    }

    /// Adds the sequence number of a forward operator, which its backward operator refers to.
    pub fn sequence(&mut self, sequence: Sequence) {
        sequence.number.put(key::SEQUENCE_NUMBER, self);
        0i64.put(key::FWD_THREAD_ID, self);
    }

    /// Adds the sequence number and the thread of the forward operator that this backward operator belongs to.
    pub fn backward(&mut self, forward: Sequence) {
        forward.number.put(key::SEQUENCE_NUMBER, self);
        forward.thread.put(key::FWD_THREAD_ID, self);
    }

    /// Adds a module's entry in the `Module Hierarchy` of the operators that it calls.
    pub fn frame(&mut self, frame: &str) {
        self.text(key::MODULE, frame);
    }

    /// Makes room for more slots. The recorder's allocations are not the program's.
    fn reserve(&mut self, slots: usize) {
        if self.slots.capacity() - self.slots.len() < slots {
            unrecorded(|| self.slots.reserve(slots));
        }
    }

    /// Adds an argument whose value fits in one slot.
    pub(super) fn push(&mut self, tag: Tag, key: u32, value: u64) {
        if self.slots.len() < MAX_SLOTS {
            self.reserve(1);
            self.slots.push([Word::pack(tag, 0, 0, key), value]);
        } else {
            self.cut += 1;
        }
    }

    /// Adds a string, cut to the space that is left. A cut JSON string would not be valid: it is left out.
    fn string(&mut self, tag: Tag, key: u32, text: &str) {
        let space = MAX_SLOTS.saturating_sub(self.slots.len() + 1) * SLOT_BYTES;
        let end = up_to(text, space).len();
        self.cut += u32::from(end < text.len());
        if end < text.len() && (tag != Tag::Text || end == 0) {
            return;
        }
        let bytes = &text.as_bytes()[..end];
        let slots = bytes.len().div_ceil(SLOT_BYTES);
        if self.slots.len() >= MAX_SLOTS {
            self.cut += 1;
            return;
        }
        self.reserve(1 + slots);
        self.slots.push([Word::pack(tag, slots as u16, 0, key), bytes.len() as u64]);
        for piece in bytes.chunks(SLOT_BYTES) {
            let mut padded = [0; SLOT_BYTES];
            padded[..piece.len()].copy_from_slice(piece);
            let number = u128::from_le_bytes(padded);
            self.slots.push([number as u64, (number >> 64) as u64]);
        }
    }

    /// Records the values of a counter.
    pub fn counter(self, site: &'static Site) {
        self.write(Tag::Counter, site);
    }

    /// Records the start of a flow.
    pub fn flow_start(self, site: &'static Site, id: u64) {
        self.write_with_id(Tag::FlowStart, site, id);
    }

    /// Records a step of a flow.
    pub fn flow_step(self, site: &'static Site, id: u64) {
        self.write_with_id(Tag::FlowStep, site, id);
    }

    /// Records the end of a flow.
    pub fn flow_end(self, site: &'static Site, id: u64) {
        self.write_with_id(Tag::FlowEnd, site, id);
    }

    /// Records that the enclosing span is a poll of the asynchronous span with this id.
    pub fn poll(self, tag: Tag, site: &'static Site, id: u64) {
        self.flow_on(None, tag, site, (Flow::Polls, id));
    }

    /// Records a flow event that is not the program's, at a place in the recording or here.
    #[cfg(feature = "tracing")]
    pub(crate) fn flow(
        mut self,
        tag: Tag,
        site: &'static Site,
        flow: (Flow, u64),
        place: Option<ThreadInstant>,
    ) {
        self.slots[0][1] = place.map_or(0, |place| place.ticks);
        self.flow_on(place.map(|place| place.thread), tag, site, flow);
    }

    fn flow_on(mut self, thread: Option<u32>, tag: Tag, site: &'static Site, (flow, id): (Flow, u64)) {
        self.flow = flow;
        self.put_first(key::VALUE, thread.map_or(0, |thread| u64::from(thread) + 1));
        self.write_with_id(tag, site, id);
    }

    /// Records the begin of a span that may end on another thread. Returns false if it was lost.
    pub fn async_begin(self, site: &'static Site, id: u64) -> bool {
        self.write_with_id(Tag::AsyncBegin, site, id)
    }

    /// Records the begin of such a span that was open when the recording started. Returns false if it was lost.
    pub fn async_begin_at_start(self, site: &'static Site, id: u64) -> bool {
        self.async_begin_at(site, id, START.load(Ordering::Relaxed))
    }

    /// Records the begin of such a span at an earlier time, in ticks. Returns false if it was lost.
    pub(crate) fn async_begin_at(mut self, site: &'static Site, id: u64, ticks: u64) -> bool {
        self.slots[0][1] = ticks;
        self.async_begin(site, id)
    }

    /// Records the end of such a span.
    pub fn async_end(self, site: &'static Site, id: u64) {
        self.write_with_id(Tag::AsyncEnd, site, id);
    }

    /// Writes a record whose first argument is a number. Returns false if it was lost.
    pub(super) fn write_with_id(mut self, tag: Tag, site: &'static Site, id: u64) -> bool {
        self.put_first(key::VALUE, id);
        self.write(tag, site)
    }

    /// Records a span of a track with this name. Its begin and end are in ns since 1970.
    pub(crate) fn track_span(self, site: &'static Site, track: &str, (begin, end): (i64, i64)) {
        let mut record = Args::new(self.state);
        record.int(key::VALUE, begin);
        record.int(key::VALUE, end);
        record.text(key::VALUE, track);
        record.extend(&self);
        record.write(Tag::TrackSpan, site);
    }

    /// Adds the arguments of another record, and counts those that it cut.
    pub(crate) fn extend(&mut self, other: &Args) {
        let mut rest = &other.slots[1..];
        while let Some(first) = rest.first() {
            let length = 1 + usize::from(Word::decode(first[0]).slots);
            let (argument, behind) = rest.split_at(length.min(rest.len()));
            if self.slots.len() + argument.len() <= MAX_SLOTS {
                self.reserve(argument.len());
                self.slots.extend_from_slice(argument);
            } else {
                self.cut += 1;
            }
            rest = behind;
        }
        self.cut += other.cut;
    }

    /// Records a sample of the call stack of a thread.
    #[cfg(feature = "sampling")]
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    pub(crate) fn sample(mut self, stack: &Sampled, ticks: u64, thread: u32) {
        self.slots[0][1] = ticks;
        match stack {
            Sampled::Name(name) => self.push(Tag::Name, key::CALL_STACK, u64::from(*name)),
            Sampled::Text(text) => self.text(key::CALL_STACK, text),
        }
        self.write_to(Tag::Sample, thread);
    }

    /// Returns the state in which the arguments were created.
    pub(super) fn state(&self) -> u32 {
        self.state
    }

    /// Returns the name of the span for mirrors, in the form of PyTorch's `emit_nvtx`: the name of the record, or of the
    /// call site, then `, seq = 7` if it has a sequence number, and `, sizes = [[2, 3], []]` if it has shapes.
    pub(super) fn mirrored_name(&self, site: &'static Site) -> String {
        let mut text = self.name.as_deref().unwrap_or(site.name).to_owned();
        let mut rest = &self.slots[1..];
        let (mut sequence, mut sizes) = (None, None);
        while let Some((slot, behind)) = rest.split_first() {
            let word = Word::decode(slot[0]);
            let (value, behind) = behind.split_at(usize::from(word.slots).min(behind.len()));
            match word.id {
                key::SEQUENCE_NUMBER if word.tag == Tag::Int as u8 => sequence = Some(slot[1] as i64),
                key::INPUT_DIMS if word.tag == Tag::Json as u8 => sizes = Some((value, slot[1] as usize)),
                _ => {}
            }
            rest = behind;
        }
        if let Some(number) = sequence.filter(|&number| number >= 0) {
            let _ = write!(text, ", seq = {number}");
        }
        if let Some((slots, length)) = sizes {
            let bytes: Vec<u8> = slots.as_flattened().iter().flat_map(|word| word.to_le_bytes()).collect();
            let json = String::from_utf8_lossy(&bytes[..length.min(bytes.len())]);
            let _ = write!(text, ", sizes = {}", json.replace(',', ", "));
        }
        text
    }

    /// Inserts an integer before all other arguments.
    pub(super) fn put_first(&mut self, key: u32, value: u64) {
        self.reserve(1);
        self.slots.insert(1, [Word::pack(Tag::Int, 0, 0, key), value]);
    }

    /// Writes the begin of a span. Returns `None` if it was lost.
    pub(super) fn begin(mut self, site: &'static Site) -> Option<BegunSpan> {
        if site.is_filtered(self.state) {
            return None;
        }
        let id = local::id_of(site);
        self.finish(Tag::Begin, id);
        let begun = if id == 0 { None } else { local::begin_with(self.state, &mut self.slots) };
        begun.inspect(|_| self.count_cut())
    }

    /// Writes the record of a call site. Returns false if it was lost.
    pub(super) fn write(self, tag: Tag, site: &'static Site) -> bool {
        if site.is_filtered(self.state) {
            return false;
        }
        let id = local::id_of(site);
        id != 0 && self.write_to(tag, id)
    }

    /// Writes the record with this id. Returns false if it was lost.
    pub(super) fn write_to(mut self, tag: Tag, id: u32) -> bool {
        self.finish(tag, id);
        let is_written = local::write(self.state, &mut self.slots);
        if is_written {
            self.count_cut();
        }
        is_written
    }

    /// Completes the record: its head, and the number of arguments that were cut.
    fn finish(&mut self, tag: Tag, id: u32) {
        if self.cut > 0 {
            self.reserve(1);
            self.slots.push([Word::pack(Tag::Int, 0, 0, key::CUT), u64::from(self.cut)]);
        }
        self.slots[0][0] = Word::pack(tag, (self.slots.len() - 1) as u16, self.flow as u8, id);
    }

    fn count_cut(&self) {
        CUT.fetch_add(u64::from(self.cut), Ordering::Relaxed);
    }
}

impl Drop for Args {
    fn drop(&mut self) {
        if self.slots.spilled() || self.name.is_some() {
            unrecorded(|| {
                self.slots = SmallVec::new();
                self.name = None;
            });
        }
    }
}
