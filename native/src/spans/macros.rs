//! The macros. Each expands to a static call site; arguments are evaluated only while spans are recorded or mirrored.
//!
//! Statics in a macro are not hygienic: an argument of the user could name them. Hence their long names.

/// Begins an operator: a span that ends when the returned [guard](crate::Scope) is dropped.
///
/// ```
/// use kinetoscope::scope;
/// let (rows, path) = (3, std::path::Path::new("a"));
/// let _plain = scope!("load");
/// let _span = scope!("parse", shapes: [[2, 3]], dtype: "float", concrete: [&1.5], rows, path, "http.method" = "GET");
/// let _named_at_run_time = scope!(format!("part {rows}"), error = ?Some("none"));
/// ```
///
/// # Name
///
/// A string literal, `concat!(…)` or `stringify!(…)` is kept once for the call site. Any other expression that is a
/// string (`AsRef<str>`) is evaluated and copied each time that the span is recorded, which costs several times as much as
/// a literal. It is not evaluated while nothing records. An empty literal is an error of compilation; if an expression
/// is empty, the name is the text of the expression.
///
/// # Arguments
///
/// | argument | meaning |
/// |---|---|
/// | `key = value` | an argument under this key; the value is a [`Value`](crate::spans::Value) |
/// | `"any key" = value` | the same with a key that is not an identifier |
/// | `key = ?value`, `key = %value` | the value formatted with `Debug` or `Display` |
/// | `value`, `?value`, `%value` | the same for a variable, whose name is the key |
/// | `shapes: […]`, `strides: […]` | `Input Dims`, `Input Strides`: a list of [`InputShape`](crate::spans::InputShape)s |
/// | `dtype: "float"`, `dtypes: ["float", "Scalar"]` | `Input type`: the type of every input of the `shapes` before it, or of each |
/// | `concrete: ["", 0.5]` | `Concrete Inputs`: the values of inputs that are not tensors, formatted with `Display` |
/// | `tensors: [1, 2]` | the identities of the inputs, [`TensorId`](crate::spans::TensorId) or `u64`, for execution traces |
/// | `flops: 8000` | the number of floating point operations, an integer |
/// | `sequence: number`, `backward: number` | the [`Sequence`](crate::Sequence) that links a forward and a backward operator |
///
/// Arguments are recorded in their order. Shapes, types, concrete inputs and tensors are recorded with `record_shapes`,
/// FLOPs with `with_flops`. If a key occurs twice, both values are kept, and the trace has the diagnostic
/// `duplicate_key`.
#[macro_export]
macro_rules! scope {
    ($($args:tt)+) => { $crate::__span!(Op, $($args)+) };
    () => { ::core::compile_error!("a span needs a name: `scope!(\"name\")`") };
}

/// Begins a user annotation, with a name and arguments as in [`scope!`]: a `user_annotation` in the trace.
#[macro_export]
macro_rules! user_scope {
    ($($args:tt)+) => { $crate::__span!(Annotation, $($args)+) };
    () => { ::core::compile_error!("an annotation needs a name: `user_scope!(\"name\")`") };
}

/// Begins a span with the path of the enclosing function as its name, such as `server::handle`, and arguments as in
/// [`scope!`].
///
/// ```
/// use kinetoscope::function_scope;
/// fn handle(request: u64) {
///     let _span = function_scope!(request);
/// }
/// handle(7);
/// ```
#[macro_export]
macro_rules! function_scope {
    ($($args:tt)*) => {{
        fn __kinetoscope_here() {}
        $crate::__named_span!($crate::spans::function_name(__kinetoscope_here), "function", Op, $($args)*)
    }};
}

/// Adds arguments to an open span, with arguments as in [`scope!`]. They are evaluated only if the span is recorded.
///
/// ```
/// use kinetoscope::{args, scope};
/// let span = scope!("request");
/// args!(span, status = 200, body = "…");
/// ```
#[macro_export]
macro_rules! args {
    ($span:expr, $($args:tt)+) => {
        match &$span {
            span => {
                if let ::core::option::Option::Some(mut args) = $crate::Scope::more(span) {
                    $crate::__args!(args; $($args)+);
                    $crate::Scope::add(span, args);
                }
            }
        }
    };
}

/// Records an instant event, with a name and arguments as in [`scope!`].
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
    ($name:expr, $($series:ident = $value:expr),+ $(,)?) => {
        $crate::__event!($name, $crate::spans::Args::counter, (), $($series = $value),+)
    };
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

