use super::*;

fn read(text: impl AsRef<[u8]>) -> Columns {
    Columns::read(text.as_ref(), &ColumnOptions::default()).expect("columns")
}

fn refused(text: &str) -> String {
    Columns::read(text.as_bytes(), &ColumnOptions::default()).expect_err(text).to_string()
}

/// Proves that the same numbers are read, whatever marks, ends of lines and encodings a program uses.
#[test]
fn numbers_are_those_of_every_dialect() {
    let numbers = [[0.0, 1.5, -2e-3], [11.0, 9.25, 1e5]];
    for delimiter in ["\t", ";", ",", "  ", " "] {
        for comma in [false, true] {
            if comma && delimiter == "," {
                continue;
            }
            for end in ["\n", "\r\n", "\r"] {
                for head in ["", "# a comment", "t (µs)|U (mV)", "title||t|signal"] {
                    let mut text = String::new();
                    for line in head.split("||").filter(|line| !line.is_empty()) {
                        text += &(line.replace(
                            '|',
                            if delimiter.trim().is_empty() && delimiter != "\t" {
                                ";"
                            } else {
                                delimiter
                            },
                        ) + end);
                    }
                    for row in 0..3 {
                        let cells = numbers.map(|column| {
                            let cell = format!("{:?}", column[row]);
                            if comma { cell.replace('.', ",") } else { cell }
                        });
                        text += &(cells.join(delimiter) + end);
                    }
                    let utf_16: Vec<u16> = text.encode_utf16().collect();
                    let marked = [&[0xfeff], &utf_16[..]].concat();
                    let little = |units: &[u16]| {
                        units.iter().flat_map(|u| u.to_le_bytes()).collect::<Vec<u8>>()
                    };
                    let big = |units: &[u16]| {
                        units.iter().flat_map(|u| u.to_be_bytes()).collect::<Vec<u8>>()
                    };
                    let latin: Vec<u8> = text.chars().map(|symbol| symbol as u8).collect();
                    let encoded = [
                        text.clone().into_bytes(),
                        format!("\u{feff}{text}").into_bytes(),
                        latin,
                        little(&marked),
                        big(&marked),
                        little(&utf_16),
                        big(&utf_16),
                    ];
                    for bytes in encoded {
                        let found = Columns::read(&bytes, &ColumnOptions::default());
                        let found = found.unwrap_or_else(|error| panic!("{text:?}: {error}"));
                        for (column, expected) in found.values.outer_iter().zip(numbers) {
                            assert_eq!(column.to_vec(), expected, "{text:?}");
                        }
                    }
                }
            }
        }
    }
}

/// Proves that names, units, gaps and empty columns are told apart.
#[test]
fn what_is_no_number_is_left_out() {
    let columns = read("t,signal,,other\n[s],[a.u.],,\n0,1,,\n1,NaN,,5\n,,,\n2,#N/A,,n/a\n,3,,\n");
    assert_eq!(columns.names, ["t", "signal", "other"]);
    assert_eq!(columns.units, ["[s]", "[a.u.]", ""]);
    assert_eq!(columns.values.dim(), (3, 3));
    assert_eq!(columns.values.row(0).to_vec(), [0.0, 1.0, 2.0]);
    assert_eq!(columns.values.row(1)[0], 1.0);
    assert_eq!(columns.values.row(2)[1], 5.0);
    assert_eq!(
        columns.notes,
        [
            "a row of units is left out",
            "1 column without numbers is left out",
            "1 row without x is left out",
            "4 cells without a number are left out"
        ]
    );
    let plain = read("0,1\n1,2\n");
    assert_eq!((plain.names, plain.units, plain.notes), (vec![String::new(); 2], vec![], vec![]));
    let quoted = read("\"t; s\";\"a \"\"b\"\"\"\n0;1\n\"1\";\"2,5\"\n");
    assert_eq!(quoted.names, ["t; s", "a \"b\""]);
    assert_eq!(quoted.values.row(1).to_vec(), [1.0, 2.5]);
}

/// Proves that columns are chosen by name or number, and lines at the start are skipped.
#[test]
fn columns_are_chosen() {
    let options = |skip, columns: &[&str]| {
        let columns = columns.iter().map(|&name| name.to_owned()).collect();
        ColumnOptions::default().with_skip(skip).with_columns(columns)
    };
    let text = "1;2;3\nsep=;\nt;a;text;3\n0;5;x;7\n1;6;y;8\n";
    let found = Columns::read(text.as_bytes(), &options(1, &["t", "3", "2"])).expect("columns");
    assert_eq!(found.names, ["t", "3", "a"]);
    assert_eq!(found.values.row(1).to_vec(), [7.0, 8.0]);
    assert_eq!(found.values.row(2).to_vec(), [5.0, 6.0]);
    for (name, says) in [
        ("b", "no column 'b': the file has t, a, text, 3"),
        ("9", "no column '9'"),
        ("0", "no column '0'"),
    ] {
        let error =
            Columns::read(text.as_bytes(), &options(1, &["t", name])).expect_err(name).to_string();
        assert!(error.contains(says), "{error}");
    }
    assert_eq!(
        refused("t,a\n0,1\n"[..4].trim_end()),
        "it has no rows with x and at least one data set beside it"
    );
}

/// Proves that what is wrong is told with its place.
#[test]
fn what_is_wrong_is_told() {
    assert_eq!(refused("0,1\n1,a\n"), "line 2, column 2: 'a' is not a number");
    assert_eq!(
        refused("# comment\n\nt,y\n0,1\n1,2,3\n"),
        "line 5 has 3 columns, but 2 are expected"
    );
    for empty in ["", "\n", "t,y\n", "0\n1\n", "a b c"] {
        assert_eq!(
            refused(empty),
            "it has no rows with x and at least one data set beside it",
            "{empty:?}"
        );
    }
}

/// Proves that no text makes reading panic, and that it takes no time that grows faster than the text.
#[test]
fn any_text_is_read_or_refused() {
    let mut random = fit_sim::Random::new(8, 0);
    let good = b"sep=;\nt;y\n[s];[V]\n0;1,5\n1;\"2\"\n#x\n2;nan\n";
    for _ in 0..10_000 {
        let mut bytes = good.to_vec();
        for _ in 0..1 + (random.uniform() * 5.0) as usize {
            let at = (random.uniform() * bytes.len() as f64) as usize;
            bytes[at] = [0, 10, 13, 34, 44, 46, 59, 9, 32, 0xff, 0xfe, 48, 45]
                [(random.uniform() * 13.0) as usize];
        }
        if random.uniform() < 0.3 {
            bytes.truncate((random.uniform() * bytes.len() as f64) as usize);
        }
        if let Ok(columns) = Columns::read(&bytes, &ColumnOptions::default()) {
            assert!(columns.values.row(0).iter().all(|x| x.is_finite()));
            assert_eq!(columns.names.len(), columns.values.nrows());
        }
    }
    let wide = vec!["1"; 100_000].join(",");
    let begin = std::time::Instant::now();
    assert_eq!(read(format!("{wide}\n{wide}\n")).values.dim(), (100_000, 2));
    assert!(begin.elapsed().as_secs() < 20);
}
