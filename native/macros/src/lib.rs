//! The attribute macros of `kinetoscope`, which documents them. They expand to its other macros.

mod instrument;
mod options;

use proc_macro::TokenStream;
use quote::quote;
use syn::{ItemFn, parse_macro_input, parse_quote};

/// Records the calls of a function as spans. See `kinetoscope::instrument`.
#[proc_macro_attribute]
pub fn instrument(options: TokenStream, function: TokenStream) -> TokenStream {
    let options = parse_macro_input!(options as options::Options);
    let function = parse_macro_input!(function as ItemFn);
    instrument::instrument(&options, function).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Records the program as the environment variable `KINETOSCOPE` says. See `kinetoscope::main`.
#[proc_macro_attribute]
pub fn main(options: TokenStream, function: TokenStream) -> TokenStream {
    if !options.is_empty() {
        let text = "`#[kinetoscope::main]` has no options: set the environment variable KINETOSCOPE";
        return syn::Error::new(proc_macro2::Span::call_site(), text).to_compile_error().into();
    }
    let mut function = parse_macro_input!(function as ItemFn);
    function.block.stmts.insert(0, parse_quote! { let __kinetoscope = ::kinetoscope::record_from_env(); });
    quote! { #function }.into()
}
