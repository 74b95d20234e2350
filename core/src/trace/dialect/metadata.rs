//! Parsed values of a trace's metadata, whose JSON text the table keeps.

use crate::trace::table::metadata::Metadata;
use alloc::string::String;
use alloc::vec::Vec;
use serde_json::Value;

impl Metadata {
    /// The parsed value of a key, if it exists and is valid JSON.
    pub fn value(&self, key: &str) -> Option<Value> {
        serde_json::from_str(self.text(key)?).ok()
    }

    /// The rank in `distributedInfo`.
    pub fn rank(&self) -> Option<i64> {
        self.value("distributedInfo")?.get("rank")?.as_i64()
    }

    /// The number of ranks in `distributedInfo`.
    pub fn world_size(&self) -> Option<i64> {
        self.value("distributedInfo")?.get("world_size")?.as_i64()
    }

    /// The names of the devices in `deviceProperties`, by `id`.
    pub fn device_names(&self) -> Vec<(i64, String)> {
        let Some(Value::Array(devices)) = self.value("deviceProperties") else { return Vec::new() };
        devices
            .iter()
            .enumerate()
            .filter_map(|(at, device)| {
                let id = device.get("id").and_then(Value::as_i64).unwrap_or(at as i64);
                Some((id, String::from(device.get("name")?.as_str()?)))
            })
            .collect()
    }
}
