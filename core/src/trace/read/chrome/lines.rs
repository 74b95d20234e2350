//! Recognises JSON Lines: the document begins with an event, or with an object that events follow.

use super::{Progress, Reader, State};
use crate::trace::read::event::EventReader;
use crate::trace::read::scan::{Found, Stop, find_event};
use crate::trace::table::events::Table;

impl Reader {
    /// Begins the first object of the document: an event, or the object that has the array of events.
    pub(super) fn first_object(&mut self, buf: &[u8], at: usize, finished: bool) -> Progress {
        let begins = match find_event(buf, at) {
            Found::Event(found) => found == at,
            Found::Perhaps(found) if found == at && !finished => return Progress::More(at),
            _ => false,
        };
        if begins {
            match self.is_event(buf, at) {
                Ok(true) => {
                    self.table.metadata.bare_array = true;
                    self.begin_lines();
                    return Progress::To(at);
                }
                Err(Stop::More) if !finished && buf.len() - at <= self.limits.event_bytes => {
                    return Progress::More(at);
                }
                _ => {}
            }
        }
        self.state = State::Key;
        Progress::To(at + 1)
    }

    /// Whether an object has a phase and neither an array of events nor the nodes of an execution trace. It is read into a table of its
    /// own, because it may be the complete document.
    fn is_event(&self, buf: &[u8], at: usize) -> Result<bool, Stop> {
        let mut table = Table::default();
        let mut events = EventReader::new(self.limits, &mut table);
        let end = events.read(&mut table, buf, at)?;
        let has = |key| table.names.find(key).is_some();
        let is_document = has("traceEvents") || (has("schema") && has("nodes"));
        Ok(events.ph() != 0 && !is_document && end - at <= self.limits.event_bytes)
    }

    pub(super) fn begin_lines(&mut self) {
        self.begin_events();
        self.is_opened = false;
        self.lines = true;
    }
}
