//! Two halves of a computation, in sequence or at the same time.

/// A function that runs the two halves of an answer: in sequence, or in parallel where there are threads.
pub type Join = fn(&mut (dyn FnMut() + Send), &mut (dyn FnMut() + Send));

/// Runs one half after the other.
pub fn sequential(one: &mut (dyn FnMut() + Send), other: &mut (dyn FnMut() + Send)) {
    one();
    other();
}
