//! `cargo xtask ptx`: the kernels' PTX, and the proof that it is what the source gives.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use fit_gpu_kernel::{SOURCES, Source};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::TaskError;
use crate::packed::{self, Texts};
use crate::source;
use crate::toolchain::{Assembler, Compiler, TARGET, Usage, flags};

/// The architectures that the PTX must be good for: Turing to Blackwell.
const ARCHITECTURES: [&str; 7] = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"];

/// Other tools may use so many more registers, and spill so much more where that is allowed.
const OTHER_TOOLS: f64 = 1.1;

/// Kernels that are compiled at the same time, at most: each needs a folder with the crates it depends on.
const AT_ONCE: usize = 4;

/// How the files were made.
#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    /// What the compiler calls itself, without what a distribution adds, and its LLVM.
    compiler: String,
    /// The last line of `ptxas --version`.
    assembler: String,
    target: String,
    /// [`source::hash`] of what they were made of.
    #[serde(default)]
    source: String,
    modules: BTreeMap<String, Module>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Module {
    flags: String,
    /// SHA-256 of the text.
    sha256: String,
    /// Registers of a thread on each architecture.
    registers: Usages,
    /// Bytes of a thread that have no register, where that is allowed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    spilled: Usages,
}

/// What a thread needs, by architecture.
type Usages = BTreeMap<String, u32>;

pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Kernels must not spill, nor keep pixels anywhere but in registers or shared memory; only those whose blocks have few
/// registers for each thread may.
fn judge(kernel: &Source, architecture: &str, usage: Usage) -> Result<Usage, String> {
    if usage.bytes == 0 || kernel.build.may_spill {
        return Ok(usage);
    }
    Err(format!(
        "{} for {architecture}: {} bytes do not fit in registers",
        kernel.name, usage.bytes
    ))
}

/// Whether a text calls what Rust panics with, and did not before: a kernel that panics, as by a division by 0, ends all that is under way.
fn panics_newly(text: &str, before: Option<&String>) -> bool {
    let can_panic = |text: &str| text.contains("9panicking");
    can_panic(text) && !before.is_some_and(|before| can_panic(before))
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

/// A kernel as the source gives it now.
struct Built {
    kernel: &'static Source,
    text: String,
    registers: Usages,
    spilled: Usages,
}

impl Built {
    fn module(&self) -> Module {
        Module {
            flags: flags(self.kernel).join(" "),
            sha256: sha256(&self.text),
            registers: self.registers.clone(),
            spilled: self.spilled.clone(),
        }
    }

    /// What the same assembler said of the same text before.
    fn known(kernel: &'static Source, text: &str, before: Option<&Manifest>) -> Option<Self> {
        let module = before?.modules.get(kernel.name)?;
        let Module { registers, spilled, .. } = module.clone();
        let same = sha256(text) == module.sha256;
        same.then(|| Self { kernel, text: text.to_owned(), registers, spilled })
    }

    /// Assembles a text for some architectures, where there is an assembler.
    fn new(
        kernel: &'static Source,
        text: String,
        file: &Path,
        assembler: Option<&Assembler>,
        architectures: &[&str],
    ) -> Result<Self, TaskError> {
        std::fs::write(file, &text).map_err(TaskError::of_file(file))?;
        let (mut registers, mut spilled) = (Usages::new(), Usages::new());
        // What is no kernel has no registers yet.
        if let Some(assembler) = assembler.filter(|_| kernel.whole) {
            for &architecture in architectures {
                let usage = assembler.assemble(file, architecture)?;
                let usage = judge(kernel, architecture, usage);
                let usage = usage.map_err(|reason| TaskError::Check(vec![reason]))?;
                registers.insert(architecture.to_owned(), usage.registers);
                if usage.bytes > 0 {
                    spilled.insert(architecture.to_owned(), usage.bytes);
                }
            }
        }
        Ok(Self { kernel, text, registers, spilled })
    }
}

/// What is assembled of the kernels that are what the manifest says that they were. All others are assembled for all
/// architectures.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Assembled {
    /// Nothing: the same assembler said it already.
    Nothing,
    /// Each for one architecture, which its text chooses.
    Sample,
    /// All of them for all.
    All,
}

