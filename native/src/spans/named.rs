//! Ranges whose names other tools look for.

use super::{Scope, record_function, state};

/// A step of an optimizer, as torch names it: `Optimizer.step#SGD.step`.
pub fn optimizer_step(optimizer: &str) -> Scope {
    range(|| format!("Optimizer.step#{optimizer}.step"))
}

/// Gradients are set to zero: `Optimizer.zero_grad#SGD.zero_grad`.
pub fn optimizer_zero_grad(optimizer: &str) -> Scope {
    range(|| format!("Optimizer.zero_grad#{optimizer}.zero_grad"))
}

/// A range whose name is put together only while something records it or passes it on.
fn range(name: impl FnOnce() -> String) -> Scope {
    if state() == 0 { record_function("") } else { record_function(&name()) }
}

/// An iterator over batches, each of whose calls is a range `enumerate(DataLoader)#NAME.__next__`, which the findings
/// about a slow input look at.
pub fn data_loader<I: IntoIterator>(name: &str, batches: I) -> DataLoader<I::IntoIter> {
    DataLoader { name: format!("enumerate(DataLoader)#{name}.__next__"), batches: batches.into_iter() }
}

/// See [`data_loader`].
#[derive(Clone, Debug)]
pub struct DataLoader<I> {
    name: String,
    batches: I,
}

impl<I: Iterator> Iterator for DataLoader<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        let _range = record_function(&self.name);
        self.batches.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.batches.size_hint()
    }
}
