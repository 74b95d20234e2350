//! Attention of queries L×E over S keys and values S×Ev.
//!
//! A query and a key that it attends to cost 2·(E+Ev) operations for each head of the queries; backward 2·(3·E+2·Ev), because the
//! scores are computed again. A causal mask and a window leave out pairs, masks that are tensors do not. Without the flag of
//! the causal mask there is no number.
//!
//! Of packed sequences the trace has the total length T, the number B and the longest length. If all are as long, the number of
//! pairs is exact. Else it is the least that such sequences can have: that of B sequences of length T/B, or one query for each
//! sequence. A cache of pages does not show how much of it is read, so there is no number.

use super::inputs::{Inputs, product, sum};
use super::{Unit, Work};

/// An operator for attention.
#[derive(Clone, Copy)]
struct Attention {
    is_backward: bool,
    /// Whether the heads come before the tokens.
    heads_first: bool,
    /// Which of the inputs that are `True` or `False` is the causal mask.
    flag: usize,
    /// Whether a causal mask begins with the first key, and not with the last one.
    begins_first: bool,
}

fn operator(name: &str) -> Option<Attention> {
    let of_torch = |is_backward, flag| Attention { is_backward, heads_first: true, flag, begins_first: true };
    let of_flash =
        |is_backward, flag| Attention { is_backward, heads_first: false, flag, begins_first: false };
    Some(match name {
        "aten::scaled_dot_product_attention"
        | "aten::_scaled_dot_product_attention_math"
        | "aten::_scaled_dot_product_flash_attention"
        | "aten::_scaled_dot_product_flash_attention_for_cpu"
        | "aten::_scaled_dot_product_fused_attention_overrideable" => of_torch(false, 0),
        "aten::_scaled_dot_product_efficient_attention" | "aten::_scaled_dot_product_cudnn_attention" => {
            of_torch(false, 1)
        }
        "aten::_scaled_dot_product_flash_attention_backward"
        | "aten::_scaled_dot_product_flash_attention_for_cpu_backward"
        | "aten::_scaled_dot_product_efficient_attention_backward"
        | "aten::_scaled_dot_product_cudnn_attention_backward"
        | "aten::_scaled_dot_product_fused_attention_overrideable_backward" => of_torch(true, 0),
        "aten::_flash_attention_forward"
        | "flash_attn::_flash_attn_forward"
        | "flash_attn::_flash_attn_varlen_forward"
        | "flash_attn_3::_flash_attn_forward"
        | "flash_attn_3::fwd"
        | "_vllm_fa3_C::fwd"
        | "aiter::_flash_attn_forward"
        | "aiter::_flash_attn_varlen_forward"
        | "aiter::mha_fwd"
        | "aiter::fmha_v3_fwd" => of_flash(false, 0),
        "_vllm_fa2_C::varlen_fwd" | "aiter::mha_varlen_fwd" | "aiter::fmha_v3_varlen_fwd" => {
            of_flash(false, 1)
        }
        "aten::_flash_attention_backward"
        | "flash_attn::_flash_attn_backward"
        | "flash_attn::_flash_attn_varlen_backward"
        | "flash_attn_3::_flash_attn_backward"
        | "flash_attn_3::bwd"
        | "aiter::_flash_attn_backward"
        | "aiter::_flash_attn_varlen_backward"
        | "aiter::mha_bwd"
        | "aiter::fmha_v3_bwd" => of_flash(true, 0),
        "aiter::mha_varlen_bwd" | "aiter::fmha_v3_varlen_bwd" => of_flash(true, 1),
        _ => return None,
    })
}

/// Returns the work of attention; `None` for other operators.
pub(super) fn work(name: &str, inputs: &Inputs) -> Option<Work> {
    let attention = operator(name)?;
    let query = usize::from(attention.is_backward);
    let (q, k, v) = (inputs.tensor(query)?, inputs.tensor(query + 1)?, inputs.tensor(query + 2)?);
    let (width, depth) = (*q.last()?, *v.last()?);
    let mask = Mask::of(inputs, attention)?;
    let (heads, pairs) = match (q, k) {
        (&[tokens, heads, _], &[keys, _, _]) if !attention.heads_first => {
            (heads, packed(inputs, (tokens, keys), query + 3, mask)?)
        }
        (&[batch, queries, heads, _], &[_, keys, _, _]) if !attention.heads_first => {
            (product(&[batch, heads])?, mask.pairs(queries, keys)?)
        }
        (&[ref heads @ .., queries, _], &[.., keys, _]) if attention.heads_first => {
            (product(heads)?, mask.pairs(queries, keys)?)
        }
        _ => return None,
    };
    let (of_keys, of_values) = if attention.is_backward { (3, 2) } else { (1, 1) };
    let per_pair = width.checked_mul(of_keys)?.checked_add(depth.checked_mul(of_values)?)?;
    let flops = product(&[2, heads, pairs, per_pair])?;
    let outputs = if attention.is_backward {
        // FlashAttention has the gradients among its inputs.
        let has_outputs = !name.starts_with("aten::");
        let gradient = |at| if has_outputs { Some(0) } else { inputs.bytes(at) };
        [gradient(query), gradient(query + 1), gradient(query + 2)]
    } else {
        let tokens = inputs.bytes(query)?.checked_div(width);
        [tokens.and_then(|bytes| bytes.checked_mul(depth)), Some(0), Some(0)]
    };
    let bytes = sum(&[inputs.all_bytes(), outputs[0], outputs[1], outputs[2]]);
    Some(Work { flops, bytes, unit: Unit::matrix(inputs.kind(query)) })
}