/// The architecture that a text chooses.
fn sampled(text: &str) -> &'static str {
    let sum: usize = Sha256::digest(text.as_bytes()).iter().map(|&byte| usize::from(byte)).sum();
    ARCHITECTURES[sum % ARCHITECTURES.len()]
}

/// One in so many kernels is compiled where the source is known.
const ONE_IN: usize = 40;

/// Some kernels, which the hash of their source chooses: others after each change.
fn some(source: &str) -> Vec<&'static Source> {
    let sum: usize = source.bytes().map(usize::from).sum();
    SOURCES.iter().skip(sum % ONE_IN).step_by(ONE_IN).collect()
}

/// Compiles kernels, and assembles them.
fn build(
    kernels: &[&'static Source],
    compiler: &Compiler,
    assembler: Option<&Assembler>,
    before: Option<&Manifest>,
    assembled: Assembled,
) -> Result<Vec<Built>, TaskError> {
    let version = assembler.map(Assembler::version);
    let before = before.filter(|manifest| Some(&manifest.assembler) == version.as_ref());
    let folder = root().join("target/ptx");
    std::fs::create_dir_all(&folder).map_err(TaskError::of_file(&folder))?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(AT_ONCE);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| TaskError::Missing(format!("no threads: {error}")))?;
    let done = AtomicUsize::new(0);
    let one = |kernel: &'static Source| {
        // Cargo lets one build at a time into a folder.
        let worker = rayon::current_thread_index().unwrap_or(0);
        let text = compiler.compile(&root(), &folder.join(worker.to_string()), kernel)?;
        let file = folder.join(format!("{}.ptx", kernel.name));
        let known = Built::known(kernel, &text, before);
        let built = match known.filter(|_| assembled != Assembled::All) {
            Some(known) if assembled == Assembled::Nothing => known,
            Some(mut known) => {
                let sample = Built::new(kernel, text, &file, assembler, &[sampled(&known.text)])?;
                known.registers.extend(sample.registers);
                known.spilled.extend(sample.spilled);
                known
            }
            None => Built::new(kernel, text, &file, assembler, &ARCHITECTURES)?,
        };
        eprint!("\r{} of {} texts ", done.fetch_add(1, Ordering::Relaxed) + 1, kernels.len());
        Ok(built)
    };
    let built =
        pool.install(|| kernels.par_iter().with_max_len(1).map(|&kernel| one(kernel)).collect());
    eprintln!();
    built
}

/// Where Python packages are installed for this program alone.
fn packages() -> PathBuf {
    root().join("target/ptxas")
}

/// Where what is stored is.
fn folder() -> PathBuf {
    root().join("kernels")
}

/// The manifest as it is stored.
fn stored() -> Result<Manifest, TaskError> {
    let file = folder().join("manifest.json");
    let text = std::fs::read_to_string(&file).map_err(TaskError::of_file(&file))?;
    Ok(serde_json::from_str(&text)?)
}

/// Prints the stored text of a kernel.
pub(crate) fn show(name: &str) -> Result<(), TaskError> {
    use std::io::Write as _;

    let texts = packed::read(&folder())?;
    let text = texts.get(name).ok_or_else(|| TaskError::NoKernel(name.to_owned()))?;
    // Who listens may go, as `head` does.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(())
}

/// Packs the stored texts anew.
pub(crate) fn repack() -> Result<(), TaskError> {
    packed::write(&folder(), &packed::read(&folder())?, true)
}

