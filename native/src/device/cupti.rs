//! CUPTI: finds and loads the library; the table of its functions.

use super::library::{functions, load, loaded};
use crate::activity::unavailable::{CUPTI_VARIABLE, Unavailable};
use std::ffi::{CStr, OsString, c_char, c_void};
use std::path::{Path, PathBuf};
use std::{env, fs, ptr};

/// CUPTI's callback to request an empty buffer. Out parameters: address, size, and the maximum number of records in it.
pub(crate) type Requested = extern "C" fn(*mut *mut u8, *mut usize, *mut usize);
/// CUPTI's callback to return a buffer with records: context, stream, address, size, and the number of bytes in use.
pub(crate) type Completed = extern "C" fn(*mut c_void, u32, *mut u8, usize, usize);
type Callback = extern "C" fn(*mut c_void, u32, u32, *const c_void);

functions! {
    /// The functions of CUPTI that are used.
    Cupti {
        version = b"cuptiGetVersion" (*mut u32),
        subscribe = b"cuptiSubscribe" (*mut *mut c_void, Callback, *mut c_void),
        unsubscribe = b"cuptiUnsubscribe" (*mut c_void),
        enable = b"cuptiActivityEnable" (u32),
        disable = b"cuptiActivityDisable" (u32),
        register = b"cuptiActivityRegisterCallbacks" (Requested, Completed),
        flush = b"cuptiActivityFlushAll" (u32),
        next = b"cuptiActivityGetNextRecord" (*mut u8, usize, *mut *mut u8),
        dropped = b"cuptiActivityGetNumDroppedRecords" (*mut c_void, u32, *mut usize),
        timestamp = b"cuptiGetTimestamp" (*mut u64),
        push = b"cuptiActivityPushExternalCorrelationId" (u32, u64),
        pop = b"cuptiActivityPopExternalCorrelationId" (u32, *mut u64),
        function_name = b"cuptiGetCallbackName" (u32, u32, *mut *const c_char),
        code_text = b"cuptiGetResultString" (u32, *mut *const c_char),
    }
    optional {
        thread_ids = b"cuptiSetThreadIdType" (u32),
        flush_period = b"cuptiActivityFlushPeriod" (u32),
        runtime_call = b"cuptiActivityEnableRuntimeApi" (u32, u8),
        driver_call = b"cuptiActivityEnableDriverApi" (u32, u8),
    }
}

/// The result codes of CUPTI that are handled: `CUptiResult`.
pub mod code {
    /// `CUPTI_SUCCESS`.
    pub const SUCCESS: u32 = 0;
    /// `CUPTI_ERROR_MAX_LIMIT_REACHED`: there is no further record.
    pub const END: u32 = 12;
    /// `CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED`.
    pub const SUBSCRIBED: u32 = 39;
}

/// The name that CUPTI returns for an unknown function number.
pub(crate) const UNKNOWN_CALL: &str = "INVALID";

/// `CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM`: records have the system's thread ids.
const SYSTEM_IDS: u32 = 1;

/// The version of CUPTI in CUDA 12.0. The records of older versions have other layouts.
const OLDEST_VERSION: u32 = 18;

impl Cupti {
    /// Loads CUPTI for a driver that supports CUDA up to this version. Must be called only if there are a driver and a
    /// device: without them, CUPTI 13.2 terminates the program.
    pub(crate) fn load(cuda: u32) -> Result<(Cupti, u32), Unavailable> {
        let cupti = Cupti::find(cuda)?;
        let mut version = 0;
        // SAFETY: there is a driver; the out parameter is a local variable.
        cupti.check("cuptiGetVersion", unsafe { (cupti.version)(&raw mut version) })?;
        if version < OLDEST_VERSION {
            return Err(Unavailable::OldCupti(version));
        }
        Ok((cupti, version))
    }

    fn find(cuda: u32) -> Result<Cupti, Unavailable> {
        if let Some(path) = env::var_os(CUPTI_VARIABLE) {
            let library = load(&path).map_err(|error| Unavailable::NoCupti(vec![error]))?;
            return Cupti::from_library(library);
        }
        let names = names(cuda);
        if let Some(library) = names.iter().find_map(|name| loaded(name)) {
            return Cupti::from_library(library);
        }
        let places = folders().into_iter().flat_map(|folder| names.iter().map(move |name| folder.join(name)));
        let files = places.filter(|path| path.exists()).map(PathBuf::into_os_string);
        let bare = names.iter().map(OsString::from);
        let mut tried = Vec::new();
        for candidate in files.chain(bare) {
            match load(&candidate) {
                Ok(library) => return Cupti::from_library(library),
                Err(error) => tried.push(error),
            }
        }
        Err(Unavailable::NoCupti(tried))
    }

    /// Converts a result code to a result. Errors have CUPTI's own text.
    pub(crate) fn check(&self, call: &'static str, code: u32) -> Result<(), Unavailable> {
        match code {
            code::SUCCESS => Ok(()),
            code::SUBSCRIBED => Err(Unavailable::Subscribed),
            code => Err(Unavailable::Cupti { call, code, text: self.text_of(code) }),
        }
    }

    fn text_of(&self, code: u32) -> String {
        let mut text = ptr::null();
        // SAFETY: the out parameter is a local variable; CUPTI stores a pointer to a static string in it.
        let known = unsafe { (self.code_text)(code, &raw mut text) } == code::SUCCESS;
        if known {
            // SAFETY: a static string, as above.
            unsafe { text_at(text as u64) }.unwrap_or_default()
        } else {
            "an unknown error".to_owned()
        }
    }

