//! A second reader of recordings, written from the format's documentation alone: it shares no code with the recorder and
//! the engine, and judges both in tests.

use std::collections::HashMap;

/// A span as it is in the recording, in ticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The name.
    pub name: String,
    /// The number of the thread.
    pub thread: u32,
    /// The begin; that of the recording if `has_begin` is false.
    pub begin: u64,
    /// The end; `None` if the recording has none.
    pub end: Option<u64>,
    /// Whether the recording has the begin.
    pub has_begin: bool,
}

/// A thread: the id of the operating system and the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The id of the operating system.
    pub id: u64,
    /// The name.
    pub name: String,
}

/// The content of a file.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// All spans, in the order of their begins for each thread.
    pub spans: Vec<Span>,
    /// The threads, by number.
    pub threads: HashMap<u32, Thread>,
    /// The number of instant events.
    pub instants: usize,
    /// The number of times that arguments were added to an open span.
    pub additions: usize,
    /// The begins and ends of asynchronous spans, by id.
    pub asyncs: HashMap<u64, [Option<u64>; 2]>,
    /// The number of spans and events that the recording states as lost.
    pub lost: u64,
    /// The first and the last reading of the clock: ticks and ns since 1970.
    pub clock: Option<[(u64, i64); 2]>,
    /// The text of the metadata.
    pub metadata: String,
}

struct State {
    out: Recording,
    names: HashMap<u32, String>,
    sites: HashMap<u32, u32>,
    /// The positions in use on each thread: the index of a span, and whether it has ended.
    open: HashMap<u32, Vec<(Option<usize>, bool)>>,
    elsewhere: Vec<(u32, usize, u64)>,
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"))
}

/// Reads a recording. A file that ends within a block is read up to there.
///
/// # Panics
/// Panics if the bytes do not have the documented form.
pub fn read(bytes: &[u8]) -> Recording {
    let mut state = State {
        out: Recording::default(),
        names: HashMap::new(),
        sites: HashMap::new(),
        open: HashMap::new(),
        elsewhere: Vec::new(),
    };
    let mut rest = bytes;
    while rest.len() >= 24 {
        assert_eq!(&rest[..4], b"KTS1", "a block at byte {}", bytes.len() - rest.len());
        let (kind, thread, length) = (u32_at(rest, 4), u32_at(rest, 8), u32_at(rest, 12) as usize);
        let Some(payload) = rest.get(24..24 + length) else { break };
        state.block(kind, thread, payload);
        rest = &rest[24 + length..];
    }
    for (thread, position, ticks) in std::mem::take(&mut state.elsewhere) {
        let (span, _) = state.open[&thread][position];
        state.out.spans[span.expect("a begin")].end = Some(ticks);
    }
    state.out
}

impl State {
    fn block(&mut self, kind: u32, thread: u32, payload: &[u8]) {
        match kind {
            1 => self.out.metadata += std::str::from_utf8(payload).expect("UTF-8"),
            2 => {
                for pair in payload.chunks_exact(16) {
                    let reading = (u64_at(pair, 0), u64_at(pair, 8) as i64);
                    self.out.clock.get_or_insert([reading; 2])[1] = reading;
                }
            }
            3 => {
                let mut at = 0;
                while at < payload.len() {
                    let (id, length) = (u32_at(payload, at), u32_at(payload, at + 4) as usize);
                    let text = std::str::from_utf8(&payload[at + 8..at + 8 + length]).expect("UTF-8");
                    self.names.insert(id, text.to_owned());
                    at += 8 + length.next_multiple_of(8);
                }
            }
            4 => {
                for site in payload.chunks_exact(16) {
                    self.sites.insert(u32_at(site, 0), u32_at(site, 4));
                }
            }
            5 => {
                let name = std::str::from_utf8(&payload[8..]).expect("UTF-8").to_owned();
                self.out.threads.insert(thread, Thread { id: u64_at(payload, 0), name });
            }
            6 | 8 | 9 => {}
            7 => self.records(thread, payload),
            other => panic!("a block of kind {other}"),
        }
    }

