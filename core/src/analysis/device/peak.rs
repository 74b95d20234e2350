//! Peak figures of a device.

/// The peak figures of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Peak {
    /// Operations per second: double, single, TF32, half, bfloat16, 8-bit and 4-bit floats, 8-bit integers; 0 if unknown.
    pub flops: [f64; 8],
    /// Memory bandwidth in bytes per second.
    pub memory: f64,
}

impl Peak {
    /// Returns the minimum time of operations on inputs, in ns: by arithmetic, and by memory.
    pub(crate) fn least_ns(&self, flops: i64, bytes: i64, kind: &str) -> (f64, f64) {
        let column = match kind {
            "double" => 0,
            "c10::Half" => 3,
            "c10::BFloat16" => 4,
            "signed char" | "unsigned char" => 7,
            kind if kind.starts_with("c10::Float8") => 5,
            _ => 1,
        };
        let by = |amount: i64, peak: f64| if peak > 0.0 { amount as f64 / peak * 1e9 } else { 0.0 };
        (by(flops, self.flops[column]), by(bytes, self.memory))
    }
}
