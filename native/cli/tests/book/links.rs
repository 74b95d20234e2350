//! Links between pages, and from pages to files of the repository.

use std::fs;
use std::path::{Path, PathBuf};

/// Every relative link leads to a file, and to a heading where it names one. Every page is in the list of pages.
pub(crate) fn check_all(pages: impl IntoIterator<Item = PathBuf>) {
    let summary = fs::read_to_string(crate::source().join("SUMMARY.md")).expect("the list of pages");
    for page in pages {
        let text = fs::read_to_string(&page).expect("a page");
        for link in links(&text).filter(|link| !link.contains("://")) {
            check(&page, &text, link);
        }
        if let Ok(path) = page.strip_prefix(crate::source()) {
            let path = path.display().to_string();
            assert!(
                path == "SUMMARY.md" || summary.contains(&format!("({path})")),
                "{path} is not in SUMMARY.md"
            );
        }
    }
}

fn check(page: &Path, text: &str, link: &str) {
    let (file, heading) = link.split_once('#').unwrap_or((link, ""));
    let target = page.parent().expect("a folder").join(file);
    let text = if file.is_empty() {
        text.to_owned()
    } else {
        assert!(target.exists(), "{}: {link} leads nowhere", page.display());
        fs::read_to_string(&target).unwrap_or_default()
    };
    assert!(
        heading.is_empty() || headings(&text).any(|h| h == heading),
        "{}: {link} has no such heading",
        page.display()
    );
}

/// The targets of links, outside of code.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines()
        .filter(move |line| {
            is_code ^= line.starts_with("```");
            !is_code
        })
        .flat_map(|line| line.split("](").skip(1))
        .filter_map(|rest| rest.split_once(')').map(|(link, _)| link))
}

/// The ids of headings, as mdBook makes them.
fn headings(text: &str) -> impl Iterator<Item = String> {
    let id = |heading: &str| -> String {
        let kept = heading.trim().to_lowercase();
        let kept = kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    text.lines().filter(|line| line.starts_with('#')).map(move |line| id(line.trim_start_matches('#')))
}
