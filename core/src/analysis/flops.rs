//! Floating point operations of an operator, computed from its input shapes.
//!
//! [`estimate`] has torch.profiler's formulas: `mm`, `addmm`, `bmm`, `baddbmm` 2·m·k·n per matrix; `conv2d`
//! 2·N·Hout·Wout·Kh·Kw·Cin·Cout/groups; `add` and `mul` one per element of the first input. Other operators are 0.
//!
//! [`count`] has more formulas and returns `None` for other operators. A multiplication and the addition of its product
//! count as 2:
//! - `linear`: 2 · elements of the input · rows of the weight;
//! - attention of queries L×E over S keys and values S×Ev: 2·L·S·(E+Ev) for each head, regardless of masks;
//! - convolutions of 1 to 3 dimensions, grouped: 2 · N · elements of the output's space · elements of the weight;
//!   transposed ones: 2 · elements of the input · elements of the weight for one input channel; their gradients with
//!   respect to input and weight: the same number again for each gradient that was requested.

use alloc::vec::Vec;
use serde_json::Value;

/// The inputs of an operator: the trace's `Input Dims`, `Input type` and `Concrete Inputs`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inputs {
    /// The sizes of each input; empty for non-tensors.
    pub dims: Vec<Vec<i64>>,
    /// The type name of each input.
    pub types: Vec<Value>,
    /// The recorded value of each non-tensor input.
    pub concrete: Vec<Value>,
}

impl Inputs {
    /// Parses the three JSON texts. Absent or malformed texts give empty lists.
    pub(crate) fn parse(dims: Option<&str>, types: Option<&str>, concrete: Option<&str>) -> Self {
        let values = |text: Option<&str>| -> Vec<Value> {
            text.and_then(|t| serde_json::from_str(t).ok()).unwrap_or_default()
        };
        let sizes = |value: &Value| -> Vec<i64> {
            value.as_array().map(|a| a.iter().map_while(Value::as_i64).collect()).unwrap_or_default()
        };
        Inputs {
            dims: values(dims).iter().map(sizes).collect(),
            types: values(types),
            concrete: values(concrete),
        }
    }

    fn is_tensor(&self, at: usize) -> bool {
        let kind = self.types.get(at).and_then(Value::as_str).unwrap_or("");
        !matches!(kind, "" | "Scalar" | "ScalarList" | "TensorList")
    }

    /// Returns the items of a list such as `[1, 2]`; `None` if the value is not a list.
    fn items(&self, at: usize) -> Option<impl Iterator<Item = &str>> {
        let text = self.concrete.get(at)?.as_str()?.strip_prefix('[')?.strip_suffix(']')?;
        Some(text.split(',').map(str::trim))
    }

    /// Returns the integers of a list; `None` if the value is not a list of integers.
    fn list(&self, at: usize) -> Option<Vec<i64>> {
        self.items(at)?.map(|n| n.parse().ok()).collect()
    }
}

/// Returns the product; `None` if a size is negative or the product overflows an `i64`.
fn product(sizes: &[i64]) -> Option<i64> {
    let sizes = sizes.iter().map(|&size| Some(size).filter(|&size| size >= 0));
    sizes.into_iter().try_fold(1i64, |n, size| n.checked_mul(size?))
}

fn matrices(inputs: &Inputs, a: usize, b: usize) -> Option<i64> {
    product(&[2, product(tensor(inputs, a)?)?, *tensor(inputs, b)?.last()?])
}

/// Returns the estimate for operator `name`; 0 if there is no formula or the inputs do not fit it.
pub(crate) fn estimate(name: &str, inputs: &Inputs) -> i64 {
    let known = match name {
        "aten::mm" | "aten::bmm" | "aten::addmm" | "aten::baddbmm" | "aten::add" | "aten::mul" => {
            count(name, inputs)
        }
        "aten::conv2d" => conv2d(inputs),
        _ => None,
    };
    known.unwrap_or(0)
}

fn conv2d(inputs: &Inputs) -> Option<i64> {
    let [n, c_in, h, w] = *inputs.dims.first()?.as_slice() else { return None };
    let [c_out, _, k_h, k_w] = *inputs.dims.get(1)?.as_slice() else { return None };
    let (stride, padding, dilation) = (inputs.list(3)?, inputs.list(4)?, inputs.list(5)?);
    let groups: i64 = inputs.concrete.get(6)?.as_str()?.parse().ok()?;
    let out = |size: i64, kernel: i64, axis: usize| -> Option<i64> {
        let at = |list: &[i64]| list.get(axis).or(list.first()).copied();
        let reach = at(&dilation)?.checked_mul(kernel.checked_sub(1)?)?;
        let room = size.checked_add(at(&padding)?.checked_mul(2)?)?.checked_sub(reach)?.checked_sub(1)?;
        room.checked_div(at(&stride)?)?.checked_add(1)
    };
    let outputs = product(&[n, out(h, k_h, 0)?, out(w, k_w, 1)?])?;
    product(&[2, outputs, k_h, k_w, c_in, c_out])?.checked_div(groups).filter(|&flops| flops >= 0)
}

