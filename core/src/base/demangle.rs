//! Names as torch shows them: C++ names demangled, and one name for all profiler steps.

use alloc::borrow::ToOwned;
use alloc::string::String;

/// Returns PyTorch's name for an event: C++ names are demangled, and all profiler steps have one name.
pub fn rewrite_name(name: &str) -> String {
    if name.starts_with("ProfilerStep#") {
        return "ProfilerStep*".to_owned();
    }
    demangled(name)
}

/// Returns a name, demangled if it is one of C++.
pub(crate) fn demangled(name: &str) -> String {
    demangle(name).unwrap_or_else(|| name.to_owned())
}

/// Demangles a C++ name. torch calls the C++ runtime, which also accepts mangled types; so does this, except for single
/// letters.
pub(crate) fn demangle(name: &str) -> Option<String> {
    if name.starts_with("_Z") {
        return symbol(name);
    }
    // `St` is the namespace `std`, not a type.
    let is_word =
        name.len() > 1 && name != "St" && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    // The type becomes the only parameter of a function `x`.
    let function = if is_word { symbol(&["_Z1x", name].concat())? } else { return None };
    let parameters = function.strip_prefix("x(")?.strip_suffix(')')?;
    (!parameters.is_empty() && commas_outside(parameters) == 0).then(|| parameters.to_owned())
}

/// Returns a C++ function without its parameters. Its template arguments stay.
pub(crate) fn without_parameters(name: &str) -> &str {
    let (mut angles, mut parentheses) = (0i32, 0i32);
    let mut before = ' ';
    for (at, c) in name.char_indices() {
        match c {
            '<' if parentheses == 0 => angles += 1,
            '>' if parentheses == 0 => angles -= 1,
            ')' => parentheses = (parentheses - 1).max(0),
            // Neither the parenthesis in `HtoD (Pageable -> Device)` nor that of an unnamed namespace starts a list.
            '(' if angles == 0
                && parentheses == 0
                && !before.is_whitespace()
                && !name[at..].starts_with("(anonymous namespace)") =>
            {
                return &name[..at];
            }
            '(' => parentheses += 1,
            _ => {}
        }
        before = c;
    }
    name
}

fn symbol(mangled: &str) -> Option<String> {
    let name = cpp_demangle::Symbol::new(mangled).ok()?.demangle().ok()?;
    // The library's notation for compiler-generated symbols: `{vtable(foo)}`.
    let special = name.strip_prefix('{').and_then(|n| n.strip_suffix(")}")).and_then(|n| n.split_once('('));
    Some(special.map_or_else(|| name.clone(), |(what, of)| [what, " for ", of].concat()))
}

/// The number of commas outside of brackets.
fn commas_outside(text: &str) -> usize {
    let mut depth = 0i32;
    let outside = text.chars().filter(|c| {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            _ => {}
        }
        *c == ',' && depth == 0
    });
    outside.count()
}
