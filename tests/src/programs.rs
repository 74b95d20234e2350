//! Random programs of the recorder, with a log of when each span really began and ended.

use crate::clock::nanoseconds;
use crate::ktrace;
use kinetoscope::spans::{AsyncScope, record_function};
use kinetoscope::{Scope, args, async_scope, instant, scope, user_scope};
use std::collections::HashMap;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// A pseudorandom sequence.
#[derive(Clone, Copy, Debug)]
pub struct Random(pub u64);

impl Random {
    /// Returns a number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Ticks of the recorder's clock before and after something happened.
pub type Bracket = (u64, u64);

/// A span as it really was.
#[derive(Clone, Debug)]
pub struct Truth {
    /// The name.
    pub name: &'static str,
    /// The begin.
    pub begin: Bracket,
    /// The end; `None` if its guard was forgotten or is open.
    pub end: Option<Bracket>,
}

/// What a program did: the spans of each thread by its system id in the order of their begins, and the number of other
/// events.
#[derive(Debug, Default)]
pub struct Log {
    /// The spans of each thread.
    pub spans: HashMap<u64, Vec<Truth>>,
    /// The number of instant events.
    pub instants: usize,
    /// The number of asynchronous spans. All have ended.
    pub asyncs: usize,
    /// The number of times that arguments were added to a recorded span.
    pub additions: usize,
}

/// Whether the recorder uses the processor's counter; otherwise the monotonic clock.
static USES_COUNTER: AtomicBool = AtomicBool::new(true);

/// Sets the clock to that of a recording.
pub fn use_clock_of(recording: &ktrace::Recording) {
    USES_COUNTER.store(recording.metadata.contains("\"clock\": \"counter\""), Ordering::Relaxed);
}

/// Returns the ticks of the recorder's clock.
pub fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    if USES_COUNTER.load(Ordering::Relaxed) {
        // SAFETY: every x86-64 processor has these instructions. The fences order the reading with the recorder's.
        return unsafe {
            core::arch::x86_64::_mm_lfence();
            let ticks = core::arch::x86_64::_rdtsc();
            core::arch::x86_64::_mm_lfence();
            ticks
        };
    }
    nanoseconds(libc::CLOCK_MONOTONIC)
}

fn bracket<T>(run: impl FnOnce() -> T) -> (T, Bracket) {
    let before = ticks();
    let result = run();
    (result, (before, ticks()))
}

/// Begins a span at one of the call sites, which differ in form.
fn begin(site: u64, id: u64) -> (Scope, &'static str) {
    match site {
        0 => (scope!("plain"), "plain"),
        1 => (scope!("other"), "other"),
        2 => (user_scope!("annotation"), "annotation"),
        3 => (scope!("numbered", id), "numbered"),
        4 => (scope!("with a text", id, text = "a text that is longer than one slot"), "with a text"),
        5 => (record_function("named at run time"), "named at run time"),
        6 => (scope!("long", text = &"x".repeat(3000)), "long"),
        _ => (scope!(format!("formatted {}", "name"), id), "formatted name"),
    }
}

/// Runs one thread of a program.
struct Runner<'a> {
    random: Random,
    truths: Vec<Truth>,
    guards: Vec<(Scope, usize)>,
    instants: usize,
    begun_asyncs: usize,
    additions: usize,
    asyncs: &'a Mutex<Vec<AsyncScope>>,
    /// Whether the program may fork.
    forks: bool,
}

static NEXT: AtomicU64 = AtomicU64::new(0);

impl Runner<'_> {
    fn begin(&mut self) {
        let (site, id) = (self.random.below(8), NEXT.fetch_add(1, Ordering::Relaxed));
        let ((guard, name), begin) = bracket(|| begin(site, id));
        self.guards.push((guard, self.truths.len()));
        self.truths.push(Truth { name, begin, end: None });
    }

    fn end(&mut self, at: usize) {
        let (guard, span) = self.guards.remove(at);
        let ((), end) = bracket(|| drop(guard));
        self.truths[span].end = Some(end);
    }

    fn burst(&mut self, count: u64) {
        for _ in 0..count {
            let (guard, begin) = bracket(|| scope!("burst"));
            let ((), end) = bracket(|| drop(guard));
            self.truths.push(Truth { name: "burst", begin, end: Some(end) });
        }
    }

    /// Unwinds through two spans.
    fn panic(&mut self) {
        let first = self.truths.len();
        let truths = &mut self.truths;
        let mut before = 0;
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            let (_outer, begin) = bracket(|| scope!("outer of a panic"));
            truths.push(Truth { name: "outer of a panic", begin, end: None });
            let (_inner, begin) = bracket(|| scope!("inner of a panic", id = first));
            truths.push(Truth { name: "inner of a panic", begin, end: None });
            before = ticks();
            resume_unwind(Box::new(()));
        }));
        assert!(unwound.is_err());
        let end = Some((before, ticks()));
        self.truths[first..].iter_mut().for_each(|truth| truth.end = end);
    }

    /// A child process that records nothing, and ends.
    fn fork(&mut self) {
        // SAFETY: the child uses only spans, which record nothing there, and exits without returning.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: ends a child that waits forever.
            unsafe { libc::alarm(20) };
            self.guards.clear();
            for _ in 0..10 {
                self.begin();
                self.end(0);
            }
            // SAFETY: exits the process without running the parent's exit handlers.
            unsafe { libc::_exit(0) };
        }
        let mut status = 0;
        // SAFETY: the child is ours; the pointer is to a local integer.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!(status, 0, "the child failed");
    }

    fn step(&mut self) {
        let open = self.guards.len() as u64;
        match self.random.below(100) {
            0..40 => self.begin(),
            40..66 if open > 0 => self.end(open as usize - 1),
            66..74 if open > 0 => {
                let at = self.random.below(open) as usize;
                self.end(at);
            }
            74..78 => {
                instant!("instant", open);
                self.instants += 1;
            }
            78..82 if open > 0 => {
                let at = self.random.below(open) as usize;
                self.additions += usize::from(self.guards[at].0.more().is_some());
                args!(self.guards[at].0, more = open, text = "added to an open span");
            }
            82..84 => self.panic(),
            84 if self.random.below(20) == 0 && open > 0 => std::mem::forget(self.guards.pop()),
            85 => {
                let count = self.random.below(300);
                self.burst(count);
            }
            86 if self.random.below(8) == 0 => self.burst(30_000),
            87..90 => {
                let mut asyncs = self.asyncs.lock().expect("no panic");
                asyncs.push(async_scope!("asynchronous", open));
                self.begun_asyncs += 1;
            }
            90..93 => drop(self.asyncs.lock().expect("no panic").pop()),
            93 => thread::yield_now(),
            94 if self.forks && self.random.below(50) == 0 => self.fork(),
            _ => {
                for at in 0..self.random.below(200) {
                    black_box(at);
                }
            }
        }
    }

    /// Runs steps and ends all spans. Returns the system's id of the thread.
    fn run(&mut self, steps: u64) {
        for _ in 0..steps {
            self.step();
        }
        while !self.guards.is_empty() {
            let at = self.random.below(self.guards.len() as u64) as usize;
            self.end(at);
        }
    }
}

