//! Finds the file that makes a query of a data set fail: the errors of Parquet do not name it.

use parquet::file::reader::SerializedFileReader;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Returns the first Parquet file below a folder that has no valid end, such as one that was cut.
pub(super) fn damaged(folder: &Path) -> Option<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths.into_iter().find_map(|path| {
        if path.is_dir() {
            return damaged(&path);
        }
        let is_parquet = path.extension().is_some_and(|extension| extension == "parquet");
        (is_parquet && !is_complete(&path)).then_some(path)
    })
}

fn is_complete(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| SerializedFileReader::new(file).is_ok())
}
