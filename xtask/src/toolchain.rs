//! Finding what compiles kernels, and using it.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;

use fit_gpu_kernel::Source;

use crate::{TaskError, output_of, source};

/// A Rust compiler with the sources of `core`.
pub(crate) struct Compiler {
    cargo: PathBuf,
    rustc: PathBuf,
    /// What it calls itself, and its LLVM: the same release with another makes other texts.
    pub(crate) version: String,
}

/// The flags for a kernel, after which come those that name it.
pub(crate) fn flags(kernel: &Source) -> Vec<String> {
    let loops = kernel.build.keeps_loops.then(|| "-Cllvm-args=-unroll-runtime=false".to_owned());
    let unroll = format!("-Cllvm-args=-unroll-threshold={}", kernel.build.unroll_threshold);
    let all =
        ["--emit=asm", "-Clinker=true", "-Ctarget-cpu=sm_75", "-Ctarget-feature=+ptx70", &unroll];
    all.map(str::to_owned).into_iter().chain(loops).collect()
}

/// The variable with flags for all crates of the target.
const RUSTFLAGS: &str = "CARGO_TARGET_NVPTX64_NVIDIA_CUDA_RUSTFLAGS";

/// The target that kernels are compiled for.
pub(crate) const TARGET: &str = "nvptx64-nvidia-cuda";

/// The release that the stored kernels are made by, here and by whoever checks them.
pub(crate) fn pinned() -> &'static str {
    include_str!("../../kernels/rust-version").trim()
}

impl Compiler {
    /// The one that made the files, if it is here: rustup's, Debian's `rustc-web`, or whatever is on the path. Else the
    /// first of the pinned release, rustup's nightly, or the first of the others.
    pub(crate) fn find(maker: Option<&str>) -> Result<Self, TaskError> {
        let rustup = |toolchain: &str| {
            let which = |tool: &str| {
                let found =
                    text(Command::new("rustup").args(["which", "--toolchain", toolchain, tool]));
                found.map(PathBuf::from)
            };
            which("cargo").zip(which("rustc"))
        };
        let debian = Some((PathBuf::from("/usr/bin/cargo"), PathBuf::from("/usr/bin/rustc")));
        let any = Some((PathBuf::from("cargo"), PathBuf::from("rustc")));
        let candidates = [rustup(pinned()), rustup("nightly"), debian, any];
        let mut found: Vec<Self> =
            candidates.into_iter().flatten().filter_map(Self::with_sources).collect();
        let made = found.iter().position(|compiler| Some(&*compiler.version) == maker);
        let best = made.or_else(|| found.iter().position(Self::is_pinned)).unwrap_or(0);
        if found.is_empty() {
            return Err(TaskError::Missing(format!(
                "no Rust compiler with the sources of core is found; {}",
                how_to_install()
            )));
        }
        Ok(found.swap_remove(best))
    }

    /// Like `find`, but no other than the pinned release will do.
    pub(crate) fn find_pinned(maker: Option<&str>) -> Result<Self, TaskError> {
        let compiler = Self::find(maker)?;
        if compiler.is_pinned() {
            return Ok(compiler);
        }
        Err(TaskError::Missing(format!(
            "kernels are made by Rust {}, which kernels/rust-version names, but this is {}; {}",
            pinned(),
            compiler.version,
            how_to_install()
        )))
    }

    fn is_pinned(&self) -> bool {
        self.version.split(' ').nth(1) == Some(pinned())
    }

    fn with_sources((cargo, rustc): (PathBuf, PathBuf)) -> Option<Self> {
        let sysroot = text(Command::new(&rustc).args(["--print", "sysroot"]))?;
        let sources = Path::new(&sysroot).join("lib/rustlib/src/rust/library/core/src/lib.rs");
        let version = version(&text(Command::new(&rustc).arg("-vV"))?)?;
        sources.is_file().then_some(Self { cargo, rustc, version })
    }

