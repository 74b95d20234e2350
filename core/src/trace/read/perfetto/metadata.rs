//! Members of a Chrome trace other than its events, in the packets of Chrome.

use super::arguments::quoted;
use super::wire::{Damaged, fields};
use crate::trace::table::metadata::Metadata;
use alloc::string::{String, ToString};

/// Adds the members of a `ChromeEventBundle`.
pub(super) fn chrome(bundle: &[u8], metadata: &mut Metadata) -> Result<(), Damaged> {
    for field in fields(bundle) {
        if let (2, member) = field? {
            metadata.entries.push(read(member.bytes())?);
        }
    }
    Ok(())
}

/// Returns the key of a member and its value as JSON.
fn read(member: &[u8]) -> Result<(String, String), Damaged> {
    let (mut key, mut json) = (String::new(), "null".to_string());
    for field in fields(member) {
        match field? {
            (1, text) => key = text.text().into_owned(),
            (2, text) => json = quoted(&text.text()),
            (3, flag) => json = (flag.number() != 0).to_string(),
            (4, number) => json = number.int().to_string(),
            (5, text) => json = valid(&text.text()),
            _ => {}
        }
    }
    Ok((key, json))
}

/// Returns a JSON text, as a string if it is not valid.
fn valid(text: &str) -> String {
    let parsed: Result<serde_json::Value, _> = serde_json::from_str(text);
    if parsed.is_ok() { text.into() } else { quoted(text) }
}
