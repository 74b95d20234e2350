//! Reads outlines of traces, and windows of time of traces, which may be larger than memory.

use super::error::{InputError, Reason};
use super::input::Source;
use super::pieces::{Piece, PieceReader, Pieces, Progress};
use super::threads::THREADS;
use kinetoscope_core::base::diagnostics::Diagnostics;
use kinetoscope_core::base::error::Error;
use kinetoscope_core::outline::{Outline, OutlinePart, OutlineReader, WindowReader, check_window};
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::read::limits::Limits;
use std::fs::File;
use std::io::{self, Read};

impl PieceReader for OutlineReader {
    type Part = OutlinePart;

    fn takes_parts(&self) -> bool {
        self.takes_parts()
    }

    fn parse(text: &[u8]) -> Option<OutlinePart> {
        OutlinePart::parse(text, Limits::default())
    }

    fn feed(&mut self, text: &[u8]) -> Result<(), Error> {
        self.feed(text)
    }

    fn feed_parsed(&mut self, text: &[u8], part: &OutlinePart) -> Result<(), Error> {
        self.feed_parsed(text, part).map(drop)
    }

    fn events(&self) -> usize {
        usize::try_from(self.events()).unwrap_or(usize::MAX)
    }
}

/// Reads the outline of a trace from a source, and reports the progress to `progress`. Memory does not grow with the events.
///
/// # Errors
/// Returns [`Reason::Io`] if the source cannot be read, and [`Reason::Trace`] if it is not a Chrome trace.
pub fn read_outline(
    source: &Source,
    mut progress: impl FnMut(Progress),
) -> Result<(Outline, Diagnostics), InputError> {
    let mut read = || -> Result<_, Reason> {
        let mut reader = OutlineReader::default();
        let unpacking = Pieces::new(source.reader()?).read_into(&mut reader, None, &mut progress)?;
        let (outline, mut diagnostics) = reader.finish()?;
        diagnostics.append(&unpacking);
        Ok((outline, diagnostics))
    };
    read().map_err(|reason| InputError { source_name: source.path(), reason })
}

/// Reads the events of a trace that overlap a window, between two times in ns after the start of the recording. Times of the result count
/// from there. `limits` hold for the events of the window. `outline` is what [`read_outline`] returned; its diagnostics are about the
/// complete text.
///
/// # Errors
/// As [`read_outline`]. Standard input and pipes cannot be read, because the outline was read from them before.
pub fn read_window(
    source: &Source,
    (outline, of_text): &(Outline, Diagnostics),
    window: (i64, i64),
    limits: Limits,
    mut progress: impl FnMut(Progress),
) -> Result<Trace, InputError> {
    let mut read = || -> Result<Trace, Reason> {
        let mut reader = WindowReader::new(outline, window, limits);
        let (input, mut file) = open(source)?;
        let mut pieces = Pieces::new(input);
        let mut buffer = Vec::new();
        while let Some(Piece { text, bytes }) = pieces.next(buffer)? {
            reader.feed(&text)?;
            let skippable = reader.skippable();
            if pieces.skip(&mut file, skippable)? {
                reader.skip(skippable);
            }
            progress(Progress { bytes, events: reader.events() });
            buffer = text;
        }
        let (table, mut diagnostics) = reader.finish()?;
        diagnostics.append(&pieces.finish());
        diagnostics.complete(of_text);
        let trace = Trace::new_by(table, diagnostics, THREADS);
        check_window(&trace)?;
        Ok(trace)
    };
    read().map_err(|reason| InputError { source_name: source.path(), reason })
}

/// Opens a file, and a handle that moves its position.
fn open(source: &Source) -> io::Result<(Box<dyn Read + Send>, File)> {
    if let Source::File(path) = source {
        let file = File::open(path)?;
        if file.metadata()?.is_file() {
            let same = file.try_clone()?;
            return Ok((Box::new(file), same));
        }
    }
    let reason = "a window needs a file, because the text is read twice";
    Err(io::Error::new(io::ErrorKind::InvalidInput, reason))
}
