//! Embeds the page in the binary if the page was built before.

use std::path::Path;
use std::{env, fs};

fn main() {
    // The folder: a missing file would cause a rebuild every time.
    println!("cargo::rerun-if-changed=page");
    let folder = env::var("OUT_DIR").expect("OUT_DIR");
    let bytes = fs::read("page/kinetoscope.html").unwrap_or_default();
    fs::write(Path::new(&folder).join("kinetoscope.html"), bytes).expect("the page");
}
