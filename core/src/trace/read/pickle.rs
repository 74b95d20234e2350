//! Reads plain data from a Python pickle, protocols 2 to 5: numbers, strings, lists, tuples, sets and dictionaries.
//!
//! A pickle is a program for a small stack machine, and some of its instructions call arbitrary functions. These are
//! not implemented: a pickle that contains one is rejected. Nothing is executed or imported. Shared values are stored
//! once, so that a small file cannot expand to a large tree.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A value by its position in [`Pickle::values`].
pub(crate) type Id = u32;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    None,
    Bool(bool),
    /// An integer, saturated to 64 bits.
    Int(i64),
    Float(f64),
    Text(String),
    /// A list, tuple or set.
    List(Vec<Id>),
    Dict(Vec<(Id, Id)>),
}

/// The reason why a pickle could not be read, and the byte offset.
pub(crate) struct Fault {
    pub(crate) what: &'static str,
    pub(crate) at: usize,
}

/// The values of a pickle.
pub(crate) struct Pickle {
    values: Vec<Value>,
    root: Id,
}

const CUT: &str = "a Python pickle that ends early";
const DAMAGED: &str = "a damaged Python pickle";
const LARGE: &str = "a Python pickle that does not fit into the memory limit";

/// What an instruction takes besides its value: an entry of the stack and of a list or of the memo.
const STEP_BYTES: usize = 16;

/// The most keys of a dictionary that are looked at, the last ones. A snapshot has fewer.
const MOST_KEYS: usize = 256;

const CODE: &str = "a Python pickle that runs code when it is loaded";

impl Pickle {
    /// Reads a complete pickle, whose values may take so many bytes.
    pub(crate) fn read(bytes: &[u8], most: usize) -> Result<Pickle, Fault> {
        let mut machine = Machine {
            bytes,
            at: 0,
            room: most,
            values: Vec::new(),
            stack: Vec::new(),
            marks: Vec::new(),
            memo: Vec::new(),
        };
        match machine.run() {
            Ok(root) => Ok(Pickle { values: machine.values, root }),
            Err(what) => Err(Fault { what, at: machine.at }),
        }
    }

    /// The outermost value.
    pub(crate) fn root(&self) -> &Value {
        self.get(self.root)
    }

    /// A value by its position.
    pub(crate) fn get(&self, id: Id) -> &Value {
        self.values.get(id as usize).unwrap_or(&Value::None)
    }

    /// The value of a key in a dictionary; [`Value::None`] if there is none.
    pub(crate) fn field(&self, of: &Value, key: &str) -> &Value {
        self.id(of, key).map_or(&Value::None, |value| self.get(value))
    }

    /// The position of the value of a key in a dictionary.
    pub(crate) fn id(&self, of: &Value, key: &str) -> Option<Id> {
        let Value::Dict(items) = of else { return None };
        let is_key = |at: Id| matches!(self.get(at), Value::Text(text) if text == key);
        items.iter().rev().take(MOST_KEYS).find(|item| is_key(item.0)).map(|item| item.1)
    }

    /// The integer of a key in a dictionary; 0 if there is none.
    pub(crate) fn int(&self, of: &Value, key: &str) -> i64 {
        match self.field(of, key) {
            Value::Int(n) => *n,
            Value::Float(n) => *n as i64,
            _ => 0,
        }
    }

    /// The string of a key in a dictionary; empty if there is none.
    pub(crate) fn text(&self, of: &Value, key: &str) -> &str {
        match self.field(of, key) {
            Value::Text(text) => text,
            _ => "",
        }
    }

    /// The elements of a list in a dictionary; none if there is no list.
    pub(crate) fn list<'a>(&'a self, of: &Value, key: &str) -> impl Iterator<Item = &'a Value> {
        let items = match self.field(of, key) {
            Value::List(items) => items.as_slice(),
            _ => &[],
        };
        items.iter().map(|&id| self.get(id))
    }
}

struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The bytes that further values may take.
    room: usize,
    values: Vec<Value>,
    stack: Vec<Id>,
    /// The stack positions of the marks.
    marks: Vec<usize>,
    memo: Vec<Option<Id>>,
}

type Unpickled<T> = Result<T, &'static str>;

