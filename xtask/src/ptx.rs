//! `cargo xtask ptx`: the kernels' PTX, and the proof that it is what the source gives.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fit_gpu_ptx::MODULES;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::TaskError;
use crate::toolchain::{Assembler, Compiler, TARGET, Usage, flags, may_spill};

/// The architectures that the PTX must be good for: Turing to Blackwell.
const ARCHITECTURES: [&str; 7] = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"];

/// Another compiler may use so many more registers.
const MORE_REGISTERS: f64 = 1.1;

/// How the files were made.
#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    /// `rustc --version`.
    compiler: String,
    /// The last line of `ptxas --version`.
    assembler: String,
    target: String,
    modules: BTreeMap<String, Module>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Module {
    flags: String,
    /// SHA-256 of the file.
    sha256: String,
    /// Registers of a thread on each architecture; nothing is spilled, but in `published_large`.
    registers: Registers,
}

/// Registers of a thread by architecture.
type Registers = BTreeMap<String, u32>;

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

fn file_error(file: &Path) -> impl FnOnce(std::io::Error) -> TaskError {
    let file = file.display().to_string();
    move |source| TaskError::File { file, source }
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Kernels that everything depends on must not spill, nor keep pixels anywhere but in registers; teams have
/// theirs in shared memory and are held to the same. Just the paper's way with large windows may.
fn judge(module: &str, architecture: &str, usage: Usage) -> Result<u32, String> {
    match usage.bytes {
        0 => Ok(usage.registers),
        _ if may_spill(module) => Ok(usage.registers),
        bytes => Err(format!("{module} for {architecture}: {bytes} bytes do not fit in registers")),
    }
}

/// The entries of a module and their parameters, without the names that compilers invent.
fn entries(ptx: &str) -> Vec<String> {
    ptx.split(".visible .entry ")
        .skip(1)
        .map(|entry| {
            let head = entry.split_once(')').map_or(entry, |(head, _)| head);
            let words = head.split_whitespace().filter(|word| !word.contains("_param_"));
            let size = head.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
            let name = head.split('(').next().unwrap_or_default().trim();
            let kinds: Vec<&str> = words.skip(1).collect();
            format!("{name}({} [{}])", kinds.join(" "), size.map_or("", |(size, _)| size))
        })
        .collect()
}

/// Compiles all modules to a folder and assembles them: PTX and registers by module.
fn build(
    compiler: &Compiler,
    assembler: &Assembler,
    folder: &Path,
) -> Result<BTreeMap<String, (String, Registers)>, TaskError> {
    std::fs::create_dir_all(folder).map_err(file_error(folder))?;
    let mut texts = Vec::new();
    for (number, module) in MODULES.iter().enumerate() {
        eprint!("\r{} of {} modules ", number + 1, MODULES.len());
        let text = compiler.compile(&root(), module)?;
        let file = folder.join(format!("{module}.ptx"));
        std::fs::write(&file, &text).map_err(file_error(&file))?;
        texts.push((*module, file, text));
    }
    eprintln!();
    let assembled = texts.into_par_iter().map(|(module, file, text)| {
        let registers = ARCHITECTURES.iter().map(|architecture| {
            let usage = assembler.assemble(&file, architecture)?;
            let registers = judge(module, architecture, usage);
            let registers = registers.map_err(|reason| TaskError::Check(vec![reason]))?;
            Ok(((*architecture).to_owned(), registers))
        });
        let registers = registers.collect::<Result<BTreeMap<_, _>, TaskError>>()?;
        Ok((module.to_owned(), (text, registers)))
    });
    assembled.collect()
}

/// The manifest as it is stored.
fn stored() -> Result<Manifest, TaskError> {
    let file = root().join("kernels/manifest.json");
    let text = std::fs::read_to_string(&file).map_err(file_error(&file))?;
    Ok(serde_json::from_str(&text)?)
}

/// Makes the files anew.
pub(crate) fn make() -> Result<(), TaskError> {
    let before = stored().ok().map(|manifest| manifest.compiler);
    let (compiler, assembler) = (Compiler::find(before.as_deref())?, Assembler::find()?);
    let built = build(&compiler, &assembler, &root().join("target/ptx/new"))?;
    let kernels = root().join("kernels");
    let mut modules = BTreeMap::new();
    for (name, (text, registers)) in built {
        let file = kernels.join(format!("{name}.ptx"));
        std::fs::write(&file, &text).map_err(file_error(&file))?;
        let flags = flags(&name).join(" ");
        modules.insert(name, Module { flags, sha256: sha256(&text), registers });
    }
    let manifest = Manifest {
        compiler: compiler.version,
        assembler: assembler.version(),
        target: TARGET.to_owned(),
        modules,
    };
    let file = kernels.join("manifest.json");
    let text = serde_json::to_string_pretty(&manifest)? + "\n";
    std::fs::write(&file, text).map_err(file_error(&file))
}

/// Proves that the files are what the source gives: with the compiler of the manifest to the last bit, with
/// another as far as that can be.
pub(crate) fn check() -> Result<(), TaskError> {
    let kernels = root().join("kernels");
    let manifest = stored()?;
    let (compiler, assembler) = (Compiler::find(Some(&manifest.compiler))?, Assembler::find()?);
    let same = compiler.version == manifest.compiler;
    println!("{}; the files were made by {}", compiler.version, manifest.compiler);

    let mut wrong = Vec::new();
    let names: Vec<&str> = manifest.modules.keys().map(String::as_str).collect();
    let mut expected = MODULES.to_vec();
    expected.sort_unstable();
    if names != expected {
        wrong.push(format!("the manifest has the modules {names:?}, the source {expected:?}"));
    }
    let built = build(&compiler, &assembler, &root().join("target/ptx/check"))?;
    for (name, (new, registers)) in &built {
        let file = kernels.join(format!("{name}.ptx"));
        let stored = std::fs::read_to_string(&file).map_err(file_error(&file))?;
        if let Some(module) = manifest.modules.get(name) {
            let new = Built { text: new, registers, same_compiler: same };
            wrong.extend(compare(name, module, &stored, &new));
        }
    }
    if wrong.is_empty() {
        let how = if same { "identical" } else { "equivalent as far as another compiler can tell" };
        println!("{} modules are {how}, for {}", built.len(), ARCHITECTURES.join(", "));
        Ok(())
    } else {
        Err(TaskError::Check(wrong))
    }
}

/// A module as the source gives it now.
struct Built<'a> {
    text: &'a str,
    registers: &'a Registers,
    same_compiler: bool,
}

