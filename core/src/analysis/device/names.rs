//! What the names of kernels, calls and ranges mean.

use crate::base::demangle::without_parameters;
use alloc::string::String;

/// Returns a kernel's name for a narrow column: without return type, parameters and common namespaces.
pub(crate) fn short_name(name: &str) -> String {
    let name = name.strip_prefix("void ").unwrap_or(name).replace("(anonymous namespace)::", "");
    without_parameters(&name).replace("at::native::", "").replace("cutlass::", "").replace(" >", ">")
}

/// Returns whether a runtime call waits for the device.
pub(crate) fn is_sync_name(name: &str) -> bool {
    name.contains("Synchronize")
}

/// Returns whether a runtime call frees memory of a device.
pub(crate) fn is_free_name(name: &str) -> bool {
    name.contains("Free") && !name.contains("Host")
}

/// Returns whether an annotation is that of a data loader.
pub(crate) fn is_data_loading(name: &str) -> bool {
    name.starts_with("enumerate(DataLoader)#") || name.starts_with("enumerate(DataPipe)#")
}

/// Returns whether an annotation is a collective that the host carries out.
pub(crate) fn is_host_collective(name: &str) -> bool {
    name.starts_with("gloo:") || name.starts_with("mpi:")
}

/// Returns whether an annotation is that of communication of the host that a thread can wait for: not that of sending.
pub(crate) fn is_host_wait(name: &str) -> bool {
    is_host_collective(name) && !name.ends_with(":send")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_keep_what_distinguishes_kernels() {
        let long = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>)";
        assert_eq!(
            short_name(long),
            "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, at::detail::Array<char*, 3>>"
        );
        assert_eq!(
            short_name("void at::native::(anonymous namespace)::softmax<float>(float*)"),
            "softmax<float>"
        );
        assert_eq!(short_name("Memcpy HtoD (Pageable -> Device)"), "Memcpy HtoD (Pageable -> Device)");
        assert_eq!(short_name("ampere_sgemm_128x64_tn"), "ampere_sgemm_128x64_tn");
        assert_eq!(short_name(""), "");
    }
}
