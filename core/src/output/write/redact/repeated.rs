//! Long values that many rows share, such as the stack of the blocks of an allocation site: each of them is redacted once.

use crate::base::index::Index;
use crate::base::names::Names;
use crate::trace::table::fields::Value;
use crate::trace::table::layout::FieldPlace;
use alloc::string::String;
use alloc::vec::Vec;

/// The least number of bytes of a value that is kept. Shorter ones take less time than a search for them.
const LONG: usize = 256;

/// Long values, with their keys, and what each of them became.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeated {
    texts: Names,
    known: Index,
    written: Vec<String>,
}

/// A long value under a key.
#[derive(Clone, Copy)]
pub(super) struct Long((i64, i64));

impl Repeated {
    /// The value, if it is long.
    pub(super) fn long(&mut self, at: FieldPlace, key: &str, value: Value<'_>) -> Option<Long> {
        let (is_json, text) = match value {
            Value::Text(text) => (false, text),
            Value::Json(text) => (true, text),
            _ => return None,
        };
        if text.len() < LONG {
            return None;
        }
        let form = 2 * i64::from(at == FieldPlace::Args) + i64::from(is_json);
        let (key, text) = (self.texts.intern(key), self.texts.intern(text));
        Some(Long((4 * i64::from(key.0) + form, i64::from(text.0))))
    }

    /// What the value became.
    pub(super) fn written(&self, long: Long) -> Option<String> {
        self.known.get(long.0).map(|at| self.written[at as usize].clone())
    }

    pub(super) fn keep(&mut self, long: Long, written: &str) {
        self.known.set(long.0, self.written.len() as u32);
        self.written.push(written.into());
    }
}
