//! The npm package has the types and columns of every analysis and export of the engine.

use kinetoscope_tests::typescript::{columns_ts, verbs_ts};
use std::fs;
use std::path::Path;

#[test]
fn the_types_are_those_of_the_engine() {
    for (name, text) in [("verbs.ts", verbs_ts()), ("columns.ts", columns_ts())] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wasm/js/src").join(name);
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, &text).expect(name);
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(committed, text, "write {name} anew with BLESS=1");
    }
}
