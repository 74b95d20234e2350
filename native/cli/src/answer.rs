//! The commands that answer a query: read each trace, run the query, print the rows in the requested format.

use crate::args::{self, Files, Format};
use crate::failure::{CHECK_FAILED, Failure, UNFIT, report};
use crate::print::print;
use crate::reading::read_or_report;
use crate::terminal;
use clap::ArgMatches;
use kinetoscope::files::{Source, THREADS, sources};
use kinetoscope_core::base::diagnostics::Severity;
use kinetoscope_core::base::error::Error;
use kinetoscope_core::base::escape;
use kinetoscope_core::base::page::Page;
use kinetoscope_core::base::rows::Rows;
use kinetoscope_core::output::document::Document;
use kinetoscope_core::queries::{Answer, Matches, Query, Request, query};
use kinetoscope_core::trace::Trace;
use regex_lite::Regex;
use std::fmt::Write;

/// Whether a part of a trace could not be read.
pub(crate) fn is_partial(trace: &Trace) -> bool {
    trace.diagnostics.worst() == Some(Severity::Lost)
}

/// Reports that `--strict` makes the command fail.
pub(crate) fn report_partial(path: &str) {
    report(format!("{path}: a part was lost or is uncertain; `kinetoscope check` says which"));
}

/// Reports that `--strict` makes the command fail, because there is nothing to answer with.
pub(crate) fn report_without_events(path: &str) {
    report(format!("{path}: the file has no events"));
}

/// Returns the exit code of a command with `--strict`, and reports why it is not 0.
fn strict_code(query: &Query, source: &Source, trace: &Trace, answer: &Answer) -> u8 {
    let unfit = query.unfit(trace, answer);
    for reason in unfit.iter().filter_map(|fitness| fitness.reasons.first()) {
        report(format!("{}: unfit for `{}`: {}", source.path(), query.name, reason.message));
    }
    if is_partial(trace) {
        report_partial(&source.path());
    }
    if !trace.has_events() {
        report_without_events(&source.path());
    }
    if unfit.is_empty() && !is_partial(trace) && trace.has_events() { 0 } else { UNFIT }
}

/// Reports something about a trace, with its path if there are several.
pub(crate) fn report_of(source: &Source, several: bool, text: &str) {
    if several {
        report(format!("{}: {text}", source.path()));
    } else {
        report(text);
    }
}

fn compile(expression: &str) -> Result<Matches, String> {
    let expression = Regex::new(expression).map_err(|error| error.to_string())?;
    Ok(Box::new(move |text| expression.is_match(text)))
}

/// Runs a query on every trace and prints the answers. Returns the highest exit code.
pub(crate) fn answer(name: &str, matches: &ArgMatches) -> Result<u8, Failure> {
    answer_with(name, matches, &mut |_, _| {})
}

/// Does the same, and calls `each` with every trace and its name: the path if there are several.
pub(crate) fn answer_with(
    name: &str,
    matches: &ArgMatches,
    each: &mut dyn FnMut(&Trace, &str),
) -> Result<u8, Failure> {
    let query = query(name)?;
    let files = Files::from_matches(matches);
    if files.traces.is_empty() {
        return Err(Failure::usage("no trace given; try `kinetoscope --help`"));
    }
    let format = args::format(matches);
    let options = args::options(query.options, matches)?;
    let sources = sources(&files.traces)?;
    let several = sources.len() > 1;
    let width = terminal::width(files.output.as_deref());
    let mut document = Document::new(query.name);
    let mut text = String::new();
    let (mut code, mut answered) = (0, false);
    for source in &sources {
        let Some(trace) = read_or_report(source, &files.reading, &mut code) else { continue };
        let name = source.name();
        each(&trace, &if several { source.path() } else { name.clone() });
        let for_reading = format == Format::Table;
        let request =
            Request::new(&options).about(&name).for_reading(for_reading).run_by(THREADS).compile_by(compile);
        let answer = match query.answer(&trace, request) {
            Err(Error::Unfit(reason)) => {
                report_of(source, several, &reason);
                code = code.max(UNFIT);
                continue;
            }
            answer => answer?,
        };
        // A hint says why there is no answer. A document in JSON is one also without rows.
        let is_empty = answer.text.as_ref().is_some_and(Page::is_empty);
        answered |= format == Format::Json || (answer.hint.is_none() && !is_empty);
        if let Some(hint) = answer.hint {
            report_of(source, several, hint);
        }
        if answer.failed {
            code = code.max(CHECK_FAILED);
        }
        if files.strict {
            code = code.max(strict_code(query, source, &trace, &answer));
        }
        match format {
            Format::Json => document.add(&name, &trace, &answer.rows),
            Format::Csv | Format::ExactCsv => add_csv(&mut text, &name, answer.rows, format, several),
            _ => add_text(&mut text, &name, &answer, format, width, several),
        }
    }
    if format == Format::Json && !document.is_empty() {
        text = document.finish();
    }
    match &files.output {
        // Without an answer, an earlier one stays.
        Some(output) if !answered => report(format!("{}: not written: there is no answer", output.display())),
        output => print(&text, output.as_deref())?,
    }
    Ok(code)
}

/// Appends a table. With several traces, a line with the name precedes each table that has no title.
pub(crate) fn add_text(
    text: &mut String,
    name: &str,
    answer: &Answer,
    format: Format,
    width: Option<usize>,
    several: bool,
) {
    if answer.text.is_none() {
        return add_rows(text, (name, &answer.rows), format, width, several);
    }
    separate(text);
    let shown = if format == Format::Md { answer.rows.to_markdown() } else { answer.to_text(width) };
    text.push_str(&shown);
}

/// Appends rows as a table.
pub(crate) fn add_rows(
    text: &mut String,
    (name, rows): (&str, &Rows),
    format: Format,
    width: Option<usize>,
    several: bool,
) {
    separate(text);
    if several && format == Format::Md {
        // Nothing of a name can begin a line of Markdown.
        let _ = writeln!(text, "### {}\n", escape::markdown(name));
    } else if several {
        let _ = writeln!(text, "{}", escape::whole_line(name));
    }
    let table = if format == Format::Md { rows.to_markdown() } else { rows.to_text_fitting(width) };
    text.push_str(&table);
}

/// Appends an empty line before the next table.
fn separate(text: &mut String) {
    if !text.is_empty() {
        text.push('\n');
    }
}

/// Appends rows as CSV. With several traces, the first column is the name of the trace, and the header is written once.
pub(crate) fn add_csv(text: &mut String, name: &str, mut rows: Rows, format: Format, several: bool) {
    if several {
        rows.prepend("trace", name);
    }
    let csv = if format == Format::ExactCsv { rows.to_exact_csv() } else { rows.to_csv() };
    let skip = if text.is_empty() { 0 } else { csv.find('\n').map_or(0, |at| at + 1) };
    text.push_str(&csv[skip..]);
}