impl<'a> Machine<'a> {
    fn run(&mut self) -> Unpickled<Id> {
        loop {
            let (op, begun, before) = (self.take(1)?[0], self.at, self.values.len());
            match op {
                b'.' => return self.pop(),
                0x80 => drop(self.take(1)?),
                0x95 => drop(self.take(8)?),
                b'(' => self.marks.push(self.stack.len()),
                b'0' => drop(self.pop()?),
                b'1' => drop(self.since_mark()?),
                b'2' => self.stack.push(*self.stack.last().ok_or(DAMAGED)?),
                b'N' => self.push(Value::None),
                0x88 | 0x89 => self.push(Value::Bool(op == 0x88)),
                b'K' | b'M' | b'J' | 0x8a | 0x8b => self.integer(op)?,
                b'G' => {
                    let bytes: [u8; 8] = self.take(8)?.try_into().map_err(|_| DAMAGED)?;
                    self.push(Value::Float(f64::from_be_bytes(bytes)));
                }
                0x8c | b'U' | b'C' | b'X' | b'T' | b'B' | 0x8d | 0x8e | 0x96 => self.text(op)?,
                b']' | b')' | 0x8f => self.push(Value::List(Vec::new())),
                b'}' => self.push(Value::Dict(Vec::new())),
                b't' | b'l' | 0x91 => {
                    let items = self.since_mark()?;
                    self.push(Value::List(items));
                }
                0x85..=0x87 => {
                    let from = self.stack.len().checked_sub(usize::from(op - 0x84)).ok_or(DAMAGED)?;
                    let items = self.stack.split_off(from);
                    self.push(Value::List(items));
                }
                b'a' => {
                    let item = self.pop()?;
                    self.extend(&[item])?;
                }
                b'e' | 0x90 => {
                    let items = self.since_mark()?;
                    self.extend(&items)?;
                }
                b'd' => {
                    let items = self.since_mark()?;
                    self.push(Value::Dict(Vec::new()));
                    self.set(&items)?;
                }
                b's' => {
                    let from = self.stack.len().checked_sub(2).ok_or(DAMAGED)?;
                    let items = self.stack.split_off(from);
                    self.set(&items)?;
                }
                b'u' => {
                    let items = self.since_mark()?;
                    self.set(&items)?;
                }
                b'q' | b'r' | 0x94 | b'h' | b'j' => self.memoize(op)?,
                _ => return Err(if is_code(op) { CODE } else { DAMAGED }),
            }
            // Its values, its text, and its place in the stack, in a list and in the memo.
            let took = (self.values.len() - before) * size_of::<Value>() + (self.at - begun) + STEP_BYTES;
            self.room = self.room.checked_sub(took).ok_or(LARGE)?;
        }
    }

    fn take(&mut self, count: usize) -> Unpickled<&'a [u8]> {
        let end = self.at.checked_add(count).filter(|&end| end <= self.bytes.len()).ok_or(CUT)?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// Reads a little-endian length of `bytes` bytes.
    fn length(&mut self, bytes: usize) -> Unpickled<usize> {
        let length = self.take(bytes)?.iter().rev().fold(0u64, |n, &b| n << 8 | u64::from(b));
        usize::try_from(length).map_err(|_| CUT)
    }

    fn push(&mut self, value: Value) {
        self.stack.push(self.values.len() as Id);
        self.values.push(value);
    }

    fn pop(&mut self) -> Unpickled<Id> {
        let floor = self.marks.last().copied().unwrap_or(0);
        if self.stack.len() > floor { self.stack.pop().ok_or(DAMAGED) } else { Err(DAMAGED) }
    }

    fn since_mark(&mut self) -> Unpickled<Vec<Id>> {
        let mark = self.marks.pop().filter(|&mark| mark <= self.stack.len()).ok_or(DAMAGED)?;
        Ok(self.stack.split_off(mark))
    }

    fn integer(&mut self, op: u8) -> Unpickled<()> {
        let count = match op {
            b'K' => 1,
            b'M' => 2,
            b'J' => 4,
            0x8a => self.length(1)?,
            _ => self.length(4)?,
        };
        let bytes = self.take(count)?;
        let is_negative = !matches!(op, b'K' | b'M') && bytes.last().is_some_and(|b| b & 0x80 != 0);
        let fill = if is_negative { 0xff } else { 0 };
        let mut word = [fill; 8];
        word[..count.min(8)].copy_from_slice(&bytes[..count.min(8)]);
        let number = i64::from_le_bytes(word);
        let fits = bytes.iter().skip(8).all(|&b| b == fill) && (number < 0) == is_negative;
        let nearest = if is_negative { i64::MIN } else { i64::MAX };
        self.push(Value::Int(if fits { number } else { nearest }));
        Ok(())
    }

    fn text(&mut self, op: u8) -> Unpickled<()> {
        let length = match op {
            0x8c | b'U' | b'C' => self.length(1)?,
            b'X' | b'T' | b'B' => self.length(4)?,
            _ => self.length(8)?,
        };
        let text = String::from_utf8_lossy(self.take(length)?).to_string();
        self.push(Value::Text(text));
        Ok(())
    }

