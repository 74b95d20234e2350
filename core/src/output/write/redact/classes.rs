//! What the engine decides by the name of an event: the category of a kernel, and the cause of idle time that a span of the host
//! shows. A hidden name gets public words next to its pseudonym, so that the decisions stay.

use super::names::Judged;
use super::outcome::TextPart::{Hide, Keep};
use crate::analysis::device::idle::{NameSign, name_sign};
use crate::analysis::device::names::{is_host_collective, is_sync_name};
use crate::trace::kernel_rules::{KernelKind, KernelRules, Patterns};
use crate::trace::table::category::Category;
use alloc::vec;

/// What is decided by a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class {
    kernel: KernelKind,
    sign: NameSign,
    is_collective: bool,
    waits: bool,
}

/// Public words before and after a pseudonym.
pub(super) type Words = (&'static str, &'static str);

/// The words of spans of the host before and after a pseudonym.
const HOST: [Words; 16] = [
    ("", "/threading.py(0): wait"),
    ("torch/_dynamo/convert_frame.py(0): ", ""),
    ("", " (dynamo_timed)"),
    ("Optimizer.", ""),
    ("autograd::engine::", ""),
    ("enumerate(DataLoader)#", ""),
    ("gloo:", ""),
    ("mpi:", ""),
    ("", "Synchronize"),
    ("", "EventQuery"),
    ("", "Malloc"),
    ("", "ModuleLoad"),
    ("", "GraphInstantiate"),
    ("", "run_backward"),
    ("ProfilerStep#", ""),
    ("", ""),
];

/// Decides by names, with the built-in rules.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    patterns: Patterns<'static>,
}

impl Default for Classes {
    fn default() -> Self {
        static RULES: KernelRules = KernelRules::NONE;
        Classes { patterns: RULES.patterns() }
    }
}

impl Classes {
    /// The class of a name of events of a category.
    pub(super) fn class(&self, category: Category, name: &str) -> Class {
        let is_kernel = category == Category::Kernel;
        Class {
            kernel: if is_kernel { self.patterns.classify(name) } else { KernelKind::UNKNOWN },
            sign: name_sign(category, name),
            is_collective: is_host_collective(name),
            waits: is_sync_name(name),
        }
    }

    /// Words that keep the class of a name before and after its pseudonym; `None` if no words do that.
    pub(super) fn words(&self, category: Category, class: Class, pseudonym: &str) -> Option<Words> {
        let fits =
            |(before, after): &Words| self.class(category, &[before, pseudonym, after].concat()) == class;
        if category != Category::Kernel {
            return HOST.into_iter().find(fits);
        }
        let (kernel_words, tensor_cores) = self.patterns.words(class.kernel);
        let ends = || [""].into_iter().chain(tensor_cores.iter().copied());
        let starts = kernel_words.into_iter().chain([""]);
        // The words live as long as the rules, which are static.
        starts.flat_map(|before| ends().map(move |after| (before, after))).find(fits)
    }
}

/// A hidden name with public words before and after it.
pub(super) fn with_words(text: &str, (before, after): Words) -> Judged<'_> {
    let mut parts = vec![Keep(before), Hide(text), Keep(after)];
    parts.retain(|part| !matches!(part, Keep("")));
    ("class", parts)
}
