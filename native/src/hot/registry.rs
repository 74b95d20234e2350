//! Call sites, names and threads: what records refer to by number. Asked for once each, under a lock.

use crate::hot::lock::hold;
use crate::hot::system::Thread;
use kinetoscope_stream::record::{FIRST_NAME, KEYS, Kind};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};

/// A place in a program that records: made by the macros, once a call site.
#[derive(Debug)]
pub struct Site {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    file: &'static str,
    line: u32,
    /// 0 until it first records.
    pub(crate) id: AtomicU32,
}

impl Site {
    /// A call site. `name` is what its spans are called.
    pub const fn new(name: &'static str, kind: Kind, file: &'static str, line: u32) -> Site {
        Site { name, kind, file, line, id: AtomicU32::new(0) }
    }
}

/// The name of an argument: made by the macros, once a call site.
#[derive(Debug)]
pub struct Name {
    text: &'static str,
    id: AtomicU32,
}

impl Name {
    /// A name.
    pub const fn new(text: &'static str) -> Name {
        Name { text, id: AtomicU32::new(0) }
    }

    /// Its number.
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

/// A call site as a recording has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) name: u32,
    pub(crate) file: u32,
    pub(crate) line: u32,
    pub(crate) kind: Kind,
}

#[derive(Default)]
pub(crate) struct Registry {
    names: Vec<&'static str>,
    ids: Option<HashMap<&'static str, u32>>,
    sites: Vec<Entry>,
    threads: Vec<Thread>,
    /// The number of the first of them: none comes again, since a file may hold several recordings.
    first_thread: u32,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry {
    names: Vec::new(),
    ids: None,
    sites: Vec::new(),
    threads: Vec::new(),
    first_thread: 0,
});

/// A panic while it was held leaves it whole: everything is appended.
pub(crate) fn registry() -> MutexGuard<'static, Registry> {
    hold(&REGISTRY)
}

impl Registry {
    /// The number of a text.
    pub(crate) fn name(&mut self, text: &'static str) -> u32 {
        if let Some(known) = self.known(text) {
            return known;
        }
        let next = FIRST_NAME + self.names.len() as u32;
        self.ids.get_or_insert_default().insert(text, next);
        self.names.push(text);
        next
    }

    /// The number of a text that has one.
    fn known(&self, text: &str) -> Option<u32> {
        let key = KEYS.iter().position(|key| *key == text).map(|at| at as u32);
        key.or_else(|| self.ids.as_ref()?.get(text).copied())
    }

    /// The number of a text that was made at run time; it stays for as long as the program runs.
    pub(crate) fn add_name(&mut self, text: &str) -> u32 {
        self.known(text).unwrap_or_else(|| self.name(String::leak(text.to_owned())))
    }

    /// The number of a call site, from 1.
    pub(crate) fn site(&mut self, site: &'static Site) -> u32 {
        let known = site.id.load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        let (name, file) = (self.name(site.name), self.name(site.file));
        self.sites.push(Entry { name, file, line: site.line, kind: site.kind });
        let id = self.sites.len() as u32;
        site.id.store(id, Ordering::Relaxed);
        id
    }

    /// Makes a thread one of the present recording, and gives its number.
    pub(crate) fn thread(&mut self, thread: Thread) -> u32 {
        self.threads.push(thread);
        self.first_thread + self.threads.len() as u32 - 1
    }

    /// Forgets the threads: another recording begins.
    pub(crate) fn clear_threads(&mut self) {
        self.first_thread += self.threads.len() as u32;
        self.threads.clear();
    }

    /// The names from this one on; the first has the number [`FIRST_NAME`].
    pub(crate) fn names_from(&self, first: usize) -> &[&'static str] {
        self.names.get(first..).unwrap_or(&[])
    }

    /// The call sites from this one on; the first has the number 1.
    pub(crate) fn sites_from(&self, first: usize) -> &[Entry] {
        self.sites.get(first..).unwrap_or(&[])
    }

    /// The threads from this one on.
    pub(crate) fn threads_from(&self, first: usize) -> &[Thread] {
        self.threads.get(first..).unwrap_or(&[])
    }

    /// The number of the first thread of the present recording.
    pub(crate) fn first_thread(&self) -> u32 {
        self.first_thread
    }
}
