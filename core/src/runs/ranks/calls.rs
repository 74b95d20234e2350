//! The collectives of one rank: each call with its group, its number, its size, and when the rank arrived and left.
//!
//! A rank arrives when it begins to take part: at the start of the kernel on a device, or at the call on the host. It
//! leaves at the end of the kernel, or at the end of the backend's own span.

mod device;
mod groups;
mod host;
mod record;

pub(crate) use groups::{Group, GroupList};

use self::groups::Groups;
use self::record::Fields;
use super::phases::{Phases, Times};
use crate::analysis::context::Analysis;
use crate::analysis::device::operation::Operation;
use crate::base::order::sort_by_key;
use crate::trace::Trace;
use alloc::vec::Vec;

/// One call of a collective on one rank. Times are in ns: after the table's base in [`Calls`], after 1970 in a summary.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Call {
    /// The index of its group, in the groups of the rank or of the run.
    pub(crate) group: u32,
    pub(crate) operation: Option<Operation>,
    /// The number of the call in its group.
    pub(crate) seq: Option<i64>,
    /// A number that the calls of all ranks have in common.
    pub(crate) comms_id: Option<i64>,
    /// The size of the input or the output, whichever is larger.
    pub(crate) bytes: Option<i64>,
    /// The other rank of a message.
    pub(crate) peer: Option<i64>,
    /// When the rank arrived, and when it left.
    pub(crate) time: (i64, i64),
    /// What the rank did from the arrival before to this one.
    pub(crate) doing: Times,
}

impl Call {
    pub(crate) fn operation(&self) -> Operation {
        self.operation.unwrap_or(Operation::Other)
    }

    pub(crate) fn duration(&self) -> i64 {
        self.time.1 - self.time.0
    }

    /// Fills in what is not known from what another source says about the same call. The group and the times stay.
    fn complete(&mut self, other: &Call) {
        self.operation = self.operation.or(other.operation);
        self.seq = self.seq.or(other.seq);
        self.comms_id = self.comms_id.or(other.comms_id);
        self.bytes = self.bytes.or(other.bytes);
        self.peer = self.peer.or(other.peer);
    }
}

/// The calls of one rank, in order of arrival.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    pub(crate) groups: Vec<Group>,
    pub(crate) calls: Vec<Call>,
    /// The times in which a collective of the host was in flight.
    pub(crate) in_flight: Vec<(i64, i64)>,
}

impl Analysis<'_> {
    /// Returns the calls of collectives.
    pub(crate) fn calls(&self) -> &Calls {
        self.once(|| calls(self.trace))
    }

    /// Returns the phases of the rank.
    pub(crate) fn phases(&self) -> &Phases {
        self.once(|| Phases::new(self.trace, &self.calls().in_flight))
    }
}

fn calls(trace: &Trace) -> Calls {
    let mut groups = Groups::new(&trace.table);
    let fields = Fields::new(&trace.table.names);
    let host = host::calls(trace, &fields, &mut groups);
    let in_flight = host.iter().map(|call| call.time).collect();
    let mut calls = device::calls(trace, &fields, &mut groups);
    calls.extend(host);
    sort_by_key(&mut calls, |call| call.time);
    Calls { groups: groups.finish(), calls, in_flight }
}
