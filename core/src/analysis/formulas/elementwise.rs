//! Operators whose time is that of memory: what they read and write, and one operation for each element, which is the least.
//!
//! Elementwise operators have an operation for each element of the output, reductions for each element of the input. Copies and
//! fills have none. Outputs that are small, such as the means of a normalisation, do not count.

use super::inputs::{Elements, Inputs, bytes_of, elements_of, product, sum, width_of_type};
use super::{Unit, Work};

/// Returns the work of an operator of this kind; `None` for others.
pub(super) fn work(name: &str, inputs: &Inputs) -> Option<Work> {
    match name.strip_prefix("aten::") {
        Some(name) => of_torch(name, inputs),
        None => of_engines(name, inputs),
    }
}

fn of_torch(full_name: &str, inputs: &Inputs) -> Option<Work> {
    let name = full_name.strip_suffix('_').unwrap_or(full_name);
    let first = || inputs.bytes(0);
    match name {
        "copy" => moved(inputs, inputs.all_bytes()),
        "fill" | "zero" => moved(inputs, first()),
        "bernoulli" | "uniform" | "normal" | "exponential" if name != full_name => each(inputs, 0, first()),
        "sum" | "mean" | "amax" | "amin" => reduction(name, inputs),
        "_softmax" | "_log_softmax" => each(inputs, 0, sum(&[first(), softmax_output(inputs)])),
        "native_layer_norm"
        | "native_batch_norm"
        | "cudnn_batch_norm"
        | "miopen_batch_norm"
        | "native_group_norm"
        | "_fused_rms_norm"
        | "native_layer_norm_backward"
        | "native_batch_norm_backward"
        | "cudnn_batch_norm_backward"
        | "miopen_batch_norm_backward"
        | "native_group_norm_backward"
        | "native_dropout_backward" => each(inputs, 0, sum(&[inputs.all_bytes(), first()])),
        "_softmax_backward_data" | "_log_softmax_backward_data" => {
            each(inputs, 0, sum(&[inputs.bytes_before(2), first()]))
        }
        "native_dropout" => each(inputs, 0, sum(&[inputs.all_bytes(), first(), inputs.elements(0)])),
        "embedding" => embedding(inputs),
        _ if has(UNARY, name) => pointwise(name, inputs, 1),
        _ if has(BINARY, name) || has(COMPARISONS, name) => pointwise(name, inputs, 2),
        _ if has(TERNARY, name) => pointwise(name, inputs, 3),
        _ => None,
    }
}

/// Operators of vLLM, which get their outputs as inputs.
fn of_engines(name: &str, inputs: &Inputs) -> Option<Work> {
    let both = || sum(&[inputs.bytes(0), inputs.bytes(1)]);
    match name {
        "_C::silu_and_mul"
        | "_C::gelu_and_mul"
        | "_C::gelu_tanh_and_mul"
        | "_C::rms_norm"
        | "_C::rms_norm_static_fp8_quant"
        | "_C::static_scaled_fp8_quant"
        | "_C::dynamic_scaled_fp8_quant"
        | "_C::dynamic_per_token_scaled_fp8_quant"
        | "_C::static_scaled_int8_quant"
        | "_C::dynamic_scaled_int8_quant"
        | "_moe_C::topk_softmax"
        | "_moe_C::moe_sum" => each(inputs, 0, inputs.all_bytes()),
        "_C::fused_add_rms_norm" => each(inputs, 0, sum(&[inputs.all_bytes(), both()])),
        // It reads a part of the table of angles.
        "_C::rotary_embedding" => {
            let states = sum(&[inputs.bytes(1), inputs.bytes(2)]);
            each(inputs, 1, sum(&[inputs.bytes(0), states, states]))
        }
        // It writes as many elements of the caches as it reads.
        "_C_cache_ops::reshape_and_cache" | "_C_cache_ops::reshape_and_cache_flash" => {
            let elements = inputs.elements(0)?.checked_add(inputs.elements(1)?)?;
            let written = bytes_of(elements, inputs.kind(2));
            moved(inputs, sum(&[both(), written, inputs.bytes(4)]))
        }
        _ => None,
    }
}

/// Elementwise operators by the number of inputs that can be tensors. A tensor behind them is the output.
const UNARY: &str = "abs bitwise_not ceil cos elu erf exp expm1 floor gelu hardsigmoid hardswish hardtanh isinf isnan \
    leaky_relu log log1p log2 logical_not mish neg reciprocal relu round rsqrt sigmoid sign silu sin \
    softplus sqrt tanh threshold";

const BINARY: &str = "add atan2 bitwise_and bitwise_or bitwise_xor clamp_max clamp_min div fmod gelu_backward \
    hardtanh_backward leaky_relu_backward maximum minimum mul pow remainder rsub sigmoid_backward \
    silu_backward softplus_backward sub tanh_backward threshold_backward";