    /// Compiles a kernel, and gives its PTX. `target` is a folder of which nobody else makes use meanwhile.
    pub(crate) fn compile(
        &self,
        root: &Path,
        target: &Path,
        kernel: &Source,
    ) -> Result<String, TaskError> {
        let (for_target, for_module): (Vec<_>, Vec<_>) =
            flags(kernel).into_iter().partition(|flag| flag.starts_with("-Ctarget-"));
        let mut command = Command::new(&self.cargo);
        command
            .current_dir(root)
            .env_remove("RUSTUP_TOOLCHAIN")
            .env_remove("RUSTFLAGS")
            // `core` too is compiled for that processor: compilers ask for it since 2026.
            .env(RUSTFLAGS, for_target.join(" "))
            .env("RUSTC", &self.rustc)
            // The target has features that are not stable, for which stable compilers want to be asked.
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_PROFILE_RELEASE_LTO", "fat")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")
            .env("CARGO_PROFILE_RELEASE_PANIC", "abort")
            .args(["rustc", "--quiet", "--package", "fit-gpu-kernel", "--lib", "--release"])
            .args(["--crate-type", "cdylib", "--target", TARGET, "-Zbuild-std=core"])
            .arg("--target-dir")
            .arg(target)
            .arg("--")
            .args(for_module)
            .args([
                "--cfg",
                &format!("module={:?}", kernel.name),
                "--check-cfg=cfg(module,values(any()))",
            ]);
        output_of(&format!("compiling {}", kernel.name), &mut command)?;
        let file = target.join(TARGET).join("release/deps/fit_gpu_kernel.s");
        let text = source::text(&file)?;
        let text = with_plain_names(&text);
        Ok(match kernel.build.most_registers {
            Some(most) => with_few_registers(&text, most),
            None => text,
        })
    }
}

fn how_to_install() -> String {
    format!(
        "install it with\n  rustup toolchain install {} --profile minimal --component rust-src",
        pinned()
    )
}

/// Release, commit and date, without what a distribution adds: `rustc 1.96.0 (ac68faa20 2026-05-25)`.
fn without_vendor(version: &str) -> &str {
    version.find(')').map_or(version, |end| &version[..=end])
}

/// What a compiler calls itself, and its LLVM, from what it says of itself.
fn version(report: &str) -> Option<String> {
    let llvm = report.lines().find_map(|line| line.strip_prefix("LLVM version: "))?;
    Some(format!("{}, LLVM {llvm}", without_vendor(report.lines().next()?)))
}

/// Numbers what Rust names by hashes of all that the compiler calls itself: constants without a name, and crates. They
/// differ between rustup's and a distribution's build of the same release.
fn with_plain_names(ptx: &str) -> String {
    let constants = numbered(ptx, "anon_$_", "_$_", 32..=32);
    numbered(&constants, "Cs", "_", 8..=11)
}

/// Puts a number in the place of every hash of such a length between two words, equal ones for equal hashes.
fn numbered(ptx: &str, before: &str, after: &str, length: RangeInclusive<usize>) -> String {
    let mut parts = ptx.split(before);
    let mut plain = parts.next().unwrap_or_default().to_owned();
    let mut hashes: Vec<&str> = Vec::new();
    for part in parts {
        plain += before;
        let hash = part.split(after).next().unwrap_or_default();
        let is_hash = hash.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !is_hash || !length.contains(&hash.len()) {
            plain += part;
            continue;
        }
        let number = hashes.iter().position(|&known| known == hash).unwrap_or_else(|| {
            hashes.push(hash);
            hashes.len() - 1
        });
        plain += &number.to_string();
        plain += &part[hash.len()..];
    }
    plain
}

/// Asks for few registers, which Rust has no word for.
fn with_few_registers(ptx: &str, most: usize) -> String {
    ptx.replacen("\n)\n{", &format!("\n)\n.maxnreg {most}\n{{"), 1)
}

/// NVIDIA's assembler.
pub(crate) struct Assembler(PathBuf);

/// What the assembler says of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Registers of a thread.
    pub(crate) registers: u32,
    /// Bytes of a thread that do not fit into registers: stack, and spilled.
    pub(crate) bytes: u32,
}

impl Assembler {
    /// The one that the environment variable `PTXAS` names, or on the path, or from the PyPI package `nvidia-cuda-nvcc` in
    /// the folder `packages`. `None` where NVIDIA has none for the system.
    pub(crate) fn find(packages: &Path) -> Result<Option<Self>, TaskError> {
        let named = std::env::var_os("PTXAS").map(PathBuf::from);
        let program = format!("ptxas{}", std::env::consts::EXE_SUFFIX);
        let packaged = packages.join("nvidia/cu13/bin").join(&program);
        let candidates = [named, Some(PathBuf::from(program)), Some(packaged)];
        let works = |path: &PathBuf| text(Command::new(path).arg("--version")).is_some();
        match candidates.into_iter().flatten().find(works) {
            Some(found) => Ok(Some(Self(found))),
            None if cfg!(target_os = "macos") => Ok(None),
            None => Err(TaskError::Missing(format!(
                "ptxas is not found; install it with\n  pip install --target {} nvidia-cuda-nvcc\n\
                 or name it in the environment variable PTXAS",
                packages.display()
            ))),
        }
    }

