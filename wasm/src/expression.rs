//! Regular expressions: those of JavaScript.

use js_sys::{Array, Function, Reflect, RegExp, global};
use kinetoscope_core::queries::Matches;
use wasm_bindgen::{JsCast, JsValue};

/// Compiles a regular expression, or returns the message of the `SyntaxError`.
pub(crate) fn compile(expression: &str) -> Result<Matches, String> {
    let compiled = construct(expression).map_err(|error| {
        let message = Reflect::get(&error, &"message".into()).ok();
        message.and_then(|message| message.as_string()).unwrap_or_default()
    })?;
    Ok(Box::new(move |text| compiled.test(text)))
}

/// As `RegExp::new` of `js_sys`, but with an exception as an error: it must not leave the engine in the middle of a call.
fn construct(expression: &str) -> Result<RegExp, JsValue> {
    let constructor: Function = Reflect::get(&global(), &"RegExp".into())?.dyn_into()?;
    Reflect::construct(&constructor, &Array::of1(&expression.into()))?.dyn_into()
}
