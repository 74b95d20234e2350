//! Where the results of the commands that write traces go. All are known before the first is written, so that none replaces
//! a trace or another result.

use crate::args::Files;
use crate::failure::Failure;
use kinetoscope::files::Source;
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
        if !taken.insert(path) {
            return Err(Failure::usage(format!("two traces would be written to {}", path.display())));
        }
    }
    if !is_file {
        paths.iter().filter_map(|path| path.parent()).try_for_each(fs::create_dir_all)?;
    }
    Ok(paths.into_iter().map(Some).collect())
}

/// Refuses to write to a file that is a source.
pub(crate) fn keep_inputs(output: &Path, sources: &[Source]) -> Result<(), Failure> {
    let is_input = |source: &Source| matches!(source, Source::File(input) if is_same(input, output));
    if sources.iter().any(is_input) {
        return Err(Failure::usage(format!("{} would overwrite its input", output.display())));
    }
    Ok(())
}

/// The place of a source in the folder that was named, or the name of its file.
fn within(source: &Source, named: &[PathBuf]) -> PathBuf {
    let place =
        |path: &Path| named.iter().find_map(|folder| path.strip_prefix(folder).ok().map(Path::to_path_buf));
    match source {
        Source::File(path) => place(path).filter(|place| !place.as_os_str().is_empty()),
        Source::Stdin => None,
    }
    .unwrap_or_else(|| PathBuf::from(source.name()))
}

/// A result is written plain where the trace was `.zst`, and uncompressed where its form has an extension of its own.
fn renamed(place: &Path, extension: Option<&str>) -> PathBuf {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let plain = name.trim_end_matches(".zst");
    place.with_file_name(match extension {
        Some(extension) => format!("{}.{extension}", plain.trim_end_matches(".gz")),
        None => plain.to_owned(),
    })
}

fn is_same(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
