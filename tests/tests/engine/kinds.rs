//! Answers with several kinds of rows.

use kinetoscope_core::base::rows::{Cell, Kinds, Rows};
use std::collections::BTreeSet;

/// Checks that each row has the columns of its kind, and no other ones; adds the kinds to those that were found.
pub(crate) fn check_kinds(rows: &Rows, kinds: &Kinds, found: &mut BTreeSet<String>, what: &str) {
    for row in &rows.rows {
        let Cell::Text(kind) = &row[0] else { panic!("{what}: {row:?}") };
        let variant = kinds.variants.iter().find(|variant| variant.kinds.contains(&kind.as_str()));
        let variant = variant.unwrap_or_else(|| panic!("{what}: no variant {kind}"));
        found.insert(kind.clone());
        for (column, cell) in rows.columns.iter().zip(row).skip(1) {
            let declared = variant.columns.iter().find(|described| described.key == column.key);
            assert_eq!(
                declared.is_none(),
                *cell == Cell::Absent,
                "{what}: {kind}: {} is {cell:?}",
                column.key
            );
            assert!(
                declared.is_none_or(|described| described.fits(cell)),
                "{what}: {kind}: {} is {cell:?}",
                column.key
            );
        }
    }
}
