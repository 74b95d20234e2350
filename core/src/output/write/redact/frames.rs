//! Redaction of stack frames: `path(line): function`, and module calls.

use super::grammar::{is_digits, is_one_of};
use super::outcome::TextPart::{self, Hide, Keep};
use super::vocabulary::Vocabulary;
use alloc::vec;
use alloc::vec::Vec;

/// The maximum number of digits of a line number.
const LINE_DIGITS: usize = 6;

/// The frame of a module call.
const MODULE: &str = "nn.Module: {module}_{number}";

impl Vocabulary {
    /// Redacts one frame.
    pub(super) fn frame<'a>(&self, text: &'a str) -> Option<Vec<TextPart<'a>>> {
        self.pattern(MODULE, text).or_else(|| self.place(text))
    }

    /// Redacts `path(line): function`. The line and `.py` are kept. In PyTorch's own files, names made of public words
    /// are kept too.
    fn place<'a>(&self, text: &'a str) -> Option<Vec<TextPart<'a>>> {
        const TORCH: [&str; 2] = ["torch/", "site-packages/torch/"];
        const FUNCTIONS: &str = "<module> <lambda> <listcomp> <genexpr> <dictcomp>";
        let (open, function) = text.match_indices('(').find_map(|(open, _)| {
            let rest = &text[open + 1..];
            let digits = rest.bytes().take_while(u8::is_ascii_digit).take(LINE_DIGITS + 1).count();
            let is_line = is_digits(&rest[..digits], LINE_DIGITS) && rest[digits..].starts_with("): ");
            is_line.then_some((open, open + 1 + digits + 3))
        })?;
        let (path, line, function) = (&text[..open], &text[open..function], &text[function..]);
        let (stem, extension) = path.split_at(path.strip_suffix(".py").unwrap_or(path).len());
        let torch_folder = match path.find(TORCH[1]) {
            _ if path.starts_with(TORCH[0]) => Some((0, TORCH[0].len())),
            Some(at) => Some((at, at + TORCH[1].len())),
            None => None,
        };
        let (from, to) = torch_folder.unwrap_or((0, 0));
        let file = &stem[to..];
        let names = file.split('/');
        let has_public_file = torch_folder.is_some() && self.are_public(names.clone());
        let file = if has_public_file { Keep(file) } else { Hide(file) };
        let mut parts = vec![Hide(&path[..from]), Keep(&path[from..to]), file, Keep(extension), Keep(line)];
        let is_cpp = function.starts_with("at::_ops::") || function.starts_with("torch::autograd::");
        // Checked together, because a file and a function could spell a word.
        let is_public = || is_one_of(function, FUNCTIONS) || self.are_public(names.chain([function]));
        if has_public_file && is_public() {
            parts.push(Keep(function));
        } else if let Some(cpp) = is_cpp.then(|| self.kernel(function)).flatten() {
            parts.extend(cpp);
        } else {
            parts.push(Hide(function));
        }
        parts.retain(|part| !matches!(part, Keep("") | Hide("")));
        Some(parts)
    }
}
