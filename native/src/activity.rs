//! Activities: what a profiler records, under the names of PyTorch's `ProfilerActivity`.

#[cfg(feature = "analysis")]
pub(crate) mod types;
pub(crate) mod unavailable;

use std::fmt;
use std::str::FromStr;

/// A kind of activity: PyTorch's `ProfilerActivity`. [`Activity::check`] returns whether it can be recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Activity {
    /// Spans, allocations, instant events and counters of this program.
    Cpu,
    /// Work of CUDA devices.
    Cuda,
    /// Work of Intel GPUs. Cannot be recorded.
    Xpu,
    /// Work of Meta's accelerators. Cannot be recorded.
    Mtia,
    /// Work of Intel Gaudi devices. Cannot be recorded.
    Hpu,
    /// Work of a device of PyTorch's `PrivateUse1` backend. Cannot be recorded.
    PrivateUse1,
}

impl Activity {
    /// Every activity.
    pub const ALL: [Activity; 6] =
        [Activity::Cpu, Activity::Cuda, Activity::Xpu, Activity::Mtia, Activity::Hpu, Activity::PrivateUse1];

    /// Returns PyTorch's name, such as `CUDA`, which [`FromStr`] parses in any case.
    pub fn as_str(self) -> &'static str {
        match self {
            Activity::Cpu => "CPU",
            Activity::Cuda => "CUDA",
            Activity::Xpu => "XPU",
            Activity::Mtia => "MTIA",
            Activity::Hpu => "HPU",
            Activity::PrivateUse1 => "PrivateUse1",
        }
    }
}

impl fmt::Display for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The error of parsing an [`Activity`]: the text is not the name of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownActivity(pub String);

impl fmt::Display for UnknownActivity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Activity::ALL.map(Activity::as_str).join(", ");
        write!(f, "{:?} is not an activity; these are: {names}", self.0)
    }
}

impl std::error::Error for UnknownActivity {}

impl FromStr for Activity {
    type Err = UnknownActivity;

    fn from_str(text: &str) -> Result<Activity, UnknownActivity> {
        let is_named = |activity: &Activity| activity.as_str().eq_ignore_ascii_case(text);
        Activity::ALL.into_iter().find(is_named).ok_or_else(|| UnknownActivity(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_pytorchs_and_parse_in_any_case() {
        for activity in Activity::ALL {
            assert_eq!(activity.to_string().parse(), Ok(activity));
            assert_eq!(activity.as_str().to_lowercase().parse(), Ok(activity));
        }
        let error = "TPU".parse::<Activity>().expect_err("no such activity");
        assert_eq!(
            error.to_string(),
            "\"TPU\" is not an activity; these are: CPU, CUDA, XPU, MTIA, HPU, PrivateUse1"
        );
    }
}