/// Makes the files anew, and says which kernels need more registers than before.
pub(crate) fn make() -> Result<(), TaskError> {
    let before = stored().ok();
    let maker = before.as_ref().map(|manifest| manifest.compiler.as_str());
    let (compiler, assembler) = (Compiler::find_pinned(maker)?, Assembler::find(&packages())?);
    let Some(assembler) = assembler else {
        return Err(TaskError::Missing(
            "kernels are made where ptxas says how many registers they need; NVIDIA has none for this \
             system"
                .to_owned(),
        ));
    };
    let (mut modules, mut texts) = (BTreeMap::new(), Texts::new());
    let all: Vec<&Source> = SOURCES.iter().collect();
    let source = source::hash(&root())?;
    let texts_before = packed::read(&folder()).unwrap_or_default();
    for built in build(&all, &compiler, Some(&assembler), before.as_ref(), Assembled::Nothing)? {
        let name = built.kernel.name;
        if panics_newly(&built.text, texts_before.get(name)) {
            println!("{name} can panic, which it could not before");
        }
        let module = built.module();
        if let Some(before) = before.as_ref().and_then(|manifest| manifest.modules.get(name)) {
            more(name, before, &module, 1.0).iter().for_each(|line| println!("{line}"));
        }
        modules.insert(name.to_owned(), module);
        texts.insert(name.to_owned(), built.text);
    }
    packed::write(&folder(), &texts, false)?;
    let manifest = Manifest {
        compiler: compiler.version,
        assembler: assembler.version(),
        target: TARGET.to_owned(),
        source,
        modules,
    };
    let file = folder().join("manifest.json");
    let text = serde_json::to_string_pretty(&manifest)? + "\n";
    std::fs::write(&file, text).map_err(TaskError::of_file(&file))
}

/// Proves that the files are what the source gives: with the compiler of the manifest to the last letter, with
/// another as far as that can be.
pub(crate) fn check(assembled: Assembled) -> Result<(), TaskError> {
    let manifest = stored()?;
    let compiler = Compiler::find(Some(&manifest.compiler))?;
    let assembler = Assembler::find(&packages())?;
    let tools = Tools {
        same_compiler: compiler.version == manifest.compiler,
        same_assembler: assembler.as_ref().map(Assembler::version).as_ref()
            == Some(&manifest.assembler),
    };
    println!("{}; the files were made by {}", compiler.version, manifest.compiler);

    let mut wrong = Vec::new();
    let names: Vec<&str> = manifest.modules.keys().map(String::as_str).collect();
    let mut expected: Vec<&str> = SOURCES.iter().map(|kernel| kernel.name).collect();
    expected.sort_unstable();
    if names != expected {
        wrong.push(format!("the manifest has the kernels {names:?}, the catalogue {expected:?}"));
    }
    let texts = packed::read(&folder())?;
    wrong.extend(packed::wrong(&folder(), &texts)?);
    let strangers = texts.keys().filter(|name| !expected.contains(&name.as_str()));
    wrong.extend(strangers.map(|name| format!("{name} is stored, and is no kernel")));
    // What was made of this source is compared with what it was then; of that some are made again.
    let known = assembled != Assembled::All && manifest.source == source::hash(&root())?;
    let kernels = if known { some(&manifest.source) } else { SOURCES.iter().collect() };
    let built = build(&kernels, &compiler, assembler.as_ref(), Some(&manifest), assembled)?;
    for kernel in SOURCES {
        if let Some(module) = manifest.modules.get(kernel.name) {
            let Some(stored) = texts.get(kernel.name) else {
                wrong.push(format!("{} is not stored", kernel.name));
                continue;
            };
            wrong.extend(compare_stored(module, stored, kernel));
            if let Some(new) = built.iter().find(|new| new.kernel.name == kernel.name) {
                wrong.extend(compare(module, stored, new, tools));
            }
        }
    }
    if wrong.is_empty() {
        let how = match tools.same_compiler {
            true => "identical",
            false => "equivalent as far as another compiler can tell",
        };
        let registers = match assembler {
            Some(_) if assembled == Assembled::Sample && tools.same_assembler => {
                "registers are checked of each for one architecture (of all with --all)".to_owned()
            }
            Some(_) => format!("registers are checked for {}", ARCHITECTURES.join(", ")),
            None => "registers are not checked: NVIDIA has no ptxas for this system".to_owned(),
        };
        println!("{} kernels are {how}; {registers}", built.len());
        if known {
            let rest = SOURCES.len() - built.len();
            println!(
                "the other {rest} are those of the manifest, which knows their source by its hash"
            );
        }
        Ok(())
    } else {
        Err(TaskError::Check(wrong))
    }
}

