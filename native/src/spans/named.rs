//! User annotations with the names that PyTorch uses and that findings and other tools recognise.

use super::{Scope, Site, SpanKind, named_scope, record_function, state};

/// Begins a step of an optimizer, under PyTorch's name: `Optimizer.step#SGD.step`.
pub fn optimizer_step(optimizer: &str) -> Scope {
    static SITE: Site = Site::new("Optimizer.step", SpanKind::Annotation, file!(), line!());
    range(&SITE, || format!("Optimizer.step#{optimizer}.step"))
}

/// Begins the zeroing of gradients, under PyTorch's name: `Optimizer.zero_grad#SGD.zero_grad`.
pub fn optimizer_zero_grad(optimizer: &str) -> Scope {
    static SITE: Site = Site::new("Optimizer.zero_grad", SpanKind::Annotation, file!(), line!());
    range(&SITE, || format!("Optimizer.zero_grad#{optimizer}.zero_grad"))
}

/// Begins an annotation. The name is computed only while spans are recorded or mirrored.
fn range(site: &'static Site, name: impl FnOnce() -> String) -> Scope {
    if state() == 0 { Scope::none(site) } else { named_scope(site, &name()) }
}

/// Returns an iterator over batches. Each call of `next` is an annotation `enumerate(DataLoader)#NAME.__next__`, which
/// the findings about slow input use.
pub fn data_loader<I: IntoIterator>(name: &str, batches: I) -> DataLoader<I::IntoIter> {
    DataLoader { name: format!("enumerate(DataLoader)#{name}.__next__"), batches: batches.into_iter() }
}

/// The iterator of [`data_loader`].
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
