//! Pairs of functions with and without spans. Without the recorder, both must compile to the same instructions.

use kinetoscope::AsyncScope;
use kinetoscope::Module;
use kinetoscope::Sequence;
use kinetoscope::Track;
use kinetoscope::spans::{Scope, is_recording, record_function};
use kinetoscope::{
    args, async_scope, counter, flow_end, flow_start, function_scope, instant, name_thread, scope, user_scope,
};
use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

/// The work of every function.
#[inline(always)]
fn work(values: &[u64], add: u64) -> u64 {
    values.iter().fold(add, |sum, value| sum.rotate_left(5) ^ value)
}

/// With a span.
#[unsafe(no_mangle)]
pub fn spanned_scope(values: &[u64], add: u64) -> u64 {
    let _span = scope!("work");
    work(values, add)
}

/// Without a span.
#[unsafe(no_mangle)]
pub fn plain_scope(values: &[u64], add: u64) -> u64 {
    work(values, add)
}

/// With arguments, which must not be evaluated.
#[unsafe(no_mangle)]
pub fn spanned_arguments(values: &[u64], add: u64) -> u64 {
    let _range = user_scope!("range", many = values.len());
    let _span = scope!("work", shapes: [[values.len()]], dtype: "long", concrete: [add], flops: values.len(),
        sequence: Sequence { number: 1, thread: 2 }, add = add, shown = %add, list = ?values);
    work(values, add)
}

/// Without a span.
#[unsafe(no_mangle)]
pub fn plain_arguments(values: &[u64], add: u64) -> u64 {
    work(values, add)
}

/// With values of every type, and arguments that are added later.
#[unsafe(no_mangle)]
pub fn spanned_values(values: &[u64], add: u64) -> u64 {
    let span = scope!(String::from("a name"), add, ?values, "any key" = %add, slice = values, wide = u128::from(add),
        text = Cow::Borrowed("text"), path = Path::new("a"), took = Duration::from_nanos(add), none = None::<char>);
    args!(span, status = 200, list = [1.5, f64::NAN]);
    let _function = function_scope!(add);
    work(values, add)
}

/// Without a span.
#[unsafe(no_mangle)]
pub fn plain_values(values: &[u64], add: u64) -> u64 {
    work(values, add)
}

/// With every other macro and guard.
#[unsafe(no_mangle)]
pub fn spanned_others(values: &[u64], add: u64) -> u64 {
    instant!("now", add = add);
    counter!("sum", add);
    flow_start!("arrow", add);
    let _request: AsyncScope = async_scope!("request", add = add);
    let _range: Scope = record_function("a name");
    name_thread(format_args!("thread {add}"));
    Track::new("queue").span_with("pass", 0..add as i64, |args| args.value("sum", add));
    let sum = if is_recording() { 0 } else { work(values, add) };
    flow_end!("arrow", add);
    sum
}

/// Without spans.
#[unsafe(no_mangle)]
pub fn plain_others(values: &[u64], add: u64) -> u64 {
    work(values, add)
}

/// In a module.
#[unsafe(no_mangle)]
pub fn spanned_module(module: &Module, values: &[u64], add: u64) -> u64 {
    let _call = module.scope();
    work(values, add)
}

/// Without a module.
#[unsafe(no_mangle)]
pub fn plain_module(_: &Module, values: &[u64], add: u64) -> u64 {
    work(values, add)
}
