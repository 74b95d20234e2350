//! The work of an operator by its recorded inputs: floating point operations, and bytes of memory.
//!
//! [`estimate`] has torch.profiler's formulas, and no others. [`work`] has more, and `None` for operators without one. A
//! multiplication and the addition of its product count as 2. Bytes are the least that an operator has to read and write: its
//! inputs and its outputs once. The files describe the formulas.

mod attention;
mod convolutions;
mod elementwise;
mod estimate;
mod experts;
mod inputs;
mod products;

pub(crate) use estimate::estimate;
pub(crate) use inputs::Inputs;

/// The work of an operator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Work {
    /// Floating point operations; of the operators of `elementwise`, the least number.
    pub(crate) flops: i64,
    /// Bytes read and written; `None` if a type is not known.
    pub(crate) bytes: Option<i64>,
    /// What computes it.
    pub(crate) unit: Unit,
}

/// The units of a device that compute an operator, and the type of the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Tensor cores, where the device has them for the type.
    Matrix(Kind),
    /// Vector units.
    Vector(Kind),
}

/// Types that differ in peak figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Double,
    Single,
    Half,
    BFloat16,
    Float8,
    Float4,
    Int8,
    /// Unknown, or without a peak figure.
    Other,
}

impl Unit {
    fn matrix(kind: &str) -> Unit {
        Unit::Matrix(Kind::of(kind))
    }

    fn vector(kind: &str) -> Unit {
        Unit::Vector(Kind::of(kind))
    }
}

impl Kind {
    fn of(kind: &str) -> Kind {
        match kind {
            "double" => Kind::Double,
            "float" => Kind::Single,
            "c10::Half" => Kind::Half,
            "c10::BFloat16" => Kind::BFloat16,
            "signed char" | "unsigned char" => Kind::Int8,
            kind if kind.starts_with("c10::Float8") => Kind::Float8,
            kind if kind.starts_with("c10::Float4") => Kind::Float4,
            _ => Kind::Other,
        }
    }
}

/// Returns the work of operator `name`; `None` if there is no formula or the inputs do not fit it.
pub(crate) fn work(name: &str, inputs: &Inputs) -> Option<Work> {
    products::work(name, inputs)
        .or_else(|| attention::work(name, inputs))
        .or_else(|| convolutions::work(name, inputs))
        .or_else(|| experts::work(name, inputs))
        .or_else(|| elementwise::work(name, inputs))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns operations and bytes. Types are separated by blanks; their own are written as `-`.
    pub(super) fn of(name: &str, dims: &str, types: &str, concrete: &str) -> Option<(i64, Option<i64>)> {
        let types = serde_json::to_string(
            &types.split(' ').map(|kind| kind.replace('-', " ")).collect::<alloc::vec::Vec<_>>(),
        )
        .expect("JSON");
        let work = work(name, &Inputs::parse(Some(dims), Some(&types), Some(concrete)));
        work.map(|work| (work.flops, work.bytes))
    }

    #[test]
    fn estimates_equal_counts_where_both_have_a_formula() {
        let types = Some(r#"["float","float","float"]"#);
        let concrete = r#"["","","","[16, 16]","[0, 0]","[1, 1]","1"]"#;
        for (name, dims) in [
            ("aten::conv2d", "[[1,3,224,224],[768,3,16,16],[]]"),
            ("aten::mm", "[[4,8],[8,16]]"),
            ("aten::bmm", "[[3,4,8],[3,8,16]]"),
            ("aten::baddbmm", "[[4,16],[3,4,8],[3,8,16]]"),
            ("aten::mul", "[[4,8],[8]]"),
        ] {
            let inputs = Inputs::parse(Some(dims), types, Some(concrete));
            let counted = work(name, &inputs).map(|work| work.flops);
            assert_eq!(counted, Some(estimate(name, &inputs)), "{name}");
        }
    }

    #[test]
    fn inputs_without_a_formula_have_no_work() {
        for (name, dims) in [
            ("aten::mm", "[[9223372036854775807,2],[2,2]]"),
            ("aten::mm", "[[-2,3],[3,4]]"),
            ("aten::mm", "[[2,3],[4,3]]"),
            ("aten::mm", "[]"),
            ("aten::add", "[[-4]]"),
            ("aten::add", "[[3],[4]]"),
            ("aten::conv2d", "[[1,4,8,8],[4,4,3,3]]"),
            ("aten::scaled_dot_product_attention", "[[2,4,6,8],[2,4,10,8],[2,4,10,12]]"),
            ("aten::nonzero", "[[4]]"),
        ] {
            assert_eq!(of(name, dims, "float float float", "[]"), None, "{name} {dims}");
        }
    }
}