/// Whether the tools are those of the manifest.
#[derive(Clone, Copy)]
struct Tools {
    same_compiler: bool,
    same_assembler: bool,
}

/// What is wrong with a stored kernel by itself.
fn compare_stored(module: &Module, stored: &str, kernel: &Source) -> Vec<String> {
    let name = kernel.name;
    let mut wrong = Vec::new();
    if sha256(stored) != module.sha256 {
        wrong.push(format!("{name}: the stored text is not the one of the manifest"));
    }
    if flags(kernel).join(" ") != module.flags {
        wrong.push(format!("{name}: the flags are others than those of the manifest"));
    }
    let unnamed = |architecture: &&str| !module.registers.contains_key(*architecture);
    if kernel.whole && ARCHITECTURES.iter().any(unnamed) {
        wrong.push(format!("{name}: the manifest does not name every architecture"));
    }
    wrong
}

/// What is wrong with a stored kernel beside what the source gives now.
fn compare(module: &Module, stored: &str, new: &Built, tools: Tools) -> Vec<String> {
    let name = new.kernel.name;
    let mut wrong = Vec::new();
    if tools.same_compiler && new.text != stored {
        wrong.push(format!("{name}: the same compiler makes another text of the source"));
    }
    if entries(&new.text) != entries(stored) {
        let (new, stored) = (entries(&new.text), entries(stored));
        wrong.push(format!("{name}: the entries are {new:?}, in the file {stored:?}"));
    }
    let same = tools.same_compiler && tools.same_assembler;
    wrong.extend(more(name, module, &new.module(), if same { 1.0 } else { OTHER_TOOLS }));
    wrong
}

