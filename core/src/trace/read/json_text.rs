//! Interns the texts of JSON values. Each distinct text is validated once.

use crate::base::names::{NameId, Names};
use alloc::vec::Vec;

/// Which strings were validated as JSON values. The same string may also be a name.
#[derive(Clone, Debug, Default)]
pub(super) struct JsonTexts {
    is_json: Vec<bool>,
}

impl JsonTexts {
    /// Returns the id of a text, or `None` if it is not a JSON value.
    #[inline]
    pub(super) fn intern(&mut self, names: &mut Names, text: &[u8]) -> Option<NameId> {
        let known = names.find_utf8(text);
        if let Some(id) = known.filter(|id| self.is_json.get(id.0 as usize) == Some(&true)) {
            return Some(id);
        }
        // Parsing into a `Value` detects lone surrogates, too.
        serde_json::from_slice::<serde_json::Value>(text).ok()?;
        let (id, _) = names.intern_utf8(text)?;
        if self.is_json.len() <= id.0 as usize {
            self.is_json.resize(id.0 as usize + 1, false);
        }
        self.is_json[id.0 as usize] = true;
        Some(id)
    }
}
