//! The values of a column as an Arrow array.

use arrow_array::builder::{StringBuilder, StringDictionaryBuilder, StringViewBuilder, make_view};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, MapArray, StringViewArray, StructArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Fields};
use kinetoscope_core::names::{NameId, Names};
use kinetoscope_core::schema::{Data, Entries, FieldType};
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

/// The names of a trace as views into buffers, which all arrays share.
#[derive(Debug)]
pub(crate) struct NameViews {
    buffers: Vec<Buffer>,
    views: Vec<u128>,
}

/// The least size at which a buffer ends; offsets in it have 32 bits.
const BUFFER: usize = 1 << 30;

impl NameViews {
    pub(crate) fn new(names: &Names) -> NameViews {
        let (mut buffers, mut text) = (Vec::new(), Vec::new());
        let mut views = Vec::with_capacity(names.len());
        for id in (0..names.len() as u32).map(NameId) {
            if text.len() >= BUFFER {
                buffers.push(Buffer::from_vec(std::mem::take(&mut text)));
            }
            let name = names.get(id).as_bytes();
            views.push(make_view(name, buffers.len() as u32, text.len() as u32));
            text.extend_from_slice(name);
        }
        buffers.push(Buffer::from_vec(text));
        NameViews { buffers, views }
    }

    fn array(&self, ids: &[Option<NameId>]) -> Result<ArrayRef, ArrowError> {
        let views: ScalarBuffer<u128> =
            ids.iter().map(|id| id.map_or(0, |id| self.views[id.0 as usize])).collect();
        Ok(Arc::new(StringViewArray::try_new(views, self.buffers.clone(), nulls(ids))?))
    }
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
    pub(crate) fn of(&self, data: &Data, kind: FieldType) -> Result<ArrayRef, ArrowError> {
        Ok(match data {
            Data::Ints(values) => Arc::new(values.iter().copied().collect::<Int64Array>()),
            Data::Floats(values) => Arc::new(values.iter().copied().collect::<Float64Array>()),
            Data::Bools(values) => Arc::new(values.iter().copied().collect::<BooleanArray>()),
            Data::Names(ids) => match self.views {
                Some(views) => views.array(ids)?,
                None => self.texts(ids.iter().map(|id| id.map(|id| self.names.get(id))), kind)?,
            },
            Data::Words(words) => self.texts(words.iter().copied(), kind)?,
            Data::Texts(texts) => self.texts(texts.iter().map(Option::as_deref), kind)?,
            Data::Maps(maps) => self.maps(maps)?,
            _ => return Err(ArrowError::NotYetImplemented("a new type of values".to_owned())),
        })
    }

    fn texts<'a>(
        &self,
        texts: impl Iterator<Item = Option<&'a str>>,
        kind: FieldType,
    ) -> Result<ArrayRef, ArrowError> {
        if self.views.is_some() {
            let mut builder = StringViewBuilder::new().with_deduplicate_strings();
            texts.for_each(|text| builder.append_option(text));
            return Ok(Arc::new(builder.finish()));
        }
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
