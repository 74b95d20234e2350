//! Whether there are devices that can be recorded: asked once, before anything of CUPTI is called.

use super::cupti::{Cupti, UNKNOWN_CALL};
use super::driver::Driver;
use super::encode::is_kept;
use super::properties::DeviceProperties;
use super::unavailable::Unavailable;
use std::sync::OnceLock;

/// A driver with devices, and CUPTI.
pub(crate) struct Cuda {
    pub(crate) driver: Driver,
    pub(crate) cupti: Cupti,
    /// CUPTI's version.
    pub(crate) version: u32,
    /// The newest CUDA that the driver runs, as `MMmm0`.
    pub(crate) cuda_version: u32,
    pub(crate) devices: Vec<DeviceProperties>,
    /// The numbers of calls that are not recorded: the runtime's, and the driver's.
    pub(crate) left_out: [Vec<u32>; 2],
}

/// More than there are functions in the runtime or the driver.
const MOST_CALLS: u32 = 1200;

/// The libraries, which stay loaded; or why they are not to be had.
pub(crate) fn cuda() -> Result<&'static Cuda, Unavailable> {
    static CUDA: OnceLock<Result<Cuda, Unavailable>> = OnceLock::new();
    CUDA.get_or_init(load).as_ref().map_err(Clone::clone)
}

/// The driver comes first: CUPTI may end the program where there is none.
fn load() -> Result<Cuda, Unavailable> {
    let driver = Driver::load()?;
    let cuda_version = driver.cuda_version()?;
    let devices = driver.devices()?;
    let (cupti, version) = Cupti::load(cuda_version)?;
    // Asked for only where CUPTI can switch them off.
    let can_switch = [cupti.runtime_call.is_some(), cupti.driver_call.is_some()];
    let left_out = [false, true].map(|is_driver| {
        let is_left_out = |cbid: &u32| {
            let name = cupti.name_of(is_driver, *cbid);
            name != UNKNOWN_CALL && !is_kept(is_driver, &name)
        };
        let most = if can_switch[usize::from(is_driver)] { MOST_CALLS } else { 1 };
        (1..most).filter(is_left_out).collect()
    });
    Ok(Cuda { driver, cupti, version, cuda_version, devices, left_out })
}
