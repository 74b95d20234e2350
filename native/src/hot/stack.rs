//! Call stacks. Each address is symbolized once, and each distinct stack is formatted once and then recorded as the
//! number of its string.

use crate::hot::local::unrecorded;
use crate::hot::lock::hold;
use crate::hot::registry::registry;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

/// The maximum number of frames of a recorded stack.
const MAX_FRAMES: usize = 64;

/// The source folder of this crate, whose frames are left out.
const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/");

/// The crates whose frames are left out: this one, that of the symbolizer, and the standard library.
const OWN_CRATES: [&str; 2] = ["kinetoscope::", "backtrace::"];
const STANDARD_CRATES: [&str; 3] = ["std::", "core::", "alloc::"];

struct Frame {
    text: String,
    /// The name of the function, followed by `;`.
    #[cfg(feature = "sampling")]
    function: String,
    is_own: bool,
    is_standard: bool,
}

/// Whether a stack was captured in which the recorder itself has no name, because the program has no symbols.
static HAS_NAMELESS: AtomicBool = AtomicBool::new(false);

/// Returns whether a stack of a program without symbols was captured since the last call.
pub(crate) fn take_nameless() -> bool {
    HAS_NAMELESS.swap(false, Ordering::Relaxed)
}

/// The symbolized frames by address, and the numbers of stacks by their addresses.
#[derive(Default)]
pub(crate) struct Stacks {
    frames: HashMap<usize, &'static [Frame]>,
    stacks: HashMap<Vec<usize>, u32>,
    /// The same for samples, at most [`MAX_SAMPLES`].
    #[cfg(feature = "sampling")]
    samples: HashMap<Vec<usize>, u32>,
}

/// The number of distinct sampled stacks that are kept for the life of the program. Others are written in full.
#[cfg(feature = "sampling")]
const MAX_SAMPLES: usize = 1 << 16;

impl Stacks {
    /// The frames of an address, innermost first.
    fn at(&mut self, address: usize) -> &'static [Frame] {
        self.frames.entry(address).or_insert_with(|| look_up(address))
    }
}

static STACKS: Mutex<Option<Stacks>> = Mutex::new(None);

/// Locks the cache of stacks, also for the time of a `fork`. Must not be called while the registry is locked.
pub(crate) fn lock() -> MutexGuard<'static, Option<Stacks>> {
    hold(&STACKS)
}

/// Captures the call stack and returns the number of its string: frames as `file(line): function`, innermost first,
/// each followed by `;`, as in Kineto's `Call stack`. A frame without debug information is its function. Frames of the
/// recorder itself are left out.
#[cold]
pub(crate) fn capture() -> u32 {
    unrecorded(|| {
        // Locked first: `fork` holds this lock, so that no other thread is inside `backtrace`, which has a lock of its
        // own.
        let mut stacks = lock();
        let mut addresses = Vec::with_capacity(MAX_FRAMES);
        backtrace::trace(|frame| {
            addresses.push(frame.ip() as usize);
            addresses.len() < MAX_FRAMES
        });
        let stacks = stacks.get_or_insert_default();
        if let Some(known) = stacks.stacks.get(&addresses) {
            return *known;
        }
        let frames = addresses.iter().flat_map(|&address| stacks.at(address));
        let frames: Vec<&Frame> = frames.filter(|frame| !frame.is_standard).collect();
        // The innermost frames are those of `backtrace`, followed by those of the recorder.
        let first_own = frames.iter().position(|frame| frame.is_own).unwrap_or_else(|| {
            HAS_NAMELESS.store(true, Ordering::Relaxed);
            0
        });
        let theirs = frames[first_own..].iter().skip_while(|frame| frame.is_own);
        let text: String = theirs.map(|frame| frame.text.as_str()).collect();
        let id = registry().add_name(&text);
        stacks.stacks.insert(addresses, id);
        id
    })
}

/// A sampled stack: the functions, innermost first, each followed by `;`.
#[cfg(feature = "sampling")]
pub(crate) enum Sampled {
    /// The number of its string.
    Name(u32),
    Text(String),
}

/// Symbolizes a sampled stack. An address without a symbol is `[unknown]`.
#[cfg(feature = "sampling")]
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
pub(crate) fn sampled(addresses: &[usize]) -> Sampled {
    let mut stacks = lock();
    let stacks = stacks.get_or_insert_default();
    if let Some(known) = stacks.samples.get(addresses) {
        return Sampled::Name(*known);
    }
    let mut text = String::new();
    for &address in addresses {
        match stacks.at(address) {
            [] => text.push_str("[unknown];"),
            frames => frames.iter().for_each(|frame| text.push_str(&frame.function)),
        }
    }
    if stacks.samples.len() >= MAX_SAMPLES {
        return Sampled::Text(text);
    }
    let id = registry().add_name(&text);
    stacks.samples.insert(addresses.to_vec(), id);
    Sampled::Name(id)
}

/// Symbolizes an address. It can have several frames, because of inlined functions. Without debug information, the name
/// is that of the symbol table.
fn look_up(address: usize) -> &'static [Frame] {
    let mut frames = Vec::new();
    backtrace::resolve(address as *mut c_void, |symbol| {
        let Some(name) = symbol.name().map(|name| format!("{name:#}")) else { return };
        let file = symbol.filename().map(|file| file.display().to_string()).unwrap_or_default();
        let line = symbol.lineno().unwrap_or(0);
        let is_of = |crates: &[&str]| crates.iter().any(|name_of| in_crate(&name, name_of));
        let is_own = file.starts_with(OWN) || file.is_empty() && is_of(&OWN_CRATES);
        let is_standard = file.starts_with("/rustc/") || file.is_empty() && is_of(&STANDARD_CRATES);
        let function = name.replace(';', ":") + ";";
        let text = if line > 0 {
            format!("{}({line}): {function}", file.replace(';', ":"))
        } else {
            function.clone()
        };
        frames.push(Frame {
            text,
            #[cfg(feature = "sampling")]
            function,
            is_own,
            is_standard,
        });
    });
    Vec::leak(frames)
}

/// Returns whether the path of a function begins with a crate: `std::f`, or `<std::T as core::U>::f` for a method.
fn in_crate(name: &str, crate_name: &str) -> bool {
    name.trim_start_matches(['<', '&']).starts_with(crate_name)
}
