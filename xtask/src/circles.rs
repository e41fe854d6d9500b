//! `cargo xtask circles`: files that import each other.
//!
//! An import is followed to the file that defines what it names, through `pub use`. The files of modules that only gather
//! others (`pub use`) so make no circle, and tests within a file do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::{TaskError, none, source};

/// Two files may import each other, for instance a module and its part.
const MOST: usize = 2;

/// The crates whose files are looked at, besides those whose name begins with `fit-`.
const OTHERS: [&str; 5] =
    ["spotfit", "spotfit-files", "spotfit-frames", "spotfit-locs", "spotfit-ring"];

/// A name is followed through so many others.
const MOST_NAMES: usize = 8;

/// What follows `use`, name by name.
#[derive(Clone, Debug, PartialEq)]
struct Import {
    public: bool,
    path: Vec<String>,
    /// What it is called here; `*` for all.
    name: String,
}

/// A file of a crate.
#[derive(Debug)]
struct File {
    path: PathBuf,
    /// The module that it is: none for `lib.rs`.
    module: Vec<String>,
    imports: Vec<Import>,
    /// Paths in its code that begin with `crate`, `self` or `super`.
    mentions: Vec<Vec<String>>,
}

/// The code without comments, text in quotes, and the module of tests at its end.
fn code_of(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    for line in text.lines() {
        if line.trim_start() == "mod tests {" && code.trim_end().ends_with("#[cfg(test)]") {
            break;
        }
        let mut quoted = false;
        let mut letters = line.char_indices().peekable();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\\' if quoted => drop(letters.next()),
                '"' => quoted = !quoted,
                '/' if !quoted && line[at..].starts_with("//") => break,
                _ if quoted => {}
                _ => code.push(letter),
            }
        }
        code.push('\n');
    }
    code
}

/// Splits at commas that are in no braces.
fn parts(tree: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut begin) = (Vec::new(), 0, 0);
    for (at, letter) in tree.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&tree[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&tree[begin..]);
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// The names of a tree of `use`.
fn names(tree: &str, public: bool, before: &[String], imports: &mut Vec<Import>) {
    for part in parts(tree) {
        let (head, rest) =
            part.split_once('{').map_or((part, None), |(head, rest)| (head, Some(rest)));
        let (head, alias) =
            head.split_once(" as ").map_or((head, None), |(head, name)| (head, Some(name)));
        let mut path = before.to_vec();
        path.extend(
            head.split("::").map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned),
        );
        if let Some(rest) = rest {
            let rest = rest.rsplit_once('}').map_or(rest, |(rest, _)| rest);
            names(rest, public, &path, imports);
            continue;
        }
        if path.len() > 1 && path.last().is_some_and(|word| word == "self") {
            path.pop();
        }
        let Some(last) = path.last().cloned() else { continue };
        let name = alias.map_or(last, |name| name.trim().to_owned());
        imports.push(Import { public, path, name });
    }
}

/// The imports of some code, and what it mentions besides.
fn read(code: &str) -> (Vec<Import>, Vec<Vec<String>>) {
    let (mut imports, mut rest) = (Vec::new(), String::new());
    for statement in code.split_inclusive(';') {
        let begin = statement.match_indices("use ").map(|(at, _)| at).find(|&at| {
            let before = statement[..at].trim_end_matches(' ');
            let word = before.rsplit([' ', '\n', '\t']).next().unwrap_or_default();
            before.is_empty() || before.ends_with(['\n', '}', ';']) || word.starts_with("pub")
        });
        match begin {
            Some(at) if statement.ends_with(';') => {
                let line = statement[..at].rsplit('\n').next().unwrap_or_default();
                let tree = statement[at + 4..].trim_end_matches(';');
                names(tree, line.contains("pub"), &[], &mut imports);
                rest.push_str(&statement[..at]);
            }
            _ => rest.push_str(statement),
        }
    }
    let mut mentions = Vec::new();
    for word in
        rest.split(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == ':'))
    {
        let path: Vec<String> = word.split("::").map(str::to_owned).collect();
        if path.len() > 1 && ["crate", "self", "super"].contains(&path[0].as_str()) {
            mentions.push(path);
        }
    }
    (imports, mentions)
}

impl File {
    /// A file with a text, by its place in the source of its crate.
    fn new(path: &Path, place: &str, text: &str) -> Self {
        let words = place.trim_end_matches(".rs").split('/');
        let mut module: Vec<String> = words.map(str::to_owned).collect();
        module.pop_if(|last| ["lib", "main", "mod"].contains(&last.as_str()));
        let (imports, mentions) = read(&code_of(text));
        Self { path: path.to_owned(), module, imports, mentions }
    }
}

/// A crate's files by the modules that they are.
struct Modules<'a>(BTreeMap<&'a [String], &'a File>);

