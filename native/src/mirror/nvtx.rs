//! NVTX ranges, which Nsight shows, through `libnvToolsExt`, which is loaded at run time. Without the library, or
//! without the feature `nvtx`, these functions do nothing.

#[cfg(feature = "nvtx")]
use libloading::Library;
#[cfg(feature = "nvtx")]
use std::ffi::{CString, c_char, c_int};
#[cfg(feature = "nvtx")]
use std::sync::OnceLock;

/// The environment variable with the path of a library to load instead of `libnvToolsExt.so.1`.
pub const LIBRARY_VARIABLE: &str = "KINETOSCOPE_NVTX_LIBRARY";

#[cfg(feature = "nvtx")]
struct Nvtx {
    push: unsafe extern "C" fn(*const c_char) -> c_int,
    pop: unsafe extern "C" fn() -> c_int,
    mark: unsafe extern "C" fn(*const c_char),
    /// Keeps the library loaded, which contains the functions.
    _library: Library,
}

#[cfg(feature = "nvtx")]
fn nvtx() -> Option<&'static Nvtx> {
    static NVTX: OnceLock<Option<Nvtx>> = OnceLock::new();
    NVTX.get_or_init(load).as_ref()
}

#[cfg(feature = "nvtx")]
fn load() -> Option<Nvtx> {
    let configured = std::env::var_os(LIBRARY_VARIABLE).map(|path| vec![path]);
    let names = configured.unwrap_or_else(|| {
        ["libnvToolsExt.so.1", "libnvToolsExt.so", "nvToolsExt64_1.dll", "libnvToolsExt.dylib"]
            .map(Into::into)
            .into()
    });
    // SAFETY: loading runs the library's initialisers, and those of NVTX are harmless; the functions have these types
    // in every version of NVTX, and the library stays loaded as long as the table with them is kept.
    names.iter().find_map(|name| unsafe {
        let library = Library::new(name).ok()?;
        let (push, pop, mark) = (
            *library.get(b"nvtxRangePushA").ok()?,
            *library.get(b"nvtxRangePop").ok()?,
            *library.get(b"nvtxMarkA").ok()?,
        );
        Some(Nvtx { push, pop, mark, _library: library })
    })
}

#[cfg(feature = "nvtx")]
fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// Returns whether the library is loaded.
pub fn is_available() -> bool {
    #[cfg(feature = "nvtx")]
    return nvtx().is_some();
    #[cfg(not(feature = "nvtx"))]
    false
}

/// Begins a range on the calling thread. Returns its depth, from 0, as `torch.cuda.nvtx.range_push` does; `None` if there
/// is no library, or no tool that tracks ranges.
pub fn range_push(name: &str) -> Option<u32> {
    #[cfg(feature = "nvtx")]
    if let Some(nvtx) = nvtx() {
        // SAFETY: the string is zero-terminated and outlives the call, which copies it.
        return u32::try_from(unsafe { (nvtx.push)(c_text(name).as_ptr()) }).ok();
    }
    let _ = name;
    None
}

/// Ends the innermost range of the calling thread. Returns the depth of that range, from 0; `None` if no range is open,
/// there is no library, or no tool that tracks ranges.
pub fn range_pop() -> Option<u32> {
    #[cfg(feature = "nvtx")]
    if let Some(nvtx) = nvtx() {
        // SAFETY: the function has no preconditions.
        return u32::try_from(unsafe { (nvtx.pop)() }).ok();
    }
    None
}

/// Emits an instant event.
pub fn mark(name: &str) {
    #[cfg(feature = "nvtx")]
    if let Some(nvtx) = nvtx() {
        // SAFETY: as in `range_push`.
        unsafe { (nvtx.mark)(c_text(name).as_ptr()) };
    }
    #[cfg(not(feature = "nvtx"))]
    let _ = name;
}
