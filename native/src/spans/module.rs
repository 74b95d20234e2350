//! Modules: the layers of a model that operators belong to.

use super::{Args, Scope, Site, SpanKind, recorder};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// The number of modules of each class.
pub(crate) type Counts = HashMap<String, u32>;

static COUNTS: LazyLock<Mutex<Counts>> = LazyLock::new(Mutex::default);

/// Locks the counts, also for the time of a `fork`.
pub(crate) fn lock() -> MutexGuard<'static, Counts> {
    COUNTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A module of a model, such as one `Linear`. Create it once, with the model, and call [`Module::scope`] in every call.
///
/// A call is recorded as a `python_function` named `nn.Module: Linear_0`, as torch records calls of `nn.Module`. The
/// operators in it get PyTorch's `Module Hierarchy`, such as `TOP(Model)::forward.fc1(Linear)::forward.`
#[derive(Clone, Debug)]
pub struct Module {
    name: String,
    frame: String,
}

impl Module {
    /// Creates a module of this class. `instance` is the name of the parent's field that holds it.
    pub fn new(class: &str, instance: &str) -> Module {
        let mut counts = lock();
        let count = counts.entry(class.to_owned()).or_insert(0);
        let name = format!("nn.Module: {class}_{count}");
        *count += 1;
        Module { name, frame: format!("{instance}({class})::forward") }
    }

    /// Begins a call of the module, which ends when the guard is dropped. Recorded with `with_modules`.
    #[inline]
    pub fn scope(&self) -> Scope {
        static SITE: Site = Site::new("nn.Module", SpanKind::Module, file!(), line!());
        match recorder::state() {
            state if state != 0 && recorder::wants_modules(state) => {
                let mut args = Args::new(state);
                args.name(&self.name);
                args.frame(&self.frame);
                Scope::with(&SITE, args)
            }
            _ => Scope::none_named(&SITE, &self.name),
        }
    }
}
