//! `redact --audit`: what redaction keeps and hides, in the output formats of queries.

use crate::answer::{add_csv, add_text};
use crate::args::{self, Format};
use crate::failure::Failure;
use crate::print::print;
use clap::ArgMatches;
use kinetoscope_core::base::page::Page;
use kinetoscope_core::output::document::Document;
use kinetoscope_core::output::write::redact::audit::audit;
use kinetoscope_core::queries::Answer;
use kinetoscope_core::trace::Trace;

/// The audits of several traces.
pub(crate) struct Audits {
    format: Format,
    several: bool,
    document: Document,
    text: String,
}

impl Audits {
    /// Returns the audits if the arguments request them.
    pub(crate) fn from_matches(export: &str, matches: &ArgMatches, several: bool) -> Option<Audits> {
        let is_wanted = export == args::AUDITED && matches.get_flag("audit");
        is_wanted.then(|| Audits {
            format: args::format(matches),
            several,
            document: Document::new("redact-audit"),
            text: String::new(),
        })
    }

    /// Audits the redaction of a trace.
    pub(crate) fn add(&mut self, name: &str, trace: &Trace) {
        let rows = audit(&trace.table);
        match self.format {
            Format::Json => self.document.add(name, trace, &rows),
            Format::Csv | Format::ExactCsv => add_csv(&mut self.text, name, rows, self.format, self.several),
            _ => {
                // A shortened text could not be checked.
                let full_page = (self.format == Format::Table).then(|| {
                    let mut page = Page::default();
                    if self.several {
                        page.line(name);
                    }
                    page.table_within(&rows, usize::MAX);
                    page
                });
                let mut answer = Answer::from(rows);
                answer.text = full_page;
                add_text(&mut self.text, name, &answer, self.format, None, self.several);
            }
        }
    }

    /// Prints them to standard output.
    pub(crate) fn print(self) -> Result<(), Failure> {
        let text = if self.format == Format::Json { self.document.finish() } else { self.text };
        print(&text, None)
    }
}
