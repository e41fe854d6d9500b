//! YAML as Picasso writes it.

use std::io;
use std::process::Command;

use spotfit_files::yaml::{Value, YamlError, parse, read, write};

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

/// Some documents with every kind of value.
fn documents() -> Vec<Value> {
    let entry = |key: &str, value| (key.to_owned(), value);
    let tricky = [
        "",
        " ",
        "a ",
        " a",
        "yes",
        "No",
        "~",
        "null",
        "1e-5",
        "1.0e-05",
        "0x10",
        "007",
        "1:30",
        "-",
        "- a",
        "a: b",
        "a #b",
        "#",
        "'",
        "it's \"so\"",
        "a\nb\n",
        "tab\t",
        "\\",
        "Å Ω 𝒳",
        "\u{7f}",
        "\u{85}\u{2028}",
        "2020-01-01",
        "=",
        "<<",
        "!x",
        "&a",
        "*a",
        "[1]",
        "{a}",
        "%",
        "@",
        "`",
        "|",
        ">",
        "?",
        "a,b",
        ".nan",
        "...",
        "---",
        "\r\n",
        "\u{feff}",
        "\0",
    ];
    let numbers =
        [0.0, -0.0, 1.0, 1e-5, -1.5e300, 5e-324, 0.1, 1e16, f64::INFINITY, -f64::INFINITY];
    vec![
        Value::Map(vec![
            entry("Width", Value::Int(32)),
            entry("Min. Net Gradient", Value::Float(5000.0)),
            entry("ROI", Value::Null),
            entry("Fit method", text("gausslq")),
            entry("Drift corrected", Value::Bool(true)),
            entry("X Coefficients", Value::List(numbers.map(Value::Float).to_vec())),
            entry("empty", Value::List(vec![])),
            entry("no entries", Value::Map(vec![])),
            entry(
                "nested: one",
                Value::Map(vec![entry(
                    "list",
                    Value::List(vec![
                        Value::List(vec![Value::Int(-1), Value::List(vec![Value::Int(2)])]),
                        Value::Map(vec![
                            entry("a", Value::Int(1)),
                            entry("b", Value::List(vec![text("c")])),
                        ]),
                        Value::Map(vec![]),
                    ]),
                )]),
            ),
        ]),
        Value::Map(tricky.iter().map(|&word| entry(word, text(word))).collect()),
        Value::Map(vec![
            entry("long", text(&"word ".repeat(5000))),
            entry("i", Value::Int(i64::MIN)),
        ]),
        Value::Map(vec![]),
        Value::List(vec![Value::Int(1)]),
        text("alone"),
    ]
}

/// Proves that what is written is read again, the order of keys and the sign of zero included.
#[test]
fn what_is_written_is_read() {
    let written = write(&documents()).expect("text");
    assert!(written.is_ascii());
    let found = read(written.as_bytes()).expect("YAML");
    assert_eq!(found, documents());
    assert_eq!(format!("{found:?}"), format!("{:?}", documents()));
    let windows = written.replace('\n', "\r\n");
    assert_eq!(parse(&windows).expect("YAML"), documents());
    let nan = write(&[Value::List(vec![Value::Float(f64::NAN)])]).expect("text");
    assert!(
        matches!(&parse(&nan).expect("YAML")[..], [Value::List(list)] if list[0].number().is_some_and(f64::is_nan))
    );
}

