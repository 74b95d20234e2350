//! The state of each thread, and the hot path: the begin or the end of a span is one store into the thread's chunk and
//! one store that publishes it.
//!
//! Every open span has a position among the open spans of its thread, which its guard keeps. If a span ends while others
//! inside of it are open, its position becomes a hole; it is used again when the spans inside have ended.
//!
//! This is one file because every function reads or writes the fields of one structure, whose order of changes matters.

mod overhead;

pub(crate) use overhead::overhead_ns;

use crate::hot::chunk::Chunk;
use crate::hot::clock::Clock;
use crate::hot::pool::pool;
use crate::hot::registry::{Site, registry};
use crate::hot::state::{DROPPED, flag, is_on, is_paused, left_out, state};
#[cfg(feature = "sampling")]
use crate::hot::system::system_id;
use crate::hot::system::{give_name, this_thread};
use crate::hot::wake::wake;
use kinetoscope_stream::record::{Short, Slot, Tag, Word, key};
use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::sync::atomic::Ordering;

pub(crate) struct Local {
    /// The state of the recording that the chunk belongs to; 0 for none.
    state: Cell<u32>,
    /// The index of the next word.
    at: Cell<usize>,
    /// The capacity of the chunk; 0 if there is none.
    limit: Cell<usize>,
    chunk: Cell<Option<&'static Chunk>>,
    /// The base of the ticks in the chunk: no record is earlier.
    base: Cell<u64>,
    /// The number of positions in use in the low half, the number of holes in the high half. A span is the innermost one,
    /// and no hole is below it, if this is its position plus 1.
    depth: Cell<u64>,
    /// The holes in ascending order. Freed by [`END`], because a destructor would slow down each access to [`LOCAL`].
    holes: ManuallyDrop<RefCell<Vec<u32>>>,
    /// Whether records of this thread were lost since the last record.
    has_lost: Cell<bool>,
    /// Whether the thread has filled a chunk in this recording.
    has_filled: Cell<bool>,
    thread: Cell<u32>,
    /// The state of the last recording that this thread started; [`ALWAYS`] for a thread of the recorder with records.
    starter: Cell<u32>,
    /// Whether the recorder itself is running on this thread.
    is_busy: Cell<bool>,
    /// Whether the thread is ending: [`END`] was dropped, and other thread-locals may still record.
    is_ending: Cell<bool>,
}

/// The maximum number of words of a record with the depth of a thread.
pub(crate) const DEPTH_WORDS: usize = 36;

/// See [`Local::starter`].
const ALWAYS: u32 = u32::MAX;

thread_local! {
    static LOCAL: Local = const { Local::new() };
    static END: End = const { End };
}

/// Seals the thread's chunk when the thread ends.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        LOCAL.with(|local| {
            local.is_ending.set(true);
            local.seal_chunk();
            unrecorded(|| drop(local.holes.take()));
            #[cfg(feature = "sampling")]
            local.without_reentry(|| registry().forget_name(system_id()));
            let recording = local.state.get();
            if recording != 0 && left_out(recording) == left_out(state()) {
                local.without_reentry(|| registry().end_thread(local.thread.get()));
            }
        });
    }
}

#[inline(always)]
fn ticks(state: u32) -> u64 {
    if state & flag::COUNTER != 0 { Clock::Counter.ticks() } else { monotonic() }
}

/// Not inlined, so that spans stay small.
#[inline(never)]
fn monotonic() -> u64 {
    Clock::Monotonic.ticks()
}

/// A span as its guard keeps it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BegunSpan {
    /// The state when the span began; without flags if it is not recorded.
    pub(crate) state: u32,
    /// The position of the span among the open spans of its thread.
    pub(crate) position: u32,
}

impl BegunSpan {
    /// A span that is not recorded.
    pub(crate) const fn unrecorded(state: u32) -> BegunSpan {
        BegunSpan { state, position: 0 }
    }
}

/// Begins a span. Returns the state for its end, without flags if it was not recorded.
#[inline(always)]
pub(crate) fn begin(state: u32, site: &'static Site) -> BegunSpan {
    LOCAL.with(|local| local.begin(state, site))
}

/// Ends a span.
#[inline(always)]
pub(crate) fn end(begun: BegunSpan, site: &'static Site) {
    LOCAL.with(|local| local.end(begun, site));
}

/// Writes the begin of a span, of several slots. Returns `None` if it was lost.
pub(crate) fn begin_with(state: u32, record: &mut [Slot]) -> Option<BegunSpan> {
    LOCAL.with(|local| local.begin_with(state, record))
}

