//! Floating point operations of an operator, estimated from its input shapes as torch.profiler does.
//!
//! With all sizes in elements: `mm`, `addmm`, `bmm`, `baddbmm` 2·m·k·n per matrix; `conv2d`
//! 2·N·Hout·Wout·Kh·Kw·Cin·Cout/groups; `add` and `mul` one per element of the first input.

use alloc::vec::Vec;
use serde_json::Value;

/// What the estimate needs of an operator: the trace's `Input Dims`, `Input type` and `Concrete Inputs`.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// The sizes of each input; empty for what is no tensor.
    pub dims: Vec<Vec<i64>>,
    /// The type names of each input.
    pub types: Vec<Value>,
    /// The written values of each input that is no tensor.
    pub concrete: Vec<Value>,
}

impl Inputs {
    /// Parses the three JSON texts; what is absent or broken stays empty.
    pub fn parse(dims: Option<&str>, types: Option<&str>, concrete: Option<&str>) -> Self {
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

    /// The integers of a list such as `[1, 2]`; `None` when the value is no list.
    fn list(&self, at: usize) -> Option<Vec<i64>> {
        let text = self.concrete.get(at)?.as_str()?.strip_prefix('[')?.strip_suffix(']')?;
        text.split(',').map(|n| n.trim().parse().ok()).collect()
    }
}

fn product(sizes: &[i64]) -> Option<i64> {
    sizes.iter().try_fold(1i64, |n, &size| n.checked_mul(size))
}

/// The estimate for operator `name`; 0 where there is no formula or the inputs do not fit it.
pub fn estimate(name: &str, inputs: &Inputs) -> i64 {
    let dims = |at: usize| inputs.dims.get(at).filter(|d| !d.is_empty());
    let matrices = |a: usize, b: usize| -> Option<i64> {
        let (a, b) = (dims(a)?, dims(b)?);
        product(a)?.checked_mul(*b.last()?)?.checked_mul(2)
    };
    let count = match name {
        "aten::mm" | "aten::bmm" => matrices(0, 1),
        "aten::addmm" | "aten::baddbmm" => matrices(1, 2),
        "aten::add" | "aten::mul" if inputs.is_tensor(0) => inputs.dims.first().and_then(|d| product(d)),
        "aten::conv2d" => conv2d(inputs),
        _ => None,
    };
    count.unwrap_or(0)
}

fn conv2d(inputs: &Inputs) -> Option<i64> {
    let [n, c_in, h, w] = *inputs.dims.first()?.as_slice() else { return None };
    let [c_out, _, k_h, k_w] = *inputs.dims.get(1)?.as_slice() else { return None };
    let (stride, padding, dilation) = (inputs.list(3)?, inputs.list(4)?, inputs.list(5)?);
    let groups: i64 = inputs.concrete.get(6)?.as_str()?.parse().ok()?;
    let out = |size: i64, kernel: i64, axis: usize| -> Option<i64> {
        let at = |list: &[i64]| list.get(axis).or(list.first()).copied();
        let reach = at(&dilation)?.checked_mul(kernel - 1)?;
        let room = size.checked_add(at(&padding)?.checked_mul(2)?)?.checked_sub(reach)?.checked_sub(1)?;
        room.checked_div(at(&stride)?)?.checked_add(1)
    };
    let outputs = product(&[n, out(h, k_h, 0)?, out(w, k_w, 1)?])?;
    product(&[2, outputs, k_h, k_w, c_in, c_out])?.checked_div(groups)
}
