//! Builds the book: `kinetoscope-book SOURCE FOLDER`. It uses mdBook's library, which compiles faster than the mdBook program.

use mdbook_driver::MDBook;
use std::env::args;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = args().skip(1).collect();
    let [source, output] = arguments.as_slice() else {
        eprintln!("usage: kinetoscope-book SOURCE FOLDER");
        return ExitCode::from(2);
    };
    let built = MDBook::load(Path::new(source)).and_then(|mut book| {
        book.config.build.build_dir = output.into();
        book.build()
    });
    match built {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{source}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
