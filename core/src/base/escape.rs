//! What other people wrote, such as names in a trace, in the forms of text that people and programs read.
//!
//! A terminal, a spreadsheet, a page in Markdown and a runner of continuous integration obey some texts. Each form of output has one
//! function here, and every text in that form passes through it. JSON is exact: it has escapes of its own.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::Write;

/// A text as a part of one line: characters that a reader cannot see, or that end a line, move the cursor or change the order of
/// characters, are written as `\n`, `\r`, `\t` or `\u{1b}`. The marks of commands of runners, such as `##[error]`, get a
/// backslash.
pub fn line(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| (b' '..0x7f).contains(&byte) && byte != b'#';
    let is_escaped = |(at, c): (usize, char)| is_hidden(c) || (c == '#' && is_command(&text[at..]));
    if text.bytes().all(is_plain) || !text.char_indices().any(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '#' if is_command(&text[at..]) => out.push_str("#\\"),
            c if is_hidden(c) => drop(write!(out, "\\u{{{:x}}}", c as u32)),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// A text in JSON as a part of one line. Its values stay as they are: characters that [`line()`] writes in another way are escaped as
/// in JSON.
pub fn json(text: &str) -> Cow<'_, str> {
    with_codes(text, |c, out| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    })
}

/// A text in TOML as a part of one line. Its values stay as they are, as with [`json`].
pub fn toml(text: &str) -> Cow<'_, str> {
    with_codes(text, |c, out| {
        let _ = if c as u32 > 0xffff {
            write!(out, "\\U{:08x}", c as u32)
        } else {
            write!(out, "\\u{:04x}", c as u32)
        };
    })
}

/// Writes the code of every character that [`line()`] writes in another way.
fn with_codes(text: &str, code: impl Fn(char, &mut String)) -> Cow<'_, str> {
    if matches!(line(text), Cow::Borrowed(_)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        // The second `#` gets the code: the first one can begin a comment.
        let is_command = || c == '#' && text[..at].ends_with('#') && is_command(&text[at - 1..]);
        if is_hidden(c) || is_command() {
            code(c, &mut out);
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// A complete line. One that begins with `::`, which runners of GitHub take for a command, begins with a backslash.
pub fn whole_line(text: &str) -> Cow<'_, str> {
    let line = line(text);
    let (indent, rest) = line.split_at(line.len() - line.trim_start().len());
    if rest.starts_with("::") { Cow::Owned(format!("{indent}\\{rest}")) } else { line }
}

/// Whether a text begins with the mark of a command, such as `##[` and `##vso[`.
fn is_command(text: &str) -> bool {
    let name = text.strip_prefix("##").map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()));
    name.is_some_and(|rest| rest.starts_with('['))
}

/// Whether a character is not seen: controls, marks of direction, separators of lines, and what Unicode allows to ignore
/// (`Default_Ignorable_Code_Point`), such as characters without width and selectors of variants.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// A cell of a table in Markdown, as the text that it is: without links, images, HTML and emphasis.
pub fn markdown(text: &str) -> String {
    let text = line(text);
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let rest = &text[at + c.len_utf8()..];
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '|' | '`' | '*' | '~' | '[' | ']' | '$' => out.extend(['\\', c]),
            // Between letters and digits it is not emphasis.
            '_' if !(before.is_alphanumeric() && rest.starts_with(char::is_alphanumeric)) => {
                out.push_str("\\_");
            }
            // Addresses become links.
            ':' if rest.starts_with("//") => out.push_str("\\:"),
            '.' if out.to_ascii_lowercase().ends_with("www") => out.push_str("\\."),
            '@' => out.push_str("\\@"),
            c => out.push(c),
        }
        before = c;
    }
    out
}

/// A text as a field of CSV (RFC 4180) that is in one line and that a spreadsheet does not run: one that begins with `=`, `+`, `-`
/// or `@` and is no number, or with `::`, begins with `'`.
pub fn csv(text: &str) -> String {
    let text = line(text);
    // Some programs drop blanks before they look at a text.
    let begin = text.trim_start();
    let is_run = begin.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']) || begin.starts_with("::");
    let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
    if is_run && !is_number { csv_exact(&format!("'{text}")) } else { csv_exact(&text) }
}

/// A text as a field of CSV, exactly.
pub fn csv_exact(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_string()
    }
}

