//! Names of kernels: in traces, and in generated code.

use super::text::{before, cut, number};

/// The name of a generated kernel, and the number of its graph: `graph_0_cpp_fused_add_0`.
pub(crate) fn generated(name: &str) -> Option<(Option<u32>, &str)> {
    let numbered = name.strip_prefix("graph_").and_then(|rest| cut(rest, "_"));
    let numbered = numbered.and_then(|(first, name)| Some((Some(number(first)?), name)));
    let (number, name) = numbered.unwrap_or((None, name));
    let is_generated =
        name.starts_with("triton_") || name.starts_with("cpp_") || cut(name, "_fused_").is_some();
    (is_generated && cut(name, "::").is_none()).then_some((number, name))
}

/// The name by which an operator of a trace is found in code: `addmm` of `aten::addmm`.
pub(super) fn name_of_call(operator: &str) -> &str {
    generated(operator).map_or_else(|| operator.strip_prefix("aten::").unwrap_or(operator), |found| found.1)
}

/// The same of a kernel in code: `addmm` of `extern_kernels.addmm`, `convolution` of `torch.ops.aten.convolution.default`.
pub(super) fn name_in_code(kernel: &str) -> &str {
    if let Some(external) = kernel.strip_prefix("extern_kernels.") {
        return external;
    }
    let operator = kernel.strip_prefix("torch.ops.").unwrap_or(kernel).strip_prefix("aten.");
    operator.map_or(kernel, |name| before(name, "."))
}
