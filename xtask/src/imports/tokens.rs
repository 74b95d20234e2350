//! Splits a Rust source into words and punctuation, without comments, string literals and character literals.

/// Returns the words and punctuation characters of a source; `::` is one token.
pub(super) fn tokens(source: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            ':' if rest.starts_with("::") => 2,
            c => c.len_utf8(),
        };
        let token = &rest[..length];
        let skipped = skipped(rest, token);
        if skipped == 0 {
            if !first.is_whitespace() {
                found.push(token);
            }
            rest = &rest[length..];
        } else {
            rest = &rest[skipped..];
        }
    }
    found
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the length of the comment or literal at the start of `rest`, or 0 if there is none.
fn skipped(rest: &str, token: &str) -> usize {
    let to = |end: &str, from: usize| rest[from..].find(end).map_or(rest.len(), |at| from + at + end.len());
    match token {
        "/" if rest.starts_with("//") => to("\n", 0),
        "/" if rest.starts_with("/*") => to("*/", 2),
        "\"" => text(rest),
        "r" | "br" | "cr" => raw_text(rest, token.len()),
        "b" | "c" if rest[1..].starts_with('"') => 1 + text(&rest[1..]),
        "'" => character(rest),
        _ => 0,
    }
}

/// Returns the length of a string literal, which may contain escaped quotes.
fn text(rest: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Returns the length of a raw string literal: `"…"`, or with the same number of `#` on both sides.
fn raw_text(rest: &str, prefix: usize) -> usize {
    let hashes = rest[prefix..].bytes().take_while(|b| *b == b'#').count();
    let start = prefix + hashes;
    if !rest[start..].starts_with('"') {
        return 0;
    }
    let end = format!("\"{}", "#".repeat(hashes));
    rest[start + 1..].find(&end).map_or(rest.len(), |at| start + 1 + at + end.len())
}

/// Returns the length of a character literal, or 0 for a lifetime.
fn character(rest: &str) -> usize {
    let mut inside = rest.char_indices().skip(1);
    match inside.next() {
        Some((_, '\\')) => rest[3..].find('\'').map_or(0, |at| at + 4),
        Some(_) => inside.next().filter(|(_, c)| *c == '\'').map_or(0, |(at, _)| at + 1),
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::tokens;

    #[test]
    fn strings_comments_and_characters_are_left_out() {
        let source = r##"use a::b; // crate::c
            /* super::d */ let x = ("crate::e \" f", r#"crate::"g"#, b'"', 'h', '\'', &'static i);"##;
        let expected = "use a :: b ; let x = ( , , b , , , & ' static i ) ;";
        assert_eq!(tokens(source).join(" "), expected);
    }
}
