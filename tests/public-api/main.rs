//! Lists the public items in a file of rustdoc JSON, one per line.

use public_api::Builder;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: public-api FILE")?;
    // Auto traits such as Send and Sync are listed; blanket implementations are the same for each crate and are not.
    let api = Builder::from_rustdoc_json(path).omit_blanket_impls(true).sorted(true).build()?;
    print!("{api}");
    Ok(())
}
