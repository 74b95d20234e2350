//! The command `sql`.

use super::library::{as_json, list};
use super::output::text;
use super::ranks::Ranks;
use super::shell;
use crate::args::{self, Format};
use crate::failure::{Failure, UNREADABLE};
use crate::print::print;
use clap::ArgMatches;
use kinetoscope_tables::dataset::Dataset;
use kinetoscope_tables::sql::{QUERIES, Session, query};
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

/// Answers a query about traces or a data set, or starts a shell.
pub(super) fn sql(matches: &ArgMatches) -> Result<u8, Failure> {
    if matches.get_flag("list") {
        let is_json = args::format(matches) == Format::Json;
        print(&if is_json { as_json() } else { list() }, None)?;
        return Ok(0);
    }
    let (text, paths) = question(matches)?;
    if paths.is_empty() {
        return Err(Failure::usage("name a trace, or a folder that `export parquet` wrote"));
    }
    let format = args::format(matches);
    let (session, code) = open(paths, matches)?;
    match text {
        Some(text) => {
            answer(&session, &text, format, args::output_of(matches).as_deref())?;
        }
        None => shell::run(&session, format)?,
    }
    Ok(code)
}

/// Returns the query, and the paths. Without a query it is read from standard input, unless that is a terminal.
fn question(matches: &ArgMatches) -> Result<(Option<String>, Vec<PathBuf>), Failure> {
    let mut paths = args::traces_of(matches);
    if let Some(name) = matches.get_one::<String>("query") {
        let known = || QUERIES.iter().map(|query| query.name).collect::<Vec<_>>().join(", ");
        let found = query(name).ok_or_else(|| {
            Failure::usage(format!("there is no query {name:?}; the queries are {}", known()))
        })?;
        return Ok((Some(found.sql.to_owned()), paths));
    }
    let is_query =
        paths.first().is_some_and(|first| !first.exists() && first.to_string_lossy().contains(' '));
    if is_query {
        let text = paths.remove(0).to_string_lossy().into_owned();
        return Ok((Some(text), paths));
    }
    if io::stdin().is_terminal() || paths.iter().any(|path| path.as_os_str() == "-") {
        return Ok((None, paths));
    }
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    Ok((Some(text), paths))
}

/// Opens a data set, or reads traces.
fn open(paths: Vec<PathBuf>, matches: &ArgMatches) -> Result<(Session, u8), Failure> {
    let limit = matches.get_one::<usize>("query-memory").copied();
    let mut datasets = 0;
    for path in &paths {
        datasets += usize::from(Dataset::is_at(path)?);
    }
    match datasets {
        0 => {
            let mut traces = Vec::new();
            let code = Ranks::from_paths(paths, matches)?.read(&mut |of| {
                traces.push(of);
                Ok(())
            })?;
            Ok((Session::from_traces(traces, limit)?, code))
        }
        1 if paths.len() == 1 => Ok((Session::from_dataset(&Dataset::open(&paths[0])?, limit)?, 0)),
        _ => Err(Failure { message: "name one data set, or traces".to_owned(), code: UNREADABLE }),
    }
}

fn answer(session: &Session, sql: &str, format: Format, output: Option<&Path>) -> Result<(), Failure> {
    print(&text(&session.run(sql)?, format, output.is_none())?, output)
}