/// Writes a record of several slots at once, and sets its ticks if they are 0. Returns false if the record was lost.
pub(crate) fn write(state: u32, record: &mut [Slot]) -> bool {
    LOCAL.with(|local| local.write(state, record))
}

/// An instant on a thread of a recording.
#[cfg(feature = "tracing")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadInstant {
    pub(crate) thread: u32,
    pub(crate) ticks: u64,
}

/// Returns this instant on this thread; `None` if the thread has recorded nothing in this state.
#[cfg(feature = "tracing")]
pub(crate) fn here(state: u32) -> Option<ThreadInstant> {
    LOCAL.with(|local| {
        let place = || ThreadInstant { thread: local.thread.get(), ticks: ticks(state) };
        (local.state.get() == state).then(place)
    })
}

/// Returns the number of this thread, if it has recorded something in this state.
#[cfg(feature = "sampling")]
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
pub(crate) fn joined(state: u32) -> Option<u32> {
    LOCAL.with(|local| (local.state.get() == state).then(|| local.thread.get()))
}

/// Returns this instant in ticks.
#[cfg(any(feature = "sampling", feature = "tracing"))]
pub(crate) fn now(state: u32) -> u64 {
    ticks(state)
}

/// Returns whether a span is open and recorded on this thread.
pub(crate) fn is_open(begun: BegunSpan) -> bool {
    is_on(begun.state) && LOCAL.with(|local| local.state.get() == begun.state)
}

/// Returns the id of a site, and registers it first if necessary; 0 if that is not possible now, or if a filter leaves the
/// site out.
pub(crate) fn id_of(site: &'static Site) -> u32 {
    match site.id.load(Ordering::Relaxed) {
        0 => LOCAL.with(|local| local.without_reentry(|| registry().site(site))).unwrap_or(0),
        id => id,
    }
}

/// Marks the thread as one of the recorder's own: nothing on it is recorded.
pub(crate) fn never_record() {
    LOCAL.with(|local| local.is_busy.set(true));
}

/// Makes this thread the one that started the recording of this state.
pub(crate) fn set_starter(state: u32) {
    LOCAL.with(|local| local.starter.set(state));
}

/// Marks the thread as one of the recorder's own whose records are kept in every recording.
#[cfg(any(feature = "nvml", feature = "sampling"))]
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
pub(crate) fn always_record() {
    set_starter(ALWAYS);
}

/// Returns whether this thread is one of those that are recorded in this state.
pub(crate) fn is_recorded(state: u32) -> bool {
    state & flag::ONE_THREAD == 0 || LOCAL.with(|local| local.is_starter(state))
}

/// Returns whether the recorder itself is running on this thread.
pub(crate) fn is_busy() -> bool {
    LOCAL.with(|local| local.is_busy.get())
}

/// Returns whether a chunk is owned by this thread.
#[cfg(unix)]
pub(crate) fn owns(chunk: &'static Chunk) -> bool {
    LOCAL.with(|local| local.chunk.get().is_some_and(|current| std::ptr::eq(current, chunk)))
}

/// Sets the name of the calling thread, in the present recording and in later ones. An empty one removes it. Has no effect
/// while the recorder itself is running on this thread.
pub(crate) fn name_thread(name: String) {
    LOCAL.with(|local| {
        // The name is forgotten when the thread ends.
        let _ = END.try_with(|_| ());
        local.without_reentry(|| {
            give_name(name);
            let thread = this_thread(local.is_ending.get());
            let mut registry = registry();
            // A new recording clears the list of threads under the same lock, after the state of the old one ended.
            let joined = local.state.get();
            let is_present = left_out(joined) == left_out(state()) || is_paused(joined);
            registry.name_thread((joined != 0 && is_present).then(|| local.thread.get()), thread);
        });
    });
}

/// Runs a function of the recorder itself, whose allocations are not recorded.
pub(crate) fn unrecorded<T>(run: impl FnOnce() -> T) -> T {
    LOCAL.with(|local| {
        let _busy = Busy { is_busy: &local.is_busy, was: local.is_busy.replace(true) };
        run()
    })
}

/// Restores [`Local::is_busy`], also after a panic.
struct Busy<'a> {
    is_busy: &'a Cell<bool>,
    was: bool,
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.is_busy.set(self.was);
    }
}

/// Returns the number of this thread in the recording; `None` if the recorder itself is running on this thread.
pub(crate) fn thread_number(state: u32) -> Option<u32> {
    LOCAL
        .with(|local| (local.state.get() == state || local.join_recording(state)).then(|| local.thread.get()))
}

