//! Measures the cost of a recorded span; see `benches/spans.rs`.