/// Returns the floating point operations of operator `name`; `None` if there is no formula or the inputs do not fit it.
pub(crate) fn count(name: &str, inputs: &Inputs) -> Option<i64> {
    let name = name.strip_prefix("aten::")?;
    match name {
        "mm" | "bmm" => matrices(inputs, 0, 1),
        "addmm" | "baddbmm" => matrices(inputs, 1, 2),
        "add" | "mul" => inputs.is_tensor(0).then(|| product(inputs.dims.first()?))?,
        "linear" => product(&[2, product(tensor(inputs, 0)?)?, *tensor(inputs, 1)?.first()?]),
        "scaled_dot_product_attention"
        | "_scaled_dot_product_flash_attention"
        | "_scaled_dot_product_efficient_attention"
        | "_scaled_dot_product_cudnn_attention"
        | "_scaled_dot_product_attention_math" => attention(inputs),
        "convolution" | "_convolution" if is_true(inputs, 6) => transposed(inputs),
        "conv1d" | "conv2d" | "conv3d" | "convolution" | "_convolution" => {
            convolution(inputs, Places { stride: 3, padding: 4, dilation: 5 })
        }
        "cudnn_convolution" => convolution(inputs, Places { padding: 2, stride: 3, dilation: 4 }),
        "miopen_convolution" | "mkldnn_convolution" => {
            convolution(inputs, Places { padding: 3, stride: 4, dilation: 5 })
        }
        "conv_transpose1d" | "conv_transpose2d" | "conv_transpose3d" | "cudnn_convolution_transpose" => {
            transposed(inputs)
        }
        "convolution_backward" => convolution_backward(inputs),
        _ => None,
    }
}

/// Returns the sizes of an input if it is a tensor.
fn tensor(inputs: &Inputs, at: usize) -> Option<&[i64]> {
    inputs.dims.get(at).map(Vec::as_slice).filter(|d| !d.is_empty())
}

fn is_true(inputs: &Inputs, at: usize) -> bool {
    inputs.concrete.get(at).and_then(Value::as_str) == Some("True")
}

fn attention(inputs: &Inputs) -> Option<i64> {
    let (query, key, value) = (tensor(inputs, 0)?, tensor(inputs, 1)?, tensor(inputs, 2)?);
    let [heads @ .., length, width] = query else { return None };
    let (keys, depth) = (*key.get(key.len().checked_sub(2)?)?, *value.last()?);
    product(&[2, product(heads)?, *length, keys, width.checked_add(depth)?])
}

/// The positions of a convolution's stride, padding and dilation among its inputs.
#[derive(Clone, Copy)]
struct Places {
    stride: usize,
    padding: usize,
    dilation: usize,
}

fn convolution(inputs: &Inputs, places: Places) -> Option<i64> {
    let ([n, _, space @ ..], weight) = (tensor(inputs, 0)?, tensor(inputs, 1)?) else { return None };
    let kernel = weight.get(2..).filter(|k| k.len() == space.len() && !k.is_empty())?;
    let (stride, dilation) = (inputs.list(places.stride)?, inputs.list(places.dilation)?);
    let word = inputs.concrete.get(places.padding).and_then(Value::as_str);
    let padding = inputs.list(places.padding);
    let axis = |list: &[i64], at: usize| list.get(at).or(list.first()).copied();
    let mut outputs = *n;
    for (at, (&size, &width)) in space.iter().zip(kernel).enumerate() {
        let reach = axis(&dilation, at)?.checked_mul(width.checked_sub(1)?)?;
        let total_padding = match (&padding, word) {
            (Some(list), _) => axis(list, at)?.checked_mul(2)?,
            (None, Some("same")) => reach,
            (None, Some("valid")) => 0,
            _ => return None,
        };
        let room = size.checked_add(total_padding)?.checked_sub(reach)?.checked_sub(1)?;
        outputs = outputs.checked_mul(room.checked_div(axis(&stride, at)?)?.checked_add(1)?)?;
    }
    product(&[2, outputs, product(weight)?])
}

fn transposed(inputs: &Inputs) -> Option<i64> {
    product(&[2, product(tensor(inputs, 0)?)?, product(tensor(inputs, 1)?.get(1..)?)?])
}

