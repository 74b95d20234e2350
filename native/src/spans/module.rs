//! Modules: which layer of a model an operator was called by.

use super::{Args, Kind, Scope, Site, local};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

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
        static COUNTS: Mutex<Option<HashMap<String, u32>>> = Mutex::new(None);
        let mut counts = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.get_or_insert_default().entry(class.to_owned()).or_insert(0);
        let name = format!("nn.Module: {class}_{count}");
        *count += 1;
        Module { name, frame: format!("{instance}({class})::forward") }
    }

    /// The call of the module: everything until the guard is dropped. Recorded with `with_modules`.
    #[inline]
    pub fn scope(&self) -> Scope {
        static SITE: Site = Site::new("nn.Module", Kind::Module, file!(), line!());
        match local::state() {
            state if state != 0 && local::wants_modules(state) => {
                let mut args = Args::new(state);
                args.name(&self.name);
                args.frame(&self.frame);
                Scope::with(&SITE, args)
            }
            _ => Scope::none(&SITE),
        }
    }
}
