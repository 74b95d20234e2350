//! Where the results of the commands that write traces go. All are known before the first is written, so that none replaces
//! a trace or another result.

use crate::args::Files;
use crate::failure::Failure;
use kinetoscope::files::Source;
use same_file::Handle;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// For each source the output that was named, or a file in the output folder; nothing is standard output. What a folder of
/// traces holds keeps its place in it.
pub(crate) fn destinations(
    args: &Files,
    sources: &[Source],
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
    let mut taken = BTreeSet::new();
    for path in &paths {
        keep_inputs(path, sources)?;
        if !taken.insert(resolved(path)) {
            return Err(Failure::usage(format!("two traces would be written to {}", path.display())));
        }
    }
    if !is_file {
        paths.iter().filter_map(|path| path.parent()).try_for_each(create_folder)?;
    }
    Ok(paths.into_iter().map(Some).collect())
}

/// Refuses to write to a file that is a source, under whatever name.
pub(crate) fn keep_inputs(output: &Path, sources: &[Source]) -> Result<(), Failure> {
    let Ok(output_file) = Handle::from_path(output) else { return Ok(()) };
    let is_input = |source: &Source| {
        let input = match source {
            Source::Stdin => Handle::stdin(),
            Source::File(path) => Handle::from_path(path),
        };
        input.is_ok_and(|input| input == output_file)
    };
    // A device is not a file that can be lost.
    if output.is_file() && sources.iter().any(is_input) {
        return Err(Failure::usage(format!("{} would overwrite its input", output.display())));
    }
    Ok(())
}

fn create_folder(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| Failure::usage(format!("{}: {error}", folder.display())))
}

/// The path without links, as far as it is there.
fn resolved(path: &Path) -> PathBuf {
    if let Ok(whole) = path.canonicalize() {
        return whole;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = if folder == path { folder.to_path_buf() } else { resolved(folder) };
    // A link to what is not there yet.
    let name = path.read_link().ok().or_else(|| path.file_name().map(PathBuf::from));
    folder.join(name.unwrap_or_default())
}

/// The place of a source in the folder that was named, or the name of its file.
fn within(source: &Source, named: &[PathBuf]) -> PathBuf {
    let place =
        |path: &Path| named.iter().find_map(|folder| path.strip_prefix(folder).ok().map(Path::to_path_buf));
    match source {
        Source::File(path) => place(path).filter(|place| !place.as_os_str().is_empty()),
        Source::Stdin => None,
    }
    .unwrap_or_else(|| match source {
        Source::File(_) => PathBuf::from(source.name()),
        Source::Stdin => PathBuf::from("stdin.json"),
    })
}

/// Results are plain where the trace was `.zst`, JSON where it was not, and uncompressed in a form with an extension of its own.
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
    if has(&place, "ktrace") || has(&place, "pickle") {
        place.set_extension("json");
    }
    place
}
