//! `Module Hierarchy`: the modules around an operator of TorchScript, such as `TOP(Net)::forward.fc(Linear)::forward.`.

use alloc::string::String;
use alloc::vec::Vec;

/// The instance name of calls to other methods of the same module.
const SAME: &str = "SELF(";

/// Returns the modules from the outermost to the innermost, each as `instance(type)`.
pub(crate) fn modules(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let calls = text.split(|c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == '.' && depth == 0
    });
    let modules = calls.filter_map(|call| call.split("::").next().filter(|module| module.contains('(')));
    modules.filter(|module| !module.starts_with(SAME)).collect()
}

/// Returns the path of the innermost module, separated by `/`.
pub(crate) fn innermost(text: &str) -> Option<String> {
    let path = modules(text).join("/");
    (!path.is_empty()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_of_the_same_module_are_left_out() {
        let text = "TOP(Net)::forward.fc.1(Linear)::forward.SELF(Linear)::scale.";
        assert_eq!(modules("TOP(Net)::forward.A0(a.b.A)::forward."), ["TOP(Net)", "A0(a.b.A)"]);
        assert_eq!(innermost("TOP(C)::forward.A0(A)::forward.SELF(A)::f."), Some("TOP(C)/A0(A)".into()));
        assert_eq!((modules(text).len(), innermost("")), (2, None));
    }
}