const TERNARY: &str = "addcdiv addcmul clamp lerp masked_fill where";

const COMPARISONS: &str = "eq ge gt le logical_and logical_or lt ne";

/// Operators whose result has the type of integer inputs.
const OF_INTEGERS: &str = "abs add bitwise_and bitwise_not bitwise_or bitwise_xor clamp clamp_max clamp_min fmod masked_fill \
    maximum minimum mul neg relu remainder sign sub where";

/// Whether a list of names has a name.
fn has(names: &str, name: &str) -> bool {
    names.split(' ').any(|known| known == name)
}

fn moved(inputs: &Inputs, bytes: Option<i64>) -> Option<Work> {
    inputs.dims.first()?;
    Some(Work { flops: 0, bytes, unit: Unit::vector(inputs.kind(0)) })
}

/// An operation for each element of an input.
fn each(inputs: &Inputs, at: usize, bytes: Option<i64>) -> Option<Work> {
    Some(Work { flops: inputs.elements(at)?, bytes, unit: Unit::vector(inputs.kind(at)) })
}

/// Elements of the first inputs, repeated where a size is 1.
fn pointwise(name: &str, inputs: &Inputs, tensors: usize) -> Option<Work> {
    let outputs = broadcast(inputs, tensors)?;
    let kind = result_type(name, inputs, tensors);
    let output = match inputs.output(tensors, outputs) {
        Some(at) => inputs.bytes(at),
        None => kind.and_then(|kind| outputs.checked_mul(kind.1)),
    };
    let bytes = sum(&[inputs.bytes_before(tensors), output]);
    Some(Work { flops: outputs, bytes, unit: Unit::vector(kind.map_or("", |kind| kind.0)) })
}

/// Returns the number of elements of the tensors' common shape.
fn broadcast(inputs: &Inputs, tensors: usize) -> Option<i64> {
    let dims = || inputs.tensors().take_while(|&at| at < tensors).map(|at| inputs.dims[at].as_slice());
    let length = dims().map(<[i64]>::len).max()?;
    (1..=length).try_fold(1i64, |elements, back| {
        let sizes = || dims().filter_map(|dims| Some(*dims.get(dims.len().checked_sub(back)?)?));
        let size = sizes().find(|&size| size != 1).unwrap_or(1);
        let fits = size >= 0 && sizes().all(|other| other == 1 || other == size);
        elements.checked_mul(size).filter(|_| fits)
    })
}

/// Returns the type of the values and the size of an element of the result; `None` if it is not known. It is the widest of the
/// highest kind, of tensors with dimensions first.
fn result_type<'a>(name: &str, inputs: &'a Inputs, tensors: usize) -> Option<(&'a str, i64)> {
    // The first input of `where` is the condition.
    let values = usize::from(name == "where")..tensors;
    let typed = |has_dims: bool| {
        let tensors = inputs.tensors().filter(|at| values.contains(at));
        let tensors = tensors.filter(move |&at| inputs.dims[at].is_empty() != has_dims);
        tensors.filter_map(|at| Some((elements_of(inputs.kind(at))?, inputs.kind(at))))
    };
    let widest = typed(true).max_by_key(|typed| typed.0).or(typed(false).max_by_key(|typed| typed.0));
    let ((elements, width), kind) = widest?;
    if has(COMPARISONS, name) || matches!(name, "isinf" | "isnan" | "logical_not") {
        return Some((kind, 1));
    }
    let has_fraction =
        (0..inputs.concrete.len()).any(|at| inputs.value(at).is_some_and(|text| text.contains('.')));
    let width = match elements {
        Elements::Float => Some(width),
        Elements::Complex => Some(if name == "abs" { width / 2 } else { width }),
        Elements::Bool | Elements::Integer => Some(width).filter(|_| has(OF_INTEGERS, name) && !has_fraction),
    };
    Some((kind, width?))
}

/// The output of softmax; half precision can become single.
fn softmax_output(inputs: &Inputs) -> Option<i64> {
    let bytes = inputs.bytes(0)?;
    if inputs.is_true(2) && inputs.kind(0) != "float" { bytes.checked_mul(2) } else { Some(bytes) }
}

/// Without a list of dimensions the output is one element.
fn reduction(name: &str, inputs: &Inputs) -> Option<Work> {
    let dims = inputs.tensor(0)?;
    let outputs = match inputs.list(1) {
        Some(reduced) if !reduced.is_empty() => {
            let length = i64::try_from(dims.len()).ok()?;
            let is_kept = |at: &usize| {
                !reduced.iter().any(|&dim| i64::try_from(*at).is_ok_and(|at| at == dim.rem_euclid(length)))
            };
            let kept = (0..dims.len()).filter(is_kept);
            kept.map(|at| dims[at]).try_fold(1i64, i64::checked_mul)?
        }
        _ => 1,
    };
    let of_list = inputs.list(1).is_some();
    let width = match (inputs.int(if of_list { 3 } else { 1 }), elements_of(inputs.kind(0))) {
        (Some(number), _) => width_of_type(number),
        (None, Some((Elements::Bool | Elements::Integer, _))) if name == "sum" => Some(8),
        (None, kind) => kind.map(|kind| kind.1),
    };
    let output = width.and_then(|width| outputs.checked_mul(width));
    each(inputs, 0, sum(&[inputs.bytes(0), output]))
}