impl Local {
    const fn new() -> Local {
        Local {
            state: Cell::new(0),
            at: Cell::new(0),
            limit: Cell::new(0),
            chunk: Cell::new(None),
            base: Cell::new(0),
            depth: Cell::new(0),
            holes: ManuallyDrop::new(RefCell::new(Vec::new())),
            has_lost: Cell::new(false),
            has_filled: Cell::new(false),
            thread: Cell::new(0),
            starter: Cell::new(0),
            is_busy: Cell::new(false),
            is_ending: Cell::new(false),
        }
    }

    #[inline(always)]
    fn begin(&self, state: u32, site: &'static Site) -> BegunSpan {
        let id = site.id.load(Ordering::Relaxed);
        let at = self.at.get();
        if self.state.get() == state
            && id != 0
            && let Some(chunk) = self.chunk.get()
            && at < self.limit.get()
        {
            let ticks = ticks(state);
            if Short::fits(id, ticks, self.base.get()) {
                let position = self.take_position();
                self.put(chunk, at, Short::pack(false, position as u8, id, ticks));
                return BegunSpan { state, position };
            }
        }
        self.begin_slowly(state, site)
    }

    #[inline(always)]
    fn end(&self, begun: BegunSpan, site: &'static Site) {
        let BegunSpan { state, position } = begun;
        let at = self.at.get();
        if self.state.get() == state
            && self.depth.get() == u64::from(position) + 1
            && let Some(chunk) = self.chunk.get()
            && at < self.limit.get()
        {
            let (id, ticks) = (site.id.load(Ordering::Relaxed), ticks(state));
            if Short::fits(id, ticks, self.base.get()) {
                self.depth.set(u64::from(position));
                self.put(chunk, at, Short::pack(true, position as u8, id, ticks));
                return;
            }
        }
        self.end_slowly(begun, site);
    }

    /// Takes the next position among the open spans.
    #[inline(always)]
    fn take_position(&self) -> u32 {
        let depth = self.depth.get();
        self.depth.set(depth + 1);
        depth as u32
    }

    #[inline(always)]
    fn put(&self, chunk: &'static Chunk, at: usize, word: u64) {
        // SAFETY: the chunk is owned by this thread, `at` is less than its capacity and the published words are below
        // it.
        unsafe { chunk.write(at, word) };
        self.at.set(at + 1);
        chunk.publish(at + 1);
    }

    #[cold]
    #[inline(never)]
    fn begin_slowly(&self, state: u32, site: &'static Site) -> BegunSpan {
        if site.is_filtered(state) {
            return BegunSpan::unrecorded(left_out(state));
        }
        let id = id_of(site);
        let mut record = [[Word::pack(Tag::Begin, 0, 0, id), 0]];
        let begun = if id == 0 { None } else { self.begin_with(state, &mut record) };
        begun.unwrap_or(BegunSpan::unrecorded(left_out(state)))
    }

    /// Writes the end of a span in the long form, of one that is not the innermost one, or of one above holes.
    #[cold]
    #[inline(never)]
    fn end_slowly(&self, begun: BegunSpan, site: &'static Site) {
        let BegunSpan { state, position } = begun;
        // The end of a span of another recording is ignored.
        if self.state.get() != state {
            return;
        }
        let id = site.id.load(Ordering::Relaxed);
        // The depth changes after the record is written: a record of the depth before it counts this span as open.
        if self.depth.get() as u32 == position + 1 {
            self.write(state, &mut [[Word::pack(Tag::End, 0, position as u8, id), 0]]);
            self.free_position(position);
        } else if position < self.depth.get() as u32 {
            let position_slot = [Word::pack(Tag::Int, 0, 0, key::VALUE), u64::from(position)];
            self.write(state, &mut [[Word::pack(Tag::EndOuter, 1, 0, id), 0], position_slot]);
            self.add_hole(position);
        }
    }

    /// Frees the highest position in use, and the holes below it.
    fn free_position(&self, position: u32) {
        let (mut count, mut holes) = (position, self.holes.borrow_mut());
        while count > 0 && holes.last() == Some(&(count - 1)) {
            holes.pop();
            count -= 1;
        }
        self.depth.set((holes.len() as u64) << 32 | u64::from(count));
    }

    fn add_hole(&self, position: u32) {
        let mut holes = self.holes.borrow_mut();
        if let Err(at) = holes.binary_search(&position) {
            unrecorded(|| holes.insert(at, position));
            let count = self.depth.get() as u32;
            self.depth.set((holes.len() as u64) << 32 | u64::from(count));
        }
    }

    fn begin_with(&self, state: u32, record: &mut [Slot]) -> Option<BegunSpan> {
        if !self.has_room(state, record.as_flattened().len()) {
            return None;
        }
        let position = self.take_position();
        record[0][0] |= u64::from(position as u8) << 24;
        self.append(state, record);
        self.seal_if_ending();
        Some(BegunSpan { state, position })
    }

