//! The roofline model: peak figures of devices, and the minimum time of an operator.
//!
//! An operator with F operations on B bytes takes at least max(F / peak of its type, B / memory bandwidth). B is the
//! size of its input tensors, each of which it has to read at least once. The figures come from `peaks.csv`; lines in
//! the same format, given by the user, take precedence. Single precision counts without TF32, because traces do not
//! contain its state.

use crate::analysis::flops::Inputs;
use crate::base::error::Error;
use alloc::format;

const PEAKS: &str = include_str!("peaks.csv");

/// The peak figures of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Peak {
    /// Operations per second: double, single, TF32, half, 8-bit integers; 0 if unknown.
    pub flops: [f64; 5],
    /// Memory bandwidth in bytes per second.
    pub memory: f64,
}

impl Peak {
    /// Returns the figures for a device with this name, or `None` if no line matches. `user_lines` are lines given by
    /// the user.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] if a line given by the user does not have the seven fields of `peaks.csv`.
    pub(crate) fn find(device: &str, user_lines: Option<&str>) -> Result<Option<Peak>, Error> {
        for text in [user_lines.unwrap_or(""), PEAKS] {
            let mut best: Option<(usize, Peak)> = None;
            for (number, line) in text.lines().map(str::trim).enumerate() {
                if line.is_empty() || line.starts_with('#') || line.starts_with("name,") {
                    continue;
                }
                let (name, peak) = parse(line).ok_or_else(|| refused(number + 1, line))?;
                if device.contains(name) && best.is_none_or(|(length, _)| name.len() > length) {
                    best = Some((name.len(), peak));
                }
            }
            if let Some((_, peak)) = best {
                return Ok(Some(peak));
            }
        }
        Ok(None)
    }

    /// Returns the minimum time of operations on inputs, in ns: by arithmetic, and by memory.
    pub(crate) fn least_ns(&self, flops: i64, bytes: i64, kind: &str) -> (f64, f64) {
        let column = match kind {
            "double" => 0,
            "c10::Half" | "c10::BFloat16" => 3,
            "signed char" | "unsigned char" => 4,
            _ => 1,
        };
        let by = |amount: i64, peak: f64| if peak > 0.0 { amount as f64 / peak * 1e9 } else { 0.0 };
        (by(flops, self.flops[column]), by(bytes, self.memory))
    }
}

fn refused(number: usize, line: &str) -> Error {
    Error::BadOption(format!(
        "peaks: line {number} is `{line:.60}`, expected name,fp64,fp32,tf32,half,int8,memory"
    ))
}

fn parse(line: &str) -> Option<(&str, Peak)> {
    let mut fields = line.split(',').map(str::trim);
    let name = fields.next().filter(|name| !name.is_empty())?;
    let mut number = || fields.next()?.parse::<f64>().ok().filter(|n| *n >= 0.0);
    let mut flops = [0.0; 5];
    for peak in &mut flops {
        *peak = number()? * 1e12;
    }
    let memory = number()? * 1e9;
    fields.next().is_none().then_some((name, Peak { flops, memory }))
}

/// Returns the size of the input tensors, in bytes.
pub(crate) fn input_bytes(inputs: &Inputs) -> i64 {
    let tensors = inputs.dims.iter().zip(&inputs.types);
    tensors.fold(0i64, |sum, (dims, kind)| {
        let size = match kind.as_str().unwrap_or("") {
            "" | "Scalar" | "ScalarList" | "TensorList" => 0,
            "double" | "long int" | "c10::complex<float>" => 8,
            "c10::complex<double>" => 16,
            "c10::Half" | "c10::BFloat16" | "short int" => 2,
            "bool" | "signed char" | "unsigned char" => 1,
            kind if kind.starts_with("c10::Float8") => 1,
            _ => 4,
        };
        let elements = dims.iter().fold(1i64, |n, &dim| n.saturating_mul(dim.max(0)));
        sum.saturating_add(elements.saturating_mul(size))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_match_is_used_and_user_lines_take_precedence() {
        let find =
            |device, user_lines| Peak::find(device, user_lines).expect("lines").map(|peak| peak.memory);
        assert_eq!(find("NVIDIA A100-SXM4-80GB", None), Some(2039e9));
        assert_eq!(find("NVIDIA A100-SXM4-40GB", None), Some(1555e9));
        assert_eq!(find("NVIDIA H200", None), Some(4800e9));
        assert_eq!(find("a device of tomorrow", None), None);
        assert_eq!(find("a device of tomorrow", Some("tomorrow,1,2,3,4,5,6")), Some(6e9));
        assert_eq!(find("NVIDIA H200", Some("H200,1,2,3,4,5,6")), Some(6e9));
        assert!(Peak::find("NVIDIA H200", Some("H200,1,2")).is_err());
        assert!(Peak::find("NVIDIA H200", Some("H200,1,2,3,4,5,x")).is_err());
    }

    #[test]
    fn every_built_in_line_parses() {
        let lines = PEAKS.lines().filter(|line| !line.starts_with('#') && !line.starts_with("name,"));
        assert!(lines.clone().count() > 15);
        assert!(lines.map(parse).all(|peak| peak.is_some_and(|(_, peak)| peak.memory > 0.0)));
    }
}