/// It reads the numbers of the rows, and writes the rows. Which of them are the same is not known.
fn embedding(inputs: &Inputs) -> Option<Work> {
    let width = *inputs.tensor(0)?.last()?;
    let elements = product(&[product(inputs.dims.get(1)?)?, width])?;
    let output = bytes_of(elements, inputs.kind(0));
    moved(inputs, sum(&[inputs.bytes(1), output]))
}

#[cfg(test)]
mod tests {
    use crate::analysis::formulas::tests::of;

    #[test]
    fn bytes_are_those_of_inputs_and_outputs() {
        let half = "c10::Half";
        for (name, dims, types, concrete, expected) in [
            ("aten::relu", "[[4]]", half, "[]", (4, 16)),
            ("aten::add_", "[[2,3],[3],[]]", "c10::Half c10::Half Scalar", "[]", (6, 12 + 6 + 12)),
            ("aten::mul", "[[2,1],[1,3]]", "float float", "[]", (6, 8 + 12 + 24)),
            // A tensor without dimensions does not change the type.
            ("aten::mul", "[[4],[]]", "c10::Half double", "[]", (4, 8 + 8 + 8)),
            ("aten::add", "[[4],[4]]", "c10::Half float", "[]", (4, 8 + 16 + 16)),
            ("aten::add", "[[4],[4]]", "c10::Half long", "[]", (4, 8 + 32 + 8)),
            // The output is among the inputs: `out=`.
            ("aten::exp", "[[4],[4]]", "c10::Half c10::Half", "[]", (4, 16)),
            ("aten::add", "[[4],[4],[],[4]]", "float float Scalar float", "[]", (4, 48)),
            ("aten::where", "[[4],[],[]]", "bool float float", "[]", (4, 4 + 8 + 16)),
            ("aten::abs", "[[4]]", "c10::complex<float>", "[]", (4, 32 + 16)),
            ("aten::_softmax", "[[4],[],[]]", "c10::Half Scalar Scalar", r#"["","0","True"]"#, (4, 8 + 16)),
            ("aten::sum", "[[2,3],[]]", "c10::Half Scalar", r#"["","6"]"#, (6, 12 + 4)),
            ("aten::eq", "[[4],[]]", "float Scalar", "[]", (4, 16 + 4)),
            ("aten::where", "[[4],[4],[4]]", "bool float float", "[]", (4, 4 + 32 + 16)),
            ("aten::copy_", "[[4],[4]]", "float c10::Half", "[]", (0, 16 + 8)),
            ("aten::fill_", "[[4],[]]", "float float", "[]", (0, 16)),
            (
                "aten::sum",
                "[[2,3],[],[],[]]",
                "float ScalarList Scalar",
                r#"["","[-1]","False",""]"#,
                (6, 24 + 8),
            ),
            ("aten::sum", "[[2,3],[]]", "bool", "[]", (6, 6 + 8)),
            (
                "aten::native_layer_norm",
                "[[2,3],[],[3],[3]]",
                "float ScalarList float float",
                "[]",
                (6, 48 + 24),
            ),
            ("aten::native_dropout", "[[4],[],[]]", "c10::Half Scalar Scalar", "[]", (4, 8 + 8 + 4)),
            ("aten::embedding", "[[100,8],[3]]", "float long-int", "[]", (0, 8 * 3 + 4 * 24)),
            (
                "_C::fused_add_rms_norm",
                "[[2,4],[2,4],[4],[]]",
                "c10::Half c10::Half c10::Half Scalar",
                "[]",
                (8, 16 * 4 + 8),
            ),
            (
                "_C_cache_ops::reshape_and_cache_flash",
                "[[3,1,8],[3,1,8],[99,16,1,8],[99,16,1,8],[3]]",
                "c10::Half c10::Half c10::Float8_e4m3fn c10::Float8_e4m3fn long",
                "[]",
                (0, 96 + 48 + 24),
            ),
        ] {
            let (flops, bytes) = expected;
            assert_eq!(of(name, dims, types, concrete), Some((flops, Some(bytes))), "{name} {types}");
        }
        assert_eq!(of("aten::bernoulli", "[[4]]", "float", "[]"), None);
        // The type of the result is not known.
        assert_eq!(of("aten::div", "[[4],[4]]", "long long", "[]"), Some((4, None)));
        let scalar = r#"["","1.5",""]"#;
        assert_eq!(of("aten::sub", "[[4],[],[]]", "long Scalar Scalar", scalar), Some((4, None)));
    }
}
