//! The goldens of the real `PyTorch`, and the comparison with them.

use crate::files;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::versions::Rules;
use serde_json::Value;
use std::fmt::Debug;
use std::path::{Path, PathBuf};

/// One golden case.
pub struct Case {
    /// The group and the name.
    pub name: String,
    folder: PathBuf,
    /// The trace as this engine reads it.
    pub trace: Trace,
}

impl Case {
    /// Opens the case in a folder and reads its `trace.json`.
    pub fn open(folder: &Path, group: &str) -> Case {
        Case::open_as(folder, group, "trace.json")
            .unwrap_or_else(|| panic!("no trace in {}", folder.display()))
    }

    /// Opens the case in a folder and reads one of its files; `None` if the file does not exist.
    pub fn open_as(folder: &Path, group: &str, file: &str) -> Option<Case> {
        let form = if file == "trace.json" { String::new() } else { format!(" ({file})") };
        let name = format!("{group}/{}{form}", folder.file_name().expect("a name").to_string_lossy());
        let bytes = files::read(&folder.join(file))?;
        let mut trace = Trace::read(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        if let Some(version) = version(group, file) {
            trace.choose_rules(Rules::for_version(version).expect("rules"));
        }
        Some(Case { name, folder: folder.to_path_buf(), trace })
    }

    /// Returns a JSON file of the case.
    pub fn json(&self, file: &str) -> Option<Value> {
        let bytes = files::read(&self.folder.join(file))?;
        Some(serde_json::from_slice(&bytes).unwrap_or_else(|e| panic!("{} {file}: {e}", self.name)))
    }

    /// Returns a text file of the case.
    pub fn text(&self, file: &str) -> Option<String> {
        String::from_utf8(files::read(&self.folder.join(file))?).ok()
    }
}

/// Returns the version of PyTorch of a case whose file does not show it.
fn version(group: &str, file: &str) -> Option<&'static str> {
    match group.split_once('/') {
        Some(("2.10", _)) => Some("2.10"),
        None if file == "records.json" => Some("2.11"),
        _ => None,
    }
}

/// Opens the cases of a group.
pub fn cases(group: &str) -> Vec<Case> {
    cases_as(group, "trace.json")
}

/// Opens the cases of a group that have this file, and reads it.
pub fn cases_as(group: &str, file: &str) -> Vec<Case> {
    let cases: Vec<Case> = files::folders(&files::data().join("torch").join(group))
        .iter()
        .filter_map(|folder| Case::open_as(folder, group, file))
        .collect();
    assert!(!cases.is_empty(), "no goldens of {group} with {file}");
    cases
}

/// Converts float microseconds to nanoseconds; `None` if the value is further than 1e-6 us from an integer nanosecond.
pub fn ns(value: &Value) -> Option<i64> {
    let us = value.as_f64()?;
    let ns = (us * 1e3).round();
    ((ns / 1e3 - us).abs() < 1e-6).then_some(ns as i64)
}

/// The differences found, in order.
#[derive(Default)]
pub struct Differences {
    lines: Vec<String>,
    compared: usize,
}

impl Differences {
    /// Compares two values of a field.
    #[allow(clippy::needless_pass_by_value)]
    pub fn check<T: PartialEq + Debug>(&mut self, what: impl FnOnce() -> String, ours: T, theirs: T) {
        self.compared += 1;
        if ours != theirs {
            self.lines.push(format!("{}: {ours:?} is not {theirs:?}", what()));
        }
    }

    /// Compares two texts and keeps the first line that differs.
    pub fn check_text(&mut self, what: impl FnOnce() -> String, ours: &str, theirs: &str) {
        self.compared += 1;
        if ours != theirs {
            let (mut ours, mut theirs) = (ours.lines(), theirs.lines());
            let (a, b) = loop {
                match (ours.next(), theirs.next()) {
                    (a, b) if a == b && a.is_some() => {}
                    pair => break pair,
                }
            };
            self.lines.push(format!("{}:\n  {a:?}\n  {b:?}", what()));
        }
    }

    /// Panics with every difference, or if fewer than `least` values were compared.
    pub fn settle(self, least: usize) {
        let shown: Vec<&str> = self.lines.iter().take(40).map(String::as_str).collect();
        assert!(self.lines.is_empty(), "{} differences:\n{}", self.lines.len(), shown.join("\n"));
        assert!(self.compared >= least, "only {} values were compared", self.compared);
    }
}
