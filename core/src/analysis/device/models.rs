//! Models of devices: which one a trace was recorded on, and its peak figures.
//!
//! The figures are lines of `devices.csv`, which describes the columns. A device is a model whose driver reports exactly its
//! name; one without a name is a model with its memory and its number of multiprocessors, if only one figure fits. An instance
//! of a device that is split (MIG) has the figures of its multiprocessors and of its eighths of the memory.

use super::peak::Peak;
use crate::trace::Trace;
use crate::trace::table::layout::Key;
use crate::trace::table::metadata::Metadata;
use alloc::string::String;
use alloc::vec::Vec;
use serde_json::Value;

const MODELS: &str = include_str!("devices.csv");

/// A model of devices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Model<'a> {
    /// Its name for a person.
    pub(crate) name: &'a str,
    /// `nvidia`, `amd`, ….
    pub(crate) vendor: &'a str,
    /// Nominal memory in GB, and multiprocessors.
    memory: f64,
    units: f64,
    /// Peak figures.
    pub(crate) peak: Peak,
    /// Whether it has tensor cores or matrix cores.
    pub(crate) has_tensor_cores: bool,
}

/// A device of a trace, as PyTorch describes it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Device {
    /// Its ordinal.
    pub(crate) id: i64,
    /// The name that the driver reports; empty if it reports none.
    pub(crate) name: String,
    /// The major number of the compute capability.
    pub(crate) major: Option<i64>,
    /// The model; `None` if it is not known.
    pub(crate) model: Option<Model<'static>>,
}

/// Nominal and reported memory differ by up to this share.
const MEMORY_TOLERANCE: f64 = 0.1;

fn lines() -> impl Iterator<Item = &'static str> {
    MODELS.lines().filter(|line| !line.starts_with('#') && !line.starts_with("name,"))
}

fn parse(line: &str) -> Option<Model<'_>> {
    let fields: Vec<&str> = line.split(',').collect();
    let number = |at: usize| -> Option<f64> {
        match *fields.get(at)? {
            "" => Some(0.0),
            text => text.parse().ok(),
        }
    };
    let mut flops = [0.0; 8];
    for (at, peak) in flops.iter_mut().enumerate() {
        *peak = number(5 + at)? * 1e12;
    }
    Some(Model {
        name: fields[0],
        vendor: fields.get(2)?,
        memory: number(3)?,
        units: number(4)?,
        peak: Peak { flops, memory: number(13)? * 1e9 },
        has_tensor_cores: *fields.get(14)? == "yes",
    })
}

impl Model<'static> {
    /// Returns the model whose driver reports this name.
    fn named(name: &str) -> Option<Model<'static>> {
        let name = name.trim();
        let names = |line: &'static str| line.split(',').nth(1).unwrap_or("").split('|');
        let is_named = |line: &&'static str| !name.is_empty() && names(line).any(|reported| reported == name);
        lines().find(is_named).and_then(parse)
    }

    /// Returns the model with this memory in bytes and this number of multiprocessors, if all models with them have the same
    /// figures.
    fn sized(memory: f64, units: f64) -> Option<Model<'static>> {
        let fits = |model: &Model<'_>| {
            let nominal = model.memory * 1e9;
            (model.units - units).abs() < 0.5 && (memory / nominal - 1.0).abs() <= MEMORY_TOLERANCE
        };
        let mut fitting = lines().filter_map(parse).filter(fits);
        let first = fitting.next()?;
        let is_same = |model: Model<'_>| {
            (model.vendor, model.peak, model.has_tensor_cores)
                == (first.vendor, first.peak, first.has_tensor_cores)
        };
        fitting.all(is_same).then_some(first)
    }
}

/// The parts that the memory of a device is split into.
const MEMORY_PARTS: f64 = 8.0;

impl Model<'static> {
    /// Returns an instance of a device: `NVIDIA A100-SXM4-40GB MIG 2g.10gb` has 10 GB of its memory, and `units` multiprocessors.
    fn instance(name: &str, units: Option<i64>) -> Option<Model<'static>> {
        let (name, profile) = name.split_once(" MIG ")?;
        let model = Model::named(name)?;
        // A compute instance is `1c.2g.10gb`, one with media engines `1g.10gb+me`.
        let size = |part: &str| part.split_once("gb")?.0.parse::<f64>().ok();
        let memory = profile.split('.').find_map(size)?;
        let parts = libm::round(memory / model.memory * MEMORY_PARTS).clamp(1.0, MEMORY_PARTS);
        let share = units? as f64 / model.units;
        (share > 0.0 && share <= 1.0).then(|| Model {
            memory,
            units: units.map_or(0.0, |units| units as f64),
            peak: Peak {
                flops: model.peak.flops.map(|peak| peak * share),
                memory: model.peak.memory * parts / MEMORY_PARTS,
            },
            ..model
        })
    }
}

