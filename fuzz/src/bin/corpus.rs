//! Writes files that are right to `fuzz/corpus`, a folder for each target, for the fuzzer to start from.

use std::path::Path;

fn main() -> std::io::Result<()> {
    for (target, files) in spotfit_fuzz::corpora() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
        std::fs::create_dir_all(&folder)?;
        for (number, file) in files.iter().enumerate() {
            std::fs::write(folder.join(format!("right-{number}")), file)?;
        }
    }
    Ok(())
}
