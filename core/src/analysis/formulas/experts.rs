//! Mixture of experts in one operator: each token is multiplied with the weights of each of its experts.

use super::inputs::{Elements, Inputs, bytes_of, elements_of, product, sum, values_in};
use super::{Unit, Work};

/// Returns the work of experts; `None` for other operators.
pub(super) fn work(name: &str, inputs: &Inputs) -> Option<Work> {
    match name {
        "vllm::inplace_fused_experts"
        | "vllm::outplace_fused_experts"
        | "vllm::fused_experts"
        | "sglang::inplace_fused_experts"
        | "sglang::outplace_fused_experts"
        | "aiter::fused_moe"
        | "aiter::fused_moe_" => both(inputs),
        "aiter::ck_moe_stage1" | "aiter::ck_moe_stage1_fwd" => first(inputs),
        "aiter::ck_moe_stage2" | "aiter::ck_moe_stage2_fwd" => second(inputs),
        _ => None,
    }
}

/// Returns the number of values in an element of a weight. What packed integers contain is not known.
fn values(inputs: &Inputs, weight: usize) -> Option<i64> {
    let kind = inputs.kind(weight);
    let is_known = kind == "signed char" || elements_of(kind).is_some_and(|kind| kind.0 == Elements::Float);
    is_known.then(|| values_in(kind))
}

/// Tokens T×H, weights E×N×H and E×H×M, and the weights and numbers of the experts T×K.
fn both(inputs: &Inputs) -> Option<Work> {
    let (&[tokens, width], &[_, rows, inner], &[_, back, depth]) =
        (inputs.tensor(0)?, inputs.tensor(1)?, inputs.tensor(2)?)
    else {
        return None;
    };
    let &[_, chosen] = inputs.tensor(4)? else { return None };
    let (first, second) = (values(inputs, 1)?, values(inputs, 2)?);
    if inner.checked_mul(first)? != width || back != width {
        return None;
    }
    let per_token = product(&[rows, width])?.checked_add(product(&[width, depth, second])?)?;
    let flops = product(&[2, tokens, chosen, per_token])?;
    let weights = |at: usize, dims: [i64; 2]| -> Option<i64> {
        bytes_of(product(&[chosen, dims[0], dims[1]])?, inputs.kind(at))
    };
    // At least the experts of one token, which all tokens may share.
    let bytes =
        sum(&[inputs.bytes(0), inputs.bytes(0), weights(1, [rows, inner]), weights(2, [back, depth])]);
    Some(Work { flops, bytes, unit: Unit::matrix(inputs.kind(1)) })
}

/// Tokens T×H with weights E×N×H.
fn first(inputs: &Inputs) -> Option<Work> {
    let &[tokens, width] = inputs.tensor(0)? else { return None };
    let chosen = inputs.int(7).filter(|&chosen| chosen > 0)?;
    stage(inputs, 1, (tokens, chosen, width))
}

/// The results T×K×N of the first product with weights E×H×N.
fn second(inputs: &Inputs) -> Option<Work> {
    let &[tokens, chosen, depth] = inputs.tensor(0)? else { return None };
    stage(inputs, 2, (tokens, chosen, depth))
}

/// One product of each token with the weights of its experts; the output is the seventh input.
fn stage(inputs: &Inputs, weight: usize, (tokens, chosen, depth): (i64, i64, i64)) -> Option<Work> {
    let (&[_, rows, inner], kind) = (inputs.tensor(weight)?, inputs.kind(weight)) else { return None };
    if inner.checked_mul(values(inputs, weight)?)? != depth {
        return None;
    }
    let flops = product(&[2, tokens, chosen, rows, depth])?;
    let weights = bytes_of(product(&[chosen, rows, inner])?, kind);
    let bytes = sum(&[inputs.bytes(0), weights, inputs.bytes(6)]);
    Some(Work { flops, bytes, unit: Unit::matrix(kind) })
}

#[cfg(test)]
mod tests {
    use crate::analysis::formulas::tests::of;

    #[test]
    fn tokens_meet_the_weights_of_their_experts() {
        // 5 tokens of 16 values, 2 of 8 experts each, with 24 rows of which half are gates.
        let types = "c10::BFloat16 c10::BFloat16 c10::BFloat16 float int";
        let dims = "[[5,16],[8,24,16],[8,16,12],[5,2],[5,2]]";
        let flops = 2 * 5 * 2 * (24 * 16 + 16 * 12);
        let bytes = 2 * (80 + 80) + 2 * 2 * (24 * 16 + 16 * 12);
        assert_eq!(of("vllm::outplace_fused_experts", dims, types, "[]"), Some((flops, Some(bytes))));
        let packed = "c10::BFloat16 unsigned-char unsigned-char float int";
        assert_eq!(of("vllm::outplace_fused_experts", dims, packed, "[]"), None);
        assert_eq!(of("vllm::outplace_fused_experts", "[[5,16],[8,24,8]]", types, "[]"), None);
    }

    #[test]
    fn the_two_stages_are_parts_of_it() {
        let types = "c10::BFloat16 c10::BFloat16 c10::BFloat16 int int int c10::BFloat16";
        let first = "[[5,16],[8,24,16],[8,16,12],[64],[2],[1],[5,2,12],[]]";
        let concrete = r#"["","","","","","","","2"]"#;
        let work = of("aiter::ck_moe_stage1", first, types, concrete);
        assert_eq!(work, Some((2 * 5 * 2 * 24 * 16, Some(2 * (80 + 2 * 24 * 16 + 120)))));
        let second = "[[5,2,12],[8,24,16],[8,16,12],[64],[2],[1],[5,16],[]]";
        let work = of("aiter::ck_moe_stage2", second, types, concrete);
        assert_eq!(work, Some((2 * 5 * 2 * 16 * 12, Some(2 * (120 + 2 * 16 * 12 + 80)))));
        assert_eq!(of("aiter::ck_moe_stage1", first, types, "[]"), None);
    }
}
