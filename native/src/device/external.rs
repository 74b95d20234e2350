//! External correlation: passes the ids of spans to CUPTI, which attributes CUDA calls of the thread to them.

use super::loader::cuda;
use kinetoscope_stream::activity::span_kind;
use kinetoscope_stream::record::SpanKind;

/// Returns the external kind, which has its own stack of ids in CUPTI, for a kind of span; `None` for spans that are
/// not passed to CUPTI.
fn stack_of(kind: SpanKind) -> Option<u32> {
    match kind {
        SpanKind::Op => Some(span_kind::OP),
        SpanKind::Annotation => Some(span_kind::ANNOTATION),
        SpanKind::Module | SpanKind::Other => None,
    }
}

/// Pushes the id of a span that begins on the calling thread.
pub(crate) fn push(kind: SpanKind, id: u64) {
    if let (Some(stack), Ok(cuda)) = (stack_of(kind), cuda()) {
        // SAFETY: the arguments are plain numbers.
        unsafe { (cuda.cupti.push)(stack, id) };
    }
}

/// Pops the id of the calling thread's innermost span of this kind.
pub(crate) fn pop(kind: SpanKind) {
    if let (Some(stack), Ok(cuda)) = (stack_of(kind), cuda()) {
        let mut id = 0;
        // SAFETY: the out parameter is a local variable; CUPTI returns an error if the stack is empty.
        unsafe { (cuda.cupti.pop)(stack, &raw mut id) };
    }
}
