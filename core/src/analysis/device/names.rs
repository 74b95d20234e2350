//! What the names of kernels, calls and ranges mean.

use crate::demangle::without_parameters;
use crate::names::{NameSet, Names};
use crate::table::category::Category;
use crate::table::events::{Row, Table};
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

/// Returns whether an annotation is that of a data loader.
pub(crate) fn is_data_loading(name: &str) -> bool {
    name.starts_with("enumerate(DataLoader)#") || name.starts_with("enumerate(DataPipe)#")
}

/// Which ranges of the host are operators, and which are about loading data.
pub(crate) struct Ranges {
    steps: NameSet,
    loading: NameSet,
}

impl Ranges {
    pub(crate) fn of(names: &Names) -> Ranges {
        Ranges {
            steps: names.that(|name| name.starts_with("ProfilerStep#")),
            loading: names.that(is_data_loading),
        }
    }

    /// Whether a range is an operator. PyTorch's first traces have steps among them.
    pub(crate) fn is_operator(&self, table: &Table, row: Row) -> bool {
        table.category(row) == Category::CpuOp && !self.steps.has(table.name_id(row))
    }

    /// Whether a range is that of a data loader.
    pub(crate) fn is_loading(&self, table: &Table, row: Row) -> bool {
        self.loading.has(table.name_id(row))
            && matches!(table.category(row), Category::CpuOp | Category::UserAnnotation)
    }
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
