//! Redaction: texts that no rule allows are replaced, the same text by the same pseudonym everywhere. Structure and
//! times stay.
//!
//! `rules` defines which keys are public and which values under them are kept, `names` which names of events are
//! public, `patterns` which names of processes and threads, `frames` which parts of a stack. `vocabulary` defines the
//! words in names of operators and kernels. A text is first split into frames or entries, and each of them is matched
//! completely. A pseudonym is `x` and the first 64 bits of a SHA-256 of the salt and the text. The salt is not stored;
//! without it, a guessed text cannot be verified.

pub mod audit;
mod classes;
mod frames;
mod grammar;
mod kernels;
mod names;
mod outcome;
mod patterns;
mod repeated;
mod rules;
mod vocabulary;

use super::chrome::{KeyOf, Rewrite};
use crate::base::index::Index;
use crate::base::rows::quote;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::fields::Value;
use crate::trace::table::layout;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use classes::{Classes, Words, with_words};
use names::Judged;
use outcome::{Audit, Field, TextPart};
use patterns::LANES;
use repeated::Repeated;
use rules::{Keys, ObjectKind, Rule};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use vocabulary::Vocabulary;

/// The number of bytes of the hash in a pseudonym.
const HASH_BYTES: usize = 8;

/// Replaces private texts by pseudonyms.
#[derive(Clone, Debug)]
pub(crate) struct Redact<A = ()> {
    keys: Keys,
    vocabulary: Vocabulary,
    classes: Classes,
    pen: Pen<A>,
    /// The index into `names` of each name and category of events.
    known: Index,
    names: Vec<Name>,
    repeated: Repeated,
}

/// A redacted name of events.
#[derive(Clone, Debug)]
struct Name {
    written: String,
    /// The words that keep its class.
    words: Option<Words>,
    keeps_class: bool,
}

/// Writes the kept and replaced parts of texts.
#[derive(Clone, Debug)]
struct Pen<A> {
    salt: Vec<u8>,
    audit: A,
}

impl Redact {
    /// Creates a redactor. The same salt gives the same pseudonyms.
    pub(crate) fn new(salt: &[u8]) -> Self {
        Redact::with_audit(salt, ())
    }

    /// The number of names, by category, whose class is lost.
    pub(crate) fn lost(&mut self, table: &Table) -> usize {
        for row in table.rows() {
            self.name_of(table, row);
        }
        self.names.iter().filter(|name| !name.keeps_class).count()
    }
}

impl<A: Audit> Pen<A> {
    fn pseudonym(&self, text: &str, out: &mut String) {
        let mut hash = Sha256::new();
        hash.update((self.salt.len() as u64).to_le_bytes());
        hash.update(&self.salt);
        hash.update(text.as_bytes());
        out.push('x');
        for byte in hash.finalize().iter().take(HASH_BYTES) {
            for digit in [byte >> 4, byte & 15] {
                out.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
            }
        }
    }

    /// The redacted text, without an entry in the audit.
    fn preview(&self, text: &str, judged: Option<&Judged<'_>>) -> String {
        let mut out = String::new();
        let hidden = [TextPart::Hide(text)];
        for part in judged.map_or(&hidden[..], |judged| &judged.1) {
            match part {
                TextPart::Keep(text) => out.push_str(text),
                TextPart::Hide(text) => self.pseudonym(text, &mut out),
            }
        }
        out
    }

    fn hidden(&mut self, field: Field<'_>, text: &str) -> String {
        self.audit.hidden(field);
        let mut out = String::new();
        self.pseudonym(text, &mut out);
        out
    }

    /// The redacted text; a text that no rule has matched is replaced completely.
    fn written(&mut self, field: Field<'_>, text: &str, judged: Option<&Judged<'_>>) -> String {
        self.count(field, judged);
        self.preview(text, judged)
    }

    /// Adds an entry to the audit.
    fn count(&mut self, field: Field<'_>, judged: Option<&Judged<'_>>) {
        match judged {
            Some((rule, parts)) => self.audit.judged(field, rule, parts),
            None => self.audit.hidden(field),
        }
    }

    /// The replacement of a key; `None` if the key is public.
    fn key(&mut self, field: Field<'_>, known: Option<Rule>, key: &str) -> Option<String> {
        if known.is_some() || key.is_empty() {
            self.audit.judged(field.keys(), "known key", &[TextPart::Keep(key)]);
            return None;
        }
        Some(self.hidden(field.keys(), key))
    }
}

impl<A: Audit> Redact<A> {
    fn with_audit(salt: &[u8], audit: A) -> Self {
        Redact {
            keys: Keys::default(),
            vocabulary: Vocabulary::default(),
            classes: Classes::default(),
            pen: Pen { salt: salt.to_vec(), audit },
            known: Index::default(),
            names: Vec::new(),
            repeated: Repeated::default(),
        }
    }

    /// Redacts a name of events. If that would change its class, public words keep it.
    fn redacted(&self, category: Category, text: &str) -> Name {
        let written = self.pen.preview(text, self.vocabulary.event(category, text).as_ref());
        let class = self.classes.class(category, text);
        if self.classes.class(category, &written) == class {
            return Name { written, words: None, keeps_class: true };
        }
        let pseudonym = self.pen.preview(text, None);
        match self.classes.words(category, class, &pseudonym) {
            Some(words @ (before, after)) => {
                let written = [before, &pseudonym, after].concat();
                Name { written, words: Some(words), keeps_class: true }
            }
            None => Name { written, words: None, keeps_class: false },
        }
    }

