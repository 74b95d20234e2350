//! The public words, of which the names of PyTorch's operators, of public kernels and of API calls consist.
//!
//! An identifier is public if every run of letters in it is a word of `words.txt`, or consists of such words in camel
//! case. Single letters must not be adjacent, so that no private word can be spelled with them. The number of digits in
//! a name is too small for a date or a telephone number. Kernel names have more digits, as in `128x64x32`, and between
//! commas.
use super::grammar::Runs;
use crate::base::names::Names;

const WORDS: &str = include_str!("words.txt");

/// The maximum number of digits of a number in a kernel name, and of adjacent numbers without a letter or comma in
/// between.
const DIGITS: usize = 6;

/// The maximum number of digits in any other name: fewer than a date has.
const FEW_DIGITS: usize = 5;

/// Camel-case words shorter than this must not be adjacent.
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
    /// Whether an identifier of letters, digits and `_` has only public words.
    pub(super) fn is_public(&self, identifier: &str) -> bool {
        self.are_public([identifier])
    }

    /// Whether adjacent identifiers are all public and do not spell a word or a number together.
    pub(super) fn are_public<'a>(&self, identifiers: impl IntoIterator<Item = &'a str>) -> bool {
        let mut context = Context::default();
        let mut digits = 0;
        identifiers.into_iter().all(|identifier| {
            digits += identifier.bytes().filter(u8::is_ascii_digit).count();
            digits <= FEW_DIGITS && self.goes_on(&mut context, identifier)
        })
    }

    /// Whether an identifier is public after others, whose last letters and digits `context` holds.
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

    /// Whether a run of letters is a public word, or consists of public words in camel case.
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

/// The letters and digits since the last word. Together with those that follow, they could spell a word or a number.
#[derive(Clone, Copy, Default)]
pub(super) struct Context {
    letters: Letters,
    pub(super) digits: usize,
}

/// Single letters since the last word. They must not be separated by `_` alone. Separated by something else, there may
/// be at most three, or one letter repeated, as in `0d1d2d3d`; `x` does not count as another letter, as in
/// `f2f_128x64x32`.
#[derive(Clone, Copy, Default)]
struct Letters {
    count: usize,
    /// The last letter other than `x`.
    last: Option<u8>,
    are_different: bool,
    /// Whether something other than `_` follows the last letter.
    is_apart: bool,
}

impl Letters {
    /// Adds a letter. Returns whether the letters so far may be kept.
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

/// The length of the first camel-case word of a text: `CUDAFunctor` is `CUDA` and `Functor`.
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
    fn kernel_names_may_have_several_numbers_and_operators_may_not() {
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
    fn camel_case_words_begin_with_a_capital() {
        assert_eq!([hump(b"CUDAFunctor"), hump(b"addMul"), hump(b"ToCopy"), hump(b"SN")], [4, 3, 2, 2]);
    }
}