/// Returns the system's id of this thread.
fn thread_id() -> u64 {
    // SAFETY: the function has no preconditions.
    unsafe { libc::gettid() as u64 }
}

/// Runs a random program on this thread and up to three others.
pub fn run(seed: u64, forks: bool) -> Log {
    let mut random = Random(seed);
    let asyncs = Mutex::new(Vec::new());
    let log = Mutex::new(Log::default());
    let (steps, threads) = (20 + random.below(150), random.below(4));
    let run_thread = |seed: u64, steps: u64, forks: bool| {
        let mut runner = Runner {
            random: Random(seed),
            truths: Vec::new(),
            guards: Vec::new(),
            instants: 0,
            begun_asyncs: 0,
            additions: 0,
            asyncs: &asyncs,
            forks,
        };
        runner.run(steps);
        let mut log = log.lock().expect("no panic");
        log.instants += runner.instants;
        log.asyncs += runner.begun_asyncs;
        log.additions += runner.additions;
        log.spans.entry(thread_id()).or_default().append(&mut runner.truths);
    };
    thread::scope(|scope| {
        for number in 0..threads {
            let (run_thread, seed) = (&run_thread, seed ^ (number + 1) << 40);
            scope.spawn(move || run_thread(seed, steps, false));
        }
        run_thread(seed, steps, forks);
    });
    asyncs.lock().expect("no panic").clear();
    log.into_inner().expect("no panic")
}

/// Compares a recording with what the program did: every span has the name and the times that it had, and every span or end
/// that is missing is counted as lost. Returns the number of spans.
///
/// # Panics
/// Panics at the first difference.
pub fn judge(recording: &ktrace::Recording, log: &Log, lost: u64, seed: u64) -> usize {
    let mut found: HashMap<u64, usize> = HashMap::new();
    let (mut matched, mut lost_ends) = (0, 0);
    for span in &recording.spans {
        let thread = recording.threads[&span.thread].id;
        let truths = log.spans.get(&thread).map_or(&[][..], Vec::as_slice);
        let at = truths.partition_point(|truth| truth.begin.1 < span.begin);
        let truth = truths.get(at).unwrap_or_else(|| panic!("program {seed}: {span:?} never was"));
        assert!(
            span.name == truth.name && (truth.begin.0..=truth.begin.1).contains(&span.begin),
            "program {seed}: {span:?} differs from {truth:?}"
        );
        match (span.end, truth.end) {
            (Some(end), Some((from, to))) => {
                assert!(
                    (from..=to).contains(&end),
                    "program {seed}: the end of {span:?} differs from {truth:?}"
                );
            }
            (Some(_), None) => panic!("program {seed}: {span:?} never ended"),
            (None, Some(_)) => lost_ends += 1,
            (None, None) => {}
        }
        matched += 1;
        *found.entry(thread).or_default() += 1;
    }
    let begun: usize = log.spans.values().map(Vec::len).sum();
    assert!(
        recording.asyncs.values().all(|ends| ends[0].is_some()),
        "program {seed}: an end without a begin"
    );
    let whole_asyncs = recording.asyncs.values().filter(|ends| ends[1].is_some()).count();
    let missing = [
        begun - matched + lost_ends,
        log.instants - recording.instants,
        log.asyncs - whole_asyncs,
        log.additions - recording.additions,
    ];
    assert_eq!(missing.iter().sum::<usize>() as u64, lost, "program {seed}: {missing:?} are missing");
    assert_eq!(recording.lost, lost, "program {seed}: the file and the statistics differ");
    matched
}
