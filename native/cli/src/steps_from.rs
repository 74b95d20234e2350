//! The steps of a trace, by an expression of the user for the names of ranges.

use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::step_rules::StepName;
use regex_lite::{Captures, Regex};

/// An expression for the names of ranges that are steps.
#[derive(Clone, Debug)]
pub(crate) struct StepsFrom(Regex);

/// The named groups of the expression that mean something.
const GROUPS: [&str; 4] = ["phase", "batch", "tokens", "number"];

impl StepsFrom {
    /// Compiles an expression.
    pub(crate) fn parse(text: &str) -> Result<StepsFrom, String> {
        let expression = Regex::new(text).map_err(|error| error.to_string())?;
        match expression.capture_names().flatten().find(|name| !GROUPS.contains(name)) {
            Some(name) => {
                Err(format!("the group {name} has no meaning; the groups are {}", GROUPS.join(", ")))
            }
            None => Ok(StepsFrom(expression)),
        }
    }

    /// Makes the ranges that match the steps of a trace.
    pub(crate) fn apply(&self, trace: &mut Trace) -> Result<(), String> {
        let step_of = |name: &str| self.0.captures(name).map(|found| step_name(&found));
        match trace.choose_steps(step_of) {
            0 => Err(format!(
                "--steps-from: no range of the trace has a name that matches {}",
                self.0.as_str()
            )),
            _ => Ok(()),
        }
    }
}

fn step_name(found: &Captures<'_>) -> StepName {
    let text = |group: &str| found.name(group).map(|part| part.as_str());
    let number = |group: &str| text(group)?.trim().parse().ok();
    StepName::new(text("phase"), number("batch"), number("tokens"), number("number"))
}
