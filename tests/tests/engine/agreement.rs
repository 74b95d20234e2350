//! The table of comparisons with other tools in the documentation.

use kinetoscope_tests::peers::agreement_table;
use std::fs;
use std::path::Path;

const BEGIN: &str =
    "<!-- The table is written by `BLESS=1 cargo test -p kinetoscope-tests --test engine agreement`. -->\n\n";
const END: &str = "\n<!-- End of the table. -->";

#[test]
fn the_documentation_has_the_counts_that_the_tests_check() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src/accuracy.md");
    let text = fs::read_to_string(&path).expect("the page");
    let (before, rest) = text.split_once(BEGIN).expect("the start of the table");
    let (_, after) = rest.split_once(END).expect("the end of the table");
    let expected = format!("{before}{BEGIN}{}{END}{after}", agreement_table());
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &expected).expect("the page");
    }
    assert_eq!(fs::read_to_string(&path).expect("the page"), expected, "BLESS=1 writes the table");
}
