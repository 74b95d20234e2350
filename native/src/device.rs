//! CUDA devices: kernels, memcpys, memsets, runtime and driver calls, synchronization and memory, recorded through
//! CUPTI.
//!
//! The CUDA driver and CUPTI are loaded at run time. If one of them is missing, devices are not recorded: the trace has
//! the reason, an [`Unavailable`], among its warnings if CUDA was requested, and the CPU is recorded. Without the
//! feature `cuda` the reason is [`Unavailable::NotCompiled`].
//!
//! | module | contents |
//! |---|---|
//! | `loader`, `driver`, `cupti`, `library` | finds and loads the libraries; tables of their functions |
//! | `collector`, `buffers` | enables CUPTI for one recording; the buffers that CUPTI writes to |
//! | `decode`, `decoded` | decodes the activity records of CUPTI 12.0 to 13.5 |
//! | `encode`, `occupancy` | encodes them as words of a recording |
//! | `external` | passes the ids of spans to CUPTI as external correlation ids |

mod properties;

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

pub use crate::activity::unavailable::{CUPTI_VARIABLE, DRIVER_VARIABLE, Unavailable};
pub use properties::DeviceProperties;

use crate::activity::Activity;

/// Returns the devices that can be recorded. The libraries are loaded once in a process.
///
/// # Errors
/// Returns the reason if devices cannot be recorded: without the feature `cuda`, [`Unavailable::NotCompiled`].
pub fn probe() -> Result<&'static [DeviceProperties], Unavailable> {
    #[cfg(feature = "cuda")]
    return loader::cuda().map(|cuda| cuda.devices.as_slice());
    #[cfg(not(feature = "cuda"))]
    Err(Unavailable::NotCompiled)
}

/// Waits until the devices have finished the work that was submitted to them. Has no effect if they cannot be recorded.
pub(crate) fn synchronize() {
    #[cfg(feature = "cuda")]
    if let Ok(cuda) = loader::cuda() {
        cuda.driver.synchronize(&cuda.devices);
    }
}

impl Activity {
    /// Checks whether the activity can be recorded in this process. The libraries are loaded once in a process.
    ///
    /// # Errors
    /// Returns the reason why it cannot be recorded.
    pub fn check(self) -> Result<(), Unavailable> {
        match self {
            Activity::Cpu => Ok(()),
            Activity::Cuda => probe().map(|_| ()),
            activity => Err(Unavailable::Unsupported(activity)),
        }
    }
}
