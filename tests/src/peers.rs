//! The results of other tools on real traces, in a folder next to the repository.

use crate::files;
use kinetoscope_core::trace::Trace;
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The size of traces that take too long in a test without optimization, in bytes.
const LARGE: usize = 16 << 20;

/// The results and the traces.
pub struct Peers {
    folder: PathBuf,
    traces: PathBuf,
    manifest: Value,
}

impl Peers {
    /// Returns the results; reports a skip if they are absent.
    pub fn find() -> Option<Peers> {
        let folder = files::shared("goldens/peers", "results of other tools")?;
        let traces = files::shared("traces", "traces")?;
        let manifest = json(&folder.join("MANIFEST.json"));
        Some(Peers { folder, traces, manifest })
    }

    /// Returns the folders of a tool, one for each set of traces, with its name.
    pub fn sets(&self, tool: &str) -> Vec<(String, PathBuf)> {
        let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
        files::folders(&self.folder.join(tool)).into_iter().map(|path| (name(&path), path)).collect()
    }

    /// Returns the text of a trace that a tool read, by the name of its set and of the rank or worker; `None` if it is
    /// large.
    pub fn trace(&self, set: &str, tool: &str, rank: &str) -> Option<Vec<u8>> {
        let file = self.manifest[set]["tools"][tool][rank]["file"].as_str()?;
        Some(unpacked(&self.traces.join(file))).filter(|text| text.len() < LARGE)
    }
}

fn unpacked(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return bytes;
    }
    let mut text = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(bytes.as_slice()), &mut text)
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text
}

/// Returns the JSON of a file.
pub fn json(path: &Path) -> Value {
    let text = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Returns the records of a CSV file, each with the fields of these columns; none if the file is absent or empty.
pub fn csv(path: &Path, columns: &[&str]) -> Vec<Vec<String>> {
    let Ok(text) = fs::read_to_string(path) else { return Vec::new() };
    let mut records = vec![vec![String::new()]];
    let mut is_quoted = false;
    for c in text.trim_end().chars() {
        let record = records.last_mut().expect("a record");
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => record.push(String::new()),
            '\n' if !is_quoted => records.push(vec![String::new()]),
            '\r' => {}
            c => record.last_mut().expect("a field").push(c),
        }
    }
    let head = records.remove(0);
    let place = |name: &&str| head.iter().position(|key| key == name);
    let Some(places) = columns.iter().map(place).collect::<Option<Vec<usize>>>() else { return Vec::new() };
    records.iter().map(|record| places.iter().map(|&place| record[place].clone()).collect()).collect()
}

/// Returns a trace without the events that HTA leaves out: with several profiler steps, what starts in the last step on
/// the host, and the device work that it launched.
pub fn without_last_step(text: &[u8]) -> Trace {
    let mut document: Value = serde_json::from_slice(text).expect("JSON");
    let events = if document.is_array() { &mut document } else { &mut document["traceEvents"] };
    let events = events.as_array_mut().expect("events");
    let is_step = |event: &Value| event["name"].as_str().is_some_and(|name| name.starts_with("ProfilerStep"));
    let on_host = |event: &Value| {
        let cat = event["cat"].as_str().unwrap_or_default().to_ascii_lowercase();
        cat != "kernel" && cat != "cuda_sync" && !cat.contains("memcpy") && !cat.contains("memset")
    };
    let is_kept = |event: &Value| !event["dur"].is_null() && !event["cat"].is_null();
    let steps = || events.iter().filter(|event| is_step(event) && is_kept(event) && on_host(event));
    let mut names: Vec<&str> = steps().filter_map(|event| event["name"].as_str()).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() < 2 {
        return Trace::read(text).expect("a trace");
    }
    let last = steps().filter_map(|event| event["ts"].as_f64()).fold(f64::MIN, f64::max);
    let is_early = |event: &Value| event["ts"].as_f64().is_some_and(|ts| ts < last);
    let calls: std::collections::HashSet<i64> = events
        .iter()
        .filter(|event| on_host(event) && is_kept(event) && is_early(event))
        .filter_map(|event| event["args"]["correlation"].as_i64())
        .collect();
    events.retain(|event| match event["args"]["correlation"].as_i64() {
        _ if on_host(event) => event["ts"].is_null() || is_early(event) || !is_kept(event),
        Some(id) => calls.contains(&id),
        None => false,
    });
    Trace::read(document.to_string().as_bytes()).expect("a trace")
}

