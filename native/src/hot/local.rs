//! The state of each thread, and the hot path: the begin or the end of a span is one store into the thread's chunk and
//! one store that publishes it.

use crate::hot::chunk::Chunk;
use crate::hot::clock::Clock;
use crate::hot::pool::pool;
use crate::hot::registry::{Site, registry};
use crate::hot::state::{DROPPED, flag, is_on, left_out};
use crate::hot::sync::WORDS;
use crate::hot::system::this_thread;
use crate::hot::wake::wake;
use kinetoscope_stream::record::Kind;
use kinetoscope_stream::record::{Short, Slot, Tag, Word};
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;
use std::time::Instant;

pub(crate) struct Local {
    /// The state of the recording that the chunk belongs to; 0 for none.
    state: Cell<u32>,
    /// The index of the next word; [`WORDS`] if there is no room or no chunk.
    at: Cell<usize>,
    chunk: Cell<Option<&'static Chunk>>,
    /// The base of the ticks in the chunk: no record is earlier.
    base: Cell<u64>,
    /// The number of open spans, modulo 256.
    depth: Cell<u8>,
    thread: Cell<u32>,
    /// The state of the last recording that this thread started; [`ALWAYS`] for a thread of the recorder with records.
    starter: Cell<u32>,
    /// Whether the recorder itself is running on this thread.
    is_busy: Cell<bool>,
    /// Whether the thread is ending: [`END`] was dropped, and other thread-locals may still record.
    is_ending: Cell<bool>,
}

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

/// Begins a span. Returns the state for its end, without flags if it was not recorded.
#[inline(always)]
pub(crate) fn begin(state: u32, site: &'static Site) -> u32 {
    LOCAL.with(|local| local.begin(state, site))
}

/// Ends a span that began in this state.
#[inline(always)]
pub(crate) fn end(state: u32, site: &'static Site) {
    LOCAL.with(|local| local.end(state, site));
}

/// Returns the cost of a recorded span on this machine, in ns. Measured once, with a chunk that is not read.
pub(crate) fn overhead_ns(state: u32) -> f64 {
    static COST: OnceLock<f64> = OnceLock::new();
    *COST.get_or_init(|| measured_overhead_ns(state))
}

fn measured_overhead_ns(state: u32) -> f64 {
    static SITE: Site = Site::new("overhead", Kind::Op, file!(), line!());
    let local = Local::new();
    let (Some(_), Some(chunk)) = (local.without_reentry(|| id_of(&SITE)), pool().scratch()) else {
        return 0.0;
    };
    local.state.set(state);
    local.chunk.set(Some(chunk));
    local.base.set(ticks(state));
    let round = || {
        local.at.set(0);
        let start = Instant::now();
        for _ in 0..WORDS / 2 {
            local.begin(state, &SITE);
            local.end(state, &SITE);
        }
        start.elapsed().as_nanos() as f64 / (WORDS / 2) as f64
    };
    let best = (0..5).map(|_| round()).fold(f64::MAX, f64::min);
    pool().give_back(chunk);
    best
}

/// Writes a record of several slots at once and sets its ticks, if they are 0, and, for the begin of a span, its depth.
/// Returns false if the record was dropped.
pub(crate) fn write(state: u32, record: &mut [Slot]) -> bool {
    LOCAL.with(|local| local.write(state, record))
}

/// Returns the id of a site, and registers it first if necessary; 0 if that is not possible now.
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
#[cfg(feature = "nvml")]
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
    LOCAL.with(|local| local.chunk.get().is_some_and(|own| std::ptr::eq(own, chunk)))
}

