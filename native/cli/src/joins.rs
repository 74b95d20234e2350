//! The files that are joined to a trace: its execution trace, captures of graphs, and what says where kernels come from.

use crate::failure::report;
use crate::progress::read_other;
use kinetoscope::files::{Source, sources};
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::provenance::ProvenanceFile;
use std::fs;
use std::path::{Path, PathBuf};
use std::slice;

/// What is joined. A command that does not use a kind of file has `None`, and no file of it is looked for.
#[derive(Clone, Default)]
pub(crate) struct Joins {
    /// The execution trace of the same program.
    pub(crate) execution_trace: Option<PathBuf>,
    /// The traces of captures of graphs: those next to the trace if none are given.
    pub(crate) captures: Option<Vec<PathBuf>>,
    /// Files and folders that say where kernels come from: those next to the trace if none are given.
    pub(crate) provenance: Option<Vec<PathBuf>>,
}

impl Joins {
    /// Joins everything to a trace that was read from a file. Files that were found next to it are reported if they do not fit.
    pub(crate) fn apply(&self, trace: &mut Trace, file: Option<&Path>) -> Result<(), String> {
        if let Some(path) = &self.execution_trace {
            for other in sources_of(path)? {
                let joined = trace.join(read_other(&other)?);
                joined.map_err(|error| format!("{}: {error}", other.name()))?;
            }
        }
        let folder = file.map(|file| file.parent().unwrap_or(Path::new("")));
        match (&self.captures, folder) {
            (Some(given), Some(folder)) if given.is_empty() => {
                join_captures_in(trace, &folder.join(CAPTURES));
            }
            (Some(given), _) if !given.is_empty() => join_captures(trace, given)?,
            _ => {}
        }
        match (&self.provenance, folder) {
            (Some(given), Some(folder)) if given.is_empty() => join_provenance_in(trace, folder),
            (Some(given), _) if !given.is_empty() => join_provenance(trace, given)?,
            _ => {}
        }
        Ok(())
    }
}

/// Joins the captures that are given. An engine writes one for each size of a batch, so that some can be of no launch: they are
/// reported, unless none is joined.
fn join_captures(trace: &mut Trace, given: &[PathBuf]) -> Result<(), String> {
    let mut refused = Vec::new();
    for path in given {
        for source in sources_of(path)? {
            if let Err(error) = trace.join_capture(read_other(&source)?) {
                refused.push(format!("{}: {error}", source.name()));
            }
        }
    }
    if refused.len() == given.len() {
        return Err(refused.swap_remove(0));
    }
    for error in refused {
        report(format!("not used as a capture: {error}"));
    }
    Ok(())
}

/// The folder of captures that inference engines write next to their traces.
const CAPTURES: &str = "capture_traces";

/// Joins the captures in a folder to a trace that launches graphs. Reports each that is not used.
fn join_captures_in(trace: &mut Trace, folder: &PathBuf) {
    if !folder.is_dir() || !trace.launches_graphs() {
        return;
    }
    for capture in sources(slice::from_ref(folder)).unwrap_or_default() {
        let joined = read_other(&capture).and_then(|other| {
            trace.join_capture(other).map_err(|error| format!("{}: {error}", capture.path()))
        });
        if let Err(error) = joined {
            report(format!("not used as a capture: {error}"));
        }
    }
}

/// The sources of another trace. A folder is refused.
fn sources_of(path: &PathBuf) -> Result<Vec<Source>, String> {
    if path.is_dir() {
        return Err(format!("{}: this is a folder, not a file", path.display()));
    }
    sources(slice::from_ref(path)).map_err(|error| error.to_string())
}

/// The folder that PyTorch writes with `TORCH_COMPILE_DEBUG`.
const DEBUG_FOLDER: &str = "torch_compile_debug";

/// The depth of folders in which files are looked for.
const DEPTH: usize = 6;

/// How a file was named.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Given,
    Found,
}

fn join_provenance(trace: &mut Trace, given: &[PathBuf]) -> Result<(), String> {
    let mut files = Vec::new();
    for path in given {
        if path.is_dir() {
            files_in(path, DEPTH, trace.table.metadata.rank(), &mut files);
        } else {
            files.push((path.clone(), Place::Given));
        }
    }
    if files.is_empty() {
        let folders: Vec<String> = given.iter().map(|path| path.display().to_string()).collect();
        return Err(format!("{}: no file of torch.compile is in this folder", folders.join(", ")));
    }
    join_files(trace, &files)
}

/// Joins the files next to a trace whose names show that they say where kernels come from. Reports if nothing fits.
fn join_provenance_in(trace: &mut Trace, folder: &Path) {
    if !trace.calls_generated_kernels() {
        return;
    }
    let mut files = Vec::new();
    let rank = trace.table.metadata.rank();
    files_in(folder, 1, rank, &mut files);
    files_in(&folder.join(DEBUG_FOLDER), DEPTH, rank, &mut files);
    if !files.is_empty()
        && let Err(error) = join_files(trace, &files)
    {
        report(format!("files of torch.compile next to the trace are not used: {error}"));
    }
}

/// Joins files. Those that were found in folders are left out if they cannot be used, and reported.
fn join_files(trace: &mut Trace, files: &[(PathBuf, Place)]) -> Result<(), String> {
    let mut read: Vec<(String, Vec<u8>)> = Vec::new();
    for (path, place) in files {
        let name = path.display().to_string();
        let bytes = fs::read(path).map_err(|error| format!("{name}: {error}"))?;
        // What is given is checked when it is joined.
        if *place == Place::Found
            && let Err(error) = (ProvenanceFile { path: &name, bytes: &bytes }).check()
        {
            report(format!("not used: {error}"));
        } else {
            read.push((name, bytes));
        }
    }
    let files: Vec<ProvenanceFile<'_>> =
        read.iter().map(|(path, bytes)| ProvenanceFile { path, bytes }).collect();
    trace.join_provenance(&files).map(|_| ()).map_err(|error| error.to_string())
}

/// Adds the files of a folder whose names say that PyTorch wrote them about compiled graphs, sorted. A log of another rank is left
/// out.
fn files_in(folder: &Path, depth: usize, rank: Option<i64>, found: &mut Vec<(PathBuf, Place)>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort_unstable();
    for path in paths {
        if path.is_dir() && depth > 1 {
            files_in(&path, depth - 1, rank, found);
        } else if path.file_name().is_some_and(|name| is_file_of_compile(&name.to_string_lossy(), rank)) {
            found.push((path, Place::Found));
        }
    }
}

fn is_file_of_compile(name: &str, rank: Option<i64>) -> bool {
    const NAMES: [&str; 4] = [
        "inductor_provenance_tracking_node_mappings.json",
        "output_code.py",
        "fx_graph_transformed.py",
        "kernel_information.json",
    ];
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let Some(log) = name.strip_prefix("dedicated_log_torch_trace_") else { return NAMES.contains(&name) };
    let of_rank = log.strip_prefix("rank_").and_then(|rest| rest.split('_').next()?.parse().ok());
    rank.is_none() || of_rank.is_none() || rank == of_rank
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_names() {
        let is_one = |name| is_file_of_compile(name, Some(3));
        assert!(is_one("dedicated_log_torch_trace_abc_12.log"));
        assert!(is_one("dedicated_log_torch_trace_rank_3_abc.log.gz"));
        assert!(!is_one("dedicated_log_torch_trace_rank_4_abc.log"));
        assert!(is_one("kernel_information.json") && is_one("output_code.py"));
        assert!(!is_one("run.json") && !is_one("model.py"));
    }
}
