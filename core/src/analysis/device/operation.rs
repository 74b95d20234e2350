//! Which collective a name means, in the spelling of any backend.

use crate::base::words::words;

words! {
    "CollectiveName"
    /// A collective, or one side of a point-to-point message.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub(crate) enum Operation {
        /// All ranks get the reduction of all inputs.
        AllReduce = "all_reduce",
        /// All ranks get all inputs.
        AllGather = "all_gather",
        /// Each rank gets a part of the reduction of all inputs.
        ReduceScatter = "reduce_scatter",
        /// Each rank sends a part to each rank.
        AllToAll = "all_to_all",
        /// All ranks get the input of one.
        Broadcast = "broadcast",
        /// One rank gets the reduction of all inputs.
        Reduce = "reduce",
        /// One rank gets all inputs.
        Gather = "gather",
        /// Each rank gets a part of the input of one.
        Scatter = "scatter",
        /// All ranks wait for each other.
        Barrier = "barrier",
        /// A message is sent.
        Send = "send",
        /// A message is received.
        Receive = "recv",
        /// Sends and receives in one kernel, whose kind is not recorded.
        SendReceive = "send_recv",
        /// Anything else.
        Other = "other",
    }
}

/// The names without underscores, the more specific ones first.
const NAMES: [(&str, Operation); 13] = [
    ("allreduce", Operation::AllReduce),
    ("allgather", Operation::AllGather),
    ("reducescatter", Operation::ReduceScatter),
    ("alltoall", Operation::AllToAll),
    ("sendrecv", Operation::SendReceive),
    ("broadcast", Operation::Broadcast),
    ("barrier", Operation::Barrier),
    ("gather", Operation::Gather),
    ("scatter", Operation::Scatter),
    ("reduce", Operation::Reduce),
    ("isend", Operation::Send),
    ("send", Operation::Send),
    ("recv", Operation::Receive),
];

impl Operation {
    /// The operation that a name such as `_allgather_base`, `gloo:all_reduce` or `ncclDevKernel_SendRecv` means.
    pub(crate) fn from_name(name: &str) -> Operation {
        let head = name.find('(').map_or(name, |at| &name[..at]);
        let letters = head.bytes().filter(|&b| b != b'_' && b != b'-');
        let text: alloc::vec::Vec<u8> = letters.map(|b| b.to_ascii_lowercase()).collect();
        let has = |part: &str| text.windows(part.len()).any(|window| window == part.as_bytes());
        NAMES.iter().find(|(part, _)| has(part)).map_or(Operation::Other, |&(_, operation)| operation)
    }

    /// Decodes the number of a variant.
    pub(crate) fn from_index(index: usize) -> Operation {
        Operation::ALL.get(index).copied().unwrap_or(Operation::Other)
    }

    /// Whether it is one side of a message between two ranks.
    pub(crate) fn is_point_to_point(self) -> bool {
        matches!(self, Operation::Send | Operation::Receive)
    }

    /// Whether it is a message, or one side of it.
    pub(crate) fn is_message(self) -> bool {
        self.is_point_to_point() || self == Operation::SendReceive
    }

    /// Whether it ends on every rank when it ends on one: no rank can leave before every rank has arrived.
    pub(crate) fn is_synchronizing(self) -> bool {
        matches!(
            self,
            Operation::AllReduce
                | Operation::AllGather
                | Operation::ReduceScatter
                | Operation::AllToAll
                | Operation::Barrier
        )
    }

    /// The bytes on the bus of each rank for each byte of the message, by the definition of nccl-tests: 2(n-1)/n for an
    /// all-reduce, (n-1)/n where each rank has a part, and 1 otherwise.
    pub(crate) fn bus_factor(self, ranks: usize) -> f64 {
        let others = ranks.saturating_sub(1) as f64 / ranks.max(1) as f64;
        match self {
            Operation::AllReduce => 2.0 * others,
            Operation::AllGather | Operation::ReduceScatter | Operation::AllToAll => others,
            _ => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_backend_have_an_operation() {
        for (name, operation) in [
            ("_allgather_base", Operation::AllGather),
            ("c10d::_reduce_scatter_base_", Operation::ReduceScatter),
            ("gloo:all_reduce", Operation::AllReduce),
            ("nccl:_all_gather_base", Operation::AllGather),
            ("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", Operation::SendReceive),
            ("ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclWork*)", Operation::Broadcast),
            ("ncclAllReduceRingLLKernel_sum_f32(ncclColl)", Operation::AllReduce),
            ("c10d::recv_", Operation::Receive),
            ("c10d::send", Operation::Send),
            ("all_to_allv", Operation::AllToAll),
            ("c10d::alltoall_base_", Operation::AllToAll),
            ("c10d::reduce_", Operation::Reduce),
            ("barrier", Operation::Barrier),
            ("wait", Operation::Other),
        ] {
            assert_eq!(Operation::from_name(name), operation, "{name}");
        }
    }
}
