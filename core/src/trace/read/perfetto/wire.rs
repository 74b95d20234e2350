//! The wire format of protocol buffers: fields of a message, without a schema.

use alloc::borrow::Cow;
use alloc::string::String;

/// Bytes that are not a valid message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Damaged;

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    /// A varint, or a number of fixed length.
    Number(u64),
    /// A string, a message, or packed numbers.
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    pub(super) fn number(self) -> u64 {
        if let Value::Number(number) = self { number } else { 0 }
    }

    pub(super) fn int(self) -> i64 {
        self.number() as i64
    }

    /// A signed number that is zigzag-coded.
    pub(super) fn signed(self) -> i64 {
        (self.number() >> 1).cast_signed() ^ -(self.number() & 1).cast_signed()
    }

    pub(super) fn double(self) -> f64 {
        f64::from_bits(self.number())
    }

    pub(super) fn bytes(self) -> &'a [u8] {
        if let Value::Bytes(bytes) = self { bytes } else { &[] }
    }

    pub(super) fn text(self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.bytes())
    }

    /// The numbers of a repeated field of 64 fixed bits, packed or not.
    pub(super) fn fixed64s(self) -> impl Iterator<Item = u64> + use<'a> {
        let single = if let Value::Number(number) = self { Some(number) } else { None };
        let packed = self.bytes().chunks_exact(8).filter_map(|chunk| chunk.try_into().ok());
        single.into_iter().chain(packed.map(u64::from_le_bytes))
    }
}

/// Reads a varint and returns it with its length; `Ok(None)` if bytes are missing.
#[inline]
pub(super) fn varint(bytes: &[u8]) -> Result<Option<(u64, usize)>, Damaged> {
    match bytes.first() {
        Some(&byte) if byte < 0x80 => Ok(Some((byte.into(), 1))),
        _ => long_varint(bytes),
    }
}

fn long_varint(bytes: &[u8]) -> Result<Option<(u64, usize)>, Damaged> {
    let mut value = 0u64;
    for (at, &byte) in bytes.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7f) << (7 * at as u32).min(63);
        if byte < 0x80 {
            return Ok(Some((value, at + 1)));
        }
    }
    if bytes.len() < 10 { Ok(None) } else { Err(Damaged) }
}

/// The fields of a message, in the order of the bytes.
pub(super) struct Fields<'a>(&'a [u8]);

pub(super) fn fields(message: &[u8]) -> Fields<'_> {
    Fields(message)
}

impl<'a> Fields<'a> {
    #[inline]
    fn varint(&mut self) -> Result<u64, Damaged> {
        let (value, length) = varint(self.0)?.ok_or(Damaged)?;
        self.0 = &self.0[length..];
        Ok(value)
    }

    #[inline]
    fn take(&mut self, length: usize) -> Result<&'a [u8], Damaged> {
        let taken = self.0.get(..length).ok_or(Damaged)?;
        self.0 = &self.0[length..];
        Ok(taken)
    }

    #[inline]
    fn field(&mut self) -> Result<(u32, Value<'a>), Damaged> {
        let key = self.varint()?;
        let number = u32::try_from(key >> 3).ok().filter(|&number| number > 0).ok_or(Damaged)?;
        let value = match key & 7 {
            0 => Value::Number(self.varint()?),
            1 => Value::Number(u64::from_le_bytes(self.take(8)?.try_into().map_err(|_| Damaged)?)),
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| Damaged)?;
                Value::Bytes(self.take(length)?)
            }
            5 => Value::Number(u32::from_le_bytes(self.take(4)?.try_into().map_err(|_| Damaged)?).into()),
            _ => return Err(Damaged),
        };
        Ok((number, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Value<'a>), Damaged>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.0 = &[];
        }
        Some(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn fields_have_the_four_wire_types() {
        let message = [0x08, 0x96, 0x01, 0x12, 2, b'h', b'i', 0x1d, 1, 0, 0, 0, 0x21, 2, 0, 0, 0, 0, 0, 0, 0];
        let read: Vec<_> = fields(&message).map(|field| field.expect("a field")).collect();
        let expected =
            [(1, Value::Number(150)), (2, Value::Bytes(b"hi")), (3, Value::Number(1)), (4, Value::Number(2))];
        assert_eq!(read, expected);
    }

    #[test]
    fn damage_ends_the_fields() {
        for message in [&[0x0b][..], &[0x0a, 5, 1], &[0x00, 1], &[0x08], &[0xff; 12]] {
            assert_eq!(fields(message).last(), Some(Err(Damaged)), "{message:?}");
        }
        assert_eq!(varint(&[0x80]), Ok(None));
    }
}