    fn write(&self, state: u32, record: &mut [Slot]) -> bool {
        let has_room = self.has_room(state, record.as_flattened().len());
        if has_room {
            self.append(state, record);
            self.seal_if_ending();
        }
        has_room
    }

    /// Appends a record, for which the chunk has room.
    fn append(&self, state: u32, record: &mut [Slot]) {
        let (Some(chunk), at) = (self.chunk.get(), self.at.get()) else { return };
        if record[0][1] == 0 {
            record[0][1] = ticks(state);
        }
        let words = record.as_flattened();
        for (number, word) in words.iter().enumerate() {
            // SAFETY: the chunk is owned by this thread and has room for all words, behind the published ones.
            unsafe { chunk.write(at + number, *word) };
        }
        self.at.set(at + words.len());
        chunk.count_arguments(words.len() - 1);
        chunk.publish(at + words.len());
    }

    fn seal_if_ending(&self) {
        if self.is_ending.get() {
            self.seal_chunk();
        }
    }

    /// Returns whether this many words can be written; takes a new chunk if the present one has no room.
    fn has_room(&self, state: u32, words: usize) -> bool {
        let fits = || self.chunk.get().is_some() && self.at.get() + words <= self.limit.get();
        if self.state.get() == state && fits() {
            return true;
        }
        if !is_on(state) || !(self.state.get() == state || self.join_recording(state)) {
            return false;
        }
        if !self.take_chunk(state, words) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
            self.has_lost.set(true);
            wake();
            return false;
        }
        if self.has_lost.replace(false) {
            self.write_depth(state);
        }
        if pool().is_low() {
            wake();
        }
        true
    }

    fn take_chunk(&self, state: u32, words: usize) -> bool {
        if self.chunk.get().is_some() {
            self.has_filled.set(true);
            self.seal_chunk();
        }
        let words = if self.has_lost.get() { words + DEPTH_WORDS } else { words };
        let taken = self.without_reentry(|| pool().take(words, self.has_filled.get())).flatten();
        let Some(chunk) = taken else { return false };
        let base = ticks(state);
        chunk.take(state, self.thread.get(), base);
        pool().announce(chunk);
        self.chunk.set(Some(chunk));
        self.base.set(base);
        self.limit.set(chunk.capacity());
        self.at.set(0);
        true
    }

    /// Writes which positions are in use, at the begin of a chunk.
    #[cold]
    fn write_depth(&self, state: u32) {
        let mut record = [[0; 2]; DEPTH_WORDS / 2];
        let holes = self.holes.borrow();
        // More holes than this are left out: their spans count as open until the spans inside of them end.
        let named = holes.iter().take(record.len() - 1);
        for (slot, hole) in record[1..].iter_mut().zip(named.clone()) {
            *slot = [Word::pack(Tag::Int, 0, 0, key::VALUE), u64::from(*hole)];
        }
        let count = self.depth.get() as u32;
        record[0][0] = Word::pack(Tag::Depth, named.len() as u16, 0, count);
        self.append(state, &mut record[..=named.len()]);
    }

    fn is_starter(&self, state: u32) -> bool {
        [state, ALWAYS].contains(&self.starter.get())
    }

    /// Adds the thread to a recording in which it has not recorded yet. Returns false while the recorder itself is
    /// running, and if only another thread is recorded.
    fn join_recording(&self, state: u32) -> bool {
        if self.is_busy.get() || (state & flag::ONE_THREAD != 0 && !self.is_starter(state)) {
            return false;
        }
        self.seal_chunk();
        if END.try_with(|_| ()).is_err() {
            self.is_ending.set(true);
        }
        let thread = self.without_reentry(|| registry().thread(this_thread(self.is_ending.get())));
        self.thread.set(thread.unwrap_or(0));
        self.depth.set(0);
        unrecorded(|| self.holes.borrow_mut().clear());
        self.has_lost.set(false);
        self.has_filled.set(false);
        self.state.set(state);
        true
    }

    /// Seals the chunk: the thread will not write to it again.
    fn seal_chunk(&self) {
        if let Some(chunk) = self.chunk.take() {
            chunk.seal();
        }
        self.limit.set(0);
    }

    /// Runs a function of the recorder itself; returns `None` if one is already running on this thread.
    fn without_reentry<T>(&self, run: impl FnOnce() -> T) -> Option<T> {
        if self.is_busy.replace(true) {
            return None;
        }
        let _busy = Busy { is_busy: &self.is_busy, was: false };
        Some(run())
    }
}
