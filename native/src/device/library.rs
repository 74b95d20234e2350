//! Functions of a library that is loaded while the program runs: each is looked for before anything is called.

use super::unavailable::Unavailable;
use libloading::Library;
use std::error::Error;
use std::ffi::OsStr;

/// Declares a table of a library's functions, all of which return a result code, as a plain integer: an enum of Rust's may
/// have no value that it does not name, and newer libraries have such.
macro_rules! functions {
    ($(#[$doc:meta])* $name:ident { $($field:ident = $symbol:literal ($($arg:ty),* $(,)?),)* }
     optional { $($maybe:ident = $maybe_symbol:literal ($($maybe_arg:ty),* $(,)?),)* }) => {
        $(#[$doc])*
        pub(crate) struct $name {
            $(pub(crate) $field: unsafe extern "C" fn($($arg),*) -> u32,)*
            $(pub(crate) $maybe: Option<unsafe extern "C" fn($($maybe_arg),*) -> u32>,)*
            /// What the functions are in.
            _library: libloading::Library,
        }

        impl $name {
            /// Looks for every function.
            fn of(library: libloading::Library) -> Result<$name, super::unavailable::Unavailable> {
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

/// A library that has no function of this name.
pub(crate) fn missing(library: &'static str, symbol: &[u8]) -> Unavailable {
    Unavailable::MissingSymbol { library, symbol: String::from_utf8_lossy(symbol).into_owned() }
}

/// Loads a library; the system's words where that fails.
pub(crate) fn load(name: &OsStr) -> Result<Library, String> {
    // SAFETY: the initialisers of CUDA's libraries do no harm; whoever names another one answers for it.
    unsafe { Library::new(name) }.map_err(|error| {
        let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        if reason.contains(&*name.to_string_lossy()) {
            reason
        } else {
            format!("{}: {reason}", name.display())
        }
    })
}

/// A library that the program has loaded already.
pub(crate) fn loaded(name: &str) -> Option<Library> {
    #[cfg(unix)]
    {
        use libloading::os::unix;
        // SAFETY: nothing is loaded that is not there.
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
