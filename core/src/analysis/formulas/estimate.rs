//! The estimates of torch.profiler.
//!
//! `mm`, `addmm`, `bmm`, `baddbmm` have 2·m·k·n operations per matrix; `conv2d` 2·N·Hout·Wout·Kh·Kw·Cin·Cout/groups; `add` and
//! `mul` one per element of the first input. Other operators have 0.

use super::convolutions::outputs;
use super::inputs::{Inputs, elements_of, product};

/// Returns the estimate for operator `name`; 0 if there is no formula or the inputs do not fit it.
pub(crate) fn estimate(name: &str, inputs: &Inputs) -> i64 {
    let known = match name {
        "aten::mm" | "aten::bmm" => matrices(inputs, 0, 1),
        "aten::addmm" | "aten::baddbmm" => matrices(inputs, 1, 2),
        "aten::add" | "aten::mul" => {
            let is_tensor = elements_of(inputs.kind(0)).is_some();
            is_tensor.then(|| product(inputs.dims.first()?)).flatten()
        }
        "aten::conv2d" => conv2d(inputs),
        _ => None,
    };
    known.unwrap_or(0)
}

fn matrices(inputs: &Inputs, a: usize, b: usize) -> Option<i64> {
    product(&[2, inputs.elements(a)?, *inputs.tensor(b)?.last()?])
}

fn conv2d(inputs: &Inputs) -> Option<i64> {
    let [n, c_in, h, w] = *inputs.dims.first()?.as_slice() else { return None };
    let [c_out, _, k_h, k_w] = *inputs.dims.get(1)?.as_slice() else { return None };
    let (stride, padding, dilation) = (inputs.list(3)?, inputs.list(4)?, inputs.list(5)?);
    let groups = inputs.int(6)?;
    let outputs = outputs((&[h, w], &[k_h, k_w]), &stride, &padding, &dilation)?;
    product(&[2, n, outputs, k_h, k_w, c_in, c_out])?.checked_div(groups).filter(|&flops| flops >= 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_sizes_are_estimated_as_zero() {
        let concrete = r#"["","","","[1, 1]","[0, 0]","[1, 1]","GROUPS"]"#;
        let types = r#"["float","float","float"]"#;
        for (dims, groups) in [
            ("[[1,1,4,4],[1,1,-9223372036854775808,3]]", "1"),
            ("[[1,1,4,4],[1,1,9,9]]", "1"),
            ("[[1,1,4,4],[1,1,3,3]]", "-1"),
            ("[[1,1,4,4],[1,1,3,3]]", "0"),
        ] {
            let inputs = Inputs::parse(Some(dims), Some(types), Some(&concrete.replace("GROUPS", groups)));
            assert_eq!(estimate("aten::conv2d", &inputs), 0, "{dims}");
        }
    }
}