    /// What it calls itself.
    pub(crate) fn version(&self) -> String {
        let text = text(Command::new(&self.0).arg("--version")).unwrap_or_default();
        text.lines().last().unwrap_or_default().to_owned()
    }

    /// Assembles a module with one kernel for an architecture.
    pub(crate) fn assemble(&self, file: &Path, architecture: &str) -> Result<Usage, TaskError> {
        let mut command = Command::new(&self.0);
        // No system's own word for a file that nobody wants.
        let assembled = file.with_extension("cubin");
        command.args(["-v", "-arch", architecture, "-o"]).arg(assembled).arg(file);
        let what = format!("assembling {} for {architecture}", file.display());
        let output = output_of(&what, &mut command)?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned()
            + &String::from_utf8_lossy(&output.stdout);
        usage(&text).ok_or(TaskError::Failed { what, output: text })
    }
}

/// Reads the report of `ptxas -v`.
fn usage(text: &str) -> Option<Usage> {
    let number_before = |words: &str| -> Option<u32> {
        let mut numbers = text.match_indices(words).filter_map(|(at, _)| {
            text[..at].trim_end().rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        });
        let first = numbers.next()?;
        Some(numbers.fold(first, u32::max))
    };
    let registers = number_before(" registers")?;
    let bytes = [" bytes stack frame", " bytes spill stores", " bytes spill loads"];
    let bytes = bytes.into_iter().map(number_before).try_fold(0, |sum, n| Some(sum + n?))?;
    Some(Usage { registers, bytes })
}

/// What a program prints, if it is there and succeeds.
fn text(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that the assembler's report is read, spills and all, and that another text is none.
    #[test]
    fn the_report_is_read() {
        let report = "ptxas info    : Compiling entry function 'fit' for 'sm_90'\n\
                      ptxas info    : Function properties for fit\n    \
                      16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads\n\
                      ptxas info    : Used 254 registers, used 0 barriers\n";
        assert_eq!(usage(report), Some(Usage { registers: 254, bytes: 28 }));
        assert_eq!(usage("ptxas fatal: no such file"), None);
    }

    /// Proves that two builds of one release count as the same compiler, and two releases do not.
    #[test]
    fn vendors_are_no_other_compilers() {
        let rustup = "rustc 1.96.0 (ac68faa20 2026-05-25)";
        let debian = "rustc 1.96.0 (ac68faa20 2026-05-25) (built from a source tarball)";
        assert_eq!(without_vendor(debian), without_vendor(rustup));
        assert_ne!(without_vendor(debian), without_vendor("rustc 1.96.1 (ac68faa20 2026-05-25)"));
        assert_eq!(without_vendor("rustc 1.96.0-dev"), "rustc 1.96.0-dev");
    }

    /// Proves that builds of one release with different LLVMs count as different compilers.
    #[test]
    fn another_llvm_is_another_compiler() {
        let report = |llvm: &str| {
            format!(
                "rustc 1.96.0 (ac68faa20 2026-05-25) (built)\nbinary: rustc\nLLVM version: {llvm}"
            )
        };
        let expected = "rustc 1.96.0 (ac68faa20 2026-05-25), LLVM 22.1.8";
        assert_eq!(version(&report("22.1.8")).as_deref(), Some(expected));
        assert_ne!(version(&report("22.1.2")).as_deref(), Some(expected));
        assert_eq!(version("gcc 12"), None);
    }

    /// Proves that constants and crates are named by numbers, different ones apart, and that nothing else changes.
    #[test]
    fn hashes_become_numbers() {
        let text = |[one, other, krate]: [&str; 3]| {
            format!(
                ".func _RNvNtCs{krate}_4core9panicking9panic_fmt()\n.b8 anon_$_{one}_$_0[8];\n\
                 .b8 anon_$_{other}_$_0[8];\nmov anon_$_{one}_$_0;\nanon_$_x, _RNvCs_4core"
            )
        };
        let (one, other) = ("e735676ef5b87983ab32b7cae60d951b", "85b66dab8a6e4f6bb7ea7d250c71931e");
        let plain = text(["0", "1", "0"]);
        assert_eq!(with_plain_names(&text([one, other, "l8QmqC41qOU"])), plain);
        assert_eq!(with_plain_names(&text([other, one, "anIojcP8aa"])), plain);
        assert_eq!(with_plain_names(&plain), plain);
    }
}
