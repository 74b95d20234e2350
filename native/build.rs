//! Puts the page into the binary, when it was built before.

use std::path::Path;
use std::{env, fs};

fn main() {
    let page = Path::new("../web/dist/kinetoscope.html");
    println!("cargo::rerun-if-changed={}", page.display());
    let folder = env::var("OUT_DIR").expect("OUT_DIR");
    let bytes = fs::read(page).unwrap_or_default();
    fs::write(Path::new(&folder).join("kinetoscope.html"), bytes).expect("the page");
}
