//! Call stacks, under the numbers of their texts: each address is looked up once, and each stack put together once.

use crate::hot::local::unrecorded;
use crate::hot::lock::hold;
use crate::hot::registry::registry;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard};

/// The deepest stack that is recorded, in frames.
const DEEPEST: usize = 64;

/// Where this crate's own functions are.
const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/");

struct Frame {
    text: String,
    is_own: bool,
}

/// The frames and stacks that were looked up.
#[derive(Default)]
pub(crate) struct Stacks {
    frames: HashMap<usize, &'static [Frame]>,
    stacks: HashMap<Vec<usize>, u32>,
}

static STACKS: Mutex<Option<Stacks>> = Mutex::new(None);

/// Keeps others from looking at stacks; not with the registry locked.
pub(crate) fn lock() -> MutexGuard<'static, Option<Stacks>> {
    hold(&STACKS)
}

/// The number of the text of the stack that called this: frames as `file(line): function`, innermost first, each with a `;`
/// behind it, as Kineto's `Call stack`. Frames of the recorder itself are left out.
#[cold]
pub(crate) fn here() -> u32 {
    unrecorded(|| {
        // Locked first: a process that forks holds this, and then no thread is inside of `backtrace`, which has a lock too.
        let mut stacks = lock();
        let mut addresses = Vec::with_capacity(DEEPEST);
        backtrace::trace(|frame| {
            addresses.push(frame.ip() as usize);
            addresses.len() < DEEPEST
        });
        let stacks = stacks.get_or_insert_default();
        if let Some(known) = stacks.stacks.get(&addresses) {
            return *known;
        }
        let look_up = |&address: &usize| *stacks.frames.entry(address).or_insert_with(|| look_up(address));
        let frames: Vec<&Frame> = addresses.iter().flat_map(look_up).collect();
        // Innermost are those that look at the stack, then those of the recorder.
        let own = frames.iter().position(|frame| frame.is_own).unwrap_or(0);
        let theirs = frames[own..].iter().skip_while(|frame| frame.is_own);
        let text: String = theirs.map(|frame| frame.text.as_str()).collect();
        let id = registry().add_name(&text);
        stacks.stacks.insert(addresses, id);
        id
    })
}

/// An address can stand for several functions, where some were inlined.
fn look_up(address: usize) -> &'static [Frame] {
    let mut frames = Vec::new();
    backtrace::resolve(address as *mut c_void, |symbol| {
        let name = symbol.name().map(|name| format!("{name:#}")).unwrap_or_default();
        let file = symbol.filename().map(|file| file.display().to_string()).unwrap_or_default();
        let line = symbol.lineno().unwrap_or(0);
        if line > 0 && !file.starts_with("/rustc/") {
            let text = format!("{}({line}): {};", file.replace(';', ":"), name.replace(';', ":"));
            frames.push(Frame { text, is_own: file.starts_with(OWN) });
        }
    });
    Vec::leak(frames)
}