fn convolution_backward(inputs: &Inputs) -> Option<i64> {
    let (gradient, input, weight) = (tensor(inputs, 0)?, tensor(inputs, 1)?, tensor(inputs, 2)?);
    let per_gradient = if is_true(inputs, 7) {
        product(&[2, product(input)?, product(weight.get(1..)?)?])?
    } else {
        product(&[2, *gradient.first()?, product(gradient.get(2..)?)?, product(weight)?])?
    };
    let wanted = inputs.items(10)?.take(2).filter(|word| *word == "True").count();
    per_gradient.checked_mul(wanted as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(dims: &str, concrete: &str) -> Inputs {
        let types = r#"["float","float","float"]"#;
        Inputs::parse(Some(dims), Some(types), Some(concrete))
    }

    /// Returns the number of outputs along one axis, counted one by one.
    fn steps(size: i64, kernel: i64, stride: i64, padding: i64, dilation: i64) -> i64 {
        let reach = dilation * (kernel - 1);
        (0..size + 2 * padding).map(|at| at * stride).take_while(|at| at + reach < size + 2 * padding).count()
            as i64
    }

    #[test]
    fn convolutions_are_counted_output_by_output() {
        for (size, kernel, stride, padding, dilation, groups) in
            [(8, 3, 1, 0, 1, 1), (9, 3, 2, 1, 1, 2), (16, 5, 3, 2, 2, 4), (7, 1, 1, 0, 1, 1)]
        {
            let (n, c_in, c_out) = (2, 4, 8);
            let concrete =
                alloc::format!(r#"["","","","[{stride}]","[{padding}]","[{dilation}]","{groups}"]"#);
            let dims = alloc::format!("[[{n},{c_in},{size}],[{c_out},{},{kernel}],[]]", c_in / groups);
            let each = 2 * kernel * c_in / groups;
            let expected = n * c_out * steps(size, kernel, stride, padding, dilation) * each;
            assert_eq!(count("aten::conv1d", &inputs(&dims, &concrete)), Some(expected));
        }
    }

    #[test]
    fn invalid_sizes_are_estimated_as_zero() {
        let concrete = r#"["","","","[1, 1]","[0, 0]","[1, 1]","GROUPS"]"#;
        for (dims, groups) in [
            ("[[1,1,4,4],[1,1,-9223372036854775808,3]]", "1"),
            ("[[1,1,4,4],[1,1,9,9]]", "1"),
            ("[[1,1,4,4],[1,1,3,3]]", "-1"),
            ("[[1,1,4,4],[1,1,3,3]]", "0"),
        ] {
            let inputs = inputs(dims, &concrete.replace("GROUPS", groups));
            assert_eq!(estimate("aten::conv2d", &inputs), 0, "{dims}");
        }
    }

    #[test]
    fn counts_equal_torch_estimates() {
        let conv =
            inputs("[[1,3,224,224],[768,3,16,16],[]]", r#"["","","","[16, 16]","[0, 0]","[1, 1]","1"]"#);
        assert_eq!(count("aten::conv2d", &conv), Some(estimate("aten::conv2d", &conv)));
        let wide = inputs("[[4,8],[8,16]]", "[]");
        assert_eq!(count("aten::mm", &wide), Some(estimate("aten::mm", &wide)));
        assert_eq!(count("aten::mul", &wide), Some(32));
    }

    #[test]
    fn other_operators_follow_their_formulas() {
        for (name, dims, concrete, expected) in [
            ("linear", "[[2,5,7],[3,7],[3]]", "[]", Some(2 * 2 * 5 * 7 * 3)),
            (
                "scaled_dot_product_attention",
                "[[2,4,6,8],[2,4,10,8],[2,4,10,12]]",
                "[]",
                Some(2 * 8 * 6 * 10 * 20),
            ),
            ("conv_transpose2d", "[[1,4,3,3],[4,2,2,2]]", "[]", Some(2 * 36 * 8)),
            ("convolution", "[[1,4,3,3],[4,2,2,2]]", r#"["","","","","","","True"]"#, Some(2 * 36 * 8)),
            (
                "convolution_backward",
                "[[2,8,5,5],[2,4,5,5],[8,4,3,3]]",
                r#"["","","","[0]","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1","[True, True, False]"]"#,
                Some(2 * (2 * 2 * 25 * 8 * 4 * 9)),
            ),
            (
                "conv2d",
                "[[1,4,8,8],[4,4,3,3]]",
                r#"["","","","[1, 1]","same","[1, 1]","1"]"#,
                Some(2 * 64 * 144),
            ),
            ("conv2d", "[[1,4,8,8],[4,4,3,3]]", "[]", None),
            ("conv2d", "[[1,4,8,8],[4,4,3,3]]", r#"["","","","[0, 0]","[0, 0]","[1, 1]","1"]"#, None),
            ("mm", "[[9223372036854775807,2],[2,2]]", "[]", None),
            ("mm", "[[-2,3],[3,4]]", "[]", None),
            ("add", "[[-4]]", "[]", None),
            ("relu", "[[4]]", "[]", None),
        ] {
            let name = alloc::format!("aten::{name}");
            assert_eq!(count(&name, &inputs(dims, concrete)), expected, "{name}");
        }
    }
}
