//! The words that the names of torch's operators, of public kernels and of calls are made of.
//!
//! An identifier is public when every run of letters in it is a word of `words.txt`, or consists of such words in camel
//! case. Single letters may not follow each other, so that no private word can be spelled from them. The digits of a name are too
//! few for a date or a telephone number; a kernel's name has more of them, as in `128x64x32` and between commas.

use super::grammar::Runs;
use crate::names::Names;

const WORDS: &str = include_str!("words.txt");

/// A number in the name of a kernel has at most this many digits; so have numbers together that no letter and no comma parts.
const DIGITS: usize = 6;

/// Any other name has at most this many: fewer than a date.
const FEW_DIGITS: usize = 5;

/// A piece of a word in camel case that is shorter stands alone between longer ones.
const LONG: usize = 3;

/// The public words.
#[derive(Clone, Debug)]
pub(super) struct Vocabulary(Names);

impl Default for Vocabulary {
    fn default() -> Self {
        let mut names = Names::default();
        for word in WORDS.split('\n') {
            names.intern(word);
        }
        Vocabulary(names)
    }
}

impl Vocabulary {
    /// Letters, digits and `_`, all of whose words are public.
    pub(super) fn is_public(&self, identifier: &str) -> bool {
        self.are_public([identifier])
    }

    /// Identifiers that stand together, all of which are public, and which spell no word and no number together.
    pub(super) fn are_public<'a>(&self, identifiers: impl IntoIterator<Item = &'a str>) -> bool {
        let mut context = Context::default();
        let mut digits = 0;
        identifiers.into_iter().all(|identifier| {
            digits += identifier.bytes().filter(u8::is_ascii_digit).count();
            digits <= FEW_DIGITS && self.goes_on(&mut context, identifier)
        })
    }

    /// Whether an identifier is public after others, whose last letters and digits are in `context`.
    pub(super) fn goes_on(&self, context: &mut Context, identifier: &str) -> bool {
        let Context { letters, digits } = context;
        letters.is_apart = true;
        !identifier.is_empty()
            && Runs(identifier).all(|run| match run.as_bytes() {
                b"_" => true,
                [b'0'..=b'9', ..] => {
                    letters.is_apart = true;
                    *digits += run.len();
                    *digits <= DIGITS
                }
                &[letter] if letter.is_ascii_alphabetic() => {
                    *digits = 0;
                    letters.take(letter)
                }
                _ => {
                    (*letters, *digits) = (Letters::default(), 0);
                    self.has_run(run)
                }
            })
    }

    fn has(&self, word: &str) -> bool {
        self.0.find(&word.to_ascii_lowercase()).is_some()
    }

    /// A run of letters: a word, or words in camel case.
    fn has_run(&self, run: &str) -> bool {
        if !run.as_bytes()[0].is_ascii_alphabetic() {
            return false;
        }
        if self.has(run) {
            return true;
        }
        let mut after_short = false;
        let mut rest = run;
        while !rest.is_empty() {
            let (hump, tail) = rest.split_at(hump(rest.as_bytes()));
            let is_short = hump.len() < LONG;
            if is_short && after_short || hump.len() > 1 && !self.has(hump) {
                return false;
            }
            after_short = is_short;
            rest = tail;
        }
        true
    }
}

/// The letters and digits since the last word, which could spell a word or a number with those that follow.
#[derive(Clone, Copy, Default)]
pub(super) struct Context {
    letters: Letters,
    pub(super) digits: usize,
}

/// Letters that stand alone, with no word between them: no two with nothing but `_` between them, and with something else
/// between them at most three, or one again and again, as in `0d1d2d3d`; `x` does not count, as in `f2f_128x64x32`.
#[derive(Clone, Copy, Default)]
struct Letters {
    count: usize,
    /// The last that is no `x`.
    last: Option<u8>,
    are_different: bool,
    /// Something else than `_` stands behind the last one.
    is_apart: bool,
}

impl Letters {
    /// Whether one more is public.
    fn take(&mut self, letter: u8) -> bool {
        let is_next = self.count == 0 || self.is_apart;
        self.is_apart = false;
        self.count += 1;
        if letter != b'x' {
            self.are_different |= self.last.is_some_and(|last| last != letter);
            self.last = Some(letter);
        }
        is_next && (self.count <= LONG || !self.are_different)
    }
}

/// How long the first word of a text in camel case is: `CUDAFunctor` is `CUDA` and `Functor`.
fn hump(text: &[u8]) -> usize {
    let upper = text.iter().take_while(|b| b.is_ascii_uppercase()).count();
    let lower = text[upper..].iter().take_while(|b| b.is_ascii_lowercase()).count();
    match (upper, lower) {
        (_, 0) => upper,
        (0 | 1, _) => upper + lower,
        _ => upper - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn words_are_sorted_and_lower_case() {
        let words: Vec<&str> = WORDS.lines().collect();
        assert!(words.len() > 500 && words.is_sorted_by(|a, b| a < b));
        assert!(words.iter().all(|w| w.len() > 1 && w.bytes().all(|b| b.is_ascii_lowercase())));
    }

    #[test]
    fn identifiers_are_made_of_public_words() {
        let vocabulary = Vocabulary::default();
        for public in [
            "vectorized_elementwise_kernel",
            "CUDAFunctor_add",
            "nchwToNhwcKernel",
            "triton__0d1d2d3de",
            "gatherTopK",
            "convolution_backward",
            "add_",
            "__and__",
            "2ul",
            "cudaGraphLaunch_v10000",
        ] {
            assert!(vocabulary.is_public(public), "{public}");
        }
        for private in [
            "",
            "falcon",
            "fal_con",
            "fAlCoN",
            "f_a_l_c_o_n",
            "add_falcon",
            "addfalcon",
            "falconAdd",
            "add1234567",
            "add_2024_11_22",
            "add_555_123_4567",
            "add_4111x1111",
            "add_22_11_24",
            "add_221124",
            "f1a2l3c4o5n",
            "f1_a2_l3_c4",
            "add.mul",
            "größe",
        ] {
            assert!(!vocabulary.is_public(private), "{private}");
        }
    }

    #[test]
    fn kernels_have_more_numbers() {
        let vocabulary = Vocabulary::default();
        let goes_on = |name| vocabulary.goes_on(&mut Context::default(), name);
        for public in [
            "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_tn",
            "gemm_f2f_16x8x4_128x128",
            "triton__0d1d2d3de4de",
        ] {
            assert!(goes_on(public), "{public}");
        }
        assert!(!goes_on("gemm_2024_11_22") && !goes_on("gemm_f1a2l3c4"));
        assert!(!vocabulary.are_public(["f1a2", "l3c4"]) && !vocabulary.are_public(["add_2024", "11"]));
    }

    #[test]
    fn humps_begin_with_a_capital() {
        assert_eq!([hump(b"CUDAFunctor"), hump(b"addMul"), hump(b"ToCopy"), hump(b"SN")], [4, 3, 2, 2]);
    }
}
