//! Closed vocabularies: enums whose variants are words of answers and options.
//!
//! The macro `words!` defines the variants and their words in one place. The columns of an answer and the types of the
//! npm package refer to the [`Vocabulary`], so every list of words has every variant.
//!
//! The list has the words in `snake_case`, as JSON, CSV and files have them. The other spellings are derived from it: tables
//! and texts for people have blanks instead of underscores ([`label`]), the values of options have hyphens
//! ([`option_spelling`]). An option accepts the word as JSON has it as well, because programs pass words of answers to
//! options. Names that PyTorch defined, such as `CUDA` and `TorchOp`, are spelled as in PyTorch.

use alloc::string::String;

/// The words of a closed vocabulary, in the order of the enum's variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vocabulary {
    /// The name of its type in the npm package; empty without the feature `help`.
    pub name: &'static str,
    /// The words.
    pub words: &'static [&'static str],
    /// Whether they are names that others defined: tables show them as they are.
    pub are_names: bool,
}

/// A help text; empty in a build without the feature `help`.
pub(crate) const fn help(text: &'static str) -> &'static str {
    if cfg!(feature = "help") { text } else { "" }
}

/// Returns a word as text for a person: `data_loading` as `data loading`.
pub fn label(word: &str) -> String {
    word.replace('_', " ")
}

/// Returns a word as the value of an option: `data_loading` as `data-loading`.
pub fn option_spelling(word: &str) -> String {
    word.replace('_', "-")
}

impl Vocabulary {
    /// A vocabulary with the name of its type in the npm package.
    pub(crate) const fn new(name: &'static str, words: &'static [&'static str]) -> Vocabulary {
        Vocabulary { name: help(name), words, are_names: false }
    }

    /// The same words as names that others defined.
    pub(crate) const fn names(self) -> Vocabulary {
        Vocabulary { are_names: true, ..self }
    }

    /// A word as text for a person.
    pub(crate) fn label(self, word: &str) -> String {
        if self.are_names { word.into() } else { label(word) }
    }

    /// The position of a word.
    pub(crate) fn position(self, word: &str) -> Option<usize> {
        self.words.iter().position(|&known| known == word)
    }

    /// The position of the word that is the value of an option, in the spelling of options or of JSON.
    pub(crate) fn position_of_option(self, value: &str) -> Option<usize> {
        let same = |(known, byte)| known == byte || (known == b'_' && byte == b'-');
        let is_spelling = |word: &str| word.len() == value.len() && word.bytes().zip(value.bytes()).all(same);
        self.words.iter().position(|word| is_spelling(word))
    }

    /// Returns the words as values of an option, for an error message.
    pub(crate) fn option_values(self) -> String {
        option_spelling(&self.words.join(", "))
    }

    /// The same words without the last one.
    pub(crate) const fn without_last(self) -> Vocabulary {
        match self.words {
            [words @ .., _] => Vocabulary { words, ..self },
            [] => self,
        }
    }
}

/// An enum of a closed vocabulary.
pub trait Word: Copy + 'static {
    /// Its words.
    const WORDS: Vocabulary;
    /// Its variants, in the order of the words.
    const VARIANTS: &'static [Self];

    /// The variant of a word.
    fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.position(word).map(|at| Self::VARIANTS[at])
    }

    /// The variant of the value of an option, in the spelling of options or of JSON.
    fn from_option_value(value: &str) -> Option<Self> {
        Self::WORDS.position_of_option(value).map(|at| Self::VARIANTS[at])
    }
}

/// Defines an enum without data, the word of each variant in `snake_case`, and a [`Vocabulary`] of this name.
macro_rules! words {
    (
        $name:literal
        $(#[$about:meta])*
        $vis:vis enum $enum:ident { $($(#[$($doc:tt)+])* $variant:ident = $word:literal,)+ }
    ) => {
        $(#[$about])*
        $vis enum $enum { $($(#[$($doc)+])* $variant,)+ }

        impl $enum {
            /// Every variant, in the order of the words. Some vocabularies do not use it.
            #[allow(dead_code)]
            $vis const ALL: [$enum; [$($word),+].len()] = [$($enum::$variant),+];

            /// The words.
            $vis const VOCABULARY: crate::base::words::Vocabulary =
                crate::base::words::Vocabulary::new($name, &[$($word),+]);

            /// The word of the variant.
            $vis const fn as_str(self) -> &'static str {
                $enum::VOCABULARY.words[self as usize]
            }

            /// What the word means, in a sentence or two; empty without the feature `help`. Some vocabularies do not use it.
            #[allow(dead_code)]
            $vis const fn about(self) -> &'static str {
                const ABOUT: &[&str] =
                    &[$(crate::base::words::help(concat!($(crate::base::words::text!($($doc)+)),*))),+];
                ABOUT[self as usize].trim_ascii()
            }

            /// The word as text for a person. Some vocabularies do not use it.
            #[allow(dead_code)]
            $vis fn label(self) -> alloc::string::String {
                $enum::VOCABULARY.label(self.as_str())
            }
        }

        impl crate::base::words::Word for $enum {
            const WORDS: crate::base::words::Vocabulary = $enum::VOCABULARY;
            const VARIANTS: &'static [$enum] = &$enum::ALL;
        }
    };
}

/// The text of a documentation attribute; empty for others.
macro_rules! text {
    (doc = $text:literal) => {
        $text
    };
    ($($other:tt)+) => {
        ""
    };
}

pub(crate) use {text, words};

#[cfg(test)]
mod tests {
    use super::{Word, help};

    words! {
        "Colour"
        /// A colour.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Colour {
            /// The colour of blood.
            Red = "red",
            /// The colour of the sky.
            SkyBlue = "sky_blue",
        }
    }

    #[test]
    fn variants_and_words_have_the_same_order() {
        assert_eq!(Colour::SkyBlue.as_str(), "sky_blue");
        assert_eq!(Colour::ALL, [Colour::Red, Colour::SkyBlue]);
        assert_eq!(Colour::VOCABULARY.words, ["red", "sky_blue"]);
        assert_eq!(Colour::VOCABULARY.without_last().words, ["red"]);
    }

    #[test]
    fn the_documentation_of_a_variant_is_what_the_word_means() {
        assert_eq!(Colour::SkyBlue.about(), help("The colour of the sky."));
    }

    #[test]
    fn each_spelling_is_derived_from_the_word() {
        assert_eq!(Colour::SkyBlue.label(), "sky blue");
        assert_eq!(Colour::VOCABULARY.option_values(), "red, sky-blue");
        for value in ["sky-blue", "sky_blue"] {
            assert_eq!(Colour::from_option_value(value), Some(Colour::SkyBlue));
        }
        assert_eq!(Colour::from_option_value("sky blue"), None);
        assert_eq!(Colour::from_word("sky-blue"), None);
    }
}