/// A text in the value of an attribute of XML.
pub fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in line(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            // XML does not have them.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A message of SARIF, in which `[text](1)` is a link.
pub fn sarif(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in line(text).chars() {
        if matches!(c, '\\' | '[' | ']') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A path as an address: everything but letters, digits and `-._~/` as `%` and two digits.
pub fn address(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.replace('\\', "/").bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(byte as char);
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// A frame of a folded stack, which has neither blanks nor `;`.
pub fn frame(text: &str) -> String {
    let text = text.replace(|c: char| c == ';' || (c.is_whitespace() && c != '\r'), "_");
    line(&text).into_owned()
}

/// The outermost frame of a folded stack, with which the line begins.
pub fn first_frame(text: &str) -> String {
    whole_line(&frame(text)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_show_what_cannot_be_seen() {
        assert_eq!(line("aten::mm · µs ✗ 名前"), "aten::mm · µs ✗ 名前");
        assert_eq!(line("a\r\n\tb\u{1b}]0;x\u{7}\u{9b}"), "a\\r\\n\\tb\\u{1b}]0;x\\u{7}\\u{9b}");
        assert_eq!(line("\u{202e}a\u{200b}\u{feff}\u{2028}"), "\\u{202e}a\\u{200b}\\u{feff}\\u{2028}");
        for hidden in
            ['\u{34f}', '\u{17b4}', '\u{180d}', '\u{fe0f}', '\u{fff8}', '\u{1d173}', '\u{e0100}', '\u{e01ef}']
        {
            assert_eq!(line(&format!("a{hidden}")), format!("a\\u{{{:x}}}", u32::from(hidden)));
        }
        assert_eq!(line("a ##[error]b ##vso[x]y # ## c"), "a #\\#[error]b #\\#vso[x]y # ## c");
        assert_eq!(whole_line("  ::error::x"), "  \\::error::x");
        assert_eq!(whole_line("a ::error::x"), "a ::error::x");
    }

    #[test]
    fn values_of_json_and_toml_stay() {
        let text = "\"a\u{202e}\u{e0041}##[error]\u{9b}\"";
        assert_eq!(json(text), "\"a\\u202e\\udb40\\udc41#\\u0023[error]\\u009b\"");
        assert_eq!(serde_json::from_str::<String>(&json(text)).ok(), serde_json::from_str(text).ok());
        assert_eq!(toml(text), "\"a\\u202e\\U000e0041#\\u0023[error]\\u009b\"");
    }

    #[test]
    fn markdown_shows_the_text() {
        assert_eq!(markdown("a\\|b"), "a\\\\\\|b");
        assert_eq!(markdown("![t](https://e/p) <b>"), "!\\[t\\](https\\://e/p) &lt;b&gt;");
        assert_eq!(markdown("aten::mm_out __init__ *x*"), "aten::mm_out \\_\\_init\\_\\_ \\*x\\*");
        assert_eq!(markdown("www.e.org a@b"), "www\\.e.org a\\@b");
    }

    #[test]
    fn csv_is_no_formula() {
        assert_eq!(csv("=1+1"), "'=1+1");
        assert_eq!(csv("@x,y"), "\"'@x,y\"");
        assert_eq!(csv("-1.5"), "-1.5");
        assert_eq!(csv("  =1+1"), "'  =1+1");
        assert_eq!(csv("\u{a0}::x"), "'\u{a0}::x");
        assert_eq!(["-inf", "＝1"].map(csv), ["'-inf", "'＝1"]);
        assert_eq!(csv("a\n=b"), "a\\n=b");
        assert_eq!(csv("::error::x"), "'::error::x");
        assert_eq!(csv_exact("=1,\n"), "\"=1,\n\"");
    }

    #[test]
    fn other_forms() {
        assert_eq!(xml("<a b='\"&\n>"), "&lt;a b=&apos;&quot;&amp;\\n&gt;");
        assert_eq!(sarif("[x](1)\\"), "\\[x\\](1)\\\\");
        assert_eq!(address("a b/c#?.toml"), "a%20b/c%23%3F.toml");
        assert_eq!(frame("a b;c\nd\re\u{3000}"), "a_b_c_d\\re_");
        assert_eq!(first_frame("::error::x"), "\\::error::x");
    }
}
