//! The life of a span from its creation to its close.
//!
//! A span that is entered once is a span of the thread that enters it. One that is entered again, as the span of a future
//! is at each poll, is also an asynchronous span that lasts its whole life, and flows connect its entries. That it is
//! entered again is known only then, so its begin and the first step of its flow are recorded afterwards.

use super::fields::Fields;
use crate::hot::local::{self, ThreadInstant};
use crate::hot::registry::Name;
use crate::hot::state::{START, is_on};
use crate::spans::asynchronous::{AsyncScope, next_id};
use kinetoscope_stream::record::{Flow, Tag};
use std::sync::atomic::Ordering;

/// The argument with the id of the span in which another one was created.
static PARENT: Name = Name::new("parent async id");

/// A span in one recording.
pub(super) struct Life {
    /// The state of the recording.
    state: u32,
    /// The id of the asynchronous span, if it becomes one.
    id: u64,
    /// The id of the span in which it was created.
    parent: Option<u64>,
    /// The creation in ticks, or the start of the recording if the span is older.
    begin: u64,
    entries: u32,
    /// The end of the last entry, or its begin while it lasts.
    last: Option<ThreadInstant>,
    /// The asynchronous span, from the second entry on.
    scope: Option<AsyncScope>,
    is_linked: bool,
    /// Flows from the spans that this one follows from, which end in its next entry.
    sources: Vec<u64>,
}

impl Life {
    /// A span that is created now, inside of another one.
    pub(super) fn new(state: u32, parent: Option<u64>) -> Life {
        Life { parent, ..Life::since(state, local::now(state)) }
    }

    /// A span that was created before the recording.
    pub(super) fn older(state: u32) -> Life {
        Life::since(state, START.load(Ordering::Relaxed))
    }

    fn since(state: u32, begin: u64) -> Life {
        let (id, parent, last, scope) = (next_id(), None, None, None);
        Life { state, id, parent, begin, entries: 0, last, scope, is_linked: false, sources: Vec::new() }
    }

    /// The id that the span has in this recording, if it is an asynchronous one.
    pub(super) fn id(&self, state: u32) -> Option<u64> {
        (self.state == state).then_some(self.id)
    }

    /// Begins anew if another recording was started, or the recording was resumed.
    fn renew(&mut self, state: u32) {
        if self.state != state {
            // The asynchronous span ended with its recording.
            std::mem::forget(self.scope.take());
            *self = Life::older(state);
        }
    }

    /// The span was entered on this thread.
    pub(super) fn entered(&mut self, state: u32, fields: &Fields) {
        if !is_on(state) {
            return;
        }
        self.renew(state);
        self.entries = self.entries.saturating_add(1);
        if self.entries > 1 {
            let (id, begin, parent) = (self.id, self.begin, self.parent);
            let since = || {
                let mut args = fields.args(state);
                if let Some(parent) = parent {
                    args.display(&PARENT, &format_args!("0x{parent:x}"));
                }
                AsyncScope::since(&fields.callsite.site, args, state, (id, begin))
            };
            let scope = self.scope.get_or_insert_with(since);
            if let Some(last) = self.last.take() {
                let tag = if self.is_linked { Tag::FlowStep } else { Tag::FlowStart };
                scope.poll_at(fields.name(state), tag, last);
                self.is_linked = true;
            }
        }
        self.last = local::here(state);
        for id in local::unrecorded(|| std::mem::take(&mut self.sources)) {
            follow(state, fields, Tag::FlowEnd, id, self.last);
        }
    }

    /// The span is about to be exited on this thread.
    pub(super) fn exited(&mut self, state: u32) {
        if self.state == state {
            self.last = local::here(state);
        }
    }

    /// Where the span was entered last, or was exited, in this recording.
    pub(super) fn last(&self, state: u32) -> Option<ThreadInstant> {
        self.last.filter(|_| self.state == state)
    }

    /// The span follows from another one, which was last active at this place.
    pub(super) fn follows(&mut self, state: u32, fields: &Fields, place: Option<ThreadInstant>) {
        if !is_on(state) {
            return;
        }
        self.renew(state);
        let id = next_id();
        follow(state, fields, Tag::FlowStart, id, place);
        local::unrecorded(|| self.sources.push(id));
    }

    /// The span was closed: nothing refers to it any more.
    pub(super) fn closed(self, fields: &Fields) {
        let Some(scope) = self.scope else { return };
        if let Some(last) = self.last.filter(|_| self.is_linked) {
            scope.poll_at(fields.name(self.state), Tag::FlowEnd, last);
        }
        scope.close(|state| fields.name(state));
    }
}

/// Records a flow between spans, here or at a place in the recording.
fn follow(state: u32, fields: &Fields, tag: Tag, id: u64, place: Option<ThreadInstant>) {
    fields.name(state).flow(tag, &fields.callsite.site, (Flow::Follows, id), place);
}
