//! Values with units: `25 ms`, `12 GiB`, `5 %`.

use crate::base::units::{SIZES, bytes, time_ns, with_unit};
use crate::base::words::words;
use alloc::format;
use alloc::string::String;
use serde_json::Value;

words! {
    "BudgetUnit"
    /// The unit of a value.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Unit {
        /// Time.
        Ns = "ns",
        /// Memory.
        Bytes = "bytes",
        /// A number.
        Count = "count",
    }
}

const TIMES: [(&str, f64); 5] = [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];

impl Unit {
    /// Reads a value.
    ///
    /// # Errors
    /// Returns what is expected.
    pub(crate) fn read(self, value: &Value) -> Result<f64, String> {
        let units: &[(&str, f64)] = match self {
            Unit::Ns => &TIMES,
            Unit::Bytes => &SIZES,
            Unit::Count => &[],
        };
        let expected = || match self {
            Unit::Ns => format!("expected a time with its unit, such as \"25 ms\", not {value}"),
            Unit::Bytes => format!("expected a size with its unit, such as \"12 GiB\", not {value}"),
            Unit::Count => format!("expected a number without a unit, not {value}"),
        };
        let number = match value {
            Value::Number(number) if self == Unit::Count => number.as_f64(),
            Value::String(text) => with_unit(text, units),
            _ => None,
        };
        number.filter(|number| number.is_finite() && *number >= 0.0).ok_or_else(expected)
    }

    /// A value as text.
    pub(crate) fn show(self, value: f64) -> String {
        match self {
            Unit::Ns => time_ns(libm::rint(value) as i64, None),
            Unit::Bytes => bytes(libm::rint(value) as i64),
            Unit::Count => format!("{}", (value * 100.0) as i64 as f64 / 100.0),
        }
    }
}

/// Reads a share such as `5 %`.
pub(crate) fn percent(value: &Value) -> Option<f64> {
    let number = value.as_str()?.trim().strip_suffix('%')?.trim().parse::<f64>().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_have_the_unit_of_their_metric() {
        assert_eq!(Unit::Ns.read(&json!("25 ms")), Ok(25e6));
        assert_eq!(Unit::Ns.read(&json!("1.5us")), Ok(1500.0));
        assert_eq!(Unit::Bytes.read(&json!("2 GiB")), Ok(2.0 * 1_073_741_824.0));
        assert_eq!(Unit::Count.read(&json!(12)), Ok(12.0));
        assert_eq!(percent(&json!("2.5 %")), Some(0.025));
        for (unit, value) in [
            (Unit::Ns, json!(25)),
            (Unit::Ns, json!("25")),
            (Unit::Ns, json!("25 GiB")),
            (Unit::Ns, json!("-1 ms")),
            (Unit::Ns, json!("nan ms")),
            (Unit::Bytes, json!("25 ms")),
            (Unit::Count, json!("25 ms")),
            (Unit::Count, json!(-1)),
        ] {
            assert!(unit.read(&value).is_err(), "{value}");
        }
        assert_eq!(percent(&json!("-2 %")), None);
        assert_eq!(percent(&json!("2")), None);
    }
}