    /// Redacts the name of an event, if its name and category are new. Returns the index into `names`.
    fn name_of(&mut self, table: &Table, row: Row) -> usize {
        let (name, category) = (table.name_id(row), table.category(row));
        let (text, next) = (table.names.get(name), self.names.len());
        let at =
            self.known.get_or_insert((i64::from(name.0), i64::from(category as u8)), next as u32) as usize;
        if at == next {
            self.names.push(self.redacted(category, text));
        }
        if A::COUNTS {
            let words = self.names[at].words;
            let judged = words
                .map_or_else(|| self.vocabulary.event(category, text), |words| Some(with_words(text, words)));
            self.pen.count(Field::new("name", ""), judged.as_ref());
        }
        at
    }

    fn text(&mut self, field: Field<'_>, rule: Rule, text: &str) -> String {
        self.pen.written(field, text, self.vocabulary.judge(rule, text).as_ref())
    }

    /// The replacement of a value; `None` if it stays.
    fn value(&mut self, field: Field<'_>, rule: Rule, value: Value<'_>) -> Option<String> {
        match value {
            Value::Text(text) => Some(quote(&self.text(field, rule, text))),
            Value::Json(json) => Some(self.json_text(field, rule, json)),
            Value::Null | Value::Bool(_) => None,
            _ if rule.keeps_numbers() => {
                self.pen.audit.number(field);
                None
            }
            number => Some(quote(&self.pen.hidden(field, &number.to_json()))),
        }
    }

    fn json(&mut self, field: Field<'_>, rule: Rule, value: Json) -> Json {
        match value {
            Json::String(text) => Json::String(self.text(field, rule, &text)),
            Json::Array(values) => values.into_iter().map(|v| self.json(field, rule, v)).collect(),
            Json::Object(members) => members
                .into_iter()
                .map(|(key, value)| {
                    let known = self.keys.below(rule, &key);
                    let written = self.pen.key(field, known, &key);
                    (written.unwrap_or(key), self.json(field, known.unwrap_or(Rule::Nothing), value))
                })
                .collect(),
            Json::Number(number) if rule.keeps_numbers() => {
                self.pen.audit.number(field);
                Json::Number(number)
            }
            Json::Number(number) => Json::String(self.pen.hidden(field, &number.to_string())),
            other => other,
        }
    }

    fn json_text(&mut self, field: Field<'_>, rule: Rule, json: &str) -> String {
        match serde_json::from_str::<Json>(json) {
            Ok(value) => self.json(field, rule, value).to_string(),
            Err(_) => quote(&self.pen.hidden(field, json)),
        }
    }
}

/// The name in an audit and the place of an event's field.
fn place(at: layout::FieldPlace) -> (&'static str, ObjectKind) {
    match at {
        layout::FieldPlace::Top => ("event", ObjectKind::Event),
        layout::FieldPlace::Args => ("args", ObjectKind::Args),
    }
}

impl<A: Audit> Rewrite for Redact<A> {
    fn name(&mut self, table: &Table, row: Row) -> Option<String> {
        let at = self.name_of(table, row);
        Some(self.names[at].written.clone())
    }

    fn category(&mut self, text: &str) -> Option<String> {
        Some(self.text(Field::new("category", ""), Rule::Category, text))
    }

    fn key(&mut self, of: KeyOf, key: &str) -> Option<String> {
        let (name, at) = match of {
            KeyOf::Event(at) => place(at),
            KeyOf::Metadata => ("metadata", ObjectKind::Metadata),
        };
        self.pen.key(Field::new(name, ""), self.keys.rule(at, key), key)
    }

    fn field(
        &mut self,
        table: &Table,
        row: Row,
        at: layout::FieldPlace,
        key: &str,
        value: Value<'_>,
    ) -> Option<String> {
        let (name, object) = place(at);
        let known = self.keys.rule(object, key);
        let field = Field::new(name, if known.is_some() { key } else { "" });
        let is_series = object == ObjectKind::Args && table.ph(row) == b'C';
        if is_series && !self.vocabulary.is_counter(table.name(row)) {
            return self.value(field, Rule::Nothing, value);
        }
        // An audit counts the values of every row.
        let long = if A::COUNTS { None } else { self.repeated.long(at, key, value) };
        if let Some(written) = long.and_then(|long| self.repeated.written(long)) {
            return Some(written);
        }
        let written = self.value(field, known.unwrap_or(Rule::Nothing), value);
        if let (Some(long), Some(written)) = (long, &written) {
            self.repeated.keep(long, written);
        }
        written
    }

    fn id(&mut self, json: &str) -> Option<String> {
        let rule = if json.starts_with('"') { Rule::Pattern(LANES) } else { Rule::Id };
        Some(self.json_text(Field::new("pid or tid", ""), rule, json))
    }

    fn metadata(&mut self, key: &str, json: &str) -> Option<String> {
        let known = self.keys.rule(ObjectKind::Metadata, key);
        let field = Field::new("metadata", if known.is_some() { key } else { "" });
        Some(self.json_text(field, known.unwrap_or(Rule::Nothing), json))
    }
}
