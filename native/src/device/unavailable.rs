//! Why devices are not recorded.

use std::fmt;

/// A file that is loaded in place of `libcuda.so.1`.
pub const DRIVER_VARIABLE: &str = "KINETOSCOPE_CUDA_LIBRARY";

/// A file that is loaded in place of the CUPTI that would be found.
pub const CUPTI_VARIABLE: &str = "KINETOSCOPE_CUPTI_LIBRARY";

/// Why devices are not recorded. A profiler says so in the trace's warnings, and records the CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unavailable {
    /// This crate was compiled without its feature `cuda`.
    NotCompiled,
    /// There is no driver: `libcuda` could not be loaded, for this reason.
    NoDriver(String),
    /// A library lacks a function.
    MissingSymbol {
        /// `Driver` or `Cupti`.
        library: &'static str,
        /// The function.
        symbol: String,
    },
    /// The driver refused.
    Driver {
        /// The function that failed.
        call: &'static str,
        /// CUDA's error code.
        code: u32,
    },
    /// The driver knows of no device.
    NoDevice,
    /// CUPTI could not be loaded from any of these places.
    NoCupti(Vec<String>),
    /// This CUPTI is older than CUDA 12.0.
    OldCupti(u32),
    /// Another profiler uses CUPTI in this process.
    Subscribed,
    /// CUPTI refused.
    Cupti {
        /// The function that failed.
        call: &'static str,
        /// CUPTI's error code.
        code: u32,
        /// What CUPTI says of it.
        text: String,
    },
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unavailable::NotCompiled => {
                f.write_str("the program was compiled without kinetoscope's feature `cuda`")
            }
            Unavailable::NoDriver(reason) => write!(f, "there is no CUDA driver: {reason}"),
            Unavailable::MissingSymbol { library, symbol } => {
                write!(f, "the {} library has no function {symbol}", library.to_lowercase())
            }
            Unavailable::Driver { call, code } => write!(f, "the CUDA driver refused: {call} gave {code}"),
            Unavailable::NoDevice => f.write_str("the CUDA driver knows of no device"),
            Unavailable::NoCupti(tried) => {
                write!(f, "CUPTI was not found; set {CUPTI_VARIABLE} to its file. Tried: ")?;
                f.write_str(&tried.join("; "))
            }
            Unavailable::OldCupti(version) => {
                write!(f, "CUPTI has version {version}: CUDA 12.0, version 18, is the oldest that is read")
            }
            Unavailable::Subscribed => f.write_str("another profiler uses CUPTI in this process"),
            Unavailable::Cupti { call, code, text } => write!(f, "CUPTI refused: {call} gave {code}, {text}"),
        }
    }
}

impl std::error::Error for Unavailable {}
