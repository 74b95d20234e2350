//! Modules: which layer of a model an operator was called by.

use super::{Args, Kind, Scope, Site, recorder};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// How many modules of each class there are.
pub(crate) type Counts = HashMap<String, u32>;

static COUNTS: LazyLock<Mutex<Counts>> = LazyLock::new(Mutex::default);

/// Keeps others from making modules.
pub(crate) fn lock() -> MutexGuard<'static, Counts> {
    COUNTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A module of a model, such as one `Linear`. Make it once, with the model; enter it at every call.
///
/// A call is a `python_function` named `nn.Module: Linear_0`, as torch writes those of `nn.Module`, and the operators in it
/// get a `Module Hierarchy` as torch writes it: `TOP(Model)::forward.fc1(Linear)::forward.`
#[derive(Clone, Debug)]
pub struct Module {
    name: String,
    frame: String,
}

impl Module {
    /// A module of this class; `instance` is the field of its parent that holds it.
    pub fn new(class: &str, instance: &str) -> Module {
        let mut counts = lock();
        let count = counts.entry(class.to_owned()).or_insert(0);
        let name = format!("nn.Module: {class}_{count}");
        *count += 1;
        Module { name, frame: format!("{instance}({class})::forward") }
    }

    /// The call of the module: everything until the guard is dropped. Recorded with `with_modules`.
    #[inline]
    pub fn scope(&self) -> Scope {
        static SITE: Site = Site::new("nn.Module", Kind::Module, file!(), line!());
        match recorder::state() {
            state if state != 0 && recorder::wants_modules(state) => {
                let mut args = Args::new(state);
                args.name(&self.name);
                args.frame(&self.frame);
                Scope::with(&SITE, args)
            }
            _ => Scope::none(&SITE),
        }
    }
}
