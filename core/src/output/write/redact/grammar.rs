//! Small parsers that each match a complete text. They accept only numbers, brackets and a fixed list of words, so that
//! no private word can match.

/// Whether a text is 1 to `most` decimal digits.
pub(super) fn is_digits(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a text is an integer of up to 19 digits, or infinity or NaN.
pub(super) fn is_integer(text: &str) -> bool {
    is_digits(unsigned(text), 19) || matches!(text, "inf" | "-inf" | "NaN" | "nan")
}

/// Strips a leading sign.
fn unsigned(text: &str) -> &str {
    text.strip_prefix(['-', '+']).unwrap_or(text)
}

/// Whether a text is a number as Python prints it: `3`, `-0.5`, `1e-05`. An IP address has more than one point and
/// is not a number.
pub(super) fn is_number(text: &str) -> bool {
    if is_integer(text) {
        return true;
    }
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (integer, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    is_digits(unsigned(integer), 20)
        && (fraction.is_empty() || is_digits(fraction, 20))
        && is_digits(unsigned(exponent), 3)
}

/// Whether a text is a nested list of integers, such as `[[2, 3], [4]]`.
pub(super) fn is_sizes(text: &str) -> bool {
    let inside = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    inside.is_some_and(|inside| {
        inside.split(',').all(|item| {
            let item = item.trim_matches([' ', '[', ']']);
            item.is_empty() || is_integer(item)
        })
    })
}

/// Whether a text is a non-tensor input of an operator: a number, a boolean, `None`, or a list of them.
pub(super) fn is_scalars(text: &str) -> bool {
    let list = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    list.unwrap_or(text)
        .split(',')
        .map(|item| item.trim_matches(' '))
        .all(|item| item.is_empty() || matches!(item, "True" | "False" | "None") || is_number(item))
}

/// Whether a text consists of words of a list, separated by some characters.
pub(super) fn is_made_of(text: &str, between: &[u8], words: &str) -> bool {
    text.split(|c: char| c.is_ascii() && between.contains(&(c as u8)))
        .all(|word| word.is_empty() || is_one_of(word, words))
}

/// Whether a word is in a list that is separated by spaces.
pub(super) fn is_one_of(word: &str, words: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// Whether a text is the model name of a device: `NVIDIA A100-SXM4-40GB`.
pub(super) fn is_device(text: &str) -> bool {
    const VENDORS: &str = "NVIDIA Tesla Quadro GeForce AMD Radeon Instinct Intel Ascend";
    const PARTS: &str = "nvidia tesla quadro geforce amd radeon instinct intel ascend rtx gtx gt ti super ada generation \
        titan xp graphics pro vf arc data center gpu max flex gaudi hl laptop pcie sxm nvl hbm gb mb ac dgxs pg a b c e g h k l \
        m p s t v w x y mi gh rx xt xtx";
    let is_part = |run: &str| is_digits(run, 4) || is_one_of(&run.to_ascii_lowercase(), PARTS);
    let parts = || text.split([' ', '-']);
    let letters = parts().filter(|part| matches!(part.as_bytes(), [b] if b.is_ascii_alphabetic())).count();
    let numbers = parts().filter(|part| part.bytes().all(|b| b.is_ascii_digit())).count();
    // More letters or numbers could spell a word or a date.
    letters <= 1
        && numbers <= 1
        && parts().next().is_some_and(|head| is_one_of(head, VENDORS))
        && parts().all(|part| Runs(part).all(is_part) && Runs(part).count() <= 4)
}

/// Splits a text into runs of letters, runs of digits, and single other characters.
pub(super) struct Runs<'a>(pub(super) &'a str);

impl<'a> Iterator for Runs<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let first = self.0.chars().next()?;
        let is_same = |c: &char| {
            c.is_ascii_alphabetic() && first.is_ascii_alphabetic()
                || c.is_ascii_digit() && first.is_ascii_digit()
        };
        let length = self.0.chars().take_while(is_same).count().max(first.len_utf8());
        let (run, rest) = self.0.split_at(length);
        self.0 = rest;
        Some(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_match_completely() {
        for text in ["0", "-12", "3.5", "1e-05", "-0.0036900369003690049", "inf"] {
            assert!(is_number(text), "{text}");
        }
        for text in ["", "-", "10.1.2.3", "1e", "e5", "0x1f", "1_000", "2 3", "½"] {
            assert!(!is_number(text), "{text}");
        }
        assert!(is_scalars("[True, 1.5, None]") && is_scalars("") && !is_scalars("[8, j26]"));
        assert!(is_sizes("[[2, 3], []]") && !is_sizes("10.1.2.3") && !is_sizes("[a]"));
    }

    #[test]
    fn devices_match_model_names() {
        for name in [
            "NVIDIA A100-SXM4-40GB",
            "NVIDIA H100 80GB HBM3",
            "Tesla V100-DGXS-32GB",
            "AMD Instinct MI300X VF",
            "NVIDIA GeForce RTX 2080 Ti",
            "NVIDIA PG509-210",
        ] {
            assert!(is_device(name), "{name}");
        }
        for name in [
            "",
            "GPU A",
            "NVIDIA Falcon",
            "falcon",
            "A100",
            "NVIDIA A1B2C3D4E5",
            "NVIDIA 4111 1111 1111",
            "NVIDIA 555-1234",
            "NVIDIA G-A-T-E-S",
        ] {
            assert!(!is_device(name), "{name}");
        }
    }

    #[test]
    fn a_text_is_split_where_letters_and_digits_meet() {
        let text = "sm80_xmmaÄ7";
        assert_eq!(Runs(text).collect::<alloc::vec::Vec<_>>(), ["sm", "80", "_", "xmma", "Ä", "7"]);
    }
}