/// What is wrong with a stored module.
fn compare(name: &str, module: &Module, stored: &str, new: &Built<'_>) -> Vec<String> {
    let mut wrong = Vec::new();
    if sha256(stored) != module.sha256 {
        wrong.push(format!("{name}: the file is not the one of the manifest"));
    }
    if flags(name).join(" ") != module.flags {
        wrong.push(format!("{name}: the flags are others than those of the manifest"));
    }
    if new.same_compiler && new.text != stored {
        wrong.push(format!("{name}: the same compiler makes another file of the source"));
    }
    if entries(new.text) != entries(stored) {
        let (new, stored) = (entries(new.text), entries(stored));
        wrong.push(format!("{name}: the entries are {new:?}, in the file {stored:?}"));
    }
    for (architecture, &registers) in new.registers {
        let before = module.registers.get(architecture).copied().unwrap_or(0);
        if f64::from(registers) > f64::from(before) * MORE_REGISTERS {
            wrong
                .push(format!("{name} for {architecture}: {registers} registers, {before} before"));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str =
        ".visible .entry fit(\n\t.param .align 8 .b8 fit_param_0[136]\n)\n{\nret;\n}\n";

    fn module(text: &str) -> Module {
        let registers = BTreeMap::from([("sm_75".to_owned(), 100)]);
        Module { flags: flags("side9").join(" "), sha256: sha256(text), registers }
    }

    fn wrong(stored: &str, new: &str, registers: u32, same_compiler: bool) -> Vec<String> {
        let registers = BTreeMap::from([("sm_75".to_owned(), registers)]);
        let new = Built { text: new, registers: &registers, same_compiler };
        compare("side9", &module(PTX), stored, &new)
    }

    /// Proves that whatever differs from the source is reported, and only that.
    #[test]
    fn planted_changes_are_found() {
        assert_eq!(wrong(PTX, PTX, 100, true), Vec::<String>::new());
        // Another compiler may order things otherwise, but not change the interface.
        let other = PTX.replace("ret;", "mov.u32 %r1, 1;\nret;");
        assert_eq!(wrong(PTX, &other, 105, false), Vec::<String>::new());
        assert!(wrong(PTX, &other, 100, true)[0].contains("the same compiler makes another file"));
        assert!(wrong(&other, PTX, 100, true)[0].contains("not the one of the manifest"));
        let larger = PTX.replace("[136]", "[144]");
        assert!(wrong(PTX, &larger, 100, false)[0].contains("the entries are"));
        let renamed = PTX.replace("entry fit", "entry fix");
        assert!(wrong(PTX, &renamed, 100, false)[0].contains("the entries are"));
        assert!(wrong(PTX, PTX, 111, false)[0].contains("111 registers, 100 before"));
    }

    /// Proves that a kernel that spills is refused.
    #[test]
    fn spills_are_refused() {
        assert_eq!(judge("side9", "sm_90", Usage { registers: 200, bytes: 0 }), Ok(200));
        assert!(judge("side9", "sm_90", Usage { registers: 200, bytes: 8 }).is_err());
    }

    /// Proves that the stored files are those of the manifest, without compiling anything.
    #[test]
    fn the_files_are_those_of_the_manifest() {
        let manifest = stored().expect("the manifest is there");
        assert_eq!(manifest.modules.len(), MODULES.len());
        for (name, module) in manifest.modules {
            let ptx = fit_gpu_ptx::ptx(&name).expect("every module of the manifest is there");
            assert_eq!(sha256(ptx), module.sha256, "{name}");
            assert_eq!(entries(ptx).len(), 1, "{name}");
        }
    }
}