/// Proves that PyYAML reads what is written as the same values, where Python with PyYAML is there.
#[test]
fn pyyaml_reads_what_is_written() {
    let python = std::env::var("SPOTFIT_PYTHON").unwrap_or_else(|_| "python3".into());
    let works = Command::new(&python).args(["-c", "import yaml"]).output();
    if !works.is_ok_and(|output| output.status.success()) {
        assert!(std::env::var_os("CI").is_none(), "CI needs {python} with PyYAML");
        eprintln!("not checked: {python} with PyYAML is not there");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file.yaml");
    std::fs::write(&path, write(&documents()).expect("text")).expect("space");
    // JSON is YAML, so that what Python read can be read here.
    let code = "import sys, json, yaml; \
                print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))).replace('Infinity', '.inf'))";
    let output = Command::new(&python).args(["-c", code]).arg(&path).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Python escapes characters beyond 16 bits as surrogates, which YAML does not know.
    let said = String::from_utf8(output.stdout).expect("UTF-8").replace("\\ud835\\udcb3", "𝒳");
    assert_eq!(parse(&said).expect("JSON"), [Value::List(documents())]);
}

/// Proves that files as Picasso writes them are read: numbers in every notation, lists without indentation, folded and
/// quoted texts, Windows line ends, several documents.
#[test]
fn files_of_picasso_are_read() {
    let file = "Byte Order: <\r\nCamera: null\r\nCX:\r\n- 3.16e-17\r\n- 1e-05\r\n- 1.0e+300\r\n- .nan\r\n\
                Name: 'it''s\r\n  folded'\r\nQuoted: \"\\xC5: #\"\r\nPlain: two\r\n  lines\r\nHex: 0x1F\r\n\
                Big: 18446744073709551616\r\nN: -7\r\nYes: yes\r\nDate: 2020-01-01\r\nBlock: |\r\n  a\r\n  b\r\n\
                5: true\r\n---\r\nPixelsize: 130\r\nROI:\r\n- - 1\r\n  - 2\r\n";
    let documents = parse(file).expect("YAML");
    assert_eq!(documents.len(), 2);
    let get = |key| documents[0].get(key).expect("the key");
    assert_eq!(get("Byte Order"), &text("<"));
    assert_eq!(get("Camera"), &Value::Null);
    let Value::List(numbers) = get("CX") else { panic!("a list") };
    let numbers: Vec<f64> = numbers.iter().map(|value| value.number().expect("a number")).collect();
    assert_eq!(numbers[..3], [3.16e-17, 1e-5, 1e300]);
    assert!(numbers[3].is_nan());
    assert_eq!(get("Name"), &text("it's folded"));
    assert_eq!(get("Quoted"), &text("Å: #"));
    assert_eq!(get("Plain"), &text("two lines"));
    assert_eq!(get("Hex"), &Value::Int(31));
    assert_eq!(get("Big"), &Value::Float(18446744073709551616.0));
    assert_eq!(get("N"), &Value::Int(-7));
    assert_eq!(get("Yes"), &text("yes"));
    assert_eq!(get("Date"), &text("2020-01-01"));
    assert_eq!(get("Block"), &text("a\nb\n"));
    assert_eq!(get("5"), &Value::Bool(true));
    assert_eq!(documents[1].get("Pixelsize"), Some(&Value::Int(130)));
    let roi = Value::List(vec![Value::List(vec![Value::Int(1), Value::Int(2)])]);
    assert_eq!(documents[1].get("ROI"), Some(&roi));
    assert_eq!(parse("").expect("YAML"), []);
}

/// Proves that scalars of NumPy, which PyYAML writes as Python objects with shared data types, become numbers.
#[test]
fn scalars_of_numpy_are_numbers() {
    let scalar = |module: &str, datatype: &str, bytes: &str| {
        format!(
            "!!python/object/apply:{module}.multiarray.scalar\n- {datatype}\n- !!binary |\n  {bytes}\n"
        )
    };
    let datatype = |anchor: &str, kind: &str, order: &str| {
        format!(
            "{anchor} !!python/object/apply:numpy.dtype\n  args:\n  - {kind}\n  - false\n  - true\n  \
             state: !!python/tuple\n  - 3\n  - '{order}'\n  - null\n  - -1"
        )
    };
    let file = [
        ("a", scalar("numpy._core", &datatype("&id001", "f8", "<"), "AAAAAAAA+D8=")),
        ("b", scalar("numpy._core", "*id001", "AAAAAAAA8D8=")),
        ("c", scalar("numpy.core", &datatype("", "i8", "<"), "/f////////8=")),
        ("d", scalar("numpy.core", &datatype("", "f4", ">"), "QCAAAA==")),
        ("e", scalar("numpy.core", &datatype("", "b1", "|"), "AQ==")),
        ("f", scalar("numpy.core", &datatype("", "u2", "<"), "//8=")),
    ];
    let file: String = file.iter().map(|(key, value)| format!("{key}: {value}")).collect();
    let expected = [
        ("a", Value::Float(1.5)),
        ("b", Value::Float(1.0)),
        ("c", Value::Int(-3)),
        ("d", Value::Float(2.5)),
        ("e", Value::Bool(true)),
        ("f", Value::Int(65535)),
    ];
    let expected = expected.map(|(key, value)| (key.to_owned(), value)).to_vec();
    assert_eq!(parse(&file).expect("YAML"), [Value::Map(expected)]);
}

fn is_deep(error: Option<YamlError>) -> bool {
    error.is_some_and(|error| {
        error.to_string().ends_with("more than 64 lists and mappings within each other")
    })
}

/// Proves that files that would take endless memory or stack, and files that are not clear, are errors that say where.
#[test]
fn hostile_files_are_errors() {
    let error = |text: &str| parse(text).expect_err("an error").to_string();
    let mut bomb = String::from("a: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let inner = vec![format!("*a{}", level - 1); 9].join(", ");
        bomb.push_str(&format!("b{level}: &a{level} [{inner}]\n"));
    }
    let said = parse(&bomb).expect_err("a bomb").to_string();
    assert!(said.starts_with("line 7 ") || said.starts_with("line 8 "), "{said}");
    assert!(said.ends_with("what anchors repeat is too large"), "{said}");
    let long = format!("a: &a {}\nb: [{}]", "x".repeat(1 << 20), "*a, ".repeat(100));
    assert!(error(&long).starts_with("line 2 "));
    let mut deep = String::from("- &a0 []\n");
    for level in 1..70 {
        deep.push_str(&format!("- &a{level} [*a{}]\n", level - 1));
    }
    assert!(is_deep(parse(&deep).err()));
    for unit in ["[", "- ", "{a: ", "? ", "[{"] {
        let text = unit.repeat(100_000);
        assert!(parse(&text).is_err(), "{unit}");
    }
    assert!(error(&"[".repeat(70)).starts_with("line 1 "));
    assert!(is_deep(parse(&"[".repeat(70)).err()));
    assert_eq!(
        error("a: 1\nb: 2\na: 3\n"),
        "line 4 of the YAML file: the mapping that ends here has the key 'a' twice"
    );
    assert_eq!(error("[a]: 1\n"), "line 1 of the YAML file: a key is a list or a mapping");
    assert!(error("a: &x [*x]").contains("an alias stands within what it repeats"));
    assert!(error("a: 'b").starts_with("line "));
    let bytes = read(&b"a: \xff"[..]).expect_err("no UTF-8").to_string();
    assert_eq!(bytes, "byte 3 of the YAML file is not UTF-8");
    let said = read(io::repeat(b'#')).expect_err("no end").to_string();
    assert_eq!(said, "the YAML file has more than 16 MiB");
    let mut value = Value::Null;
    for _ in 0..65 {
        value = Value::List(vec![value]);
    }
    assert!(is_deep(write(&[value]).err()));
    let key = Value::Map(vec![("k".repeat(2000), Value::Null)]);
    let said = write(&[key]).expect_err("a long key").to_string();
    assert_eq!(said, "a key of 2000 bytes is too long for YAML");
}
