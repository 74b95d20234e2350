//! The recorded inputs of an operator: sizes, types and values.
//!
//! The functions are not inlined: they are called often and seldom matter, and the engine for the browser is smaller.

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

/// What the elements of a tensor are, in the order in which PyTorch promotes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Elements {
    Bool,
    Integer,
    Float,
    Complex,
}

/// Returns what the elements of a tensor of a type are, and their size in bytes; `None` for other types.
#[inline(never)]
pub(crate) fn elements_of(kind: &str) -> Option<(Elements, i64)> {
    Some(match kind {
        "bool" => (Elements::Bool, 1),
        "signed char" | "unsigned char" | "c10::qint8" | "c10::quint8" => (Elements::Integer, 1),
        "short" | "short int" | "unsigned short" | "short unsigned int" => (Elements::Integer, 2),
        "int" | "unsigned int" | "c10::qint32" => (Elements::Integer, 4),
        "long" | "long int" | "long long" | "__int64" | "unsigned long" | "long unsigned int"
        | "unsigned __int64" => (Elements::Integer, 8),
        "c10::Half" | "c10::BFloat16" => (Elements::Float, 2),
        "float" => (Elements::Float, 4),
        "double" => (Elements::Float, 8),
        "c10::complex<c10::Half>" => (Elements::Complex, 4),
        "c10::complex<float>" => (Elements::Complex, 8),
        "c10::complex<double>" => (Elements::Complex, 16),
        // Two values of four bits are one element.
        kind if kind.starts_with("c10::Float8") || kind.starts_with("c10::Float4") => (Elements::Float, 1),
        _ => return None,
    })
}

/// Returns the size of elements of a type in bytes; `None` if the type is not known.
pub(super) fn bytes_of(elements: i64, kind: &str) -> Option<i64> {
    elements.checked_mul(elements_of(kind)?.1)
}

/// Returns the number of values in an element: two of 4 bits are one.
pub(super) fn values_in(kind: &str) -> i64 {
    if kind.starts_with("c10::Float4") { 2 } else { 1 }
}

/// Returns the size of an element of the type with a number in PyTorch (`ScalarType`), in bytes.
pub(super) fn width_of_type(number: i64) -> Option<i64> {
    Some(match number {
        0 | 1 | 11 | 23..=26 => 1,
        2 | 5 | 15 => 2,
        3 | 6 => 4,
        4 | 7 | 9 => 8,
        10 => 16,
        _ => return None,
    })
}

/// Returns the product; `None` if a size is negative or the product overflows an `i64`.
#[inline(never)]
pub(super) fn product(sizes: &[i64]) -> Option<i64> {
    let sizes = sizes.iter().map(|&size| Some(size).filter(|&size| size >= 0));
    sizes.into_iter().try_fold(1i64, |n, size| n.checked_mul(size?))
}

/// Returns the sum of known numbers of bytes.
#[inline(never)]
pub(super) fn sum(parts: &[Option<i64>]) -> Option<i64> {
    parts.iter().try_fold(0i64, |sum, part| sum.checked_add((*part)?))
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

    /// Returns the name of the type of an input; empty if it was not recorded.
    pub(crate) fn kind(&self, at: usize) -> &str {
        self.types.get(at).and_then(Value::as_str).unwrap_or("")
    }

    /// Returns the sizes of an input if it is a tensor of at least one dimension.
    #[inline(never)]
    pub(super) fn tensor(&self, at: usize) -> Option<&[i64]> {
        self.dims.get(at).map(Vec::as_slice).filter(|d| !d.is_empty())
    }

    /// Returns the number of elements of a tensor.
    #[inline(never)]
    pub(super) fn elements(&self, at: usize) -> Option<i64> {
        product(self.tensor(at)?)
    }

    /// Returns the positions of the tensors.
    pub(super) fn tensors(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.dims.len()).filter(|&at| !self.dims[at].is_empty() || elements_of(self.kind(at)).is_some())
    }

    /// Returns the size of an input in bytes, 0 if it is not a tensor; `None` if its type is not known.
    #[inline(never)]
    pub(super) fn bytes(&self, at: usize) -> Option<i64> {
        let Some(dims) = self.dims.get(at) else { return Some(0) };
        match elements_of(self.kind(at)) {
            Some((_, size)) => product(dims)?.checked_mul(size),
            None => (dims.is_empty() && self.kind(at) != "TensorList").then_some(0),
        }
    }

    /// Returns the size of the inputs before a position in bytes; `None` if a type is not known.
    pub(super) fn bytes_before(&self, end: usize) -> Option<i64> {
        (0..end).try_fold(0i64, |sum, at| sum.checked_add(self.bytes(at)?))
    }

    /// Returns the position of the tensor that an operator writes to because the call has it as `out`: the last tensor at or after
    /// a position, of a size.
    pub(super) fn output(&self, from: usize, elements: i64) -> Option<usize> {
        let at = (from..self.dims.len()).rev().find(|&at| !self.dims[at].is_empty())?;
        (self.elements(at) == Some(elements)).then_some(at)
    }

    /// Returns the size of all inputs in bytes; `None` if a type is not known.
    #[inline(never)]
    pub(crate) fn all_bytes(&self) -> Option<i64> {
        self.bytes_before(self.dims.len())
    }

    pub(super) fn value(&self, at: usize) -> Option<&str> {
        self.concrete.get(at)?.as_str()
    }

    /// Returns an integer.
    #[inline(never)]
    pub(super) fn int(&self, at: usize) -> Option<i64> {
        self.value(at)?.parse().ok()
    }

    /// Returns a number.
    pub(super) fn number(&self, at: usize) -> Option<f64> {
        self.value(at)?.parse().ok()
    }

    /// Returns the positions of the inputs that are `True` or `False`, with their values.
    pub(super) fn flags(&self) -> impl Iterator<Item = (usize, bool)> + '_ {
        let flag = |at| match self.value(at)? {
            "True" => Some((at, true)),
            "False" => Some((at, false)),
            _ => None,
        };
        (0..self.concrete.len()).filter_map(flag)
    }

    pub(super) fn is_true(&self, at: usize) -> bool {
        self.value(at) == Some("True")
    }

    /// Returns the items of a list such as `[1, 2]`; `None` if the value is not a list.
    pub(super) fn items(&self, at: usize) -> Option<impl Iterator<Item = &str>> {
        let text = self.value(at)?.strip_prefix('[')?.strip_suffix(']')?;
        Some(text.split(',').map(str::trim))
    }

    /// Returns the integers of a list; `None` if the value is not a list of integers.
    #[inline(never)]
    pub(super) fn list(&self, at: usize) -> Option<Vec<i64>> {
        self.items(at)?.map(|n| n.parse().ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_inputs_is_known_if_every_type_is() {
        let bytes = |dims, types| Inputs::parse(Some(dims), Some(types), None).all_bytes();
        assert_eq!(bytes("[[2,3],[],[4]]", r#"["c10::Half","Scalar","long"]"#), Some(2 * 6 + 8 * 4));
        assert_eq!(bytes("[[],[2]]", r#"["double","bool"]"#), Some(8 + 2));
        assert_eq!(bytes("[[2],[]]", r#"["float","TensorList"]"#), None);
        assert_eq!(bytes("[[2]]", r#"["a type of tomorrow"]"#), None);
        assert_eq!(bytes("[[2]]", "[]"), None);
        assert_eq!(bytes("[[9223372036854775807,2]]", r#"["bool"]"#), None);
    }
}
