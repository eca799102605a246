//! Writes the valid inputs of every target to `corpus/TARGET`, where its program begins.

#[path = "../../server/tests/support/fuzz.rs"]
mod targets;

use std::fs;
use std::io;
use std::path::Path;

use refloat_tests::fuzz::TARGETS;

fn main() -> io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for target in TARGETS.iter().chain(&targets::TARGETS) {
        let folder = corpus.join(target.name);
        fs::create_dir_all(&folder)?;
        for (number, bytes) in (target.corpus)().iter().enumerate() {
            fs::write(folder.join(format!("valid-{number}")), bytes)?;
        }
    }
    Ok(())
}