/// Which keys a query attends to.
#[derive(Clone, Copy, Debug)]
struct Mask {
    is_causal: bool,
    begins_first: bool,
    /// The keys before and after the query's own; `None` for all.
    window: (Option<i64>, Option<i64>),
}

impl Mask {
    fn of(inputs: &Inputs, attention: Attention) -> Option<Mask> {
        let (at, is_causal) = inputs.flags().nth(attention.flag)?;
        let window = match (inputs.int(at + 1), inputs.int(at + 2)) {
            (Some(left), Some(right)) => {
                (Some(left).filter(|&left| left >= 0), Some(right).filter(|&right| right >= 0))
            }
            _ => (None, None),
        };
        Some(Mask { is_causal, begins_first: attention.begins_first, window })
    }

    fn is_full(self) -> bool {
        !self.is_causal && self.window == (None, None)
    }

    /// Returns the number of pairs of a query and a key that it attends to.
    fn pairs(self, queries: i64, keys: i64) -> Option<i64> {
        if self.is_full() {
            return product(&[queries, keys]);
        }
        let (queries, keys) = (i128::from(queries.max(0)), i128::from(keys.max(0)));
        let offset = if self.begins_first { 0 } else { keys - queries };
        let after = if self.is_causal { Some(0) } else { self.window.1 };
        // The keys below `n` for each n up to a number: none below 0, and at most all.
        let below = |n: i128| match n {
            n if n <= 0 => 0,
            n if n <= keys => n * (n - 1) / 2,
            n => keys * (keys + 1) / 2 + (n - 1 - keys) * keys,
        };
        let ends = |first: i128| below(queries + first) - below(first);
        let to = after.map_or(queries * keys, |after| ends(offset + i128::from(after) + 1));
        let from = self.window.0.map_or(0, |before| ends(offset - i128::from(before)));
        i64::try_from((to - from).max(0)).ok()
    }
}

