//! Which span a thread is in, told to CUPTI: calls to a device carry its id.

use super::loader::cuda;
use kinetoscope_stream::activity::span_kind;
use kinetoscope_stream::record::Kind;

/// The stack of ids that spans of this kind are on; nothing for those that are on none.
fn stack_of(kind: Kind) -> Option<u32> {
    match kind {
        Kind::Op => Some(span_kind::OP),
        Kind::Annotation => Some(span_kind::ANNOTATION),
        Kind::Module | Kind::Other => None,
    }
}

/// A span begins on this thread.
pub(crate) fn push(kind: Kind, id: u64) {
    if let (Some(stack), Ok(cuda)) = (stack_of(kind), cuda()) {
        // SAFETY: plain numbers.
        unsafe { (cuda.cupti.push)(stack, id) };
    }
}

/// The innermost span of this kind ends on this thread.
pub(crate) fn pop(kind: Kind) {
    if let (Some(stack), Ok(cuda)) = (stack_of(kind), cuda()) {
        let mut id = 0;
        // SAFETY: the place is ours; a stack that is empty is refused.
        unsafe { (cuda.cupti.pop)(stack, &raw mut id) };
    }
}
