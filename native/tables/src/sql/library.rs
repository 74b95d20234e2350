//! The library of queries: the files in `queries`. Their SQL is that of DataFusion, Spark and DuckDB alike.

/// A query of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Query {
    /// The name: that of its file.
    pub name: &'static str,
    /// The text.
    pub sql: &'static str,
}

impl Query {
    /// What it answers, in one line: the first line of the text.
    pub fn about(&self) -> &'static str {
        self.comment("").unwrap_or_default()
    }

    /// The command, with its options, that has the same answer.
    pub fn equals(&self) -> Option<&'static str> {
        self.comment("equals: ")
    }

    /// The rows of the command's answer that it has, such as `kind=device`.
    pub fn selected_rows(&self) -> Option<&'static str> {
        self.comment("where: ")
    }

    fn comment(&self, key: &str) -> Option<&'static str> {
        let comments = self.sql.lines().map_while(|line| line.strip_prefix("-- "));
        comments.into_iter().find_map(|comment| comment.strip_prefix(key))
    }
}

/// Returns the query of this name.
pub fn query(name: &str) -> Option<&'static Query> {
    QUERIES.iter().find(|query| query.name == name)
}

macro_rules! queries {
    ($($name:literal)*) => {
        /// Every query, in the order of their names.
        pub const QUERIES: &[Query] =
            &[$(Query { name: $name, sql: include_str!(concat!("../../queries/", $name, ".sql")) }),*];
    };
}

queries! {
    "breakdown" "check" "collectives" "counters" "exposed_communication" "findings" "idle" "info" "kernel_categories" "kernels"
    "kernels_by_operator" "late_ranks" "launches" "memory" "memory_owners" "names" "ops" "shapes" "short_kernels" "steps"
    "stragglers" "top_gaps" "tracks"
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn every_file_is_in_the_list_and_has_a_purpose() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/queries");
        let mut files: Vec<String> = fs::read_dir(folder)
            .expect("a folder")
            .map(|file| file.expect("a file").file_name().to_string_lossy().replace(".sql", ""))
            .collect();
        files.sort();
        assert_eq!(files, QUERIES.iter().map(|query| query.name).collect::<Vec<_>>());
        assert!(QUERIES.iter().all(|query| query.about().ends_with('.')));
    }
}
