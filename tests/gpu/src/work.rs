//! The work that the checks run on a device.

use cudarc::driver::{
    CudaContext, CudaFunction, CudaSlice, CudaStream, DriverError, LaunchConfig, PushKernelArg,
};
use cudarc::nvrtc::Ptx;
use kinetoscope::scope;
use std::sync::Arc;

/// The length of a vector.
pub(crate) const COUNT: usize = 1 << 20;

/// A device, and the kernels of `kernels.ptx` on it.
pub(crate) struct Work {
    pub(crate) context: Arc<CudaContext>,
    pub(crate) stream: Arc<CudaStream>,
    spin: CudaFunction,
    saxpy: CudaFunction,
}

impl Work {
    pub(crate) fn new() -> Result<Work, DriverError> {
        let context = CudaContext::new(0)?;
        let stream = context.new_stream()?;
        let module = context.load_module(Ptx::from_src(include_str!("kernels.ptx")))?;
        Ok(Work {
            spin: module.load_function("spin")?,
            saxpy: module.load_function("saxpy")?,
            context,
            stream,
        })
    }

    /// Launches a kernel of one thread that runs for `ns` nanoseconds.
    pub(crate) fn spin(&self, stream: &Arc<CudaStream>, ns: u64) -> Result<(), DriverError> {
        let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 };
        let mut launch = stream.launch_builder(&self.spin);
        launch.arg(&ns);
        // SAFETY: the argument matches the kernel, which accesses no memory.
        unsafe { launch.launch(config) }.map(|_| ())
    }

    /// Computes `y = 2 x + y`.
    pub(crate) fn saxpy(&self, x: &CudaSlice<f32>, y: &mut CudaSlice<f32>) -> Result<(), DriverError> {
        let _span = scope!("saxpy", shapes: [[COUNT], [COUNT]], dtype: "float", flops: 2 * COUNT);
        let count = COUNT as u32;
        let mut launch = self.stream.launch_builder(&self.saxpy);
        launch.arg(x).arg(y).arg(&count);
        // SAFETY: the arguments match the kernel, which writes within `y`.
        unsafe { launch.launch(LaunchConfig::for_num_elems(count)) }.map(|_| ())
    }

    /// Returns two vectors of ones.
    pub(crate) fn vectors(&self) -> Result<(CudaSlice<f32>, CudaSlice<f32>), DriverError> {
        let ones = vec![1f32; COUNT];
        Ok((self.stream.clone_htod(&ones)?, self.stream.clone_htod(&ones)?))
    }

    /// Runs [`Work::saxpy`] `rounds` times and returns the result, which must not depend on recording.
    pub(crate) fn rounds(&self, rounds: usize) -> Result<Vec<f32>, DriverError> {
        let (x, mut y) = self.vectors()?;
        (0..rounds).try_for_each(|_| self.saxpy(&x, &mut y))?;
        let result = self.stream.clone_dtoh(&y)?;
        self.stream.synchronize()?;
        Ok(result)
    }
}
