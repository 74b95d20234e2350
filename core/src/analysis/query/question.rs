//! The kinds of question that a trace can answer or not.

use crate::base::words::words;

words! {
    "FitnessQuestion"
    /// A kind of question.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Question {
        /// Which operators ran, how often and for how long.
        Operators = "operators",
        /// What the devices did.
        DeviceTime = "device_time",
        /// Why the devices waited.
        Idle = "idle",
        /// What collectives took.
        Communication = "communication",
        /// Who allocated memory.
        Memory = "memory",
        /// How long steps took.
        Steps = "steps",
    }
}
