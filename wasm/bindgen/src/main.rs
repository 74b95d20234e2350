//! Makes the JavaScript and TypeScript around the engine: `kinetoscope-bindgen FILE.wasm FOLDER`. The library of wasm-bindgen
//! compiles in less than half the time of its program.

use std::env::args;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use wasm_bindgen_cli_support::Bindgen;

/// The begin of the method that frees an object.
const FREE: &str = "    free() {\n";

/// An object of an instance that was replaced has nothing to free: another object is at its address now.
const FREE_OWN: &str = "    free() {\n        if (this.__wbg_inst !== __wbg_instance_id) return;\n";

fn main() -> ExitCode {
    let arguments: Vec<String> = args().skip(1).collect();
    let [input, output] = arguments.as_slice() else {
        eprintln!("usage: kinetoscope-bindgen FILE.wasm FOLDER");
        return ExitCode::from(2);
    };
    match generate(input, Path::new(output)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{input}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn generate(input: &str, output: &Path) -> Result<(), Box<dyn Error>> {
    let mut bindgen = Bindgen::new();
    bindgen.input_path(input).out_name("engine").typescript(true).omit_default_module_path(true);
    bindgen.reset_state_function(true).web(true)?.generate(output)?;
    let glue = output.join("engine.js");
    let text = fs::read_to_string(&glue)?;
    if text.matches(FREE).count() != text.matches("\nexport class ").count() {
        return Err("the glue has a class without the known method `free`".into());
    }
    Ok(fs::write(glue, text.replace(FREE, FREE_OWN))?)
}
