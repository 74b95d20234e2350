//! Finds damaged files of a data set: errors of Parquet do not name them.

use parquet::file::reader::SerializedFileReader;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Returns the first Parquet file below a folder that has no valid end, such as one that was cut.
pub(super) fn damaged(folder: &Path) -> Option<PathBuf> {
    first(folder, &|path| !is_complete(path))
}

fn first(folder: &Path, is_wrong: &dyn Fn(&Path) -> bool) -> Option<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths.into_iter().find_map(|path| {
        if path.is_dir() {
            return first(&path, is_wrong);
        }
        let is_parquet = path.extension().is_some_and(|extension| extension == "parquet");
        (is_parquet && is_wrong(&path)).then_some(path)
    })
}

/// Returns the first Parquet file below a folder that is empty: `DataFusion` would skip it.
pub(super) fn empty(folder: &Path) -> Option<PathBuf> {
    first(folder, &|path| fs::metadata(path).is_ok_and(|file| file.len() == 0))
}

fn is_complete(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| SerializedFileReader::new(file).is_ok())
}
