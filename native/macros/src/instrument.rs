//! The expansion of `#[instrument]`.

use crate::options::Options;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::{Error, Expr, FnArg, ItemFn, Pat, Result, ReturnType, Type, parse_quote};

pub(crate) fn instrument(options: &Options, mut function: ItemFn) -> Result<TokenStream> {
    if let Some(constant) = &function.sig.constness {
        return Err(Error::new(constant.span, "a `const fn` cannot be recorded"));
    }
    if function.sig.asyncness.is_some()
        && let Some(name) = options.name.as_ref().filter(|name| !matches!(name, Expr::Lit(_)))
    {
        return Err(Error::new_spanned(name, "the name of an `async fn` is a string literal"));
    }
    let parts = Parts::new(options, &function)?;
    let body = &function.block;
    let block: TokenStream = if function.sig.asyncness.is_some() {
        parts.asynchronous(&quote!(#body))
    } else {
        parts.synchronous(&quote!(#body))
    };
    function.block = parse_quote!({ #block });
    // The body is inside of a closure or a block: lints for its form would be repeated.
    function.attrs.push(parse_quote!(#[allow(clippy::redundant_closure_call, clippy::let_unit_value)]));
    Ok(quote! { #function })
}

/// What the expansions of both kinds of functions consist of.
struct Parts {
    /// `scope` or `user_scope`.
    span_macro: Ident,
    name: Expr,
    /// The arguments of the span.
    args: TokenStream,
    /// `: Type`, if the type of the result can be written.
    result_type: TokenStream,
    /// Statements that add the result to `span`.
    additions: TokenStream,
    is_simple: bool,
}

impl Parts {
    fn new(options: &Options, function: &ItemFn) -> Result<Parts> {
        let own_name = function.sig.ident.to_string();
        let own_name = own_name.trim_start_matches("r#");
        let name = options.name.clone().unwrap_or_else(|| {
            let path = format!("::{own_name}");
            parse_quote!(concat!(module_path!(), #path))
        });
        let parameters = parameters(function);
        if let Some(unknown) = options.skipped.iter().find(|name| **name != "self" && !has(&parameters, name))
        {
            return Err(Error::new(unknown.span(), format!("there is no parameter `{unknown}`")));
        }
        let recorded =
            parameters.iter().filter(|(name, _)| !options.skips_all && !options.skipped.contains(name));
        let args = recorded.map(|(name, is_value)| if *is_value { quote!(#name,) } else { quote!(?#name,) });
        let (args, fields): (TokenStream, _) = (args.collect(), &options.fields);
        Ok(Parts {
            span_macro: Ident::new(
                if options.is_annotation { "user_scope" } else { "scope" },
                Span::call_site(),
            ),
            name,
            args: quote!(#args #fields),
            result_type: result_type(&function.sig.output),
            additions: additions(options),
            is_simple: options.error.is_none() && options.result.is_none(),
        })
    }

    fn synchronous(&self, body: &TokenStream) -> TokenStream {
        let Parts { span_macro, name, args, result_type, additions, .. } = self;
        let span = Ident::new("__kinetoscope_span", Span::mixed_site());
        let begin = quote! { let #span = ::kinetoscope::#span_macro!(#name, #args); };
        if self.is_simple {
            return quote! { #begin #body };
        }
        let (result, closure_type) =
            (Ident::new("__kinetoscope_result", Span::mixed_site()), arrow(result_type));
        quote! {
            #begin
            let #result #result_type = (move || #closure_type #body)();
            { let (span, result) = (&#span, &#result); #additions }
            #result
        }
    }

    /// The whole call is an asynchronous span, and each poll a span. Flows connect the polls.
    fn asynchronous(&self, body: &TokenStream) -> TokenStream {
        let Parts { span_macro, name, args, result_type, additions, .. } = self;
        // Never runs: states the type of the result, which `?` in the body needs.
        let hint = if result_type.is_empty() {
            quote!()
        } else {
            quote! { if false { let __kinetoscope_result #result_type = loop {}; return __kinetoscope_result; } }
        };
        let [task, future, polls] = ["__kinetoscope_task", "__kinetoscope_future", "__kinetoscope_polls"]
            .map(|name| Ident::new(name, Span::mixed_site()));
        quote! {
            let #task = ::kinetoscope::async_scope!(#name, #args);
            let mut #polls = 0u32;
            #[allow(unused_braces)]
            let mut #future = ::core::pin::pin!(async move {
                #[allow(unreachable_code, clippy::diverging_sub_expression, clippy::empty_loop)]
                #hint
                #body
            });
            ::core::future::poll_fn(move |context| {
                let span = ::kinetoscope::#span_macro!(#name);
                let poll = ::core::future::Future::poll(#future.as_mut(), context);
                #task.polled(&mut #polls, poll.is_ready());
                if let ::core::task::Poll::Ready(result) = &poll {
                    let span = &span;
                    #additions
                }
                poll
            })
            .await
        }
    }
}

/// Returns the statements that add the result or the error to the span `span`.
fn additions(options: &Options) -> TokenStream {
    let error = options.error.map(|format| {
        let mark = format.mark();
        quote! {
            if let ::core::result::Result::Err(error) = result { ::kinetoscope::args!(span, error = #mark error); }
        }
    });
    let value = options.result.map(|format| {
        let mark = format.mark();
        if options.error.is_some() {
            quote! {
                if let ::core::result::Result::Ok(value) = result { ::kinetoscope::args!(span, "return" = #mark value); }
            }
        } else {
            quote! { ::kinetoscope::args!(span, "return" = #mark result); }
        }
    });
    quote! { let _ = (span, result); #error #value }
}

/// Returns `: Type` for the type of the result; nothing if it has no name.
fn result_type(output: &ReturnType) -> TokenStream {
    match output {
        ReturnType::Default => quote!(: ()),
        ReturnType::Type(_, kind) if contains_impl(kind) => quote!(),
        ReturnType::Type(_, kind) => quote!(: #kind),
    }
}

/// Returns `-> Type` for `: Type`.
fn arrow(result_type: &TokenStream) -> TokenStream {
    let kind = result_type.clone().into_iter().skip(1).collect::<TokenStream>();
    if kind.is_empty() { quote!() } else { quote!(-> #kind) }
}

fn contains_impl(kind: &Type) -> bool {
    quote!(#kind).to_string().split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "impl")
}

fn has(parameters: &[(Ident, bool)], name: &Ident) -> bool {
    parameters.iter().any(|(known, _)| known == name)
}

/// Returns the names of the parameters, and whether each can be recorded as a value; others are formatted with `Debug`.
/// `self` and parameters that are patterns are not recorded.
fn parameters(function: &ItemFn) -> Vec<(Ident, bool)> {
    let named = |input: &FnArg| match input {
        FnArg::Typed(typed) => match &*typed.pat {
            Pat::Ident(pattern) if !pattern.ident.to_string().starts_with('_') => {
                Some((format_ident!("{}", pattern.ident), is_value(&typed.ty)))
            }
            _ => None,
        },
        FnArg::Receiver(_) => None,
    };
    function.sig.inputs.iter().filter_map(named).collect()
}

/// The types whose values are recorded as they are.
const VALUES: [&str; 17] = [
    "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "f32", "f64",
    "bool", "char", "str",
];

fn is_value(kind: &Type) -> bool {
    match kind {
        Type::Reference(reference) => is_value(&reference.elem),
        Type::Path(path) => path
            .path
            .get_ident()
            .is_some_and(|name| *name == "String" || VALUES.iter().any(|value| name == value)),
        _ => false,
    }
}
