//! Convolutions of 1 to 3 dimensions, grouped: 2 · N · elements of the output's space · elements of the weight; transposed ones:
//! 2 · elements of the input · elements of the weight for one input channel; their gradients with respect to input and
//! weight: the same number again for each gradient that was requested.

use super::inputs::{Inputs, bytes_of, product, sum};
use super::{Unit, Work};

/// The positions of a convolution's values among its inputs.
#[derive(Clone, Copy)]
struct Places {
    stride: usize,
    padding: usize,
    dilation: usize,
    /// Of a transposed convolution.
    output_padding: usize,
    groups: usize,
}

/// Returns the work of a convolution; `None` for other operators.
pub(super) fn work(name: &str, inputs: &Inputs) -> Option<Work> {
    let places = Places { stride: 3, padding: 4, dilation: 5, output_padding: 7, groups: 8 };
    match name {
        "aten::convolution" | "aten::_convolution" if inputs.is_true(6) => transposed(inputs, places),
        "aten::conv1d" | "aten::conv2d" | "aten::conv3d" | "aten::convolution" | "aten::_convolution" => {
            convolution(inputs, places)
        }
        "aten::cudnn_convolution" => {
            convolution(inputs, Places { padding: 2, stride: 3, dilation: 4, ..places })
        }
        "aten::miopen_convolution" | "aten::mkldnn_convolution" => {
            convolution(inputs, Places { padding: 3, stride: 4, dilation: 5, ..places })
        }
        "aten::conv_transpose1d" | "aten::conv_transpose2d" | "aten::conv_transpose3d" => {
            transposed(inputs, Places { output_padding: 5, groups: 6, dilation: 7, ..places })
        }
        "aten::cudnn_convolution_transpose" => {
            transposed(inputs, Places { padding: 2, output_padding: 3, stride: 4, dilation: 5, groups: 6 })
        }
        "aten::miopen_convolution_transpose" => {
            transposed(inputs, Places { padding: 3, output_padding: 4, stride: 5, dilation: 6, groups: 7 })
        }
        "aten::convolution_backward" => backward(inputs),
        _ => None,
    }
}

fn axis(list: &[i64], at: usize) -> Option<i64> {
    list.get(at).or(list.first()).copied()
}

/// Returns the work of a convolution with this number of operations and of outputs.
fn with_output(inputs: &Inputs, flops: i64, outputs: i64) -> Work {
    let kind = inputs.kind(0);
    let bytes = sum(&[inputs.all_bytes(), bytes_of(outputs, kind)]);
    Work { flops, bytes, unit: Unit::matrix(kind) }
}

/// Returns the number of outputs of one channel: of a space, and of a kernel that moves over it.
pub(super) fn outputs(
    (space, kernel): (&[i64], &[i64]),
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
) -> Option<i64> {
    space.iter().zip(kernel).enumerate().try_fold(1, |outputs, (at, (&size, &width))| {
        let reach = axis(dilation, at)?.checked_mul(width.checked_sub(1)?)?;
        let padded = size.checked_add(axis(padding, at)?.checked_mul(2)?)?;
        let room = padded.checked_sub(reach)?.checked_sub(1)?;
        product(&[outputs, room.checked_div(axis(stride, at)?)?.checked_add(1)?])
    })
}

fn convolution(inputs: &Inputs, places: Places) -> Option<Work> {
    let ([n, _, space @ ..], weight) = (inputs.tensor(0)?, inputs.tensor(1)?) else { return None };
    let kernel = weight.get(2..).filter(|k| k.len() == space.len() && !k.is_empty())?;
    let (stride, dilation) = (inputs.list(places.stride)?, inputs.list(places.dilation)?);
    let padding = inputs.list(places.padding)?;
    let outputs = product(&[*n, outputs((space, kernel), &stride, &padding, &dilation)?])?;
    let flops = product(&[2, outputs, product(weight)?])?;
    Some(with_output(inputs, flops, product(&[outputs, *weight.first()?])?))
}

fn transposed(inputs: &Inputs, places: Places) -> Option<Work> {
    let weight = inputs.tensor(1)?;
    let flops = product(&[2, inputs.elements(0)?, product(weight.get(1..)?)?])?;
    let work = |outputs| with_output(inputs, flops, outputs);
    Some(transposed_outputs(inputs, places).map_or(Work { bytes: None, ..work(0) }, work))
}

