//! The registry of call sites, names and threads. Records refer to them by number; each is registered once, under a
//! lock.

use crate::hot::lock::hold;
use crate::hot::state::left_out;
use crate::hot::system::Thread;
use kinetoscope_stream::record::{FIRST_NAME, KEYS, SpanKind};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// A call site: the name, the kind and the source position of a span or event. Each use of a macro has one static
/// `Site`.
#[derive(Debug)]
pub struct Site {
    pub(crate) name: &'static str,
    pub(crate) kind: SpanKind,
    file: &'static str,
    line: u32,
    /// The level, for call sites of `tracing`.
    level: Option<&'static str>,
    /// The number in the registry; 0 until the first use, and while the filter of a recording leaves the site out.
    pub(crate) id: AtomicU32,
    /// The number of the site while `id` is 0 because of a filter.
    known: AtomicU32,
    /// The recording whose filter leaves the site out, in the form of [`left_out`](crate::hot::state::left_out).
    filtered: AtomicU32,
}

/// A call site, for a [filter](crate::ProfilerBuilder::filter).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallSite {
    /// The name of its spans or events; for a name that is computed at run time, the text of its expression, or the
    /// function, such as `record_function`.
    pub name: &'static str,
    /// What it records.
    pub kind: SpanKind,
    /// The source file.
    pub file: &'static str,
    /// The line in the source file.
    pub line: u32,
    /// The level of a span or event of `tracing`, such as `INFO`.
    pub level: Option<&'static str>,
}

/// A function that returns whether a call site is recorded.
pub(crate) type Filter = dyn Fn(&CallSite) -> bool + Send + Sync;

impl Site {
    /// Creates a call site. `name` is the name of its spans, which must not be empty.
    pub const fn new(name: &'static str, kind: SpanKind, file: &'static str, line: u32) -> Site {
        assert!(!name.is_empty(), "the name of a span or event must not be empty");
        Site {
            name,
            kind,
            file,
            line,
            level: None,
            id: AtomicU32::new(0),
            known: AtomicU32::new(0),
            filtered: AtomicU32::new(0),
        }
    }

    /// Sets the level.
    #[cfg(feature = "tracing")]
    pub(crate) fn with_level(self, level: &'static str) -> Site {
        Site { level: Some(level), ..self }
    }

    /// Returns whether the filter of the recording with this state leaves the site out.
    #[inline]
    pub(crate) fn is_filtered(&self, state: u32) -> bool {
        self.filtered.load(Ordering::Relaxed) == left_out(state) && left_out(state) != 0
    }

    fn call_site(&self) -> CallSite {
        CallSite { name: self.name, kind: self.kind, file: self.file, line: self.line, level: self.level }
    }
}

/// The name of an argument. Each argument in a use of a macro has one static `Name`.
#[derive(Debug)]
pub struct Name {
    text: &'static str,
    id: AtomicU32,
}

impl Name {
    /// Creates a name from a string, or from an identifier: `type` from `r#type`.
    pub const fn new(text: &'static str) -> Name {
        let text = match text.as_bytes() {
            [b'r', b'#', ..] => text.split_at(2).1,
            _ => text,
        };
        Name { text, id: AtomicU32::new(0) }
    }

    /// Returns the name's number, and registers the name first if necessary.
    #[inline]
    pub(crate) fn id(&self) -> u32 {
        match self.id.load(Ordering::Relaxed) {
            0 => {
                let id = registry().name(self.text);
                self.id.store(id, Ordering::Relaxed);
                id
            }
            id => id,
        }
    }
}

/// A call site in the form of a recording: name and file by number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) name: u32,
    pub(crate) file: u32,
    pub(crate) line: u32,
    pub(crate) kind: SpanKind,
}

#[derive(Default)]
pub(crate) struct Registry {
    names: Vec<&'static str>,
    ids: Option<HashMap<&'static str, u32>>,
    sites: Vec<Entry>,
    /// The call sites of `sites`.
    call_sites: Vec<&'static Site>,
    /// The filter of the present recording, and its state.
    filter: Option<(Arc<Filter>, u32)>,
    /// The threads that joined the recording since they were last taken.
    threads: Vec<(u32, Thread)>,
    /// The threads that have ended since they were last taken.
    ended_threads: Vec<u32>,
    /// The numbers of threads that were sampled and have recorded nothing, by the system's ids.
    sampled: Option<HashMap<u64, u32>>,
    /// The names that the program gave its living threads, by the system's ids. A sampled thread has no other way to pass
    /// its name.
    #[cfg(feature = "sampling")]
    given_names: Option<HashMap<u64, String>>,
    /// The number of the next thread. Numbers are not reused, because a file may contain several recordings.
    next_thread: u32,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry {
    names: Vec::new(),
    ids: None,
    sites: Vec::new(),
    call_sites: Vec::new(),
    filter: None,
    threads: Vec::new(),
    ended_threads: Vec::new(),
    sampled: None,
    #[cfg(feature = "sampling")]
    given_names: None,
    next_thread: 0,
});

/// Locks the registry. After a panic of another holder it is still valid, because entries are only appended.
pub(crate) fn registry() -> MutexGuard<'static, Registry> {
    hold(&REGISTRY)
}

