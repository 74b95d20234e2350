//! Tests of device recording, with fakes of the driver and of CUPTI.

mod decode;
mod recording;
#[path = "../recorder/support.rs"]
mod support;
mod wheels;
