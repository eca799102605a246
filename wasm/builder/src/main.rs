//! Runs wasm-bindgen as a library on one compiled module.
//!
//! `refloat-wasm-builder <module.wasm> <output folder> <output name>` writes
//! `<name>.js`, `<name>.d.ts` and `<name>_bg.wasm`. `wasm/build.mjs` calls it once for each
//! artefact; its version of wasm-bindgen comes from `Cargo.lock`, so that it is always the one
//! the module was compiled against.

use std::path::Path;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

const USAGE: &str = "usage: refloat-wasm-builder <module.wasm> <output folder> <output name>";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder, name] = arguments.as_slice() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match generate(Path::new(module), Path::new(folder), name) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("refloat-wasm-builder: {module}: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Writes the glue of `module` for a page or worker that loads the wasm by URL (`--target web`).
fn generate(module: &Path, folder: &Path, name: &str) -> Result<(), String> {
    let run = || {
        let mut bindgen = Bindgen::new();
        // A page without workers replaces a crashed instance by means of the reset function.
        bindgen.input_path(module).out_name(name).typescript(true).reset_state_function(true);
        // Bundlers find and emit the module through the literal URL in the glue.
        bindgen.omit_default_module_path(false);
        bindgen.web(true)?.generate(folder)
    };
    run().map_err(|error| format!("{error:#}"))
}
