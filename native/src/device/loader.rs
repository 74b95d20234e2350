//! Loads the driver and CUPTI once and finds out whether there are devices that can be recorded.

use super::cupti::{Cupti, UNKNOWN_CALL};
use super::driver::Driver;
use super::encode::is_recorded;
use super::properties::DeviceProperties;
use crate::activity::unavailable::Unavailable;
use std::sync::OnceLock;

/// A driver with at least one device, and CUPTI.
pub(crate) struct Cuda {
    pub(crate) driver: Driver,
    pub(crate) cupti: Cupti,
    /// CUPTI's version.
    pub(crate) version: u32,
    /// The newest version of CUDA that the driver supports, as `MMmm0`.
    pub(crate) cuda_version: u32,
    pub(crate) devices: Vec<DeviceProperties>,
    /// The numbers of the runtime's and the driver's functions whose calls are not recorded.
    pub(crate) skipped_calls: [Vec<u32>; 2],
}

/// An upper bound for function numbers of the runtime and the driver.
const MAX_CALLS: u32 = 1200;

/// Returns the libraries, which stay loaded, or the reason why they are unavailable.
pub(crate) fn cuda() -> Result<&'static Cuda, Unavailable> {
    static CUDA: OnceLock<Result<Cuda, Unavailable>> = OnceLock::new();
    CUDA.get_or_init(load).as_ref().map_err(Clone::clone)
}

/// Loads the driver before CUPTI, because CUPTI may terminate the program if there is no driver.
fn load() -> Result<Cuda, Unavailable> {
    let driver = Driver::load()?;
    let cuda_version = driver.cuda_version()?;
    let devices = driver.devices()?;
    let (cupti, version) = Cupti::load(cuda_version)?;
    // Computed only if CUPTI can disable the recording of single functions.
    let can_switch = [cupti.runtime_call.is_some(), cupti.driver_call.is_some()];
    let skipped_calls = [false, true].map(|is_driver| {
        let is_skipped = |cbid: &u32| {
            let name = cupti.name_of(is_driver, *cbid);
            name != UNKNOWN_CALL && !is_recorded(is_driver, &name)
        };
        let most = if can_switch[usize::from(is_driver)] { MAX_CALLS } else { 1 };
        (1..most).filter(is_skipped).collect()
    });
    Ok(Cuda { driver, cupti, version, cuda_version, devices, skipped_calls })
}