/// Where a kernel needs more than `factor` times what it needed before.
fn more(name: &str, before: &Module, now: &Module, factor: f64) -> Vec<String> {
    let kinds = [
        ("registers", &before.registers, &now.registers),
        ("bytes without a register", &before.spilled, &now.spilled),
    ];
    let lines = kinds.into_iter().flat_map(|(what, before, now)| {
        now.iter().filter_map(move |(architecture, &now)| {
            let before = before.get(architecture).copied().unwrap_or(0);
            (f64::from(now) > f64::from(before) * factor)
                .then(|| format!("{name} for {architecture}: {now} {what}, {before} before"))
        })
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::pinned;

    const PTX: &str =
        ".visible .entry fit(\n\t.param .align 8 .b8 fit_param_0[136]\n)\n{\nret;\n}\n";

    const SAME: Tools = Tools { same_compiler: true, same_assembler: true };
    const OTHER: Tools = Tools { same_compiler: false, same_assembler: true };
    const OTHER_ASSEMBLER: Tools = Tools { same_compiler: true, same_assembler: false };

    fn kernel(name: &str) -> &'static Source {
        SOURCES.iter().find(|kernel| kernel.name == name).expect("there is one of that name")
    }

    fn usages(number: u32) -> Usages {
        ARCHITECTURES.iter().map(|architecture| ((*architecture).to_owned(), number)).collect()
    }

    fn built(text: &str, registers: u32, spilled: Usages) -> Built {
        let (kernel, text) = (kernel("published_large"), text.to_owned());
        Built { kernel, text, registers: usages(registers), spilled }
    }

    fn wrong(stored: &str, new: &str, registers: u32, tools: Tools) -> Vec<String> {
        let module = built(PTX, 100, Usages::new()).module();
        let new = built(new, registers, Usages::new());
        let mut wrong = compare_stored(&module, stored, new.kernel);
        wrong.extend(compare(&module, stored, &new, tools));
        wrong
    }

    /// Proves that texts are found that have begun to call what Rust panics with.
    #[test]
    fn panics_are_found() {
        let call =
            "call.uni _RNvNtNtCs0_4core9panicking11panic_const23panic_const_div_by_zero, ();";
        let before = |text: &str| panics_newly(call, Some(&text.to_owned()));
        assert!(panics_newly(call, None) && before("ret;"));
        assert!(!before(call) && !panics_newly("ret;", None));
    }

    /// Proves that whatever differs from the source is reported, and only that.
    #[test]
    fn planted_changes_are_found() {
        assert_eq!(wrong(PTX, PTX, 100, SAME), Vec::<String>::new());
        // Another compiler may order things otherwise, but not change the interface.
        let other = PTX.replace("ret;", "mov.u32 %r1, 1;\nret;");
        assert_eq!(wrong(PTX, &other, 105, OTHER), Vec::<String>::new());
        assert!(wrong(PTX, &other, 100, SAME)[0].contains("the same compiler makes another text"));
        assert!(wrong(&other, PTX, 100, SAME)[0].contains("not the one of the manifest"));
        let larger = PTX.replace("[136]", "[144]");
        assert!(wrong(PTX, &larger, 100, OTHER)[0].contains("the entries are"));
        let renamed = PTX.replace("entry fit", "entry fix");
        assert!(wrong(PTX, &renamed, 100, OTHER)[0].contains("the entries are"));
        assert!(wrong(PTX, PTX, 111, OTHER)[0].contains("111 registers, 100 before"));
        // With the same tools not a single one more; another assembler may use a few.
        assert!(wrong(PTX, PTX, 101, SAME)[0].contains("101 registers, 100 before"));
        assert_eq!(wrong(PTX, PTX, 101, OTHER_ASSEMBLER), Vec::<String>::new());
        let module = built(PTX, 100, usages(40)).module();
        let mut few = built(PTX, 100, Usages::new()).module();
        few.registers.remove("sm_90");
        let kernel = kernel("published_large");
        assert!(compare_stored(&few, PTX, kernel)[0].contains("does not name every architecture"));
        let spills = |bytes| compare(&module, PTX, &built(PTX, 100, usages(bytes)), SAME);
        assert_eq!(spills(40), Vec::<String>::new());
        assert!(spills(44)[0].contains("44 bytes without a register, 40 before"));
    }

    /// Proves that a kernel that spills is refused, but where its threads are given few registers.
    #[test]
    fn spills_are_refused() {
        let (fits, spills) =
            (Usage { registers: 200, bytes: 0 }, Usage { registers: 64, bytes: 8 });
        for name in ["side11", "quick9", "elliptical9", "published"] {
            assert_eq!(judge(kernel(name), "sm_90", fits), Ok(fits));
            assert!(judge(kernel(name), "sm_90", spills).is_err());
        }
        for name in ["side9", "likelihood_circular_side9", "published_large"] {
            assert_eq!(judge(kernel(name), "sm_90", spills), Ok(spills));
        }
    }

    /// Proves that the stored files are those of the manifest and of the catalogue, without compiling anything.
    #[test]
    fn the_files_are_those_of_the_manifest() {
        let manifest = stored().expect("the manifest is there");
        let release = manifest.compiler.split(' ').nth(1);
        assert_eq!(release, Some(pinned()), "kernels/rust-version names another compiler");
        assert_eq!(manifest.modules.len(), SOURCES.len());
        let texts = packed::read(&folder()).expect("packs");
        assert_eq!(texts.len(), SOURCES.len());
        assert_eq!(packed::wrong(&folder(), &texts).expect("a folder"), [""; 0]);
        for kernel in SOURCES {
            let module = &manifest.modules[kernel.name];
            let ptx = &texts[kernel.name];
            assert_eq!(sha256(ptx), module.sha256, "{}", kernel.name);
            assert_eq!(flags(kernel).join(" "), module.flags, "{}", kernel.name);
            assert_eq!(entries(ptx).len(), usize::from(kernel.whole), "{}", kernel.name);
        }
    }
}
