//! The output paths of the commands that write traces. All are determined before the first is written, so that no output
//! overwrites an input or another output.

use crate::args::Files;
use crate::failure::Failure;
use crate::named_files::{Inputs, resolved};
use kinetoscope::files::Source;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The output path of each source; `None` is standard output. In an output folder, a source keeps its path relative to the
/// folder that was named on the command line.
pub(crate) fn destinations(
    args: &Files,
    (sources, inputs): (&[Source], &Inputs),
    extension: Option<&str>,
) -> Result<Vec<Option<PathBuf>>, Failure> {
    let Some(output) = &args.output else {
        return match sources {
            [_] => Ok(vec![None]),
            _ => Err(Failure::usage("several traces need --output FOLDER")),
        };
    };
    let is_file = sources.len() == 1 && !output.is_dir();
    let place = |source| output.join(renamed(&within(source, &args.traces), extension));
    let paths: Vec<PathBuf> =
        sources.iter().map(|source| if is_file { output.clone() } else { place(source) }).collect();
    paths.iter().try_for_each(|path| inputs.refuse(path))?;
    let mut taken = BTreeSet::new();
    for path in &paths {
        if !taken.insert(resolved(path)) {
            return Err(Failure::usage(format!("two traces would be written to {}", path.display())));
        }
    }
    if !is_file {
        paths.iter().filter_map(|path| path.parent()).try_for_each(create_folder)?;
    }
    Ok(paths.into_iter().map(Some).collect())
}

fn create_folder(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| Failure::usage(format!("{}: {error}", folder.display())))
}

/// The path of a source relative to the folder on the command line, or its file name.
fn within(source: &Source, named: &[PathBuf]) -> PathBuf {
    let Source::File(path) = source else { return PathBuf::from("stdin.json") };
    match named.iter().find_map(|folder| path.strip_prefix(folder).ok()) {
        Some(place) if !place.as_os_str().is_empty() => place.to_path_buf(),
        _ => PathBuf::from(source.name()),
    }
}

/// The file name of the output: without `.zst`, with `.json` in place of the extension of a binary format, and with the
/// extension of the export in place of `.gz`.
fn renamed(place: &Path, extension: Option<&str>) -> PathBuf {
    let mut place = place.to_path_buf();
    let has = |place: &Path, known: &str| place.extension().is_some_and(|e| e.eq_ignore_ascii_case(known));
    if has(&place, "zst") {
        place.set_extension("");
    }
    if let Some(extension) = extension {
        if has(&place, "gz") {
            place.set_extension("");
        }
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        return place.with_file_name(format!("{name}.{extension}"));
    }
    if ["ktrace", "pickle", "pftrace", "perfetto-trace"].iter().any(|binary| has(&place, binary)) {
        place.set_extension("json");
    }
    place
}
