//! The roofline model: peak figures of devices, and the minimum time of an operator.
//!
//! An operator with F operations on B bytes takes at least max(F / peak of its type, B / memory bandwidth). B is the
//! size of its input tensors, each of which it has to read at least once. The figures come from [`Model`]; lines that the
//! user gives take precedence. Single precision counts without TF32, because traces do not contain its state.

use super::models::Device;
use super::peak::Peak;
use crate::analysis::flops::Inputs;
use crate::base::error::Error;
use alloc::format;

impl Peak {
    /// Returns the figures for a device, or `None` if they are not known. `user_lines` are lines given by the user, each for
    /// the devices whose names contain its first field; the longest one that does is used.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] if a line given by the user does not have the seven fields.
    pub(crate) fn find(device: Option<&Device>, user_lines: Option<&str>) -> Result<Option<Peak>, Error> {
        let mut best: Option<(usize, Peak)> = None;
        for (number, line) in user_lines.unwrap_or("").lines().map(str::trim).enumerate() {
            if line.is_empty() || line.starts_with('#') || line.starts_with("name,") {
                continue;
            }
            let (name, peak) = parse(line).ok_or_else(|| refused(number + 1, line))?;
            let fits = device.is_some_and(|device| device.name.contains(name));
            if fits && best.is_none_or(|(length, _)| name.len() > length) {
                best = Some((name.len(), peak));
            }
        }
        let known = || Some(device?.model?.peak);
        Ok(best.map(|(_, peak)| peak).or_else(known))
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
    let mut given = [0.0; 5];
    for peak in &mut given {
        *peak = number()? * 1e12;
    }
    let memory = number()? * 1e9;
    let [double, single, tf32, half, integers] = given;
    let flops = [double, single, tf32, half, half, 0.0, 0.0, integers];
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
    use crate::trace::Trace;

    #[test]
    fn lines_of_the_user_take_precedence() {
        let device = |name: &str| {
            let properties = serde_json::json!([{"name": name}]);
            let trace = format!(r#"{{"traceEvents": [], "deviceProperties": {properties}}}"#);
            let trace = Trace::read(trace.as_bytes()).expect("a trace");
            Device::all(&trace.table.metadata).remove(0)
        };
        let find = |name, user_lines| Peak::find(Some(&device(name)), user_lines);
        let memory = |name, user_lines| find(name, user_lines).expect("lines").map(|peak| peak.memory);
        assert_eq!(memory("NVIDIA H200", None), Some(4800e9));
        assert_eq!(memory("a device of tomorrow", None), None);
        assert_eq!(memory("a device of tomorrow", Some("tomorrow,1,2,3,4,5,6")), Some(6e9));
        assert_eq!(memory("NVIDIA H200", Some("H200,1,2,3,4,5,6")), Some(6e9));
        assert_eq!(memory("NVIDIA H200", Some("H,1,2,3,4,5,7\nH200,1,2,3,4,5,6")), Some(6e9));
        assert!(find("NVIDIA H200", Some("H200,1,2")).is_err());
        assert!(find("NVIDIA H200", Some("H200,1,2,3,4,5,x")).is_err());
    }
}
