//! The options of `#[instrument]`.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::{Parse, ParseStream, Result};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, Ident, Token, parenthesized};

/// The options of `#[instrument]`.
#[derive(Default)]
pub(crate) struct Options {
    /// The name, an expression as in `scope!`.
    pub(crate) name: Option<Expr>,
    /// The parameters that are not recorded.
    pub(crate) skipped: Vec<Ident>,
    pub(crate) skips_all: bool,
    /// Arguments as in `scope!`.
    pub(crate) fields: TokenStream,
    /// Whether an `Err` is recorded as the argument `error`, and how it is formatted.
    pub(crate) error: Option<Format>,
    /// Whether the result is recorded as the argument `return`, and how it is formatted.
    pub(crate) result: Option<Format>,
    pub(crate) is_annotation: bool,
}

/// How a value is formatted.
#[derive(Clone, Copy)]
pub(crate) enum Format {
    Debug,
    Display,
}

impl Format {
    fn parse(input: ParseStream<'_>, default: Format) -> Result<Format> {
        if !input.peek(syn::token::Paren) {
            return Ok(default);
        }
        let content;
        parenthesized!(content in input);
        let word: Ident = content.parse()?;
        match word.to_string().as_str() {
            "Debug" => Ok(Format::Debug),
            "Display" => Ok(Format::Display),
            _ => Err(Error::new(word.span(), "write `Debug` or `Display`")),
        }
    }

    /// The mark in the arguments of `scope!`.
    pub(crate) fn mark(self) -> TokenStream {
        match self {
            Format::Debug => quote::quote!(?),
            Format::Display => quote::quote!(%),
        }
    }
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> Result<Options> {
        let mut options = Options::default();
        while !input.is_empty() {
            if input.peek(syn::LitStr) {
                options.name = Some(Expr::Lit(input.parse()?));
            } else {
                let word: Ident = input.parse()?;
                options.parse_option(&word, input)?;
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

impl Options {
    fn parse_option(&mut self, word: &Ident, input: ParseStream<'_>) -> Result<()> {
        match word.to_string().as_str() {
            "name" => {
                input.parse::<Token![=]>()?;
                self.name = Some(input.parse()?);
            }
            "skip" => {
                let content;
                parenthesized!(content in input);
                self.skipped.extend(Punctuated::<Ident, Token![,]>::parse_terminated(&content)?);
            }
            "skip_all" => self.skips_all = true,
            "fields" => {
                let content;
                parenthesized!(content in input);
                self.fields = content.parse()?;
            }
            "err" => self.error = Some(Format::parse(input, Format::Display)?),
            "ret" => self.result = Some(Format::parse(input, Format::Debug)?),
            "annotation" => self.is_annotation = true,
            _ => {
                let text = format!(
                    "`{}` is not an option: write name = \"…\", skip(…), skip_all, fields(…), err, ret or annotation",
                    word.to_token_stream()
                );
                return Err(Error::new(word.span(), text));
            }
        }
        Ok(())
    }
}
