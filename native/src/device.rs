//! CUDA devices: kernels, copies, memsets, calls of runtime and driver, synchronization and memory, from CUPTI.
//!
//! Everything is loaded while the program runs. Whatever is missing is an [`Unavailable`], not an error: the trace has it
//! among its warnings, and the CPU is recorded. Without the feature `cuda` the reason is that.
//!
//! | module | what it has |
//! |---|---|
//! | `loader`, `driver`, `cupti`, `library` | the libraries: where they are found, and their functions |
//! | `collector`, `buffers` | one recording: kinds on and off, buffers that CUPTI fills |
//! | `decode`, `decoded` | records of CUPTI 12.0 to 13.5: from bytes to values |
//! | `encode`, `occupancy` | these values as words of a recording |
//! | `external` | ids of spans passed to CUPTI, so that calls carry them |

mod properties;
mod unavailable;

#[cfg(feature = "cuda")]
mod buffers;
#[cfg(feature = "cuda")]
pub(crate) mod collector;
#[cfg(feature = "cuda")]
#[doc(hidden)]
pub mod cupti;
#[cfg(feature = "cuda")]
#[doc(hidden)]
pub mod decode;
#[cfg(feature = "cuda")]
#[doc(hidden)]
pub mod decoded;
#[cfg(feature = "cuda")]
mod driver;
#[cfg(feature = "cuda")]
mod encode;
#[cfg(feature = "cuda")]
pub(crate) mod external;
#[cfg(feature = "cuda")]
mod library;
#[cfg(feature = "cuda")]
mod loader;
#[cfg(feature = "cuda")]
mod occupancy;

#[cfg(not(feature = "cuda"))]
#[path = "device/off.rs"]
pub(crate) mod collector;

pub use properties::DeviceProperties;
pub use unavailable::{CUPTI_VARIABLE, DRIVER_VARIABLE, Unavailable};

/// The devices that can be recorded; looked for once in a process.
///
/// # Errors
/// Why there are none; [`Unavailable::NotCompiled`] without the feature `cuda`.
pub fn probe() -> Result<&'static [DeviceProperties], Unavailable> {
    #[cfg(feature = "cuda")]
    return loader::cuda().map(|cuda| cuda.devices.as_slice());
    #[cfg(not(feature = "cuda"))]
    Err(Unavailable::NotCompiled)
}