    fn top(&mut self) -> Unpickled<&mut Value> {
        let top = *self.stack.last().ok_or(DAMAGED)?;
        self.values.get_mut(top as usize).ok_or(DAMAGED)
    }

    fn extend(&mut self, items: &[Id]) -> Unpickled<()> {
        match self.top()? {
            Value::List(list) => list.extend(items),
            _ => return Err(DAMAGED),
        }
        Ok(())
    }

    fn set(&mut self, items: &[Id]) -> Unpickled<()> {
        match self.top()? {
            Value::Dict(dict) => dict.extend(items.chunks_exact(2).map(|pair| (pair[0], pair[1]))),
            _ => return Err(DAMAGED),
        }
        Ok(())
    }

    fn memoize(&mut self, op: u8) -> Unpickled<()> {
        let at = match op {
            b'q' | b'h' => self.length(1)?,
            b'r' | b'j' => self.length(4)?,
            _ => self.memo.len(),
        };
        if matches!(op, b'h' | b'j') {
            let id = self.memo.get(at).copied().flatten().ok_or(DAMAGED)?;
            self.stack.push(id);
            return Ok(());
        }
        // A valid pickle does not number more values than it has bytes.
        if at > self.bytes.len() {
            return Err(DAMAGED);
        }
        if self.memo.len() <= at {
            self.memo.resize(at + 1, None);
        }
        self.memo[at] = Some(*self.stack.last().ok_or(DAMAGED)?);
        Ok(())
    }
}

/// Instructions that import, call or build objects.
fn is_code(op: u8) -> bool {
    matches!(op, b'c' | 0x93 | b'R' | b'b' | b'i' | b'o' | 0x81 | 0x92 | 0x82..=0x84 | b'P' | b'Q')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Pickle, &'static str> {
        Pickle::read(bytes, usize::MAX).map_err(|fault| fault.what)
    }

    #[test]
    fn plain_data_of_every_protocol() {
        // {"a": [1, -2, 70000, 2**40], "b": (True, None, 1.5), "c": ""} by protocols 2 and 5.
        let two = b"\x80\x02}q\0(X\x01\0\0\0aq\x01]q\x02(K\x01J\xfe\xff\xff\xffJp\x11\x01\0\x8a\x06\0\0\0\0\0\x01eX\x01\0\0\0bq\x03\x88NG?\xf8\0\0\0\0\0\0\x87q\x04X\x01\0\0\0cq\x05X\0\0\0\0q\x06u.";
        let five = b"\x80\x05\x95\x39\0\0\0\0\0\0\0}\x94(\x8c\x01a\x94]\x94(K\x01J\xfe\xff\xff\xffJp\x11\x01\0\x8a\x06\0\0\0\0\0\x01e\x8c\x01b\x94\x88NG?\xf8\0\0\0\0\0\0\x87\x94\x8c\x01c\x94\x8c\0\x94u.";
        for bytes in [two.as_slice(), five] {
            let pickle = read(bytes).map_err(str::to_string).expect("plain data");
            let root = pickle.root();
            let ints: Vec<&Value> = pickle.list(root, "a").collect();
            assert_eq!(ints, [&Value::Int(1), &Value::Int(-2), &Value::Int(70_000), &Value::Int(1 << 40)]);
            let others: Vec<&Value> = pickle.list(root, "b").collect();
            assert_eq!(others, [&Value::Bool(true), &Value::None, &Value::Float(1.5)]);
            assert_eq!(pickle.text(root, "c"), "");
        }
    }

    #[test]
    fn nothing_is_executed_and_nothing_panics() {
        assert_eq!(read(b"\x80\x02cos\nsystem\nX\x02\0\0\0lsq\0\x85R.").err(), Some(CODE));
        assert_eq!(read(b"\x80\x04\x8c\x02os\x8c\x06system\x93.").err(), Some(CODE));
        assert_eq!(read(b"\x80\x02]q\0(K\x01").err(), Some(CUT));
        assert_eq!(read(b"\x80\x02h\x05.").err(), Some(DAMAGED));
        let complete = b"\x80\x02}q\0(X\x01\0\0\0aq\x01]q\x02(K\x01eu.";
        for cut in 0..complete.len() {
            assert!(read(&complete[..cut]).is_err(), "cut at {cut}");
        }
        for at in 0..complete.len() {
            for byte in 0..=255 {
                let mut changed = complete.to_vec();
                changed[at] = byte;
                let _ = read(&changed);
            }
        }
    }
}
