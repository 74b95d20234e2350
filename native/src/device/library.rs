//! Tables of functions of libraries that are loaded at run time. All functions are looked up before any is called.

use crate::activity::unavailable::Unavailable;
use libloading::Library;
use std::error::Error;
use std::ffi::OsStr;

/// Declares a table of a library's functions. All return a result code as a plain integer: newer libraries may return
/// codes that a Rust enum would not contain, which would be undefined behaviour.
macro_rules! functions {
    ($(#[$doc:meta])* $name:ident { $($field:ident = $symbol:literal ($($arg:ty),* $(,)?),)* }
     optional { $($maybe:ident = $maybe_symbol:literal ($($maybe_arg:ty),* $(,)?),)* }) => {
        $(#[$doc])*
        pub(crate) struct $name {
            $(pub(crate) $field: unsafe extern "C" fn($($arg),*) -> u32,)*
            $(pub(crate) $maybe: Option<unsafe extern "C" fn($($maybe_arg),*) -> u32>,)*
            /// Keeps the library loaded, which contains the functions.
            _library: libloading::Library,
        }

        impl $name {
            /// Looks up all functions.
            fn from_library(library: libloading::Library) -> Result<$name, crate::activity::unavailable::Unavailable> {
                // SAFETY: these are the types of the functions in every version of the library, and the table keeps it
                // loaded.
                unsafe {
                    Ok($name {
                        $($field: *library.get($symbol).map_err(|_| super::library::missing(stringify!($name), $symbol))?,)*
                        $($maybe: library.get($maybe_symbol).ok().map(|symbol| *symbol),)*
                        _library: library,
                    })
                }
            }
        }
    };
}

pub(crate) use functions;

/// Returns the error for a library that lacks a function.
pub(crate) fn missing(library: &'static str, symbol: &[u8]) -> Unavailable {
    Unavailable::MissingSymbol { library, symbol: String::from_utf8_lossy(symbol).into_owned() }
}

/// Loads a library. The error is the system's message, with the name of the library.
pub(crate) fn load(name: &OsStr) -> Result<Library, String> {
    // SAFETY: the initialisers of CUDA's libraries are harmless; a user who names another library is responsible for
    // it.
    unsafe { Library::new(name) }.map_err(|error| {
        let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        if reason.contains(&*name.to_string_lossy()) {
            reason
        } else {
            format!("{}: {reason}", name.display())
        }
    })
}

/// Returns a library if the program has loaded it already.
pub(crate) fn loaded(name: &str) -> Option<Library> {
    #[cfg(unix)]
    {
        use libloading::os::unix;
        // SAFETY: `RTLD_NOLOAD` loads nothing, so that no initialiser runs.
        unsafe { unix::Library::open(Some(name), libc::RTLD_NOLOAD | unix::RTLD_LAZY) }
            .ok()
            .map(Library::from)
    }
    #[cfg(not(unix))]
    {
        let _ = name;
        None
    }
}
