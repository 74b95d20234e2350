//! The roofline model: peak figures of devices.
//!
//! An operator with F operations on B bytes takes at least max(F / peak of its type, B / memory bandwidth). B is the size of its
//! inputs and outputs, each of which it has to read or write at least once. The figures come from
//! [`Model`](super::models::Model); lines that the user gives take precedence.

use super::models::Device;
use super::peak::Peak;
use crate::base::error::Error;
use alloc::format;

impl Peak {
    /// Returns the figures for a device, or `None` if they are not known. `user_lines` are lines given by the user, each for
    /// the devices whose names contain its first field; the longest one that does is used.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] if a line given by the user does not have the ten fields.
    pub(crate) fn find(device: Option<&Device>, user_lines: Option<&str>) -> Result<Option<Peak>, Error> {
        let mut best: Option<(usize, Peak)> = None;
        let user_lines = user_lines.unwrap_or("").trim_start_matches('\u{feff}');
        for (number, line) in user_lines.lines().map(str::trim).enumerate() {
            if line.is_empty() || line.starts_with('#') || line.starts_with("name,") {
                continue;
            }
            let (name, peak) = parse(line).ok_or_else(|| refused(number + 1, line))?;
            let fits = device
                .is_some_and(|device| device.name.to_ascii_lowercase().contains(&name.to_ascii_lowercase()));
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
        "peaks: line {number} is `{line:.60}`, expected name,fp64,fp32,tf32,fp16,bf16,fp8,fp4,int8,memory"
    ))
}

/// A field that is empty is a figure that is not known.
fn parse(line: &str) -> Option<(&str, Peak)> {
    let mut fields = line.split(',').map(str::trim);
    let name = fields.next().map(|name| name.trim_matches('"')).filter(|name| !name.is_empty())?;
    let mut number = || match fields.next()? {
        "" => Some(0.0),
        text => text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0),
    };
    let mut flops = [0.0; 8];
    for peak in &mut flops {
        *peak = number()? * 1e12;
    }
    let memory = number()? * 1e9;
    fields.next().is_none().then_some((name, Peak { flops, memory }))
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
        assert_eq!(memory("a device of tomorrow", Some("tomorrow,1,2,3,4,5,6,7,8,9")), Some(9e9));
        assert_eq!(memory("NVIDIA H200", Some("H200,1,2,3,,5,,,8,9")), Some(9e9));
        assert_eq!(memory("NVIDIA H200", Some("\u{feff}\"nvidia h200\",1,2,3,4,5,6,7,8,9")), Some(9e9));
        assert_eq!(memory("NVIDIA H200", Some("H,1,2,3,4,5,6,7,8,7\nH200,1,2,3,4,5,6,7,8,9")), Some(9e9));
        assert!(find("NVIDIA H200", Some("H200,1,2")).is_err());
        assert!(find("NVIDIA H200", Some("H200,1,2,3,4,5,6,7,8,x")).is_err());
    }
}
