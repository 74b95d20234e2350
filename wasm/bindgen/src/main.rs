//! Makes the JavaScript and TypeScript around the engine: `kinetoscope-bindgen FILE.wasm FOLDER`. The library of wasm-bindgen
//! compiles in less than half the time of its program.

use std::env::args;
use std::process::ExitCode;
use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = args().skip(1).collect();
    let [input, output] = arguments.as_slice() else {
        eprintln!("usage: kinetoscope-bindgen FILE.wasm FOLDER");
        return ExitCode::from(2);
    };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(input).out_name("engine").typescript(true).omit_default_module_path(true);
    match bindgen.web(true).and_then(|bindgen| bindgen.generate(output)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{input}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
