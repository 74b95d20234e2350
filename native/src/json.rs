//! Writes JSON: the arguments of spans and the metadata of recordings.

#[cfg(feature = "record")]
use std::fmt::Display;
use std::fmt::Write;

/// Appends a JSON array.
pub(crate) fn append_list<T>(
    json: &mut String,
    items: impl IntoIterator<Item = T>,
    mut append: impl FnMut(&mut String, T),
) {
    json.push('[');
    for (number, item) in items.into_iter().enumerate() {
        if number > 0 {
            json.push(',');
        }
        append(json, item);
    }
    json.push(']');
}

/// Appends a string as JSON.
pub(crate) fn quote(text: &str, json: &mut String) {
    json.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            '\0'..='\u{1f}' => {
                let _ = write!(json, "\\u{:04x}", u32::from(c));
            }
            _ => json.push(c),
        }
    }
    json.push('"');
}

/// The members of a JSON object.
#[cfg(feature = "record")]
#[derive(Clone, Debug, Default)]
pub(crate) struct Members(String);

#[cfg(feature = "record")]
impl Members {
    /// Adds a member whose value is JSON.
    pub(crate) fn json(&mut self, key: &str, value: &str) {
        self.value(key, |json| json.push_str(value));
    }

    /// Adds a member whose value is a number or a boolean.
    pub(crate) fn number(&mut self, key: &str, value: impl Display) {
        self.value(key, |json| {
            let _ = write!(json, "{value}");
        });
    }

    /// Adds a member whose value is a string.
    pub(crate) fn text(&mut self, key: &str, value: &str) {
        self.value(key, |json| quote(value, json));
    }

    /// Adds a member whose value is a list of strings.
    pub(crate) fn texts(&mut self, key: &str, values: &[String]) {
        self.value(key, |json| append_list(json, values, |json, text| quote(text, json)));
    }

    /// Adds a member whose value `append` writes.
    pub(crate) fn value(&mut self, key: &str, append: impl FnOnce(&mut String)) {
        if !self.0.is_empty() {
            self.0.push_str(", ");
        }
        quote(key, &mut self.0);
        self.0.push_str(": ");
        append(&mut self.0);
    }

    /// Adds the members of another object.
    pub(crate) fn append(&mut self, other: &Members) {
        if !self.0.is_empty() && !other.0.is_empty() {
            self.0.push_str(", ");
        }
        self.0.push_str(&other.0);
    }

    /// Returns the members without braces.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the object.
    pub(crate) fn object(&self) -> String {
        format!("{{{}}}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_strings_are_json() {
        let text = "a \"b\" \\ \n \0 \u{1f} é \u{2028}";
        let mut json = String::new();
        quote(text, &mut json);
        assert_eq!(serde_json::from_str::<String>(&json).expect("JSON"), text);
    }

    #[cfg(feature = "record")]
    #[test]
    fn members_are_an_object() {
        let (mut members, mut more) = (Members::default(), Members::default());
        members.number("number", 7);
        members.text("a \"key\"", "a text");
        more.texts("list", &["x".to_owned(), "y".to_owned()]);
        more.json("object", "{\"a\": [null]}");
        members.append(&more);
        members.append(&Members::default());
        let expected = serde_json::json!({
            "number": 7, "a \"key\"": "a text", "list": ["x", "y"], "object": {"a": [null]},
        });
        assert_eq!(serde_json::from_str::<serde_json::Value>(&members.object()).expect("JSON"), expected);
    }
}