/// Begins a span that ends when its [guard](crate::spans::AsyncScope) is dropped, on any thread. Its name is a literal;
/// its arguments are as in [`scope!`].
#[macro_export]
macro_rules! async_scope {
    ($name:expr $(, $($args:tt)*)?) => {{
        $crate::__site!($name, Other);
        match $crate::spans::state() {
            0 => $crate::spans::AsyncScope::none(&__KINETOSCOPE_SITE),
            state => {
                #[allow(unused_mut)]
                let mut args = $crate::spans::Args::new(state);
                $crate::__args!(args; $($($args)*)?);
                $crate::spans::AsyncScope::with(&__KINETOSCOPE_SITE, args, state)
            }
        }
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __site {
    ($name:expr, $kind:ident) => {
        static __KINETOSCOPE_SITE: $crate::spans::Site =
            $crate::spans::Site::new($name, $crate::spans::SpanKind::$kind, ::core::file!(), ::core::line!());
    };
}

/// Distinguishes names that are constants of a macro from those that are evaluated at run time.
#[doc(hidden)]
#[macro_export]
macro_rules! __span {
    ($kind:ident, $name:literal $(, $($args:tt)*)?) => { $crate::__constant_span!($name, $kind, $($($args)*)?) };
    ($kind:ident, concat!($($name:tt)*) $(, $($args:tt)*)?) => {
        $crate::__constant_span!(::core::concat!($($name)*), $kind, $($($args)*)?)
    };
    ($kind:ident, stringify!($($name:tt)*) $(, $($args:tt)*)?) => {
        $crate::__constant_span!(::core::stringify!($($name)*), $kind, $($($args)*)?)
    };
    ($kind:ident, $name:expr $(, $($args:tt)*)?) => {
        $crate::__named_span!($name, ::core::stringify!($name), $kind, $($($args)*)?)
    };
    ($kind:ident, $($other:tt)*) => {
        ::core::compile_error!("the first argument of a span is its name, followed by a comma and the arguments")
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __constant_span {
    ($name:expr, $kind:ident, $(,)?) => {{
        $crate::__site!($name, $kind);
        $crate::spans::Scope::new(&__KINETOSCOPE_SITE)
    }};
    ($name:expr, $kind:ident, $($args:tt)+) => {{
        $crate::__site!($name, $kind);
        match $crate::spans::state() {
            0 => $crate::spans::Scope::none(&__KINETOSCOPE_SITE),
            state => {
                let mut args = $crate::spans::Args::new(state);
                $crate::__args!(args; $($args)+);
                $crate::spans::Scope::with(&__KINETOSCOPE_SITE, args)
            }
        }
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __named_span {
    ($name:expr, $text:expr, $kind:ident, $($args:tt)*) => {{
        $crate::__site!($text, $kind);
        match $crate::spans::state() {
            0 => $crate::spans::Scope::none(&__KINETOSCOPE_SITE),
            state => {
                let mut args = $crate::spans::Args::new(state);
                args.name($name);
                $crate::__args!(args; $($args)*);
                $crate::spans::Scope::with(&__KINETOSCOPE_SITE, args)
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
            $make(args, &__KINETOSCOPE_SITE $(, $id)?);
        }
    }};
}

/// Adds an argument under a key that is a constant.
#[doc(hidden)]
#[macro_export]
macro_rules! __arg {
    ($args:ident, $method:ident, $key:expr, $value:expr) => {{
        static __KINETOSCOPE_NAME: $crate::spans::Name = $crate::spans::Name::new($key);
        $args.$method(&__KINETOSCOPE_NAME, &$value);
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
    ($args:ident; concrete: $($rest:tt)*) => {
        ::core::compile_error!("`concrete:` is followed by a list in brackets: `concrete: [\"\", 0.5]`")
    };
    ($args:ident; flops: $value:expr $(, $($rest:tt)*)?) => { $args.flops($value); $crate::__args!($args; $($($rest)*)?) };
    ($args:ident; sequence: $value:expr $(, $($rest:tt)*)?) => { $args.sequence($value); $crate::__args!($args; $($($rest)*)?) };
    ($args:ident; backward: $value:expr $(, $($rest:tt)*)?) => { $args.backward($value); $crate::__args!($args; $($($rest)*)?) };
    ($args:ident; $key:ident: $($rest:tt)*) => {
        ::core::compile_error!(::core::concat!(
            "`", ::core::stringify!($key), ":` is not an argument: write `", ::core::stringify!($key),
            " = value`, or one of shapes, strides, dtype, dtypes, concrete, tensors, flops, sequence and backward with a colon"
        ))
    };
    ($args:ident; $key:ident = ?$value:expr $(, $($rest:tt)*)?) => {
        $crate::__arg!($args, debug, ::core::stringify!($key), $value);
        $crate::__args!($args; $($($rest)*)?)
    };
    ($args:ident; $key:ident = %$value:expr $(, $($rest:tt)*)?) => {
        $crate::__arg!($args, display, ::core::stringify!($key), $value);
        $crate::__args!($args; $($($rest)*)?)
    };
    ($args:ident; $key:ident = $value:expr $(, $($rest:tt)*)?) => {
        $crate::__arg!($args, value, ::core::stringify!($key), $value);
        $crate::__args!($args; $($($rest)*)?)
    };
    ($args:ident; $key:literal = ?$value:expr $(, $($rest:tt)*)?) => {
        $crate::__arg!($args, debug, $key, $value);
        $crate::__args!($args; $($($rest)*)?)
    };
    ($args:ident; $key:literal = %$value:expr $(, $($rest:tt)*)?) => {
        $crate::__arg!($args, display, $key, $value);
        $crate::__args!($args; $($($rest)*)?)
    };
    ($args:ident; $key:literal = $value:expr $(, $($rest:tt)*)?) => {
        $crate::__arg!($args, value, $key, $value);
        $crate::__args!($args; $($($rest)*)?)
    };
    ($args:ident; ?$value:ident $(, $($rest:tt)*)?) => {
        $crate::__arg!($args, debug, ::core::stringify!($value), $value);
        $crate::__args!($args; $($($rest)*)?)
    };
    ($args:ident; %$value:ident $(, $($rest:tt)*)?) => {
        $crate::__arg!($args, display, ::core::stringify!($value), $value);
        $crate::__args!($args; $($($rest)*)?)
    };
    ($args:ident; $value:ident $(, $($rest:tt)*)?) => {
        $crate::__arg!($args, value, ::core::stringify!($value), $value);
        $crate::__args!($args; $($($rest)*)?)
    };
    ($args:ident; $($other:tt)+) => {
        ::core::compile_error!(::core::concat!(
            "cannot parse the argument at `", ::core::stringify!($($other)+),
            "`: write `key = value`, `\"any key\" = value`, `key = ?value`, `key = %value`, or the name of a variable"
        ))
    };
}
