//! Appends the fields of protocol buffers to bytes.

use alloc::vec::Vec;

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn key(out: &mut Vec<u8>, field: u32, wire_type: u32) {
    varint(out, u64::from(field << 3 | wire_type));
}

/// Appends a number.
pub(super) fn number(out: &mut Vec<u8>, field: u32, value: u64) {
    key(out, field, 0);
    varint(out, value);
}

/// Appends a signed number, as `sint64`.
pub(super) fn signed(out: &mut Vec<u8>, field: u32, value: i64) {
    number(out, field, ((value << 1) ^ (value >> 63)) as u64);
}

/// Appends a number of 64 bits.
pub(super) fn fixed(out: &mut Vec<u8>, field: u32, value: u64) {
    key(out, field, 1);
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends a string or a message.
pub(super) fn bytes(out: &mut Vec<u8>, field: u32, value: &[u8]) {
    key(out, field, 2);
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

/// Appends a message that `fill` writes.
pub(super) fn message(out: &mut Vec<u8>, field: u32, fill: impl FnOnce(&mut Vec<u8>)) {
    key(out, field, 2);
    let at = out.len();
    out.push(0);
    fill(out);
    let length = out.len() - at - 1;
    if let Ok(short @ 0..0x80) = u8::try_from(length) {
        out[at] = short;
        return;
    }
    let mut long = Vec::with_capacity(4);
    varint(&mut long, length as u64);
    out.splice(at..=at, long);
}