impl<'a> Modules<'a> {
    /// A path from the root of the crate, if it leads into the crate.
    fn absolute(&self, path: &[String], module: &[String]) -> Option<Vec<String>> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([module, rest].concat()),
            "super" => {
                let supers = path.iter().take_while(|word| *word == "super").count();
                let above = module.len().checked_sub(supers)?;
                Some([&module[..above], &path[supers..]].concat())
            }
            _ => {
                let within = [module, &path[..1]].concat();
                self.0.contains_key(within.as_slice()).then(|| [module, path].concat())
            }
        }
    }

    /// The file that defines what a path from the root names.
    fn defining(&self, path: &[String], depth: usize) -> Option<&'a File> {
        let (length, file) = (0..=path.len())
            .rev()
            .find_map(|length| Some((length, *self.0.get(&path[..length])?)))?;
        let Some(name) = path.get(length) else { return Some(file) };
        let again = file.imports.iter().find(|import| import.name == *name);
        let target = again
            .filter(|_| depth < MOST_NAMES)
            .and_then(|import| self.absolute(&import.path, &file.module))
            .filter(|target| target != path);
        match target {
            Some(target) => self.defining(&[&target[..], &path[length + 1..]].concat(), depth + 1),
            None => Some(file),
        }
    }
}

/// The files that each file of a crate needs.
fn graph(files: &[File]) -> BTreeMap<&Path, BTreeSet<&Path>> {
    let modules = Modules(files.iter().map(|file| (file.module.as_slice(), file)).collect());
    let mut graph = BTreeMap::new();
    for file in files {
        let gathers =
            file.path.file_name().is_some_and(|name| name == "mod.rs" || name == "lib.rs");
        let imports = file.imports.iter().filter(|import| !(gathers && import.public));
        let paths = imports.map(|import| &import.path).chain(&file.mentions);
        let mut needed = BTreeSet::new();
        for path in paths {
            let path = modules.absolute(path, &file.module);
            let other = path.and_then(|path| modules.defining(&path, 0));
            needed
                .extend(other.map(|other| other.path.as_path()).filter(|path| *path != file.path));
        }
        graph.insert(file.path.as_path(), needed);
    }
    graph
}

/// Everything that a file needs, directly or not.
fn reachable<'a>(
    graph: &BTreeMap<&'a Path, BTreeSet<&'a Path>>,
    from: &Path,
) -> BTreeSet<&'a Path> {
    let mut found = BTreeSet::new();
    let mut left: Vec<&Path> = graph[from].iter().copied().collect();
    while let Some(next) = left.pop() {
        if found.insert(next) {
            left.extend(&graph[next]);
        }
    }
    found
}

/// The circles of more than [`MOST`] files.
fn circles(files: &[File]) -> Vec<Vec<PathBuf>> {
    let graph = graph(files);
    let reach: BTreeMap<&Path, BTreeSet<&Path>> =
        graph.keys().map(|&file| (file, reachable(&graph, file))).collect();
    let circle_of = |file: &Path| -> BTreeSet<&Path> {
        reach[file].iter().copied().filter(|other| reach[other].contains(file)).collect()
    };
    let all: BTreeSet<BTreeSet<&Path>> = graph.keys().map(|file| circle_of(file)).collect();
    all.into_iter()
        .filter(|circle| circle.len() > MOST)
        .map(|circle| circle.into_iter().map(Path::to_path_buf).collect())
        .collect()
}

/// Proves that no more than two files of a library import each other in a circle.
pub(crate) fn check(root: &Path) -> Result<(), TaskError> {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (name, files) in source::crates(root)? {
        if !(name.starts_with("fit-") || OTHERS.contains(&&*name)) {
            continue;
        }
        let own = root.join("crates").join(&name).join("src");
        let file =
            |path: &PathBuf| Ok(File::new(path, &source::place(&own, path), &source::text(path)?));
        let found = files.iter().map(file).collect::<Result<Vec<File>, TaskError>>()?;
        count += found.len();
        for circle in circles(&found) {
            let names = circle.iter().map(|file| file.strip_prefix(root).unwrap_or(file).display());
            let names: Vec<String> = names.map(|name| name.to_string()).collect();
            wrong.push(format!("{} files import each other: {}", names.len(), names.join(", ")));
        }
    }
    if wrong.is_empty() {
        println!("no circle of more than {MOST} among {count} files");
    }
    none(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crate_of(files: &[(&str, &str)]) -> Vec<File> {
        files.iter().map(|(path, text)| File::new(Path::new(path), path, text)).collect()
    }

    /// Proves that a circle is found through modules that gather others, aliases and paths in the code, and that neither
    /// a module that only gathers, nor comments, nor tests make one.
    #[test]
    fn circles_are_found() {
        let lib = ("lib.rs", "mod a;\npub use a::A;\npub use b::{B, part::Part as P};\n");
        let part = ("b/part.rs", "pub struct Part;\n");
        let files = crate_of(&[
            lib,
            ("a.rs", "use crate::B;\npub struct A(B);\n"),
            ("b/mod.rs", "mod part;\nuse self::part::Part;\npub struct B(Part, crate::c::C);\n"),
            part,
            ("c.rs", "use super::{\n    A as First,\n    P,\n};\npub struct C;\n"),
        ]);
        assert_eq!(circles(&files), [["a.rs", "b/mod.rs", "c.rs"].map(PathBuf::from)]);
        let files = crate_of(&[
            lib,
            (
                "a.rs",
                "// use crate::B;\npub struct A;\n#[cfg(test)]\nmod tests {\n    use crate::B;\n}\n",
            ),
            ("b/mod.rs", "mod part;\npub use part::Part;\npub struct B(crate::c::C);\n"),
            part,
            (
                "c.rs",
                "use super::{A, P};\npub struct C(A, P);\nconst TEXT: &str = \"use crate::b::B;\";\n",
            ),
        ]);
        assert_eq!(circles(&files), Vec::<Vec<PathBuf>>::new());
    }
}
