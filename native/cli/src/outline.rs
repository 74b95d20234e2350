//! The command `outline`.

use crate::answer::{add_csv, add_rows, report_without_events};
use crate::args::{self, Files, Format};
use crate::failure::{Failure, UNFIT, UNREADABLE, report};
use crate::print::print;
use crate::progress::read_outline_with_bar;
use crate::terminal;
use clap::ArgMatches;
use kinetoscope::files::sources;
use kinetoscope_core::base::diagnostics::{Diagnostics, Severity};
use kinetoscope_core::output::document::Document;

/// The number of rows of each kind in a table.
const ROWS: usize = 10;

/// Prints the outline of every trace. Returns the highest exit code.
pub(crate) fn outline(matches: &ArgMatches) -> Result<u8, Failure> {
    let files = Files::from_matches(matches);
    let format = args::format(matches);
    let limit = matches.get_one("row-limit").copied().or((format == Format::Table).then_some(ROWS));
    let sources = sources(&files.traces)?;
    let several = sources.len() > 1;
    let width = terminal::width(files.output.as_deref());
    let (mut document, mut text) = (Document::new("outline"), String::new());
    let (mut code, mut answered) = (0, false);
    for source in &sources {
        let (outline, diagnostics) = match read_outline_with_bar(source) {
            Ok(read) => read,
            Err(error) => {
                report(error.to_string());
                code = code.max(UNREADABLE);
                continue;
            }
        };
        answered = true;
        if outline.merged_names() > 0 {
            report(format!(
                "{}: {} events have names beyond the first 262,144; their sums are by category only",
                source.path(),
                outline.merged_names()
            ));
        }
        if files.strict && outline.events() == 0 {
            report_without_events(&source.path());
            code = code.max(UNFIT);
        }
        if diagnostics.worst() == Some(Severity::Lost) {
            report(format!("{}: a part could not be read: {}", source.path(), lost(&diagnostics)));
            if files.strict {
                code = code.max(UNFIT);
            }
        }
        let (name, rows) = (source.name(), outline.rows(limit));
        match format {
            Format::Json => document.add_outline(&name, &outline, &diagnostics, &rows),
            Format::Csv | Format::ExactCsv => add_csv(&mut text, &name, rows, format, several),
            _ => add_rows(&mut text, (&name, &rows), format, width, several),
        }
    }
    if format == Format::Json && !document.is_empty() {
        text = document.finish();
    }
    // Without an answer, an earlier one stays.
    if answered {
        print(&text, files.output.as_deref())?;
    }
    Ok(code)
}

/// The diagnostics about what could not be read, with their numbers.
fn lost(diagnostics: &Diagnostics) -> String {
    let lost = diagnostics.findings().iter().filter(|finding| finding.code.severity() == Severity::Lost);
    let named = lost.map(|finding| format!("{} ×{}", finding.code.as_str(), finding.count));
    named.collect::<Vec<_>>().join(", ")
}