/// Returns the number of outputs of a transposed convolution; `None` if its values were not recorded.
fn transposed_outputs(inputs: &Inputs, places: Places) -> Option<i64> {
    let ([n, _, space @ ..], weight) = (inputs.tensor(0)?, inputs.tensor(1)?) else { return None };
    let kernel = weight.get(2..).filter(|k| k.len() == space.len() && !k.is_empty())?;
    let (stride, padding) = (inputs.list(places.stride)?, inputs.list(places.padding)?);
    let (dilation, more) = (inputs.list(places.dilation)?, inputs.list(places.output_padding)?);
    let mut outputs = product(&[*n, inputs.int(places.groups)?, *weight.get(1)?])?;
    for (at, (&size, &width)) in space.iter().zip(kernel).enumerate() {
        let reach = axis(&dilation, at)?.checked_mul(width.checked_sub(1)?)?;
        let steps = size.checked_sub(1)?.checked_mul(axis(&stride, at)?)?;
        let cut = axis(&padding, at)?.checked_mul(2)?;
        let room =
            steps.checked_sub(cut)?.checked_add(reach)?.checked_add(axis(&more, at)?)?.checked_add(1)?;
        outputs = product(&[outputs, room])?;
    }
    Some(outputs)
}

fn backward(inputs: &Inputs) -> Option<Work> {
    let (gradient, weight) = (inputs.tensor(0)?, inputs.tensor(2)?);
    let per_gradient = if inputs.is_true(7) {
        product(&[2, inputs.elements(1)?, product(weight.get(1..)?)?])?
    } else {
        product(&[2, *gradient.first()?, product(gradient.get(2..)?)?, product(weight)?])?
    };
    let mut wanted = inputs.items(10)?.map(|word| word == "True");
    let (of_input, of_weight) = (wanted.next()?, wanted.next()?);
    let flops = per_gradient.checked_mul(i64::from(of_input) + i64::from(of_weight))?;
    let written = |is_wanted: bool, at| if is_wanted { inputs.bytes(at) } else { Some(0) };
    let bytes = sum(&[inputs.all_bytes(), written(of_input, 1), written(of_weight, 2)]);
    Some(Work { flops, bytes, unit: Unit::matrix(inputs.kind(1)) })
}

#[cfg(test)]
mod tests {
    use crate::analysis::formulas::tests::of;

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
            let weights = kernel * c_in / groups;
            let outputs = n * c_out * steps(size, kernel, stride, padding, dilation);
            let bytes = 4 * (n * c_in * size + c_out * weights + outputs);
            let expected = Some((outputs * 2 * weights, Some(bytes)));
            assert_eq!(of("aten::conv1d", &dims, "float float Scalar", &concrete), expected);
            // A transposed convolution makes the input of a convolution from its output.
            let space = steps(size, kernel, stride, padding, dilation);
            let rest = (size + 2 * padding - dilation * (kernel - 1) - 1) % stride;
            let concrete = alloc::format!(
                r#"["","","","[{stride}]","[{padding}]","[{rest}]","{groups}","[{dilation}]"]"#
            );
            let dims = alloc::format!("[[{n},{c_out},{space}],[{c_out},{},{kernel}],[]]", c_in / groups);
            let expected = Some((outputs * 2 * weights, Some(bytes)));
            assert_eq!(of("aten::conv_transpose1d", &dims, "float float Scalar", &concrete), expected);
        }
    }

    #[test]
    fn other_forms_have_their_values_elsewhere() {
        let (dims, types) = ("[[1,4,3,3],[4,2,2,2]]", "float float");
        let flops = |name, concrete| of(name, dims, types, concrete).map(|work| work.0);
        let transposed = Some(2 * 36 * 8);
        assert_eq!(flops("aten::conv_transpose2d", "[]"), transposed);
        assert_eq!(flops("aten::convolution", r#"["","","","","","","True"]"#), transposed);
        let mkldnn = r#"["","","","[0, 0]","[1, 1]","[1, 1]","2"]"#;
        assert_eq!(flops("aten::mkldnn_convolution", mkldnn), Some(2 * 4 * 32));
        let cudnn = r#"["","","[0, 0]","[1, 1]","[1, 1]","2"]"#;
        assert_eq!(flops("aten::cudnn_convolution", cudnn), Some(2 * 4 * 32));
        assert_eq!(flops("aten::conv2d", r#"["","","","[0, 0]","[0, 0]","[1, 1]","1"]"#), None);
        // The kernel is larger than the space on both axes.
        let larger =
            of("aten::conv2d", "[[1,4,4,4],[4,4,9,9]]", types, r#"["","","","[1]","[0]","[1]","1"]"#);
        assert_eq!(larger, None);
    }

    #[test]
    fn each_requested_gradient_counts() {
        let dims = "[[2,8,5,5],[2,4,5,5],[8,4,3,3]]";
        let concrete = |mask| {
            alloc::format!(
                r#"["","","","[0]","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1","[{mask}, False]"]"#
            )
        };
        let work = |mask| of("aten::convolution_backward", dims, "float float float", &concrete(mask));
        let (one, all) = (2 * 2 * 25 * 8 * 4 * 9, 4 * (400 + 200 + 288));
        assert_eq!(work("True, True"), Some((2 * one, Some(all + 4 * (200 + 288)))));
        assert_eq!(work("False, True"), Some((one, Some(all + 4 * 288))));
    }
}
