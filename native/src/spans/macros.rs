//! The macros: a static call site each, and arguments that are looked at only while something is recorded.
//!
//! Arguments are `word: value` for what torch knows (`shapes`, `strides`, `dtype`, `dtypes`, `concrete`, `flops`,
//! `sequence`, `backward`) and `name = value` for anything else, with `?value` and `%value` for what has only `Debug` or
//! `Display`.

/// An operator: a span from here to the end of the block that holds its guard. The name is a constant.
///
/// ```
/// use kinetoscope::scope;
/// let (rows, path) = (3, std::path::Path::new("a"));
/// let _plain = scope!("load");
/// let _span = scope!("parse", shapes: [[2, 3]], dtype: "float", concrete: [&1.5], rows = rows, path = ?path);
/// ```
#[macro_export]
macro_rules! scope {
    ($name:expr $(, $($args:tt)*)?) => { $crate::__span!($name, Op, $($($args)*)?) };
}

/// A range of the user's, as [`scope!`]: a `user_annotation` in the trace.
#[macro_export]
macro_rules! user_scope {
    ($name:expr $(, $($args:tt)*)?) => { $crate::__span!($name, Annotation, $($($args)*)?) };
}

/// A moment, with arguments as [`scope!`] has them.
#[macro_export]
macro_rules! instant {
    ($name:expr $(, $($args:tt)*)?) => { $crate::__moment!($name, $crate::spans::instant, (), $($($args)*)?) };
}

/// The value of a counter, or the values of its series: `counter!("queue", 3)`, `counter!("memory", used = 3, free = 4)`.
#[macro_export]
macro_rules! counter {
    ($name:expr, $($series:ident = $value:expr),+ $(,)?) => { $crate::__moment!($name, $crate::spans::Args::counter, (), $($series = $value),+) };
    ($name:expr, $value:expr $(,)?) => { $crate::__moment!($name, $crate::spans::Args::counter, (), value = $value) };
}

/// An arrow begins in the span around this, to where [`flow_end!`](crate::flow_end) has its name and id.
#[macro_export]
macro_rules! flow_start {
    ($name:expr, $id:expr $(,)?) => {
        $crate::__moment!($name, $crate::spans::Args::flow_start, ($id),)
    };
}

/// An arrow passes the span around this.
#[macro_export]
macro_rules! flow_step {
    ($name:expr, $id:expr $(,)?) => {
        $crate::__moment!($name, $crate::spans::Args::flow_step, ($id),)
    };
}

/// An arrow ends in the span around this.
#[macro_export]
macro_rules! flow_end {
    ($name:expr, $id:expr $(,)?) => {
        $crate::__moment!($name, $crate::spans::Args::flow_end, ($id),)
    };
}

/// A span that may end on another thread, where its [guard](crate::spans::AsyncScope) is dropped.
#[macro_export]
macro_rules! async_scope {
    ($name:expr $(, $($args:tt)*)?) => {{
        $crate::__site!($name, Other);
        match $crate::spans::state() {
            0 => $crate::spans::AsyncScope::none(&SITE),
            state => {
                #[allow(unused_mut)]
                let mut args = $crate::spans::Args::new(state);
                $crate::__args!(args; $($($args)*)?);
                $crate::spans::AsyncScope::with(&SITE, args, state)
            }
        }
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __site {
    ($name:expr, $kind:ident) => {
        static SITE: $crate::spans::Site =
            $crate::spans::Site::new($name, $crate::spans::Kind::$kind, ::core::file!(), ::core::line!());
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __span {
    ($name:expr, $kind:ident, $(,)?) => {{
        $crate::__site!($name, $kind);
        $crate::spans::Scope::new(&SITE)
    }};
    ($name:expr, $kind:ident, $($args:tt)+) => {{
        $crate::__site!($name, $kind);
        match $crate::spans::state() {
            0 => $crate::spans::Scope::none(&SITE),
            state => {
                let mut args = $crate::spans::Args::new(state);
                $crate::__args!(args; $($args)+);
                $crate::spans::Scope::with(&SITE, args)
            }
        }
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __moment {
    ($name:expr, $make:path, ($($id:expr)?), $($args:tt)*) => {{
        let state = $crate::spans::state();
        if state != 0 {
            $crate::__site!($name, Other);
            #[allow(unused_mut)]
            let mut args = $crate::spans::Args::new(state);
            $crate::__args!(args; $($args)*);
            $make(args, &SITE $(, $id)?);
        }
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __args {
    ($args:ident; $(,)?) => {};
    ($args:ident; shapes: $value:expr $(, $($rest:tt)*)?) => { $args.shapes($value); $crate::__args!($args; $($($rest)*)?) };
    ($args:ident; strides: $value:expr $(, $($rest:tt)*)?) => { $args.strides($value); $crate::__args!($args; $($($rest)*)?) };
    ($args:ident; dtype: $value:expr $(, $($rest:tt)*)?) => { $args.dtype($value); $crate::__args!($args; $($($rest)*)?) };
    ($args:ident; dtypes: $value:expr $(, $($rest:tt)*)?) => { $args.dtypes(&$value); $crate::__args!($args; $($($rest)*)?) };
    ($args:ident; concrete: [$($value:expr),* $(,)?] $(, $($rest:tt)*)?) => {
        $args.concrete(&[$(&$value as &dyn ::core::fmt::Display),*]);
        $crate::__args!($args; $($($rest)*)?)
    };
    ($args:ident; flops: $value:expr $(, $($rest:tt)*)?) => { $args.flops($value); $crate::__args!($args; $($($rest)*)?) };
    ($args:ident; sequence: $value:expr $(, $($rest:tt)*)?) => { $args.sequence($value); $crate::__args!($args; $($($rest)*)?) };
    ($args:ident; backward: $value:expr $(, $($rest:tt)*)?) => { $args.backward($value); $crate::__args!($args; $($($rest)*)?) };
    ($args:ident; $key:ident = ?$value:expr $(, $($rest:tt)*)?) => {
        { static NAME: $crate::spans::Name = $crate::spans::Name::new(::core::stringify!($key)); $args.debug(&NAME, &$value); }
        $crate::__args!($args; $($($rest)*)?)
    };
    ($args:ident; $key:ident = %$value:expr $(, $($rest:tt)*)?) => {
        { static NAME: $crate::spans::Name = $crate::spans::Name::new(::core::stringify!($key)); $args.display(&NAME, &$value); }
        $crate::__args!($args; $($($rest)*)?)
    };
    ($args:ident; $key:ident = $value:expr $(, $($rest:tt)*)?) => {
        { static NAME: $crate::spans::Name = $crate::spans::Name::new(::core::stringify!($key)); $args.value(&NAME, &$value); }
        $crate::__args!($args; $($($rest)*)?)
    };
}
