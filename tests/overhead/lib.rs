//! What a recorded span costs; see `benches/spans.rs`.
