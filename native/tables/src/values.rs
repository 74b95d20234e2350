//! The values of a column as an Arrow array.

use arrow_array::builder::{StringBuilder, StringDictionaryBuilder, StringViewBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, MapArray, StringViewArray, StructArray, UInt32Array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, Fields};
use arrow_select::take::take;
use hashbrown::HashMap;
use kinetoscope_core::base::names::{NameId, Names};
use kinetoscope_core::queries::schema::{Data, Entries, FieldType};
use std::borrow::Cow;
use std::sync::Arc;

/// The form of columns of texts. Every reader of Arrow knows dictionaries; views are faster here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Dictionaries,
    Views,
}

/// Returns the Arrow type of a column.
pub(crate) fn data_type(kind: FieldType, form: Form) -> DataType {
    match (kind, form) {
        (FieldType::Int, _) => DataType::Int64,
        (FieldType::Float, _) => DataType::Float64,
        (FieldType::Bool, _) => DataType::Boolean,
        (FieldType::Map, _) => {
            let entries = Field::new("key_value", DataType::Struct(entry_fields()), false);
            DataType::Map(Arc::new(entries), false)
        }
        (FieldType::Name, Form::Dictionaries) => {
            DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
        }
        (_, Form::Dictionaries) => DataType::Utf8,
        (_, Form::Views) => DataType::Utf8View,
    }
}

/// The names of the parts of a map in Parquet.
fn entry_fields() -> Fields {
    Fields::from(vec![Field::new("key", DataType::Utf8, false), Field::new("value", DataType::Utf8, false)])
}

/// The names of a trace as an array, from which the arrays of columns take views; all share its buffers.
#[derive(Debug)]
pub(crate) struct NameViews(StringViewArray);

/// The size of the buffers of texts.
const BUFFER: u32 = 1 << 16;

fn text_views() -> StringViewBuilder {
    StringViewBuilder::new().with_fixed_block_size(BUFFER)
}

impl NameViews {
    pub(crate) fn new(names: &Names) -> NameViews {
        let mut views = text_views();
        (0..names.len() as u32).for_each(|id| views.append_value(names.get(NameId(id))));
        NameViews(views.finish())
    }

    fn array(&self, ids: &[Option<NameId>]) -> Result<ArrayRef, ArrowError> {
        let ids: UInt32Array = ids.iter().map(|id| id.map(|id| id.0)).collect();
        take(&self.0, &ids, None)
    }
}

/// Returns texts as views. Texts at the same address are compared once.
fn views(texts: &[Option<Cow<'_, str>>]) -> Result<ArrayRef, ArrowError> {
    let mut distinct = text_views().with_deduplicate_strings();
    let (mut known, mut count) = (HashMap::new(), 0);
    let mut add = |text: &str| {
        distinct.append_value(text);
        count += 1;
        count - 1
    };
    let mut position = |text: &Cow<'_, str>| match text {
        Cow::Borrowed(text) => *known.entry((text.as_ptr(), text.len())).or_insert_with(|| add(text)),
        Cow::Owned(text) => add(text),
    };
    let positions: UInt32Array = texts.iter().map(|text| text.as_ref().map(&mut position)).collect();
    take(&distinct.finish(), &positions, None)
}

fn nulls<T>(values: &[Option<T>]) -> Option<NullBuffer> {
    let nulls: NullBuffer = values.iter().map(Option::is_some).collect();
    Some(nulls).filter(|nulls| nulls.null_count() > 0)
}

/// Turns values of a trace into arrays.
pub(crate) struct Arrays<'t> {
    pub(crate) names: &'t Names,
    /// The views of the names; without them, texts become dictionaries.
    pub(crate) views: Option<&'t NameViews>,
}

impl Arrays<'_> {
    /// Returns the array of a column of this type.
    ///
    /// # Errors
    /// Returns an error if the texts are longer than the offsets of Arrow allow.
    pub(crate) fn build(&self, data: &Data<'_>, kind: FieldType) -> Result<ArrayRef, ArrowError> {
        Ok(match data {
            Data::Ints(values) => Arc::new(values.iter().copied().collect::<Int64Array>()),
            Data::Floats(values) => Arc::new(values.iter().copied().collect::<Float64Array>()),
            Data::Bools(values) => Arc::new(values.iter().copied().collect::<BooleanArray>()),
            Data::Names(ids) => match self.views {
                Some(views) => views.array(ids)?,
                None => dictionary_or_texts(ids.iter().map(|id| id.map(|id| self.names.get(id))), kind)?,
            },
            Data::Texts(texts) if self.views.is_some() => views(texts)?,
            Data::Texts(texts) => dictionary_or_texts(texts.iter().map(Option::as_deref), kind)?,
            Data::Maps(maps) => self.maps(maps)?,
            _ => return Err(ArrowError::NotYetImplemented("a new type of values".to_owned())),
        })
    }

    fn maps(&self, maps: &[Option<Entries>]) -> Result<ArrayRef, ArrowError> {
        let (mut keys, mut values) = (StringBuilder::new(), StringBuilder::new());
        for (key, value) in maps.iter().flatten().flatten() {
            keys.append_value(self.names.get(*key));
            values.append_value(value);
        }
        let offsets = OffsetBuffer::from_lengths(maps.iter().map(|map| map.as_ref().map_or(0, Vec::len)));
        let entries = StructArray::try_new(
            entry_fields(),
            vec![Arc::new(keys.finish()), Arc::new(values.finish())],
            None,
        )?;
        let field = Arc::new(Field::new("key_value", DataType::Struct(entry_fields()), false));
        Ok(Arc::new(MapArray::try_new(field, offsets, entries, nulls(maps), false)?))
    }
}

/// Returns texts as a dictionary if few of them are distinct.
fn dictionary_or_texts<'a>(
    texts: impl Iterator<Item = Option<&'a str>>,
    kind: FieldType,
) -> Result<ArrayRef, ArrowError> {
    if kind != FieldType::Name {
        let mut builder = StringBuilder::new();
        texts.for_each(|text| builder.append_option(text));
        return Ok(Arc::new(builder.finish()));
    }
    let mut builder = StringDictionaryBuilder::<Int32Type>::new();
    for text in texts {
        match text {
            Some(text) => drop(builder.append(text)?),
            None => builder.append_null(),
        }
    }
    Ok(Arc::new(builder.finish()))
}
