//! The program and its libraries, with the unwind information that they have in memory.

use super::capture::Content;
use framehop::{ExplicitModuleSectionInfo, FrameAddress, Module, Unwinder};
use std::ffi::{CStr, c_int, c_void};
use std::ops::Range;

#[cfg(target_arch = "aarch64")]
use framehop::aarch64::{CacheAarch64 as Cache, UnwindRegsAarch64, UnwinderAarch64 as ArchUnwinder};
#[cfg(target_arch = "x86_64")]
use framehop::x86_64::{CacheX86_64 as Cache, UnwindRegsX86_64, UnwinderX86_64 as ArchUnwinder};

/// The maximum number of frames of a sample.
const MAX_FRAMES: usize = 256;

/// The encoding of the address of `.eh_frame` in `.eh_frame_hdr` that linkers use: a signed 32-bit distance from itself.
const RELATIVE_32: u8 = 0x1b;

/// Unwinds stacks.
#[derive(Default)]
pub(super) struct Modules {
    unwinder: ArchUnwinder<Vec<u8>>,
    cache: Cache,
    /// The number of libraries that had been loaded and unloaded when the list was made.
    version: (u64, u64),
}

impl Modules {
    /// Reads the list of libraries again if it has changed.
    pub(super) fn refresh(&mut self) {
        let mut listed = Listed { known: self.version, version: (0, 0), modules: Vec::new() };
        // SAFETY: the callback is called with `listed` during this call only.
        unsafe { libc::dl_iterate_phdr(Some(list), (&raw mut listed).cast()) };
        if listed.version != self.version {
            self.unwinder = ArchUnwinder::new();
            listed.modules.into_iter().for_each(|module| self.unwinder.add_module(module));
            self.version = listed.version;
        }
    }

    /// Appends the addresses of a stack, the innermost first: the instruction after the call, for each frame.
    pub(super) fn unwind(&mut self, of: &Content, addresses: &mut Vec<usize>) {
        let registers = of.registers;
        #[cfg(target_arch = "x86_64")]
        let start = UnwindRegsX86_64::new(registers.ip, registers.sp, registers.fp);
        #[cfg(target_arch = "aarch64")]
        let start = UnwindRegsAarch64::new(registers.lr, registers.sp, registers.fp);
        let mut read = |address: u64| {
            let at = address.checked_sub(registers.sp).ok_or(())? / 8;
            of.stack[..of.words].get(at as usize).copied().ok_or(())
        };
        let mut frames = self.unwinder.iter_frames(registers.ip, start, &mut self.cache, &mut read);
        while let Ok(Some(frame)) = frames.next() {
            addresses.push(match frame {
                // The instruction itself has not been executed.
                FrameAddress::InstructionPointer(address) => address as usize + 1,
                FrameAddress::ReturnAddress(address) => address.get() as usize,
            });
            if addresses.len() == MAX_FRAMES {
                break;
            }
        }
    }
}

struct Listed {
    known: (u64, u64),
    version: (u64, u64),
    modules: Vec<Module<Vec<u8>>>,
}

/// Adds a library to the list, if the list has changed.
unsafe extern "C" fn list(info: *mut libc::dl_phdr_info, _: usize, listed: *mut c_void) -> c_int {
    // SAFETY: the system passes a valid description, and `refresh` the list.
    let (info, listed) = unsafe { (&*info, &mut *listed.cast::<Listed>()) };
    listed.version = (info.dlpi_adds, info.dlpi_subs);
    if listed.version == listed.known {
        return 1;
    }
    // SAFETY: the library is loaded while the system calls this function.
    listed.modules.extend(unsafe { module(info) });
    0
}

/// # Safety
/// The description is that of a library that is loaded.
unsafe fn module(info: &libc::dl_phdr_info) -> Option<Module<Vec<u8>>> {
    // SAFETY: the description has this many headers, and a name.
    let (headers, name) = unsafe {
        (std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()), CStr::from_ptr(info.dlpi_name))
    };
    let base = info.dlpi_addr;
    let range = |header: &libc::Elf64_Phdr| header.p_vaddr..header.p_vaddr + header.p_memsz;
    let loaded = headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
    let code = loaded.clone().find(|header| header.p_flags & libc::PF_X != 0).map(range)?;
    let extent = loaded.clone().map(|h| h.p_vaddr).min()?..loaded.clone().map(|h| range(h).end).max()?;
    let mut sections = ExplicitModuleSectionInfo { text_svma: Some(code), ..Default::default() };
    let header = headers.iter().find(|header| header.p_type == libc::PT_GNU_EH_FRAME).map(range);
    if let Some(header) = header {
        // SAFETY: the segment is mapped.
        let bytes = unsafe { copy(base, &header) };
        if let Some((RELATIVE_32, distance)) = bytes.get(1).copied().zip(bytes.get(4..8)) {
            let distance = i32::from_le_bytes([distance[0], distance[1], distance[2], distance[3]]);
            let frames = (header.start + 4).wrapping_add_signed(distance.into());
            if let Some(segment) = loaded.clone().map(range).find(|range| range.contains(&frames)) {
                // Its length is not stated: what follows it in the segment is not read.
                let frames = frames..segment.end;
                // SAFETY: the segment is mapped.
                sections.eh_frame = Some(unsafe { copy(base, &frames) });
                sections.eh_frame_svma = Some(frames);
                sections.eh_frame_hdr = Some(bytes);
                sections.eh_frame_hdr_svma = Some(header);
            }
        }
    }
    let range = base + extent.start..base + extent.end;
    Some(Module::new(name.to_string_lossy().into_owned(), range, base, sections))
}

/// # Safety
/// The range is mapped, relative to the base.
unsafe fn copy(base: u64, range: &Range<u64>) -> Vec<u8> {
    // SAFETY: as the caller states.
    unsafe {
        std::slice::from_raw_parts((base + range.start) as *const u8, (range.end - range.start) as usize)
            .to_vec()
    }
}
