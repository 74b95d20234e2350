//! The handler of `SIGPROF`, which copies the stack of the thread that it interrupts.

use crate::hot::local;
use crate::hot::state::{is_on, state};
use std::cell::UnsafeCell;
use std::io;
use std::mem::zeroed;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

/// The bytes of a stack that are copied. Frames beyond them are not sampled.
const STACK_BYTES: usize = 32 << 10;

/// The number of stacks that wait to be unwound.
const CAPTURES: usize = 64;

const PAGE: usize = 4096;

/// What was copied of a thread.
pub(super) struct Content {
    pub(super) state: u32,
    pub(super) ticks: u64,
    /// The system's id of the thread.
    pub(super) thread: i32,
    /// The number of the thread in the recording, if it has recorded something.
    pub(super) number: Option<u32>,
    pub(super) registers: Registers,
    /// The number of words of `stack` that were copied, from the stack pointer on.
    pub(super) words: usize,
    pub(super) stack: [u64; STACK_BYTES / 8],
}

/// The registers that unwinding needs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Registers {
    pub(super) ip: u64,
    pub(super) sp: u64,
    pub(super) fp: u64,
    /// The link register, on processors that have one.
    #[cfg_attr(target_arch = "x86_64", expect(dead_code))]
    pub(super) lr: u64,
}

const FREE: u8 = 0;
const TAKEN: u8 = 1;
const READY: u8 = 2;

/// Space for one stack: free, taken by a handler, or ready to be read.
pub(super) struct Capture {
    phase: AtomicU8,
    content: UnsafeCell<Content>,
}

// SAFETY: a handler writes the content between `FREE` and `READY`, and the one reader reads it between `READY` and `FREE`.
unsafe impl Sync for Capture {}

impl Capture {
    pub(super) fn is_ready(&self) -> bool {
        self.phase.load(Ordering::Acquire) == READY
    }

    /// What was copied. Only for the reader, while the capture is ready.
    pub(super) fn content(&self) -> &Content {
        // SAFETY: no handler writes while the capture is not free.
        unsafe { &*self.content.get() }
    }

    pub(super) fn free(&self) {
        self.phase.store(FREE, Ordering::Release);
    }

    fn take(&self) -> bool {
        self.phase.compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
}

static CAPTURED: OnceLock<Box<[Capture]>> = OnceLock::new();
static NEXT: AtomicUsize = AtomicUsize::new(0);
static LOST: AtomicU64 = AtomicU64::new(0);
static IS_ON: AtomicBool = AtomicBool::new(false);

/// Whether the handler is installed. It stays so, because a signal can arrive after the timer was stopped.
static IS_INSTALLED: Mutex<bool> = Mutex::new(false);

/// All captures; none before [`prepare`].
pub(super) fn captures() -> &'static [Capture] {
    CAPTURED.get().map_or(&[], |captures| captures)
}

/// Returns the number of samples that found no free capture, since the last call.
pub(super) fn take_lost() -> u64 {
    LOST.swap(0, Ordering::Relaxed)
}

/// Allocates the captures and installs the handler.
pub(super) fn prepare() -> io::Result<()> {
    let probe = [1u64, 2];
    let mut copy = [0u64; 2];
    // SAFETY: the address is that of `probe`.
    if unsafe { copy_memory(probe.as_ptr() as usize, &mut copy) } != 2 {
        return Err(io::Error::last_os_error());
    }
    CAPTURED.get_or_init(|| {
        // SAFETY: zero is a valid content.
        let capture = || Capture { phase: AtomicU8::new(FREE), content: unsafe { zeroed() } };
        std::iter::repeat_with(capture).take(CAPTURES).collect()
    });
    install()
}

