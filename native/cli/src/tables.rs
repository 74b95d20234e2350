//! The commands about the tables of traces: `export parquet`, `export arrow` and `sql`.

#[cfg(feature = "parquet")]
mod export;
#[cfg(feature = "sql")]
mod library;
#[cfg(feature = "sql")]
mod output;
#[cfg(feature = "parquet")]
mod ranks;
#[cfg(feature = "cloud")]
mod remote;
#[cfg(feature = "sql")]
mod shell;
#[cfg(feature = "sql")]
mod sql;

use crate::failure::Failure;
use clap::ArgMatches;

/// Writes tables in the form of this name.
pub(crate) fn export(form: &str, matches: &ArgMatches) -> Result<u8, Failure> {
    #[cfg(feature = "parquet")]
    return export::export(form, matches);
    #[cfg(not(feature = "parquet"))]
    {
        let _ = matches;
        Err(without(&format!("export {form}"), "parquet"))
    }
}

/// Answers a query, or starts a shell.
pub(crate) fn sql(matches: &ArgMatches) -> Result<u8, Failure> {
    #[cfg(feature = "sql")]
    return sql::sql(matches);
    #[cfg(not(feature = "sql"))]
    {
        let _ = matches;
        Err(without("sql", "sql"))
    }
}

/// Why a command of this build does nothing.
#[cfg(not(feature = "sql"))]
fn without(command: &str, feature: &str) -> Failure {
    Failure::usage(format!(
        "`{command}` is not in this build; install it with `cargo install --path native/cli --features {feature}`"
    ))
}