/// Returns the number of pairs of packed sequences, or the least that they can have. `after` is the position after the values.
fn packed(inputs: &Inputs, (tokens, keys): (i64, i64), after: usize, mask: Mask) -> Option<i64> {
    let is_ends = |&at: &usize| {
        inputs.tensor(at).is_some_and(|dims| dims.len() == 1)
            && matches!(inputs.kind(at), "int" | "long int" | "long")
    };
    let ends: usize = (after..inputs.dims.len()).find(is_ends)?;
    let sequences = inputs.tensor(ends)?.first()?.checked_sub(1).filter(|&count| count > 0)?;
    let mut lengths = (ends + 1..inputs.concrete.len()).filter_map(|at| inputs.int(at));
    let (longest, longest_keys) = (lengths.next()?, lengths.next()?);
    let is_even = |total: i64, longest: i64| longest.checked_mul(sequences) == Some(total);
    if is_even(tokens, longest) && is_even(keys, longest_keys) {
        return product(&[sequences, mask.pairs(longest, longest_keys)?]);
    }
    if longest == 1 && mask.window == (None, None) {
        return Some(keys);
    }
    let each = tokens.checked_div(sequences)?;
    (tokens == keys).then(|| product(&[sequences, mask.pairs(each, each)?])).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::formulas::tests::of;

    /// Counts the pairs one by one.
    fn counted(mask: Mask, queries: i64, keys: i64) -> i64 {
        let offset = if mask.begins_first { 0 } else { keys - queries };
        let after = if mask.is_causal { Some(0) } else { mask.window.1 };
        let sees = |query: i64, key: i64| {
            let own = query + offset;
            after.is_none_or(|after| key <= own + after)
                && mask.window.0.is_none_or(|before| key >= own - before)
        };
        (0..queries).map(|query| (0..keys).filter(|&key| sees(query, key)).count() as i64).sum()
    }

    #[test]
    fn pairs_are_counted_in_closed_form() {
        for (queries, keys) in [(1, 1), (5, 5), (3, 8), (8, 3), (1, 9), (9, 1), (7, 6), (0, 4)] {
            for (is_causal, begins_first) in [(false, false), (false, true), (true, false), (true, true)] {
                for before in [None, Some(0), Some(2), Some(20)] {
                    for after in [None, Some(0), Some(3), Some(20)] {
                        let mask = Mask { is_causal, begins_first, window: (before, after) };
                        let expected = counted(mask, queries, keys);
                        assert_eq!(mask.pairs(queries, keys), Some(expected), "{mask:?} {queries} {keys}");
                    }
                }
            }
        }
    }

    const HALF: &str = "c10::Half c10::Half c10::Half";

    #[test]
    fn a_causal_mask_leaves_out_pairs() {
        let name = "aten::scaled_dot_product_attention";
        let dims = "[[2,4,6,8],[2,4,10,8],[2,4,10,12],[],[],[]]";
        let flops = |flag| of(name, dims, HALF, &alloc::format!(r#"["","","","","0.","{flag}"]"#));
        let bytes = Some(2 * 8 * (6 * 8 + 10 * 8 + 10 * 12 + 6 * 12));
        assert_eq!(flops("False"), Some((2 * 8 * 60 * 20, bytes)));
        assert_eq!(flops("True"), Some((2 * 8 * 21 * 20, bytes)));
        assert_eq!(flops(""), None);
    }

    #[test]
    fn backward_computes_the_scores_again() {
        let dims = "[[1,2,6,8],[1,2,6,8],[1,2,6,8],[1,2,6,8],[1,2,6,8],[1,2,6]]";
        let concrete = r#"["","","","","","","0.","False"]"#;
        let types = "float float float float float float";
        let work = of("aten::_scaled_dot_product_flash_attention_for_cpu_backward", dims, types, concrete);
        let tensor = 2 * 6 * 8 * 4;
        assert_eq!(work, Some((2 * 2 * 36 * (3 * 8 + 2 * 8), Some(5 * tensor + 48 + 3 * tensor))));
    }

    #[test]
    fn heads_may_come_after_the_tokens() {
        let dims = "[[2,6,4,8],[2,10,1,8],[2,10,1,8],[],[],[],[],[]]";
        let concrete = |window| alloc::format!(r#"["","","","0.","0.25","True","{window}","-1"]"#);
        let flops =
            |window| of("flash_attn::_flash_attn_forward", dims, HALF, &concrete(window)).map(|work| work.0);
        // The first of 6 queries is the fifth of 10 keys: 5 + 6 + 7 + 8 + 9 + 10 pairs.
        assert_eq!(flops("-1"), Some(2 * 8 * 45 * 16));
        // A query, and the one before it.
        assert_eq!(flops("1"), Some(2 * 8 * 12 * 16));
    }

    #[test]
    fn packed_sequences_have_at_least_the_pairs_of_equal_ones() {
        let types = "c10::Half c10::Half c10::Half int int Scalar Scalar Scalar Scalar Scalar";
        let pairs = |keys: i64, longest: i64, longest_keys: i64| {
            let dims = alloc::format!("[[12,1,8],[{keys},1,8],[{keys},1,8],[4],[4],[],[],[],[],[]]");
            let concrete =
                alloc::format!(r#"["","","","","","{longest}","{longest_keys}","0.","0.25","False"]"#);
            let work = of("flash_attn::_flash_attn_varlen_forward", &dims, types, &concrete);
            work.map(|work| work.0 / (2 * 16))
        };
        assert_eq!(pairs(12, 4, 4), Some(3 * 16));
        assert_eq!(pairs(12, 9, 9), Some(3 * 16));
        assert_eq!(pairs(30, 4, 10), Some(3 * 40));
        // Which of the sequences has how many keys is not known.
        assert_eq!(pairs(30, 4, 20), None);
        let one = "[[3,1,8],[30,1,8],[30,1,8],[4],[4],[],[],[],[],[]]";
        let concrete = r#"["","","","","","1","20","0.","0.25","True"]"#;
        let work = of("flash_attn::_flash_attn_varlen_forward", one, types, concrete);
        assert_eq!(work.map(|work| work.0), Some(2 * 30 * 16));
    }

    #[test]
    fn a_cache_of_pages_does_not_show_what_is_read() {
        let types = "c10::Half c10::Half c10::Half c10::Half int int";
        let dims = "[[3,1,8],[99,16,1,8],[99,16,1,8],[3,1,8],[4],[3],[],[],[],[],[]]";
        let concrete = r#"["","","","","","","","","","","1","20","0.","0.25","False","True"]"#;
        assert_eq!(of("_vllm_fa2_C::varlen_fwd", dims, types, concrete), None);
    }
}