/// How many results of another tool are as here, and descriptions of the others.
#[derive(Default)]
pub struct Tally {
    /// The number of results that are the same.
    pub same: usize,
    /// The others.
    pub others: Vec<String>,
}

impl Tally {
    /// Counts a result.
    pub fn count(&mut self, is_same: bool, other: impl FnOnce() -> String) {
        self.same += usize::from(is_same);
        self.others.extend((!is_same).then(other));
    }
}

/// How often another tool has the same result, and why it differs otherwise. `Tally::agrees` checks the counts.
pub struct Agreement {
    /// The tool, with what was compared.
    pub what: &'static str,
    /// The number of results that are the same.
    pub same: usize,
    /// The number of results that differ.
    pub different: usize,
    /// The reasons of all differences.
    pub why: &'static str,
}

/// All comparisons, in the order of the table in the documentation.
pub const AGREEMENTS: &[Agreement] = &[
    Agreement {
        what: "exact computation: span, idle and communication of devices",
        same: 77,
        different: 1,
        why: "multicast collectives (`multimem_all_reduce`) are communication here",
    },
    Agreement {
        what: "exact computation, HTA's selection of events: span, idle, compute, communication, overlap",
        same: 121,
        different: 9,
        why: "HTA counts synchronizations, and an operator with a stream, as work of a device: 6; multicast collectives: 3",
    },
    Agreement {
        what: "HTA: times of kernels by name",
        same: 583,
        different: 1,
        why: "HTA counts an operator with a stream as a kernel",
    },
    Agreement { what: "HTA: durations and delay of launches", same: 7300, different: 0, why: "" },
    Agreement {
        what: "HTA: longest launch queue of streams",
        same: 21,
        different: 1,
        why: "a launch and a start at the same time count together here",
    },
    Agreement {
        what: "HTA: kernel sequences of operators",
        same: 81,
        different: 12,
        why: "HTA counts waiting calls as kernels, and only the calls of an operator at its smallest depth",
    },
    Agreement { what: "TensorBoard plugin: calls and times of kernels", same: 650, different: 0, why: "" },
    Agreement { what: "TensorBoard plugin: blocks per SM of kernels", same: 650, different: 0, why: "" },
    Agreement {
        what: "TensorBoard plugin: tensor cores of kernels",
        same: 641,
        different: 9,
        why: "the plugin does not know WMMA, flash attention and the matrix cores of AMD",
    },
    Agreement {
        what: "TensorBoard plugin: occupancy of kernels",
        same: 591,
        different: 46,
        why: "the plugin counts a missing occupancy as 0",
    },
    Agreement { what: "TensorBoard plugin: recommendations", same: 12, different: 0, why: "" },
];

impl Tally {
    /// Checks that the counts are those of the table in the documentation.
    ///
    /// # Panics
    /// Panics with the different results if they are not.
    pub fn agrees(&self, what: &str) {
        let expected = AGREEMENTS.iter().find(|agreement| agreement.what == what).expect("a comparison");
        let counts = (self.same, self.others.len());
        assert_eq!(counts, (expected.same, expected.different), "{what}:\n{}", self.others.join("\n"));
    }
}

/// Returns the table of the documentation.
pub fn agreement_table() -> String {
    let mut table = String::from("| results | same | different | why |\n|---|---:|---:|---|\n");
    for Agreement { what, same, different, why } in AGREEMENTS {
        let _ = writeln!(table, "| {what} | {same} | {different} | {why} |");
    }
    table
}
