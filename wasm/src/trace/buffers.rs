//! The tables for queries as buffers in Arrow's layout: `kinetoscope/arrow` writes them to a stream of Arrow's IPC format.

use super::EngineTrace;
use crate::convert::{arrays, failure, set};
use js_sys::{BigInt64Array, Float64Array, Int32Array, Object, Uint8Array};
use kinetoscope_core::analysis::context::Analysis;
use kinetoscope_core::base::error::Error;
use kinetoscope_core::base::names::NameId;
use kinetoscope_core::queries::schema::{Data, Entries, Schema};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
impl EngineTrace {
    /// The columns of a table, all of them or those with these names.
    ///
    /// # Errors
    /// Returns an error if there is no such table or column, or a column is too long for Arrow's offsets.
    #[expect(clippy::needless_pass_by_value, reason = "wasm-bindgen passes strings by value")]
    pub fn buffers(&self, table: &str, columns: Option<Vec<String>>) -> Result<Object, JsValue> {
        let unknown = |what: String| failure(&Error::BadOption(what));
        let schema = Schema::named(table).ok_or_else(|| unknown(format!("there is no table `{table}`")))?;
        let column = |name: &String| {
            schema.column(name).ok_or_else(|| unknown(format!("the table `{table}` has no column `{name}`")))
        };
        let fields = schema.fields();
        let columns: Vec<usize> = match &columns {
            Some(names) => names.iter().map(column).collect::<Result<_, _>>()?,
            None => (0..fields.len()).collect(),
        };
        let analysis = Analysis::new(&self.trace);
        let source = schema.open(&analysis, Some(&columns));
        let out = Object::new();
        for &column in &columns {
            let field = fields[column];
            let buffers = self.column(source.read(column, 0..source.len()))?;
            set(&buffers, "optional", &JsValue::from_bool(field.optional));
            set(&out, field.name, &buffers);
        }
        let rank = self.trace.table.metadata.rank().map_or(JsValue::NULL, |rank| JsValue::from(rank as f64));
        Ok(arrays(&[("length", JsValue::from(source.len() as u32)), ("rank", rank), ("columns", out.into())]))
    }
}

impl EngineTrace {
    fn column(&self, data: Data<'_>) -> Result<Object, JsValue> {
        let len = data.len();
        Ok(match data {
            Data::Ints(values) => {
                let numbers: Vec<i64> = values.iter().map(|value| value.unwrap_or(0)).collect();
                let is_present = |at: usize| values[at].is_some();
                column("int", len, &is_present, &[("values", BigInt64Array::from(&*numbers).into())])
            }
            Data::Floats(values) => {
                let numbers: Vec<f64> = values.iter().map(|value| value.unwrap_or(0.0)).collect();
                let is_present = |at: usize| values[at].is_some();
                column("float", len, &is_present, &[("values", Float64Array::from(&*numbers).into())])
            }
            Data::Bools(values) => {
                let set = bits(len, &|at| values[at] == Some(true));
                column("bool", len, &|at| values[at].is_some(), &[("values", set.into())])
            }
            Data::Names(ids) => {
                let known = ids.iter().map(|id| id.unwrap_or(NameId(0))).collect();
                column("name", len, &|at| ids[at].is_some(), &self.names(known))
            }
            Data::Texts(values) => texts(len, &|at| values[at].as_deref())?,
            Data::Maps(maps) => self.maps(&maps)?,
            _ => return Err(failure(&Error::BadOption("a new type of values".to_owned()))),
        })
    }

    fn names(&self, ids: Vec<NameId>) -> [(&'static str, JsValue); 2] {
        let (names, codes) = self.dictionary(ids.into_iter());
        [("codes", codes), ("names", names.into())]
    }

    fn maps(&self, maps: &[Option<Entries>]) -> Result<Object, JsValue> {
        let (mut entries, mut offsets) = (Vec::new(), vec![0]);
        for map in maps {
            entries.extend(map.iter().flatten());
            offsets.push(offset(entries.len())?);
        }
        let [codes, names] = self.names(entries.iter().map(|entry| entry.0).collect());
        let values = texts(entries.len(), &|at| Some(&entries[at].1))?;
        let offsets = Int32Array::from(&*offsets).into();
        let members = [("offsets", offsets), codes, names, ("values", values.into())];
        Ok(column("map", maps.len(), &|at| maps[at].is_some(), &members))
    }
}

/// A column with these members, and the bitmap of the rows that have a value; it is `null` if all have.
fn column(kind: &str, len: usize, is_present: &dyn Fn(usize) -> bool, members: &[(&str, JsValue)]) -> Object {
    let out = arrays(members);
    set(&out, "kind", &JsValue::from_str(kind));
    let is_complete = (0..len).all(is_present);
    let present = if is_complete { JsValue::NULL } else { bits(len, is_present).into() };
    set(&out, "present", &present);
    out
}

fn texts<'a>(len: usize, text: &dyn Fn(usize) -> Option<&'a str>) -> Result<Object, JsValue> {
    let (mut bytes, mut offsets) = (Vec::new(), vec![0]);
    for at in 0..len {
        bytes.extend_from_slice(text(at).unwrap_or_default().as_bytes());
        offsets.push(offset(bytes.len())?);
    }
    let offsets = Int32Array::from(&*offsets).into();
    let members = [("offsets", offsets), ("bytes", Uint8Array::from(&*bytes).into())];
    Ok(column("text", len, &|at| text(at).is_some(), &members))
}

/// An offset of Arrow, which has 32 bits.
fn offset(length: usize) -> Result<i32, JsValue> {
    let too_long = |_| failure(&Error::BadOption("a column has more than 2 GB of text".to_owned()));
    i32::try_from(length).map_err(too_long)
}

/// Bits, the lowest of a byte first.
fn bits(len: usize, is_set: &dyn Fn(usize) -> bool) -> Uint8Array {
    let mut bits = vec![0; len.div_ceil(8)];
    for at in (0..len).filter(|&at| is_set(at)) {
        bits[at / 8] |= 1 << (at % 8);
    }
    Uint8Array::from(&*bits)
}