impl Registry {
    /// Returns the number of a string, and registers it if it is new.
    pub(crate) fn name(&mut self, text: &'static str) -> u32 {
        if let Some(known) = self.known(text) {
            return known;
        }
        let next = FIRST_NAME + self.names.len() as u32;
        self.ids.get_or_insert_default().insert(text, next);
        self.names.push(text);
        next
    }

    /// Returns the number of a string that is registered or one of the format's keys.
    fn known(&self, text: &str) -> Option<u32> {
        let key = KEYS.iter().position(|key| *key == text).map(|at| at as u32);
        key.or_else(|| self.ids.as_ref()?.get(text).copied())
    }

    /// Returns the number of a string that was computed at run time. A new one is leaked.
    #[cfg(any(feature = "stacks", feature = "cuda"))]
    pub(crate) fn add_name(&mut self, text: &str) -> u32 {
        self.known(text).unwrap_or_else(|| self.name(String::leak(text.to_owned())))
    }

    /// Returns the number of a call site, from 1, and registers it if it is new; 0 if the filter leaves it out.
    pub(crate) fn site(&mut self, site: &'static Site) -> u32 {
        let id = site.id.load(Ordering::Relaxed);
        if id != 0 {
            return id;
        }
        if site.known.load(Ordering::Relaxed) == 0 {
            let (name, file) = (self.name(site.name), self.name(site.file));
            self.sites.push(Entry { name, file, line: site.line, kind: site.kind });
            self.call_sites.push(site);
            site.known.store(self.sites.len() as u32, Ordering::Relaxed);
        }
        self.apply_filter(site);
        site.id.load(Ordering::Relaxed)
    }

    /// Sets the number of a call site, or 0 if the filter leaves it out.
    fn apply_filter(&self, site: &Site) {
        let leaves_out = self.filter.as_ref().filter(|(filter, _)| !filter(&site.call_site()));
        let filtered = leaves_out.map_or(0, |(_, state)| left_out(*state));
        site.filtered.store(filtered, Ordering::Relaxed);
        let id = if filtered == 0 { site.known.load(Ordering::Relaxed) } else { 0 };
        site.id.store(id, Ordering::Relaxed);
    }

    /// Sets the filter of the recording with this state. Nothing is being recorded.
    pub(crate) fn set_filter(&mut self, filter: Option<Arc<Filter>>, state: u32) {
        let had_filter = self.filter.is_some();
        self.filter = filter.map(|filter| (filter, state));
        if had_filter || self.filter.is_some() {
            self.call_sites.iter().for_each(|site| self.apply_filter(site));
        }
    }

    /// Adds a thread to the present recording and returns its number.
    pub(crate) fn thread(&mut self, thread: Thread) -> u32 {
        let sampled = self.sampled.as_mut().and_then(|sampled| sampled.remove(&thread.id));
        let number = sampled.unwrap_or(self.next_thread);
        if sampled.is_none() {
            self.next_thread = self.next_thread.wrapping_add(1);
        }
        self.threads.push((number, thread));
        number
    }

    /// Adds a thread of the present recording that has recorded nothing itself. Returns its number, which it keeps.
    #[cfg(feature = "sampling")]
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    pub(crate) fn sampled_thread(&mut self, mut thread: Thread) -> u32 {
        let id = thread.id;
        if let Some(name) = self.given_names.as_ref().and_then(|names| names.get(&id)) {
            thread.name.clone_from(name);
        }
        let number = self.thread(thread);
        self.sampled.get_or_insert_default().insert(id, number);
        number
    }

    /// Changes the name of a thread: in the present recording, if it has this number there or was sampled, and in later
    /// samples.
    pub(crate) fn name_thread(&mut self, number: Option<u32>, thread: Thread) {
        let number = number.or_else(|| self.sampled.as_ref()?.get(&thread.id).copied());
        #[cfg(feature = "sampling")]
        self.given_names.get_or_insert_default().insert(thread.id, thread.name.clone());
        self.threads.extend(number.map(|number| (number, thread)));
    }

    /// Forgets the name of a thread that ends, because the system may use its id again.
    #[cfg(feature = "sampling")]
    pub(crate) fn forget_name(&mut self, id: u64) {
        if let Some(names) = &mut self.given_names {
            names.remove(&id);
        }
    }

    /// Records that a thread of the present recording has ended.
    pub(crate) fn end_thread(&mut self, number: u32) {
        self.ended_threads.push(number);
    }

    /// Removes the threads, for a new recording.
    pub(crate) fn clear_threads(&mut self) {
        self.threads = Vec::new();
        self.ended_threads = Vec::new();
        self.sampled = None;
    }

    /// Returns the threads that joined the recording since the last call.
    pub(crate) fn take_threads(&mut self) -> Vec<(u32, Thread)> {
        std::mem::take(&mut self.threads)
    }

    /// Returns the threads that have ended since the last call.
    pub(crate) fn take_ended_threads(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.ended_threads)
    }

    /// Returns the names from this index on. The first of all names has the number [`FIRST_NAME`].
    pub(crate) fn names_from(&self, first: usize) -> &[&'static str] {
        self.names.get(first..).unwrap_or(&[])
    }

    /// Returns the call sites from this index on. The first of all sites has the number 1.
    pub(crate) fn sites_from(&self, first: usize) -> &[Entry] {
        self.sites.get(first..).unwrap_or(&[])
    }
}
