//! The macros. Each expands to a static call site; arguments are evaluated only while spans are recorded or mirrored.
//!
//! An argument is `word: value` for the arguments that PyTorch defines (`shapes`, `strides`, `dtype`, `dtypes`,
//! `concrete`, `tensors`, `flops`, `sequence`, `backward`) and `name = value` for any other. `?value` and `%value` format a value
//! with `Debug` and `Display`. Arguments are recorded in their order: `dtype`, the type of every input, follows `shapes`.

/// Begins an operator: a span that ends when the returned guard is dropped. The name is a constant.
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

/// Begins a user annotation, with arguments as in [`scope!`]: a `user_annotation` in the trace.
#[macro_export]
macro_rules! user_scope {
    ($name:expr $(, $($args:tt)*)?) => { $crate::__span!($name, Annotation, $($($args)*)?) };
}

/// Records an instant event, with arguments as in [`scope!`].
#[macro_export]
macro_rules! instant {
    ($name:expr $(, $($args:tt)*)?) => { $crate::__event!($name, $crate::spans::instant, (), $($($args)*)?) };
}

/// Records the outputs of the enclosing operator, with `shapes`, `strides`, `dtype` or `dtypes`, and `tensors` as in
/// [`scope!`]: an instant event `[outputs]`, and the outputs in execution traces. Recorded with `record_shapes`.
///
/// ```
/// use kinetoscope::{outputs, scope};
/// let _span = scope!("aten::mm", shapes: [[2, 3], [3, 4]], dtype: "float", tensors: [1, 2]);
/// outputs!(shapes: [[2, 4]], dtype: "float", tensors: [3]);
/// ```
#[macro_export]
macro_rules! outputs {
    ($($args:tt)+) => { $crate::__event!("[outputs]", $crate::spans::Args::outputs, (), $($args)+) };
}

/// Records the value of a counter, or the values of its series: `counter!("queue", 3)`,
/// `counter!("memory", used = 3, free = 4)`.
#[macro_export]
macro_rules! counter {
    ($name:expr, $($series:ident = $value:expr),+ $(,)?) => { $crate::__event!($name, $crate::spans::Args::counter, (), $($series = $value),+) };
    ($name:expr, $value:expr $(,)?) => { $crate::__event!($name, $crate::spans::Args::counter, (), value = $value) };
}

/// Starts a flow in the enclosing span. [`flow_end!`](crate::flow_end) with the same name and id ends it.
#[macro_export]
macro_rules! flow_start {
    ($name:expr, $id:expr $(,)?) => {
        $crate::__event!($name, $crate::spans::Args::flow_start, ($id),)
    };
}

/// Continues a flow in the enclosing span.
#[macro_export]
macro_rules! flow_step {
    ($name:expr, $id:expr $(,)?) => {
        $crate::__event!($name, $crate::spans::Args::flow_step, ($id),)
    };
}

/// Ends a flow in the enclosing span.
#[macro_export]
macro_rules! flow_end {
    ($name:expr, $id:expr $(,)?) => {
        $crate::__event!($name, $crate::spans::Args::flow_end, ($id),)
    };
}

/// Begins a span that ends when its [guard](crate::spans::AsyncScope) is dropped, on any thread.
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
macro_rules! __event {
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
    ($args:ident; tensors: $value:expr $(, $($rest:tt)*)?) => { $args.tensors($value); $crate::__args!($args; $($($rest)*)?) };
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
