//! Products of matrices and vectors: 2 operations for each multiplication and the addition of its product.

use super::inputs::{Elements, Inputs, bytes_of, elements_of, product, sum, values_in, width_of_type};
use super::{Unit, Work};

/// How the factors of a product lie among the inputs.
#[derive(Clone, Copy)]
struct Factors {
    left: usize,
    right: usize,
    /// Whether a row of the right factor, and not a column, belongs to an output: the weight of a linear layer.
    is_weight: bool,
    /// Whether the output is the first input.
    has_output: bool,
    /// The position of the factor of the first input, which is not read if this is 0.
    beta: Option<usize>,
    /// The position of the output in calls that have it as `out`.
    out: Option<usize>,
}

impl Factors {
    const fn at(left: usize, right: usize) -> Factors {
        Factors { left, right, is_weight: false, has_output: false, beta: None, out: None }
    }

    const fn weight(left: usize, right: usize) -> Factors {
        Factors { is_weight: true, ..Factors::at(left, right) }
    }
}

/// Returns the work of a product; `None` for other operators.
pub(super) fn work(name: &str, inputs: &Inputs) -> Option<Work> {
    let factors = match name {
        "aten::mm" | "aten::bmm" | "aten::_int_mm" => Factors { out: Some(2), ..Factors::at(0, 1) },
        "aten::_scaled_mm" => Factors { out: Some(8), ..Factors::at(0, 1) },
        "aten::_scaled_mm_v2"
        | "sgl_kernel::fp8_scaled_mm"
        | "sgl_kernel::int8_scaled_mm"
        | "sgl_kernel::fp8_blockwise_scaled_mm" => Factors::at(0, 1),
        "aten::addmm" | "aten::baddbmm" | "aten::_addmm_activation" => {
            Factors { beta: Some(3), out: Some(5), ..Factors::at(1, 2) }
        }
        "aten::mv" => return vector(inputs, 0),
        "aten::addmv" => return vector(inputs, 1),
        "aten::dot" | "aten::vdot" => return dot(inputs),
        "aten::_weight_int4pack_mm" => return packed(inputs),
        "aten::_grouped_mm" | "aten::_scaled_grouped_mm" => return grouped(inputs),
        "_C::cutlass_scaled_mm" => Factors { has_output: true, ..Factors::at(1, 2) },
        "_C::cutlass_scaled_fp4_mm" | "sgl_kernel::cutlass_scaled_fp4_mm" => {
            Factors { has_output: true, ..Factors::weight(1, 2) }
        }
        _ if has_weight(name) => Factors::weight(0, 1),
        _ => return None,
    };
    of(inputs, factors)
}

/// Whether an operator multiplies its first input with a weight that has a row for each output.
fn has_weight(name: &str) -> bool {
    matches!(
        name,
        "aten::linear"
            | "aten::mkldnn_linear"
            | "mkldnn::_linear_pointwise"
            | "aten::_weight_int8pack_mm"
            | "vllm::rocm_unquantized_gemm"
            | "vllm::w8a8_block_fp8_matmul"
            | "vllm::apply_w8a8_block_fp8_linear"
            | "aiter::gemm_a16w16"
            | "fbgemm::f8f8bf16"
            | "fbgemm::f8f8bf16_rowwise"
            | "fbgemm::f8f8bf16_blockwise"
            | "fbgemm::i8i8bf16"
            | "fbgemm::f4f4bf16"
    ) || name.starts_with("aiter::gemm_a8w8")
        || name.starts_with("aiter::gemm_a4w4")
}

fn of(inputs: &Inputs, factors: Factors) -> Option<Work> {
    let (left, right) = (inputs.tensor(factors.left)?, inputs.tensor(factors.right)?);
    let (rows, inner) = left.split_at_checked(left.len().checked_sub(1)?)?;
    let (batch, matrix) = right.split_at_checked(right.len().checked_sub(2)?)?;
    let &[first, second] = matrix else { return None };
    let (depth, columns) = if factors.is_weight { (second, first) } else { (first, second) };
    // The factors of a batched product have the same batch; other sizes are no product.
    let is_batch = batch.is_empty() || (rows.len() == batch.len() + 1 && rows.starts_with(batch));
    if inner != [depth] || !is_batch {
        return None;
    }
    let outputs = product(&[product(rows)?, columns])?;
    let kind = inputs.kind(factors.left);
    let values = product(&[depth, values_in(kind)])?;
    let is_given = factors.has_output || factors.out.is_some_and(|at| inputs.output(at, outputs).is_some());
    let output = if is_given { Some(0) } else { size(outputs, output_width(inputs, kind)) };
    let is_read = factors.beta.is_none_or(|at| inputs.number(at) != Some(0.0));
    let unread = if is_read { Some(0) } else { inputs.bytes(0).map(|bytes| -bytes) };
    let bytes = sum(&[inputs.all_bytes(), unread, output]);
    Some(Work { flops: product(&[2, outputs, values])?, bytes, unit: Unit::matrix(kind) })
}

