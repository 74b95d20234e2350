//! The CUDA driver: loads it and queries the properties of its devices.

use super::library::{functions, load};
use super::properties::DeviceProperties;
use crate::activity::unavailable::{DRIVER_VARIABLE, Unavailable};
use cudarc::driver::sys::CUdevice_attribute_enum as Attribute;
use std::ffi::{OsString, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;

functions! {
    /// The functions of the driver that are used.
    Driver {
        init = b"cuInit" (c_uint),
        version = b"cuDriverGetVersion" (*mut c_int),
        count = b"cuDeviceGetCount" (*mut c_int),
        device = b"cuDeviceGet" (*mut c_int, c_int),
        name = b"cuDeviceGetName" (*mut c_char, c_int, c_int),
        memory = b"cuDeviceTotalMem_v2" (*mut usize, c_int),
        attribute = b"cuDeviceGetAttribute" (*mut c_int, c_int, c_int),
        state = b"cuDevicePrimaryCtxGetState" (c_int, *mut c_uint, *mut c_int),
        retain = b"cuDevicePrimaryCtxRetain" (*mut *mut c_void, c_int),
        release = b"cuDevicePrimaryCtxRelease_v2" (c_int),
        push = b"cuCtxPushCurrent_v2" (*mut c_void),
        pop = b"cuCtxPopCurrent_v2" (*mut *mut c_void),
        synchronize = b"cuCtxSynchronize" (),
    }
    optional {}
}

fn check(call: &'static str, code: u32) -> Result<(), Unavailable> {
    if code == 0 { Ok(()) } else { Err(Unavailable::Driver { call, code }) }
}

impl Driver {
    /// Loads and initialises the driver, from the path in [`DRIVER_VARIABLE`] or from the system's library path.
    pub(crate) fn load() -> Result<Driver, Unavailable> {
        let configured = std::env::var_os(DRIVER_VARIABLE).map(|path| vec![path]);
        let names: Vec<OsString> =
            configured.unwrap_or_else(|| ["libcuda.so.1", "libcuda.so", "nvcuda.dll"].map(Into::into).into());
        let mut reasons = Vec::new();
        let library = names.iter().find_map(|name| load(name).map_err(|reason| reasons.push(reason)).ok());
        // The error for the first name is reported; the other names are those of other systems.
        let library = library.ok_or_else(|| Unavailable::NoDriver(reasons.swap_remove(0)))?;
        let driver = Driver::from_library(library)?;
        // SAFETY: `cuInit` is the call that must come first, and has no other precondition.
        check("cuInit", unsafe { (driver.init)(0) })?;
        Ok(driver)
    }

    /// Returns the newest version of CUDA that the driver supports, as `MMmm0`.
    pub(crate) fn cuda_version(&self) -> Result<u32, Unavailable> {
        let mut version = 0;
        // SAFETY: the driver is initialised, and the out parameter is a local variable.
        check("cuDriverGetVersion", unsafe { (self.version)(&raw mut version) })?;
        Ok(version as u32)
    }

    /// Returns the devices, at least one.
    pub(crate) fn devices(&self) -> Result<Vec<DeviceProperties>, Unavailable> {
        let mut count = 0;
        // SAFETY: as above.
        check("cuDeviceGetCount", unsafe { (self.count)(&raw mut count) })?;
        if count < 1 {
            return Err(Unavailable::NoDevice);
        }
        (0..count).map(|ordinal| self.describe(ordinal)).collect()
    }

    fn describe(&self, ordinal: c_int) -> Result<DeviceProperties, Unavailable> {
        let (mut device, mut memory, mut name) = (0, 0, [0u8; 256]);
        // SAFETY: the driver is initialised; out parameters are local variables with the given lengths.
        unsafe {
            check("cuDeviceGet", (self.device)(&raw mut device, ordinal))?;
            check("cuDeviceGetName", (self.name)(name.as_mut_ptr().cast(), name.len() as c_int - 1, device))?;
            check("cuDeviceTotalMem", (self.memory)(&raw mut memory, device))?;
        }
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
        // An attribute that the driver does not support is 0.
        let query = |attribute: Attribute| {
            let mut value = 0;
            // SAFETY: as above; the driver takes the attribute as a plain integer and validates it.
            let code = unsafe { (self.attribute)(&raw mut value, attribute as c_int, device) };
            if code == 0 { value.max(0) as u32 } else { 0 }
        };
        Ok(DeviceProperties {
            ordinal: ordinal as u32,
            name: String::from_utf8_lossy(&name[..end]).into_owned(),
            memory: memory as u64,
            capability: (
                query(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                query(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
            ),
            multiprocessors: query(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
            max_threads_per_block: query(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
            max_threads_per_multiprocessor: query(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
            ),
            max_blocks_per_multiprocessor: query(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR,
            ),
            registers_per_block: query(Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
            registers_per_multiprocessor: query(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR,
            ),
            warp_size: query(Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE),
            shared_memory_per_block: query(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
            shared_memory_per_block_optin: query(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            ),
            shared_memory_per_multiprocessor: query(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
            ),
            reserved_shared_memory_per_block: query(
                Attribute::CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK,
            ),
        })
    }

    /// Waits until the devices have finished the work submitted to their primary contexts, which the runtime, cudarc
    /// and candle use. A primary context that is not active is not created.
    pub(crate) fn synchronize(&self, devices: &[DeviceProperties]) {
        for device in devices {
            let (mut handle, mut flags, mut is_active, mut context) = (0, 0, 0, null_mut());
            // SAFETY: the driver is initialised and out parameters are local variables; each retain is followed by a
            // release, and each push by a pop.
            unsafe {
                if (self.device)(&raw mut handle, device.ordinal as c_int) != 0
                    || (self.state)(handle, &raw mut flags, &raw mut is_active) != 0
                    || is_active == 0
                    || (self.retain)(&raw mut context, handle) != 0
                {
                    continue;
                }
                if (self.push)(context) == 0 {
                    (self.synchronize)();
                    (self.pop)(&raw mut context);
                }
                (self.release)(handle);
            }
        }
    }
}
