//! The type of an export.

use super::writing::Writing;
use crate::analysis::query::Input;
use crate::analysis::query::options::{Opt, Options};
use crate::base::error::Error;
use crate::trace::Trace;

/// The kind of an [`Export`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportKind {
    /// The complete trace in another format: `kinetoscope export NAME`.
    Form,
    /// Another trace, derived from this one: `kinetoscope NAME`.
    Edit,
}

/// A format that a trace can be written in, or an edit of it.
#[non_exhaustive]
pub struct Export {
    /// The name on the command line, in JSON and in JavaScript.
    pub name: &'static str,
    /// Whether it writes another format or an edited trace.
    pub kind: ExportKind,
    /// A description in one sentence.
    pub about: &'static str,
    /// Example command lines, without the command's name.
    pub examples: &'static [&'static str],
    /// The options.
    pub options: &'static [Opt],
    /// What the output depends on besides the events.
    pub inputs: &'static [Input],
    /// The file extension, if the output is not a trace; `None` keeps the trace's own extension.
    pub extension: Option<&'static str>,
    /// The media type of the output.
    pub media_type: &'static str,
    pub(super) start: fn(&Trace, options: &Options, salt: &[u8]) -> Result<Started, Error>,
}

impl Export {
    /// Whether the output is not text.
    pub fn is_binary(&self) -> bool {
        self.media_type == "application/octet-stream"
    }

    /// Starts the export. `salt` is random bytes for the exports that need them.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] if the export does not have an option, or its value does not fit the trace.
    pub fn begin(&self, trace: &Trace, options: &Options, salt: &[u8]) -> Result<Started, Error> {
        options.check(self.options)?;
        (self.start)(trace, options, salt)
    }
}

/// The result of [`Export::begin`].
pub enum Started {
    /// The export has started.
    Writing(Writing),
    /// The options exclude this trace.
    Skipped,
}
