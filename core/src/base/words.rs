//! Closed vocabularies: enums whose variants are words of answers and options.
//!
//! The macro `words!` defines the variants and their words in one place. The columns of an answer and the types of the
//! npm package refer to the [`Vocabulary`], so every list of words has every variant.

/// The words of a closed vocabulary, in the order of the enum's variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vocabulary {
    /// The name of its type in the npm package; empty without the feature `help`.
    pub name: &'static str,
    /// The words.
    pub words: &'static [&'static str],
}

/// A help text; empty in a build without the feature `help`.
pub(crate) const fn help(text: &'static str) -> &'static str {
    if cfg!(feature = "help") { text } else { "" }
}

impl Vocabulary {
    /// The position of a word.
    pub(crate) fn position(self, word: &str) -> Option<usize> {
        self.words.iter().position(|&known| known == word)
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
}

/// Defines an enum without data, the word of each variant, and a [`Vocabulary`] of this name.
macro_rules! words {
    (
        $name:literal
        $(#[$about:meta])*
        $vis:vis enum $enum:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }
    ) => {
        $(#[$about])*
        $vis enum $enum { $($(#[$doc])* $variant,)+ }

        impl $enum {
            /// Every variant, in the order of the words. Some vocabularies do not use it.
            #[allow(dead_code)]
            $vis const ALL: [$enum; [$($word),+].len()] = [$($enum::$variant),+];

            /// The words.
            $vis const VOCABULARY: crate::base::words::Vocabulary =
                crate::base::words::Vocabulary { name: crate::base::words::help($name), words: &[$($word),+] };

            /// The word of the variant.
            $vis const fn as_str(self) -> &'static str {
                $enum::VOCABULARY.words[self as usize]
            }
        }

        impl crate::base::words::Word for $enum {
            const WORDS: crate::base::words::Vocabulary = $enum::VOCABULARY;
            const VARIANTS: &'static [$enum] = &$enum::ALL;
        }
    };
}

pub(crate) use words;

#[cfg(test)]
mod tests {
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
}
