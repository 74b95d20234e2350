//! The parts of the time of an iteration, in order of priority: each instant counts for the first of them that was going on.

use crate::base::words::words;
use crate::trace::kernel_rules::KernelCategory;

words! {
    "ServingPart"
    /// What an instant is spent on.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Part {
        /// Kernels of attention.
        Attention = "attention",
        /// Kernels that write, copy or read the cache of keys and values.
        KvCache = "kv_cache",
        /// Matrix products and convolutions.
        Gemm = "gemm",
        /// Matrix products of experts.
        MoeGemm = "moe_gemm",
        /// Kernels that route tokens to experts.
        MoeRouting = "moe_routing",
        /// Kernels that add up the outputs of experts.
        MoeFinalize = "moe_finalize",
        /// Kernels that choose tokens.
        Sampling = "sampling",
        /// Other kernels that compute.
        OtherKernels = "other_kernels",
        /// Communication.
        Communication = "communication",
        /// The exchange of tokens between devices that have different experts.
        MoeDispatch = "moe_dispatch",
        /// Copies and memsets.
        Copies = "copies",
        /// The device is idle, and work that was launched has not started.
        Queued = "queued",
        /// The device is idle while the host is in a launch call of an iteration.
        Launch = "launch",
        /// The device is idle while the host is elsewhere in an iteration.
        Host = "host",
        /// The device is idle, and the host in no iteration.
        Between = "between",
    }
}

/// The number of parts.
pub(crate) const PARTS: usize = Part::ALL.len();

impl Part {
    /// The part that device work of a category belongs to.
    pub(crate) fn of_work(category: KernelCategory) -> Part {
        use KernelCategory as Is;
        match category {
            Is::Attention => Part::Attention,
            Is::KvCache => Part::KvCache,
            Is::Gemm | Is::Convolution => Part::Gemm,
            Is::MoeGemm => Part::MoeGemm,
            Is::MoeRouting => Part::MoeRouting,
            Is::MoeFinalize => Part::MoeFinalize,
            Is::Sampling => Part::Sampling,
            Is::Communication => Part::Communication,
            Is::MoeDispatch => Part::MoeDispatch,
            _ => Part::OtherKernels,
        }
    }

    /// Whether the device works.
    pub(crate) fn is_work(self) -> bool {
        (self as usize) < Part::Queued as usize
    }
}
