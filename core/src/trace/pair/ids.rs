//! The ids of asynchronous events and flows, and what each is unique in.
//!
//! Events belong together if their `id` and `scope` are equal, and the category of events that are not flows of version 2. An
//! `id2` with the member `local` is unique in its process only. The ids `"9"` and `9` are equal, `"0xA"` and `"0xa"` are not.

use crate::base::index::Index;
use crate::base::names::{NameId, Names};
use crate::trace::table::events::{Row, Table};
use crate::trace::table::fields::{Value, zigzag};
use crate::trace::table::layout::{Field, FieldPlace, FieldType, Key, Layout};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A number for what an id is unique in, and the id.
pub(super) type Id = (i64, i64);

/// The fields with ids of the events of one layout.
#[derive(Clone, Copy, Default)]
struct IdFields {
    cat: Option<NameId>,
    id: Option<Field>,
    id2: Option<Field>,
    scope: Option<Field>,
    bind: Option<Field>,
    /// The number of what the ids are unique in, if it is the same for all events.
    space: Option<i64>,
}

impl IdFields {
    fn new(table: &Table, layout: &Layout) -> IdFields {
        let names = &table.names;
        let top = |key: &str| {
            layout
                .fields
                .iter()
                .rev()
                .find(|f| f.place == FieldPlace::Top && names.get(f.key) == key)
                .copied()
        };
        let known = |key| layout.find(key).copied();
        let (id, id2) = (known(Key::Id), known(Key::Id2));
        IdFields { cat: layout.cat, id, id2, scope: top("scope"), bind: top("bind_id"), space: None }
    }
}

/// Which directions a flow of version 2 has at the events of a layout.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Directions {
    pub(super) is_in: bool,
    pub(super) is_out: bool,
}

impl Directions {
    /// The directions, of an event with a `bind_id`.
    pub(super) fn new(table: &Table, layout: &Layout) -> Directions {
        let has = |key: &str, wanted: Option<FieldType>| {
            let mut top = layout.fields.iter().filter(|f| f.place == FieldPlace::Top);
            top.any(|f| table.names.get(f.key) == key && wanted.is_none_or(|wanted| f.field_type == wanted))
        };
        let is = |key| has("bind_id", None) && has(key, Some(FieldType::True));
        Directions { is_in: is("flow_in"), is_out: is("flow_out") }
    }
}

/// Numbers what ids are unique in.
pub(super) struct Ids<'a> {
    table: &'a Table,
    layouts: Vec<IdFields>,
    /// Category and scope, then kind and process, each pair with its number.
    groups: Index,
    spaces: Index,
    /// The ids in the texts of `id2`, and whether each is local.
    parsed: Index,
    values: Vec<Option<(NameId, bool)>>,
    texts: Names,
}

/// The kind of an `id2`, after those of [`FieldType`].
const ID2: i64 = 100;

impl<'a> Ids<'a> {
    pub(super) fn new(table: &'a Table) -> Self {
        let layouts = table.layouts.all().iter().map(|layout| IdFields::new(table, layout)).collect();
        let index = Index::default;
        Ids {
            table,
            layouts,
            groups: index(),
            spaces: index(),
            parsed: index(),
            values: Vec::new(),
            texts: Names::default(),
        }
    }

    /// The id of an asynchronous event or of a flow of version 1.
    pub(super) fn id(&mut self, row: Row) -> Option<Id> {
        let layout = self.table.layout_id(row).0 as usize;
        let fields = self.layouts[layout];
        if let (Some(space), Some(field)) = (fields.space, fields.id) {
            return Some((space, self.raw(row, &field)));
        }
        let scope = fields.scope.map_or(u32::MAX, |field| self.raw(row, &field) as u32);
        let group = (fields.cat.map_or(u32::MAX, |cat| cat.0), scope);
        if let Some(field) = fields.id2
            && let Some((id, is_local)) = self.parsed(row, &field)
        {
            let pid = if is_local { i64::from(self.table.track(row).pid.0) } else { -1 };
            return Some((self.space(group, (ID2, pid)), i64::from(id.0)));
        }
        let field = fields.id.or(fields.id2)?;
        let (kind, value) = self.value(row, &field);
        let space = self.space(group, (kind, -1));
        if fields.scope.is_none() && fields.id2.is_none() && field.field_type != FieldType::Text {
            self.layouts[layout].space = Some(space);
        }
        Some((space, value))
    }

    /// The id of a flow of version 2.
    pub(super) fn bind_id(&mut self, row: Row) -> Option<Id> {
        let field = self.layouts[self.table.layout_id(row).0 as usize].bind?;
        let (kind, value) = self.value(row, &field);
        Some((self.space((u32::MAX, u32::MAX), (kind, -2)), value))
    }

    /// The kind of an id and its value. The string of a whole number is that number.
    fn value(&self, row: Row, field: &Field) -> (i64, i64) {
        let raw = self.raw(row, field);
        let text = (field.field_type == FieldType::Text).then(|| self.table.names.get(NameId(raw as u32)));
        match text.and_then(whole_number) {
            Some(number) => (FieldType::Int as i64, zigzag(number) as i64),
            None => (field.field_type as i64, raw),
        }
    }

    fn raw(&self, row: Row, field: &Field) -> i64 {
        self.table.fields.raw(row.index(), field) as i64
    }

    fn space(&mut self, (cat, scope): (u32, u32), (kind, pid): (i64, i64)) -> i64 {
        let next = self.groups.len() as u32;
        let group = self.groups.get_or_insert((i64::from(cat), i64::from(scope)), next);
        let next = self.spaces.len() as u32;
        i64::from(self.spaces.get_or_insert((i64::from(group) << 8 | kind, pid), next))
    }

    /// The id in an `id2`, and whether it is local.
    fn parsed(&mut self, row: Row, field: &Field) -> Option<(NameId, bool)> {
        if field.field_type != FieldType::Json {
            return None;
        }
        let next = self.values.len() as u32;
        let at = self.parsed.get_or_insert((self.raw(row, field), 0), next);
        if at == next {
            let value = self.table.fields.value(row.index(), field, &self.table.names);
            let parsed = parse(value).map(|(text, is_local)| (self.texts.intern(&text), is_local));
            self.values.push(parsed);
        }
        self.values[at as usize]
    }
}

/// The text of the id in `{"local": …}` or `{"global": …}`, and whether it is local.
fn parse(value: Value<'_>) -> Option<(String, bool)> {
    let Value::Json(text) = value else { return None };
    let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text).ok()?;
    let member = |key| {
        let id = object.get(key)?;
        Some(
            id.as_str()
                .filter(|text| whole_number(text).is_some())
                .map_or_else(|| id.to_string(), String::from),
        )
    };
    member("local").map(|id| (id, true)).or_else(|| member("global").map(|id| (id, false)))
}

/// The whole number that a string is, as JSON writes it.
pub(crate) fn whole_number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number =
        digits.bytes().all(|byte| byte.is_ascii_digit()) && (!digits.starts_with('0') || text == "0");
    if is_number { text.parse().ok() } else { None }
}