    /// Returns the name of a function by its number, without the version suffix.
    pub(crate) fn name_of(&self, is_driver: bool, cbid: u32) -> String {
        let mut text = ptr::null();
        let domain = if is_driver { 1 } else { 2 };
        // SAFETY: as above.
        let is_known = unsafe { (self.function_name)(domain, cbid, &raw mut text) } == code::SUCCESS;
        // SAFETY: as above.
        let name = is_known.then(|| unsafe { text_at(text as u64) }).flatten();
        name.map_or_else(|| UNKNOWN_CALL.to_owned(), |name| without_version(&name).to_owned())
    }

    /// Makes CUPTI record threads with the system's ids, which spans have too.
    pub(crate) fn use_system_ids(&self) {
        if let Some(set) = self.thread_ids {
            // SAFETY: the function has no preconditions. If it fails, calls are on tracks of their own.
            unsafe { set(SYSTEM_IDS) };
        }
    }

    /// Returns the time of CUPTI's clock, in ns.
    pub(crate) fn time(&self) -> Option<u64> {
        let mut time = 0;
        // SAFETY: the out parameter is a local variable.
        (unsafe { (self.timestamp)(&raw mut time) } == code::SUCCESS).then_some(time)
    }
}

/// Returns the string at an address; `None` for address 0.
///
/// # Safety
/// The address is 0 or that of a C string that stays valid during the call.
pub(crate) unsafe fn text_at(address: u64) -> Option<String> {
    // SAFETY: guaranteed by the caller.
    (address != 0).then(|| unsafe { CStr::from_ptr(address as *const c_char) }.to_string_lossy().into_owned())
}

/// Removes the version suffix of a runtime function: `cudaLaunchKernel_v7000` becomes `cudaLaunchKernel`. The suffix
/// `_v2` of a driver function is kept.
fn without_version(name: &str) -> &str {
    match name.rsplit_once("_v") {
        Some((rest, digits)) if digits.len() >= 4 && digits.bytes().all(|b| b.is_ascii_digit()) => rest,
        _ => name,
    }
}

/// Returns the file names to try: newest first, but a version that is newer than the driver after the matching one, and
/// the name without a version last.
fn names(cuda: u32) -> Vec<&'static str> {
    let mut names = vec!["libcupti.so.13", "libcupti.so.12"];
    if cuda < 13_000 {
        names.reverse();
    }
    names.push("libcupti.so");
    names
}

/// Returns the folders where CUPTI may be: those of Python packages, then those of CUDA toolkits.
fn folders() -> Vec<PathBuf> {
    let roots = ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(env::var_os).map(PathBuf::from);
    let home = env::var_os("HOME").map(|home| Path::new(&home).join(".local"));
    let roots = roots.chain(home).chain(["/usr/local", "/usr"].map(PathBuf::from));
    let mut folders: Vec<PathBuf> = roots.flat_map(|root| wheels(&root)).collect();
    let toolkits = ["CUDA_HOME", "CUDA_PATH"].iter().filter_map(env::var_os).map(PathBuf::from);
    for toolkit in toolkits.chain(["/usr/local/cuda".into(), "/opt/cuda".into()]) {
        folders.extend([toolkit.join("extras/CUPTI/lib64"), toolkit.join("lib64")]);
    }
    folders
}

/// Returns the folders of CUPTI's wheels below a Python root: `nvidia/cuda_cupti/lib`, and from 13.0 on
/// `nvidia/cu13/lib`.
fn wheels(root: &Path) -> Vec<PathBuf> {
    let within = |folder: PathBuf, begin: &str| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_meant =
            |path: &PathBuf| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(begin));
        entries.filter(is_meant).collect()
    };
    let packages = within(root.join("lib"), "python3")
        .into_iter()
        .flat_map(|python| [python.join("site-packages/nvidia"), python.join("dist-packages/nvidia")]);
    packages.flat_map(|nvidia| within(nvidia, "cu")).map(|package| package.join("lib")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_suffixes_are_removed_from_names() {
        for (name, expected) in [
            ("cudaLaunchKernel_v7000", "cudaLaunchKernel"),
            ("cudaLaunchKernelExC_v11060", "cudaLaunchKernelExC"),
            ("cuMemAlloc_v2", "cuMemAlloc_v2"),
            ("cuLaunchKernel", "cuLaunchKernel"),
            ("odd_vabcd", "odd_vabcd"),
        ] {
            assert_eq!(without_version(name), expected);
        }
    }

    #[test]
    fn the_version_of_the_driver_is_tried_first() {
        assert_eq!(names(12_060)[0], "libcupti.so.12");
        assert_eq!(names(13_000)[0], "libcupti.so.13");
    }

    #[test]
    fn folders_of_wheels_are_found_below_a_root() {
        let root = tempfile::tempdir().expect("a folder");
        for part in ["cuda_cupti", "cu13", "nccl"] {
            let folder = root.path().join("lib/python3.11/site-packages/nvidia").join(part).join("lib");
            fs::create_dir_all(folder).expect("a folder");
        }
        let mut found = wheels(root.path());
        found.sort();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].ends_with("nvidia/cu13/lib") && found[1].ends_with("nvidia/cuda_cupti/lib"));
    }
}