fn size(outputs: i64, width: Option<i64>) -> Option<i64> {
    outputs.checked_mul(width?)
}

/// Returns the size of an element of the output: where it is not recorded, that of the factors, but not less than 16 bits, and 32
/// for integers.
fn output_width(inputs: &Inputs, kind: &str) -> Option<i64> {
    let recorded = inputs.int(6).and_then(width_of_type);
    match elements_of(kind)? {
        (Elements::Integer, width) => Some(width.max(4)),
        (_, 1) => Some(recorded.unwrap_or(2)),
        (_, width) => Some(width),
    }
}

fn vector(inputs: &Inputs, matrix: usize) -> Option<Work> {
    let (&[rows, depth], &[length]) = (inputs.tensor(matrix)?, inputs.tensor(matrix + 1)?) else {
        return None;
    };
    let kind = inputs.kind(matrix);
    let output = bytes_of(rows, kind);
    let flops = (depth == length).then(|| product(&[2, rows, depth])).flatten()?;
    Some(Work { flops, bytes: sum(&[inputs.all_bytes(), output]), unit: Unit::matrix(kind) })
}

fn dot(inputs: &Inputs) -> Option<Work> {
    let (&[a], &[b]) = (inputs.tensor(0)?, inputs.tensor(1)?) else { return None };
    let flops = (a == b).then(|| product(&[2, a])).flatten()?;
    Some(Work { flops, bytes: inputs.all_bytes(), unit: Unit::vector(inputs.kind(0)) })
}

/// The weight of 4 bits is packed; its scales have a column for each output.
fn packed(inputs: &Inputs) -> Option<Work> {
    let (&[rows, depth], &[_, columns, _]) = (inputs.tensor(0)?, inputs.tensor(3)?) else { return None };
    let kind = inputs.kind(0);
    let outputs = product(&[rows, columns])?;
    let output = bytes_of(outputs, kind);
    let flops = product(&[2, outputs, depth])?;
    Some(Work { flops, bytes: sum(&[inputs.all_bytes(), output]), unit: Unit::matrix(kind) })
}

/// A product for each group of rows or columns. Groups without rows read no weight, so at most one weight for each row counts.
fn grouped(inputs: &Inputs) -> Option<Work> {
    let (left, right) = (inputs.tensor(0)?, inputs.tensor(1)?);
    let kind = inputs.kind(0);
    let width = elements_of(kind).map(|kind| kind.1);
    let values = values_in(kind);
    let (outputs, depth, read) = match (left, right) {
        (&[rows, depth], &[groups, inner, columns]) if depth == inner => {
            (product(&[rows, columns])?, depth, product(&[groups.min(rows), inner, columns]))
        }
        (&[rows, depth], &[inner, columns]) if depth == inner => {
            let groups = *inputs.tensor(if inputs.kind(2) == "int" { 2 } else { 4 })?.first()?;
            (product(&[groups, rows, columns])?, depth, product(&[inner, columns]))
        }
        (&[groups, rows, depth], &[other, inner, columns]) if (groups, depth) == (other, inner) => {
            (product(&[groups, rows, columns])?, depth, product(&[groups, inner, columns]))
        }
        (&[_, rows, depth], &[inner, columns]) if depth == inner => {
            (product(&[rows, columns])?, depth, product(&[inner, columns]))
        }
        _ => return None,
    };
    let output = size(outputs, width.map(|width| width.max(2)));
    let bytes = sum(&[inputs.bytes(0), size(read?, width), output]);
    // The columns of a product of two matrices are split into the groups, so that each of them has a part of the depth.
    let flops = match (left.len(), right.len()) {
        (2, 2) => product(&[2, left[0], right[1], depth, values])?,
        _ => product(&[2, outputs, depth, values])?,
    };
    Some(Work { flops, bytes, unit: Unit::matrix(kind) })
}

#[cfg(test)]
mod tests {
    use crate::analysis::formulas::tests::of;

