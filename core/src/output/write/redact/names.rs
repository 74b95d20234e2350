//! Public names of events, and public parts of names.
//!
//! A rule matches a complete name. A name that no rule matches is hidden completely. A rule that matches can still hide
//! parts of the name, such as the class in `Optimizer.step#MyOptimizer.step`.

use super::grammar::{is_made_of, is_one_of};
use super::kernels::is_generated;
use super::outcome::TextPart::{self, Keep};
use super::patterns::EVENTS;
use super::vocabulary::Vocabulary;
use crate::trace::table::category::Category;
use alloc::vec;
use alloc::vec::Vec;

/// Libraries whose operators have public names.
const OPERATORS: &str = "aten prim prims c10d _c10d_functional c10d_functional torch profiler autograd quantized inductor \
    torchvision fbgemm mkldnn onednn nccl gloo";

/// A name that a rule matches: the rule and the parts.
pub(super) type Judged<'a> = (&'static str, Vec<TextPart<'a>>);

impl Vocabulary {
    /// Redacts the name of an event.
    pub(super) fn event<'a>(&self, category: Category, text: &'a str) -> Option<Judged<'a>> {
        let is_whole = |rule: &'static str, holds: bool| holds.then(|| (rule, vec![Keep(text)]));
        let rule = |rule: &'static str| move |parts| (rule, parts);
        is_whole("empty", text.is_empty())
            .or_else(|| self.pattern(EVENTS, text).map(rule("known name")))
            .or_else(|| is_whole("operator", self.is_operator(text)))
            .or_else(|| is_whole("runtime call", self.is_call(text)))
            .or_else(|| is_whole("copy", is_transfer(text)))
            .or_else(|| {
                let is_kernel = category == Category::Kernel || is_generated(text);
                if is_kernel { self.kernel(text).map(rule("kernel")) } else { None }
            })
            .or_else(|| self.frame(text).map(rule("frame")))
    }

    /// Whether a name is that of a profiler's counter, whose values are not private. The series of other counters can
    /// have the same keys.
    pub(super) fn is_counter(&self, name: &str) -> bool {
        let parts = self.pattern(EVENTS, name);
        parts.is_some_and(|parts| parts.iter().all(|part| matches!(part, Keep(_))))
    }

    /// Whether a name is an operator, such as `aten::add`, `aten::add.Tensor` or `torch::autograd::AccumulateGrad`, or
    /// a backward node, such as `AddmmBackward0`. User-defined autograd functions have no number at the end of the
    /// name.
    pub(super) fn is_operator(&self, text: &str) -> bool {
        if let Some((library, names)) = text.split_once("::") {
            let (path, overload) = names.split_once('.').unwrap_or((names, "_"));
            return is_one_of(library, OPERATORS) && self.are_public(path.split("::").chain([overload]));
        }
        let digits = text.bytes().rev().take_while(u8::is_ascii_digit).count();
        digits > 0 && text[..text.len() - digits].ends_with("Backward") && self.is_public(text)
    }

    /// Whether a name is a function of the runtime or driver of CUDA or `ROCm`.
    fn is_call(&self, text: &str) -> bool {
        let is_from = |library: &str| {
            text.starts_with(library)
                && text.as_bytes().get(library.len()).is_some_and(u8::is_ascii_uppercase)
        };
        ["cuda", "cu", "hip"].into_iter().any(is_from) && self.is_public(text)
    }
}

/// Whether a name is a memory copy or memset with its direction and kinds of memory.
fn is_transfer(text: &str) -> bool {
    const WORDS: &str = "Memcpy Memset memcpy memset HtoD HtoH HtoA DtoH DtoD DtoA AtoH AtoD AtoA PtoP Device Host Pinned \
        Pageable Array Managed Unified Unknown";
    let head = text.get(..6).unwrap_or("");
    is_one_of(head, "Memcpy Memset memcpy memset") && is_made_of(text, b" ()->", WORDS)
}