fn install() -> io::Result<()> {
    let mut is_installed = crate::hot::lock::hold(&IS_INSTALLED);
    if *is_installed {
        return Ok(());
    }
    // SAFETY: all arguments are valid for the calls; the handler calls only functions that are safe in signal handlers.
    unsafe {
        let mut before: libc::sigaction = zeroed();
        if libc::sigaction(libc::SIGPROF, null(), &raw mut before) != 0 {
            return Err(io::Error::last_os_error());
        }
        if ![libc::SIG_DFL, libc::SIG_IGN].contains(&before.sa_sigaction) {
            return Err(io::Error::other("the program handles SIGPROF itself"));
        }
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = handle as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
        if libc::sigaction(libc::SIGPROF, &raw const action, null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    *is_installed = true;
    Ok(())
}

/// Starts the timer.
pub(super) fn start(frequency: u32) -> io::Result<()> {
    IS_ON.store(true, Ordering::SeqCst);
    set_timer(i64::from(1_000_000 / frequency))
}

/// Stops the timer.
pub(super) fn stop() {
    IS_ON.store(false, Ordering::SeqCst);
    let _ = set_timer(0);
}

fn set_timer(us: i64) -> io::Result<()> {
    let interval = libc::timeval { tv_sec: us / 1_000_000, tv_usec: us % 1_000_000 };
    let timer = libc::itimerval { it_interval: interval, it_value: interval };
    // SAFETY: the timer is valid for the call.
    let failed = unsafe { libc::setitimer(libc::ITIMER_PROF, &raw const timer, null_mut()) };
    if failed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

extern "C" fn handle(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let state = state();
    if !IS_ON.load(Ordering::Relaxed) || !is_on(state) || local::is_busy() || !local::is_recorded(state) {
        return;
    }
    // SAFETY: the system passes the context of the interrupted thread; `errno` is that of this thread.
    unsafe {
        let errno = *libc::__errno_location();
        copy_stack(state, registers(context.cast()));
        *libc::__errno_location() = errno;
    }
}

/// Copies a stack into a free capture.
///
/// # Safety
/// Must be called in a signal handler, with the registers of the interrupted thread.
unsafe fn copy_stack(state: u32, registers: Registers) {
    let captures = captures();
    let first = NEXT.fetch_add(1, Ordering::Relaxed);
    let free =
        (0..captures.len()).map(|at| &captures[(first + at) % captures.len()]).find(|capture| capture.take());
    let Some(capture) = free else {
        LOST.fetch_add(1, Ordering::Relaxed);
        return;
    };
    // SAFETY: this handler has taken the capture, so that nothing else accesses the content.
    let content = unsafe { &mut *capture.content.get() };
    content.state = state;
    content.ticks = local::now(state);
    content.number = local::joined(state);
    content.registers = registers;
    // SAFETY: the functions have no preconditions; an address that cannot be read is an error of the system call.
    unsafe {
        content.thread = libc::gettid();
        content.words = copy_memory(registers.sp as usize, &mut content.stack);
    }
    capture.phase.store(READY, Ordering::Release);
}

/// Copies words from an address up to the first page that cannot be read. Returns their number.
///
/// # Safety
/// The memory may change meanwhile, but `target` must not be a part of it.
unsafe fn copy_memory(address: usize, target: &mut [u64]) -> usize {
    const PIECES: usize = STACK_BYTES / PAGE + 1;
    // SAFETY: zero is a valid piece.
    let mut pieces: [libc::iovec; PIECES] = unsafe { zeroed() };
    let (mut at, end, mut count) = (address, address.saturating_add(size_of_val(target)), 0);
    while at < end && count < PIECES {
        let next = ((at / PAGE + 1) * PAGE).min(end);
        pieces[count] = libc::iovec { iov_base: at as *mut libc::c_void, iov_len: next - at };
        (at, count) = (next, count + 1);
    }
    let local = libc::iovec { iov_base: target.as_mut_ptr().cast(), iov_len: size_of_val(target) };
    // SAFETY: the system checks the addresses of the pieces, and writes at most the length of `target`.
    let copied = unsafe {
        libc::process_vm_readv(
            libc::getpid(),
            &raw const local,
            1,
            pieces.as_ptr(),
            count as libc::c_ulong,
            0,
        )
    };
    usize::try_from(copied).unwrap_or(0) / 8
}

#[cfg(target_arch = "x86_64")]
unsafe fn registers(context: *const libc::ucontext_t) -> Registers {
    // SAFETY: the caller passes a valid context.
    let of = |register: libc::c_int| unsafe { (*context).uc_mcontext.gregs[register as usize] as u64 };
    Registers { ip: of(libc::REG_RIP), sp: of(libc::REG_RSP), fp: of(libc::REG_RBP), lr: 0 }
}

#[cfg(target_arch = "aarch64")]
unsafe fn registers(context: *const libc::ucontext_t) -> Registers {
    // SAFETY: the caller passes a valid context.
    let machine = unsafe { &(*context).uc_mcontext };
    Registers { ip: machine.pc, sp: machine.sp, fp: machine.regs[29], lr: machine.regs[30] }
}
