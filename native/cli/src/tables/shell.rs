//! The interactive shell of `sql`: completion of names, a history, and a pager for long answers.

use super::library::list;
use super::output::text;
use crate::args::{FORMATS, Format, format_named};
use crate::failure::{Failure, report};
use kinetoscope_core::queries::schema::{FieldType, Schema, TABLES};
use kinetoscope_tables::sql::{Session, VIEWS, query};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper};
use std::env;
use std::fmt::Write;
use std::fs;
use std::io::{self, IsTerminal, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

const HELP: &str = "\
Ends of statements are `;`. Tab completes names. Commands:
  .tables         the tables and views
  .schema TABLE   the columns of a table with their meaning
  .queries        the queries of the library
  .run NAME       run one of them
  .show NAME      print its text
  .format FORMAT  table, json, csv or md
  .help           this text
  .quit           leave; so does Ctrl+D
";

/// The words of SQL that are completed.
const KEYWORDS: [&str; 36] = [
    "AND",
    "AS",
    "ASC",
    "BETWEEN",
    "BY",
    "CASE",
    "CAST",
    "COUNT",
    "CREATE",
    "DESC",
    "DISTINCT",
    "ELSE",
    "END",
    "EXPLAIN",
    "FROM",
    "GROUP",
    "HAVING",
    "IN",
    "IS",
    "JOIN",
    "LEFT",
    "LIKE",
    "LIMIT",
    "NOT",
    "NULL",
    "ON",
    "OR",
    "ORDER",
    "OVER",
    "PARTITION",
    "SELECT",
    "THEN",
    "UNION",
    "USING",
    "WHEN",
    "WHERE",
];

/// Reads statements and prints their answers until the input ends.
pub(super) fn run(session: &Session, format: Format) -> Result<(), Failure> {
    let config = Config::builder().completion_type(CompletionType::List).build();
    let mut editor: Editor<Names, FileHistory> =
        Editor::with_config(config).map_err(|error| failure(&error))?;
    let mut names = session.names();
    names.extend(KEYWORDS.iter().map(|word| (*word).to_owned()));
    editor.set_helper(Some(Names(names)));
    let history = history();
    if let Some(path) = &history {
        // The first time, there is none.
        let _ = editor.load_history(path);
    }
    report("SQL on the tables of the reference; .help lists commands, .tables the tables");
    let mut format = format;
    loop {
        match editor.readline("sql> ") {
            Ok(line) if line.trim().is_empty() => {}
            Ok(line) => {
                let _ = editor.add_history_entry(line.as_str());
                if matches!(line.trim(), ".quit" | ".exit") {
                    break;
                }
                match answer(session, line.trim(), &mut format) {
                    Ok(text) => page(&text)?,
                    Err(failure) => report(failure.message),
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(failure(&error)),
        }
    }
    if let Some(path) = &history
        && let Err(error) = editor.save_history(path)
    {
        report(format!("{}: the history was not saved: {error}", path.display()));
    }
    Ok(())
}

fn failure(error: &ReadlineError) -> Failure {
    Failure::usage(error.to_string())
}

/// Returns the answer of a statement or a command.
fn answer(session: &Session, line: &str, format: &mut Format) -> Result<String, Failure> {
    let (command, argument) =
        line.split_once(' ').map_or((line, ""), |(command, rest)| (command, rest.trim()));
    let library = || {
        query(argument).ok_or_else(|| Failure::usage(format!("there is no query {argument:?}; see .queries")))
    };
    match command {
        ".help" => Ok(HELP.to_owned()),
        ".tables" => Ok(tables()),
        ".schema" => columns(argument),
        ".queries" => Ok(list()),
        ".show" => Ok(library()?.sql.to_owned()),
        ".run" => text(&session.run(library()?.sql)?, *format, true),
        ".format" => {
            let known = FORMATS.contains(&argument).then(|| format_named(argument)).flatten();
            *format =
                known.ok_or_else(|| Failure::usage(format!("{argument:?} is not table, json, csv or md")))?;
            Ok(String::new())
        }
        other if other.starts_with('.') => {
            Err(Failure::usage(format!("there is no command {other}; see .help")))
        }
        _ => text(&session.run(line.trim_end_matches(';'))?, *format, true),
    }
}

fn tables() -> String {
    let mut out = String::new();
    for schema in TABLES {
        let _ = writeln!(out, "{:<14}{}", schema.name, schema.about);
    }
    for (name, sql) in VIEWS {
        let _ =
            writeln!(out, "{name:<14}{}", sql.lines().next().unwrap_or_default().trim_start_matches("-- "));
    }
    out
}

fn columns(table: &str) -> Result<String, Failure> {
    let schema = Schema::named(table)
        .ok_or_else(|| Failure::usage(format!("there is no table {table:?}; see .tables")))?;
    let mut out =
        String::from("run_id               text     The run.\nrank                 int      The rank.\n");
    for field in schema.fields() {
        let kind = match field.kind {
            FieldType::Int => "int",
            FieldType::Float => "float",
            FieldType::Bool => "boolean",
            FieldType::Map => "map",
            _ => "text",
        };
        let _ = writeln!(out, "{:<20} {kind:<8} {}", field.name, field.about);
    }
    Ok(out)
}

/// Prints a text, through the pager if it is longer than the terminal.
fn page(text: &str) -> Result<(), Failure> {
    let height = terminal_size::terminal_size().map_or(usize::MAX, |(_, height)| usize::from(height.0));
    let is_long = text.lines().count() >= height && io::stdout().is_terminal();
    let pager = env::var("PAGER").unwrap_or_else(|_| "less".to_owned());
    if is_long && let Ok(mut child) = Command::new(&pager).env("LESS", "-SFRX").stdin(Stdio::piped()).spawn()
    {
        if let Some(mut input) = child.stdin.take() {
            // The user can leave the pager before its end.
            let _ = input.write_all(text.as_bytes());
        }
        child.wait()?;
        return Ok(());
    }
    crate::print::print(text, None)
}

/// The file of the history: in the folder for such files of the user, if there is one.
fn history() -> Option<PathBuf> {
    let folder = env::var_os("XDG_STATE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".local/state")))
        .or_else(|| env::var_os("LOCALAPPDATA").map(PathBuf::from))?
        .join("kinetoscope");
    fs::create_dir_all(&folder).ok()?;
    Some(folder.join("sql_history"))
}

/// The names that are completed.
struct Names(Vec<String>);

impl Completer for Names {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
        let start = line[..at]
            .rfind(|c| !is_of_name(c))
            .map_or(0, |before| before + line[before..].chars().next().map_or(1, char::len_utf8));
        let begun = line[start..at].to_lowercase();
        let matches = |name: &&String| !begun.is_empty() && name.to_lowercase().starts_with(&begun);
        Ok((start, self.0.iter().filter(matches).cloned().collect()))
    }
}

impl Validator for Names {
    /// A statement ends with a semicolon; a command with its line.
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let line = context.input().trim();
        let is_complete = line.is_empty() || line.starts_with('.') || line.ends_with(';');
        Ok(if is_complete { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

impl Hinter for Names {
    type Hint = String;
}

impl Highlighter for Names {}

impl Helper for Names {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_completed_where_they_begin() {
        let names = Names(["events", "event", "SELECT"].map(str::to_owned).to_vec());
        let history = FileHistory::new();
        let complete =
            |line: &str| names.complete(line, line.len(), &Context::new(&history)).expect("candidates");
        assert_eq!(complete("SELECT * FROM eve"), (14, vec!["events".to_owned(), "event".to_owned()]));
        assert_eq!(complete("sel"), (0, vec!["SELECT".to_owned()]));
        assert_eq!(complete("SELECT é"), (7, Vec::new()));
        assert_eq!(complete("SELECT ").1, Vec::<String>::new());
    }
}
