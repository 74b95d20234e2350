//! The reasons why an activity cannot be recorded.

use super::Activity;
use std::fmt;

/// The environment variable with the path of a library to load instead of `libcuda.so.1`.
pub const DRIVER_VARIABLE: &str = "KINETOSCOPE_CUDA_LIBRARY";

/// The environment variable with the path of the CUPTI library. Without it, CUPTI is searched for.
pub const CUPTI_VARIABLE: &str = "KINETOSCOPE_CUPTI_LIBRARY";

/// The reason why an activity cannot be recorded. If it was requested, the trace has the reason as a warning, and
/// [`Profiler::unavailable`](crate::Profiler::unavailable) returns it; the other activities are recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unavailable {
    /// This crate was compiled without its feature `cuda`.
    NotCompiled,
    /// This version cannot record the activity on any machine.
    Unsupported(Activity),
    /// There is no driver: `libcuda` could not be loaded, with the system's message.
    NoDriver(String),
    /// A library lacks a function.
    MissingSymbol {
        /// `Driver` or `Cupti`.
        library: &'static str,
        /// The name of the function.
        symbol: String,
    },
    /// A call of the driver failed.
    Driver {
        /// The function that failed.
        call: &'static str,
        /// CUDA's error code.
        code: u32,
    },
    /// The driver reports no device.
    NoDevice,
    /// CUPTI could not be loaded; the error of each attempt.
    NoCupti(Vec<String>),
    /// CUPTI is older than that of CUDA 12.0; its version.
    OldCupti(u32),
    /// Another profiler uses CUPTI in this process.
    Subscribed,
    /// A call of CUPTI failed.
    Cupti {
        /// The function that failed.
        call: &'static str,
        /// CUPTI's error code.
        code: u32,
        /// CUPTI's text for the code.
        text: String,
    },
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unavailable::NotCompiled => {
                f.write_str("the program was compiled without kinetoscope's feature `cuda`")
            }
            Unavailable::Unsupported(activity) => {
                write!(f, "this version of Kinetoscope cannot record {activity} activities")
            }
            Unavailable::NoDriver(reason) => write!(f, "there is no CUDA driver: {reason}"),
            Unavailable::MissingSymbol { library, symbol } => {
                write!(f, "the {} library has no function {symbol}", library.to_lowercase())
            }
            Unavailable::Driver { call, code } => write!(f, "the CUDA driver failed: {call} returned {code}"),
            Unavailable::NoDevice => f.write_str("the CUDA driver reports no device"),
            Unavailable::NoCupti(tried) => {
                write!(f, "CUPTI was not found; set {CUPTI_VARIABLE} to its path. Tried: ")?;
                f.write_str(&tried.join("; "))
            }
            Unavailable::OldCupti(version) => {
                write!(f, "CUPTI has version {version}; the oldest supported version is 18, of CUDA 12.0")
            }
            Unavailable::Subscribed => f.write_str("another profiler uses CUPTI in this process"),
            Unavailable::Cupti { call, code, text } => {
                write!(f, "CUPTI failed: {call} returned {code}, {text}")
            }
        }
    }
}

impl std::error::Error for Unavailable {}