impl Device {
    /// Returns the devices that the metadata of a trace describes.
    pub(crate) fn all(metadata: &Metadata) -> Vec<Device> {
        let Some(Value::Array(devices)) = metadata.value("deviceProperties") else { return Vec::new() };
        let device = |(at, device): (usize, &Value)| {
            let text = |key: &str| device.get(key).and_then(Value::as_str).unwrap_or("");
            let int = |key: &str| device.get(key).and_then(Value::as_i64);
            let units = int("numSms").or_else(|| int("multiProcessorCount"));
            let size = int("totalGlobalMem").zip(units);
            let sized = || size.and_then(|(memory, units)| Model::sized(memory as f64, units as f64));
            // Drivers of AMD report a name of the family for devices that they do not know.
            let is_known = |name: &str| !name.trim().is_empty() && name != "AMD Radeon Graphics";
            let name = text("name");
            let named = || Model::named(name).or_else(|| Model::instance(name, units));
            let model = if is_known(name) { named() } else { sized() };
            let id = int("id").unwrap_or(at as i64);
            Device { id, name: name.into(), major: int("computeMajor"), model }
        };
        devices.iter().enumerate().map(device).collect()
    }

    /// Returns the device that works, or one of several of the same model; `None` if they differ.
    pub(crate) fn used(trace: &Trace) -> Option<Device> {
        let table = &trace.table;
        let devices = Device::all(&table.metadata);
        if devices.windows(2).all(|pair| pair[0].name == pair[1].name && pair[0].model == pair[1].model) {
            return devices.into_iter().next();
        }
        let mut working: Vec<i64> = Vec::new();
        for row in table.rows().filter(|&row| table.category(row).is_device_work()) {
            let id = table.int(row, Key::Device);
            if let Some(id) = id.filter(|id| !working.contains(id)) {
                working.push(id);
            }
        }
        // If none of them is described, all descriptions count.
        let is_known = devices.iter().any(|device| working.contains(&device.id));
        let mut used = devices.iter().filter(|device| !is_known || working.contains(&device.id)).peekable();
        let first = *used.peek()?;
        let peak = |device: &Device| device.model.map(|model| model.peak);
        used.all(|device| peak(device) == peak(first)).then(|| first.clone())
    }

    /// Returns a name for a person: of a device without a name, that of its likely model.
    pub(crate) fn label(&self) -> String {
        match (self.name.trim(), &self.model) {
            ("", Some(model)) => alloc::format!("{} (by its memory and size)", model.name),
            ("", None) => "a device without a name".into(),
            (name, _) => name.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_model_with_figures() {
        assert!(lines().count() > 150);
        for line in lines() {
            let model = parse(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(line.split(',').count(), 16, "{line}");
            assert!(model.has_tensor_cores || model.peak.flops[2] == 0.0, "{line}");
            assert!(line.rsplit(',').next().is_some_and(|source| source.len() > 5), "{line}");
        }
    }

    #[test]
    fn names_are_matched_exactly() {
        let memory = |name| Model::named(name).map(|model| model.peak.memory);
        assert_eq!(memory("NVIDIA A100-SXM4-80GB"), Some(2039e9));
        assert_eq!(memory("NVIDIA A100-SXM4-40GB"), Some(1555e9));
        assert_eq!(memory("NVIDIA H100 80GB HBM3"), Some(3350e9));
        assert_eq!(memory("NVIDIA H200"), Some(4800e9));
        for name in ["", "H100", "NVIDIA H2000", "a device of tomorrow", "NVIDIA A10 of mine"] {
            assert_eq!(memory(name), None, "{name}");
        }
        let cores = |name| Model::named(name).map(|model| model.has_tensor_cores);
        assert_eq!((cores("NVIDIA GeForce GTX 1650"), cores("Tesla T4")), (Some(false), Some(true)));
    }

    #[test]
    fn an_instance_has_its_share_of_a_device() {
        let of = |name, units| Model::instance(name, units).map(|model| model.peak);
        let whole = Model::named("NVIDIA A100-SXM4-40GB").expect("a model").peak;
        let part = of("NVIDIA A100-SXM4-40GB MIG 2g.10gb", Some(27)).expect("an instance");
        assert!((part.flops[3] - whole.flops[3] / 4.0).abs() < 1.0);
        assert!((part.memory - whole.memory / 4.0).abs() < 1.0);
        let odd = of("NVIDIA H200 MIG 1g.18gb", Some(16)).expect("an instance");
        assert!((odd.memory - 4800e9 / 8.0).abs() < 1.0);
        assert_eq!(of("NVIDIA A100-SXM4-40GB MIG 1c.2g.10gb+me", Some(27)), Some(part));
        assert_eq!(of("NVIDIA A100-SXM4-40GB MIG 2g.10gb", None), None);
        assert_eq!(of("NVIDIA A100-SXM4-40GB MIG", Some(27)), None);
        assert_eq!(of("a device of tomorrow MIG 2g.10gb", Some(27)), None);
    }

    #[test]
    fn a_device_without_a_name_is_found_by_its_size() {
        let found = Model::sized(205_822_885_888.0, 304.0).map(|model| model.name);
        assert!(found.is_some_and(|name| name.contains("MI300X")), "{found:?}");
        assert_eq!(Model::sized(205_822_885_888.0, 303.0), None);
        assert_eq!(Model::sized(105_822_885_888.0, 304.0), None);
    }
}