    #[test]
    fn inputs_and_outputs_are_read_and_written_once() {
        let product = 2 * 4 * 8 * 16;
        for (name, dims, types, concrete, expected) in [
            ("aten::mm", "[[4,8],[8,16]]", "float float", "[]", (product, Some(4 * (32 + 128 + 64)))),
            (
                "aten::bmm",
                "[[3,4,8],[3,8,16]]",
                "c10::Half c10::Half",
                "[]",
                (3 * product, Some(2 * 3 * 224)),
            ),
            (
                "aten::addmm",
                "[[16],[4,8],[8,16]]",
                "float float float",
                "[]",
                (product, Some(4 * (16 + 224))),
            ),
            (
                "aten::addmm",
                "[[16],[4,8],[8,16],[],[]]",
                "float float float Scalar Scalar",
                r#"["","","","0","1"]"#,
                (product, Some(4 * 224)),
            ),
            // The output is among the inputs: `out=`.
            ("aten::mm", "[[4,8],[8,16],[4,16]]", "float float float", "[]", (product, Some(4 * 224))),
            (
                "aten::addmm",
                "[[16],[4,8],[8,16],[],[],[4,16]]",
                "float float float Scalar Scalar float",
                r#"["","","","1","1",""]"#,
                (product, Some(4 * 240)),
            ),
            ("aten::linear", "[[2,2,8],[16,8],[16]]", "float float float", "[]", (product, Some(4 * 240))),
            (
                "aten::linear",
                "[[1,8],[16,8],[16]]",
                "float float float",
                "[]",
                (256, Some(4 * (8 + 128 + 16 + 16))),
            ),
            ("aten::mv", "[[4,8],[8]]", "float float", "[]", (2 * 32, Some(4 * (32 + 8 + 4)))),
            ("aten::dot", "[[8],[8]]", "float float", "[]", (16, Some(64))),
            (
                "aten::_int_mm",
                "[[4,8],[8,16]]",
                "signed-char signed-char",
                "[]",
                (product, Some(160 + 4 * 64)),
            ),
            // Without a recorded type, the output of 8-bit values has 16 bits.
            (
                "aten::_scaled_mm",
                "[[4,8],[8,16],[],[]]",
                "c10::Float8_e4m3fn c10::Float8_e4m3fn float float",
                "[]",
                (product, Some(160 + 8 + 2 * 64)),
            ),
            (
                "aten::_scaled_mm",
                "[[4,8],[8,16],[],[],[],[],[]]",
                "c10::Float8_e4m3fn c10::Float8_e4m3fn float float Scalar Scalar Scalar",
                r#"["","","","","","","6"]"#,
                (product, Some(160 + 8 + 4 * 64)),
            ),
            // Two values of 4 bits are one element.
            (
                "aiter::gemm_a4w4",
                "[[4,4],[16,4]]",
                "c10::Float4_e2m1fn_x2 c10::Float4_e2m1fn_x2",
                "[]",
                (product, Some(16 + 64 + 2 * 64)),
            ),
            (
                "_C::cutlass_scaled_mm",
                "[[4,16],[4,8],[8,16],[1],[1]]",
                "c10::BFloat16 c10::Float8_e4m3fn c10::Float8_e4m3fn float float",
                "[]",
                (product, Some(128 + 160 + 8)),
            ),
            ("aten::mm", "[[4,8],[8,16]]", "what what", "[]", (product, None)),
        ] {
            assert_eq!(of(name, dims, types, concrete), Some(expected), "{name} {types}");
        }
    }

    #[test]
    fn each_row_of_grouped_products_has_one_weight() {
        let types = "c10::BFloat16 c10::BFloat16 int";
        let by_rows = of("aten::_grouped_mm", "[[100,8],[4,8,16],[4]]", types, "[]");
        assert_eq!(by_rows, Some((2 * 100 * 8 * 16, Some(2 * (800 + 512 + 1600)))));
        // Three rows belong to at most three groups.
        let few = of("aten::_grouped_mm", "[[3,8],[4,8,16],[4]]", types, "[]");
        assert_eq!(few, Some((2 * 3 * 8 * 16, Some(2 * (24 + 3 * 128 + 48)))));
        // The gradient of the weights: each group has a part of the depth.
        let by_depth = of("aten::_grouped_mm", "[[8,100],[100,16],[4]]", types, "[]");
        assert_eq!(by_depth, Some((2 * 8 * 100 * 16, Some(2 * (800 + 1600 + 4 * 128)))));
    }
}