    fn records(&mut self, thread: u32, payload: &[u8]) {
        let base = u64_at(payload, 0);
        let mut at = 8;
        while at < payload.len() {
            let word = u64_at(payload, at);
            if word & 0x80 != 0 {
                // The low 36 bits of the ticks are in the high bits of the word.
                let after = (word >> 28).wrapping_sub(base) & ((1 << 36) - 1);
                let site = (word >> 8) as u32 & 0xf_ffff;
                self.begin_or_end(thread, word & 0x40 != 0, site, base + after, &[]);
                at += 8;
                continue;
            }
            let slots = (word >> 8) as u16;
            let (ticks, id) = (u64_at(payload, at + 8), (word >> 32) as u32);
            let args = &payload[at + 16..at + 16 + usize::from(slots) * 16];
            match word as u8 {
                1 => self.begin_or_end(thread, false, id, ticks, args),
                2 => self.begin_or_end(thread, true, id, ticks, args),
                3 => self.out.instants += 1,
                4..=7 | 10 | 11 | 14 => {}
                8 => self.out.asyncs.entry(u64_at(args, 8)).or_default()[0] = Some(ticks),
                9 => self.out.asyncs.entry(u64_at(args, 8)).or_default()[1] = Some(ticks),
                12 => self.out.lost += u64::from(id),
                13 => {
                    let name = self.name(id, &args[16..]);
                    let begin = u64_at(args, 8);
                    self.out.spans.push(Span { name, thread, begin, end: Some(ticks), has_begin: false });
                }
                15 => {
                    let position =
                        &mut self.open.get_mut(&thread).expect("open spans")[u64_at(args, 8) as usize];
                    position.1 = true;
                    if let Some(span) = position.0 {
                        self.out.spans[span].end = Some(ticks);
                    }
                }
                16 => {
                    let open = self.open.entry(thread).or_default();
                    assert!(id as usize <= open.len(), "a depth of {id} above {}", open.len());
                    open.truncate(id as usize);
                    for slot in args.chunks_exact(16) {
                        open[u64_at(slot, 8) as usize].1 = true;
                    }
                }
                17 => {
                    assert!((id as usize) < self.open[&thread].len(), "arguments of a span that is not open");
                    self.out.additions += 1;
                }
                18 => self.elsewhere.push((id, u64_at(args, 8) as usize, ticks)),
                other => panic!("a record of kind {other}"),
            }
            at += 16 + args.len();
        }
    }

    fn begin_or_end(&mut self, thread: u32, is_end: bool, site: u32, ticks: u64, args: &[u8]) {
        if is_end {
            let open = self.open.entry(thread).or_default();
            let (span, is_over) = open.pop().expect("an open span");
            assert!(!is_over, "the innermost position is in use");
            while open.last().is_some_and(|position| position.1) {
                open.pop();
            }
            let span = span.expect("a begin");
            self.out.spans[span].end = Some(ticks);
            return;
        }
        let name = self.name(site, args);
        let index = self.out.spans.len();
        self.out.spans.push(Span { name, thread, begin: ticks, end: None, has_begin: true });
        self.open.entry(thread).or_default().push((Some(index), false));
    }

    /// Returns the name among the arguments, or that of the call site.
    fn name(&self, site: u32, args: &[u8]) -> String {
        let mut at = 0;
        while at < args.len() {
            let (word, value) = (u64_at(args, at), u64_at(args, at + 8) as usize);
            let slots = usize::from((word >> 8) as u16);
            if word >> 32 == 0 && word as u8 == 36 {
                return std::str::from_utf8(&args[at + 16..at + 16 + value]).expect("UTF-8").to_owned();
            }
            at += 16 + slots * 16;
        }
        self.names[&self.sites[&site]].clone()
    }
}
