//! Lists the public items in a file of rustdoc JSON, one per line.

use public_api::Builder;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: public-api FILE")?;
    // Derived, automatic and blanket implementations follow from the items that are listed.
    let api = Builder::from_rustdoc_json(path)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .sorted(true)
        .build()?;
    print!("{api}");
    Ok(())
}
