//! CUDA devices: kernels, copies, fills, calls of runtime and driver, waiting and memory, as CUPTI tells of them.
//!
//! Everything is loaded while the program runs, and whatever is missing is a [reason](unavailable::Unavailable), not an error:
//! the trace has it among its warnings, and the CPU is recorded. Without the feature `cuda` the reason is that.
//!
//! | module | what it has |
//! |---|---|
//! | `loader`, [`driver`], `cupti`, `library` | the libraries: where they are found, what is asked of them |
//! | `collector`, `buffers` | one recording: kinds on and off, buffers that CUPTI fills |
//! | [`decode`], [`decoded`] | records of CUPTI 12.0 to 13.5: from bytes to what they say |
//! | `encode`, [`occupancy`] | what they say, in the words of a recording |
//! | `external` | spans told to CUPTI, so that calls carry their ids |
//! | [`metrics`] | memory, load and clocks of devices over time |

#[cfg(feature = "cuda")]
mod buffers;
#[cfg(feature = "cuda")]
pub(super) mod collector;
#[cfg(feature = "cuda")]
mod cupti;
#[cfg(feature = "cuda")]
pub mod decode;
#[cfg(feature = "cuda")]
pub mod decoded;
#[cfg(feature = "cuda")]
pub mod driver;
#[cfg(feature = "cuda")]
mod encode;
#[cfg(feature = "cuda")]
pub(super) mod external;
#[cfg(feature = "cuda")]
mod library;
#[cfg(feature = "cuda")]
mod loader;
#[cfg(feature = "nvml")]
pub mod metrics;
#[cfg(feature = "cuda")]
pub mod occupancy;
pub mod unavailable;

#[cfg(not(feature = "cuda"))]
#[path = "cuda/off.rs"]
pub(super) mod collector;

use unavailable::Unavailable;

/// A file that is loaded in place of `libcuda.so.1`.
pub const DRIVER_VARIABLE: &str = "KINETOSCOPE_CUDA_LIBRARY";

/// A file that is loaded in place of the CUPTI that would be found.
pub const CUPTI_VARIABLE: &str = "KINETOSCOPE_CUPTI_LIBRARY";

/// Whether devices can be recorded, and which; asked once for each process.
///
/// # Errors
/// Why not.
#[cfg(feature = "cuda")]
pub fn probe() -> Result<&'static [driver::Device], Unavailable> {
    loader::cuda().map(|cuda| cuda.devices.as_slice())
}

/// Whether devices can be recorded.
///
/// # Errors
/// [`Unavailable::NotCompiled`].
#[cfg(not(feature = "cuda"))]
pub fn probe() -> Result<(), Unavailable> {
    Err(Unavailable::NotCompiled)
}
