//! The types of the values of arguments. They are the same with and without the feature `record`, so that a library
//! compiles in every program that uses it.

use super::Args;
use crate::json::{append_list, quote};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// A type that can be the value of an argument.
///
/// | type | in the trace |
/// |---|---|
/// | integers, [`NonZero`] | a number, exact |
/// | floats | a number; `NaN`, `Infinity` and `-Infinity` as strings, because JSON has no such numbers |
/// | `bool` | `true` or `false` |
/// | strings, `char`, [`Path`], [`OsStr`] | a string; what is not UTF-8 is replaced |
/// | [`Duration`], [`std::fmt::Arguments`] | a string, such as `1.5ms` |
/// | slices, arrays, `Vec` | an array |
/// | references, `Box`, `Rc`, `Arc`, `Cow` | their content |
/// | `Option` | its content; `None` leaves the argument out, and is `null` in an array |
///
/// Any other type is formatted: `key = ?value` with `Debug`, `key = %value` with `Display`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the value of an argument",
    label = "not a number, a string or a list of these",
    note = "format it: `key = ?value` with `Debug`, `key = %value` with `Display`"
)]
pub trait Value {
    /// Adds the value under this key.
    #[doc(hidden)]
    fn put(&self, key: u32, args: &mut Args);

    /// Appends the value as JSON.
    #[doc(hidden)]
    fn append_json(&self, json: &mut String);
}

macro_rules! ints {
    ($($int:ty)*) => { $(
        impl Value for $int {
            fn put(&self, key: u32, args: &mut Args) {
                match i64::try_from(*self) {
                    Ok(value) => args.int(key, value),
                    Err(_) => args.number(key, format_args!("{self}")),
                }
            }

            fn append_json(&self, json: &mut String) {
                let _ = write!(json, "{self}");
            }
        }

        impl Value for NonZero<$int> {
            fn put(&self, key: u32, args: &mut Args) {
                self.get().put(key, args);
            }

            fn append_json(&self, json: &mut String) {
                self.get().append_json(json);
            }
        }
    )* };
}

ints! { i8 i16 i32 i64 isize u8 u16 u32 u64 usize i128 u128 }

impl Value for f64 {
    fn put(&self, key: u32, args: &mut Args) {
        args.float(key, *self);
    }

    fn append_json(&self, json: &mut String) {
        let _ = match () {
            () if self.is_finite() => write!(json, "{self:?}"),
            () if self.is_nan() => write!(json, "\"NaN\""),
            () if *self > 0.0 => write!(json, "\"Infinity\""),
            () => write!(json, "\"-Infinity\""),
        };
    }
}

impl Value for f32 {
    fn put(&self, key: u32, args: &mut Args) {
        f64::from(*self).put(key, args);
    }

    fn append_json(&self, json: &mut String) {
        f64::from(*self).append_json(json);
    }
}

impl Value for bool {
    fn put(&self, key: u32, args: &mut Args) {
        args.bool(key, *self);
    }

    fn append_json(&self, json: &mut String) {
        json.push_str(if *self { "true" } else { "false" });
    }
}

impl Value for str {
    fn put(&self, key: u32, args: &mut Args) {
        args.text(key, self);
    }

    fn append_json(&self, json: &mut String) {
        quote(self, json);
    }
}

impl Value for char {
    fn put(&self, key: u32, args: &mut Args) {
        self.encode_utf8(&mut [0; 4]).put(key, args);
    }

    fn append_json(&self, json: &mut String) {
        quote(self.encode_utf8(&mut [0; 4]), json);
    }
}

impl Value for OsStr {
    fn put(&self, key: u32, args: &mut Args) {
        args.formatted(key, format_args!("{}", self.display()));
    }

    fn append_json(&self, json: &mut String) {
        quote(&self.to_string_lossy(), json);
    }
}

impl Value for Duration {
    fn put(&self, key: u32, args: &mut Args) {
        args.formatted(key, format_args!("{self:?}"));
    }

    fn append_json(&self, json: &mut String) {
        let _ = write!(json, "\"{self:?}\"");
    }
}

impl Value for std::fmt::Arguments<'_> {
    fn put(&self, key: u32, args: &mut Args) {
        args.formatted(key, *self);
    }

    fn append_json(&self, json: &mut String) {
        quote(&self.to_string(), json);
    }
}

impl<T: Value> Value for [T] {
    fn put(&self, key: u32, args: &mut Args) {
        args.list(key, |json| self.append_json(json));
    }

    fn append_json(&self, json: &mut String) {
        append_list(json, self, |json, item| item.append_json(json));
    }
}

impl<T: Value> Value for Option<T> {
    fn put(&self, key: u32, args: &mut Args) {
        if let Some(value) = self {
            value.put(key, args);
        }
    }

    fn append_json(&self, json: &mut String) {
        match self {
            Some(value) => value.append_json(json),
            None => json.push_str("null"),
        }
    }
}

/// Implements `Value` for types that contain a value of another type.
macro_rules! containers {
    ($([$($generics:tt)*] $container:ty as $content:ty;)*) => { $(
        impl<$($generics)*> Value for $container {
            fn put(&self, key: u32, args: &mut Args) {
                let content: &$content = self.as_ref();
                content.put(key, args);
            }

            fn append_json(&self, json: &mut String) {
                let content: &$content = self.as_ref();
                content.append_json(json);
            }
        }
    )* };
}

containers! {
    [] String as str;
    [] Path as OsStr;
    [] PathBuf as OsStr;
    [] OsString as OsStr;
    [T: Value + ?Sized] Box<T> as T;
    [T: Value + ?Sized] Rc<T> as T;
    [T: Value + ?Sized] Arc<T> as T;
    [T: Value + ToOwned + ?Sized] Cow<'_, T> as T;
    [T: Value] Vec<T> as [T];
    [T: Value, const N: usize] [T; N] as [T];
}

macro_rules! references {
    ($($reference:ty)*) => { $(
        impl<T: Value + ?Sized> Value for $reference {
            fn put(&self, key: u32, args: &mut Args) {
                (**self).put(key, args);
            }

            fn append_json(&self, json: &mut String) {
                (**self).append_json(json);
            }
        }
    )* };
}

references! { &T &mut T }