/// Runs a function of the recorder itself, whose allocations are not recorded.
pub(crate) fn unrecorded<T>(run: impl FnOnce() -> T) -> T {
    LOCAL.with(|local| {
        let was = local.is_busy.replace(true);
        let result = run();
        local.is_busy.set(was);
        result
    })
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
            at: Cell::new(WORDS),
            chunk: Cell::new(None),
            base: Cell::new(0),
            depth: Cell::new(0),
            thread: Cell::new(0),
            starter: Cell::new(0),
            is_busy: Cell::new(false),
            is_ending: Cell::new(false),
        }
    }

    #[inline(always)]
    fn begin(&self, state: u32, site: &'static Site) -> u32 {
        let id = site.id.load(Ordering::Relaxed);
        let at = self.at.get();
        if self.state.get() == state
            && id != 0
            && let Some(chunk) = self.chunk.get()
            && at < WORDS
        {
            let ticks = ticks(state);
            if Short::fits(id, ticks, self.base.get()) {
                let depth = self.depth.get();
                self.depth.set(depth.wrapping_add(1));
                self.put(chunk, at, Short::pack(false, depth, id, ticks));
                return state;
            }
        }
        self.begin_slowly(state, site)
    }

    #[inline(always)]
    fn end(&self, state: u32, site: &'static Site) {
        let at = self.at.get();
        if self.state.get() == state
            && let Some(chunk) = self.chunk.get()
            && at < WORDS
        {
            let (id, ticks) = (site.id.load(Ordering::Relaxed), ticks(state));
            if Short::fits(id, ticks, self.base.get()) {
                let depth = self.depth.get().wrapping_sub(1);
                self.depth.set(depth);
                self.put(chunk, at, Short::pack(true, depth, id, ticks));
                return;
            }
        }
        self.end_slowly(state, site);
    }

    #[inline(always)]
    fn put(&self, chunk: &'static Chunk, at: usize, word: u64) {
        // SAFETY: the chunk is owned by this thread, `at` is less than WORDS and the published words are below it.
        unsafe { chunk.write(at, word) };
        self.at.set(at + 1);
        chunk.publish(at + 1);
    }

    #[cold]
    #[inline(never)]
    fn begin_slowly(&self, state: u32, site: &'static Site) -> u32 {
        let id = id_of(site);
        let mut record = [[Word::pack(Tag::Begin, 0, 0, id), 0]];
        if id != 0 && self.write(state, &mut record) { state } else { left_out(state) }
    }

    #[cold]
    #[inline(never)]
    fn end_slowly(&self, state: u32, site: &'static Site) {
        // The end of a span of another recording is ignored.
        if self.state.get() == state {
            let depth = self.depth.get().wrapping_sub(1);
            self.depth.set(depth);
            let id = site.id.load(Ordering::Relaxed);
            self.write(state, &mut [[Word::pack(Tag::End, 0, depth, id), 0]]);
        }
    }

    fn write(&self, state: u32, record: &mut [Slot]) -> bool {
        if !self.has_room(state, record.as_flattened().len()) {
            return false;
        }
        let (Some(chunk), at) = (self.chunk.get(), self.at.get()) else { return false };
        if record[0][0] as u8 == Tag::Begin as u8 {
            let depth = self.depth.get();
            self.depth.set(depth.wrapping_add(1));
            record[0][0] |= u64::from(depth) << 24;
        }
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
        if self.is_ending.get() {
            self.seal_chunk();
        }
        true
    }

    /// Returns whether this many words can be written; takes a new chunk if the present one has no room.
    fn has_room(&self, state: u32, words: usize) -> bool {
        let fits = |local: &Local| local.chunk.get().is_some() && local.at.get() + words <= WORDS;
        if self.state.get() == state && fits(self) {
            return true;
        }
        if !is_on(state) || words > WORDS || !(self.state.get() == state || self.join_recording(state)) {
            return false;
        }
        self.seal_chunk();
        let base = ticks(state);
        let chunk = self.without_reentry(|| pool().take(state, self.thread.get(), base)).flatten();
        self.chunk.set(chunk);
        self.base.set(base);
        self.at.set(if chunk.is_some() { 0 } else { WORDS });
        if chunk.is_none() {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
        if chunk.is_none() || pool().is_low() {
            wake();
        }
        chunk.is_some()
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
        let thread = self.without_reentry(|| registry().thread(this_thread()));
        self.thread.set(thread.unwrap_or(0));
        self.depth.set(0);
        self.state.set(state);
        true
    }

    /// Seals the chunk: the thread will not write to it again.
    fn seal_chunk(&self) {
        if let Some(chunk) = self.chunk.take() {
            chunk.seal();
        }
        self.at.set(WORDS);
    }

    /// Runs a function of the recorder itself; returns `None` if one is already running on this thread.
    fn without_reentry<T>(&self, run: impl FnOnce() -> T) -> Option<T> {
        if self.is_busy.replace(true) {
            return None;
        }
        let result = run();
        self.is_busy.set(false);
        Some(result)
    }
}
