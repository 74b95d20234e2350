//! The npm package has the types of every analysis and export of the engine.

use kinetoscope_tests::typescript::verbs_ts;
use std::fs;
use std::path::Path;

#[test]
fn the_types_are_those_of_the_engine() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wasm/js/src/verbs.ts");
    let text = verbs_ts();
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &text).expect("verbs.ts");
    }
    let committed = fs::read_to_string(&path).expect("verbs.ts");
    assert_eq!(committed, text, "write verbs.ts anew with BLESS=1");
}
