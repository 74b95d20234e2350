//! Parts of texts and of JSON. These functions are called in dozens of places, and each copy of a search takes half a kilobyte of
//! WebAssembly.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use serde_json::Value as Json;

/// What is before and after the first occurrence of a text.
#[inline(never)]
pub(super) fn cut<'a>(text: &'a str, at: &str) -> Option<(&'a str, &'a str)> {
    text.split_once(at)
}

/// What is before the first occurrence of a text; everything if it does not occur.
pub(super) fn before<'a>(text: &'a str, at: &str) -> &'a str {
    cut(text, at).map_or(text, |parts| parts.0)
}

/// What is before and after the last occurrence of an ASCII character.
#[inline(never)]
pub(super) fn cut_last(text: &str, at: u8) -> Option<(&str, &str)> {
    let at = text.bytes().rposition(|byte| byte == at)?;
    Some((&text[..at], &text[at + 1..]))
}

/// The last part of a path.
pub(super) fn base_name(path: &str) -> &str {
    let at = path.bytes().rposition(|byte| byte == b'/' || byte == b'\\');
    at.map_or(path, |at| &path[at + 1..])
}

/// The folder of a path; empty without one.
pub(super) fn folder(path: &str) -> &str {
    &path[..path.len() - base_name(path).len()]
}

/// A text as a number.
#[inline(never)]
pub(super) fn number(text: &str) -> Option<u32> {
    text.trim().parse().ok()
}

/// The member of an object.
#[inline(never)]
pub(super) fn member<'a>(object: &'a Json, key: &str) -> Option<&'a Json> {
    object.get(key)
}

/// The text that is a member of an object.
pub(super) fn text<'a>(object: &'a Json, key: &str) -> Option<&'a str> {
    member(object, key)?.as_str()
}

/// The number that is a member of an object.
pub(super) fn count(object: &Json, key: &str) -> Option<u64> {
    member(object, key)?.as_u64()
}

/// The texts of a list.
#[inline(never)]
pub(super) fn texts(list: Option<&Json>) -> Vec<String> {
    let items = list.and_then(Json::as_array).into_iter().flatten();
    items.filter_map(Json::as_str).map(ToOwned::to_owned).collect()
}

/// The names of the members of an object.
#[inline(never)]
pub(super) fn names(object: &Json) -> Vec<&str> {
    object.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect()
}

/// Adds a text that is not there yet.
#[inline(never)]
pub(super) fn push_new(list: &mut Vec<String>, text: &str) {
    if !list.iter().any(|known| known == text) {
        list.push(text.to_owned());
    }
}
