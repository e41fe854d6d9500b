//! Columns of numbers in text.

use spotfit_files::columns::{ColumnOptions, Columns, DataSets};

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

/// Proves that what is no text is told by what it is.
#[test]
fn what_is_no_text_is_told() {
    for (bytes, says) in [
        (&b"PAR1\x15\x04"[..], "it is Parquet; in Python, pandas.read_parquet("),
        (b"ARROW1\0\0", "Feather"),
        (b"\x1f\x8b\x08\0", "it is compressed"),
        (b"\x89HDF\r\n\x1a\n\0\0", "it is HDF5"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", "save its sheet as CSV"),
        (b"MATLAB 5.0 MAT-file\0\x01IM", "it is of MATLAB"),
        (b"\x93NUMPY\x01\0", "numpy.savetxt"),
        (b"SQLite format 3\0", "SQLite"),
        (b"II*\0\x08\0\0\0", "it is a TIFF image"),
        (b"\x80\x04\x95\x10", "pandas.read_pickle("),
    ] {
        let said = Columns::read(bytes, &ColumnOptions::default()).unwrap_err().to_string();
        assert!(said.contains(says), "{said}");
    }
    let named = Columns::read(b"PAR1,PAR2\n1,2\n3,4\n", &ColumnOptions::default());
    assert_eq!(named.expect("columns").names, ["PAR1", "PAR2"]);
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
    // Squares of this number would take many minutes.
    let wide = vec!["1"; 1_000_000].join(",");
    assert_eq!(read(format!("{wide}\n{wide}\n")).values.dim(), (1_000_000, 2));
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// Proves that a wide table is read as [`Columns`] reads it, with its errors by suffix, by list, and by numbers.
#[test]
fn errors_of_data_sets() {
    let text = "t;A;A sd;B;B sd\n0;1,5;0,1;2,5;0,2\n1;2,5;0,1;;0,2\n2;3,5;0;4,5;\n";
    let read = |errors: &[&str], columns: &[&str]| {
        let options =
            ColumnOptions::default().with_error_columns(words(errors)).with_columns(words(columns));
        DataSets::read(text.as_bytes(), &options)
    };
    let sets = read(&[" sd"], &[]).expect("sets");
    assert_eq!(sets.names, ["A", "B"]);
    assert_eq!(sets.x_names, ["t"]);
    assert_eq!(sets.x.iter().copied().collect::<Vec<_>>(), [0.0, 1.0, 2.0]);
    let weights = sets.weights();
    assert!((weights[[0, 1]] - 100.0).abs() < 1e-9 && (weights[[1, 0]] - 25.0).abs() < 1e-9);
    assert_eq!([weights[[0, 2]], weights[[1, 1]], weights[[1, 2]]], [0.0; 3]);
    let told =
        ["1 cell without a number is left out", "2 points without an error above 0 are left out"];
    assert_eq!(sets.notes, told);
    for (errors, columns) in [
        (&["A sd", "B sd"][..], &[][..]),
        (&["3", "5"], &[]),
        (&[" sd"], &["t", "A", "B"]),
        (&["A sd", "B sd"], &["1", "2", "4"]),
    ] {
        let other = read(errors, columns).expect("sets");
        assert_eq!(other.errors.map(|all| all[[1, 0]]), Some(0.2), "{errors:?}");
        assert_eq!(other.names, sets.names);
    }
    let only = read(&["B sd"], &["t", "B"]).expect("sets");
    assert_eq!((only.names.len(), only.errors.expect("errors")[[0, 0]]), (1, 0.2));
    let refused =
        |errors: &[&str], columns: &[&str]| read(errors, columns).expect_err("refused").to_string();
    assert_eq!(refused(&["A sd"], &[]), "1 columns of errors are given for 3 data sets");
    assert!(refused(&["_err"], &[]).starts_with("there is no column '_err'"));
    assert!(
        refused(&["A sd"], &["t", "A sd"]).contains("cannot be a data set and the errors of y")
    );
    let text = "t,A,A_sd,B\n0,1,1,1\n1,1,1,1\n";
    let options = ColumnOptions::default().with_error_columns(words(&["_sd"]));
    let told = DataSets::read(text.as_bytes(), &options).expect_err("refused").to_string();
    assert!(told.starts_with("there is no column 'B_sd'"), "{told}");
}

/// Proves that the rows of a long table become data sets of their own lengths, by words and by numbers, of one column and of two.
#[test]
fn long_tables() {
    let text = "well,plate,time,signal,n\nA1,1,0,5,10\nA1,1,1,4,11\nB2,1,0,7,12\nA1,2,5,1,13\n,,9,9,9\nA1,1,,3,1\nB2,1,3,,14\n";
    let read = |by: &[&str], columns: &[&str], trials: Option<&str>| {
        let options = ColumnOptions::default()
            .with_by(words(by))
            .with_columns(words(columns))
            .with_trials(trials.map(str::to_owned));
        DataSets::read(text.as_bytes(), &options)
    };
    let sets = read(&["well"], &["time", "signal"], Some("n")).expect("sets");
    assert_eq!(sets.names, ["A1", "B2"]);
    assert_eq!(sets.x.dim(), (2, 1, 3));
    assert_eq!(sets.x.iter().copied().collect::<Vec<_>>(), [0.0, 1.0, 5.0, 0.0, 3.0, 3.0]);
    assert_eq!(sets.y.row(0).to_vec(), [5.0, 4.0, 1.0]);
    assert_eq!(sets.weights().row(1).to_vec(), [1.0, 0.0, 0.0]);
    assert_eq!(sets.trials.expect("trials").row(0).to_vec(), [10.0, 11.0, 13.0]);
    let left = [
        "1 row without x is left out",
        "1 row of no data set is left out",
        "1 cell without a number is left out",
    ];
    assert_eq!(sets.notes, left);
    let both = read(&["well", "plate"], &["time", "signal"], None).expect("sets");
    assert_eq!(both.names, ["A1 1", "B2 1", "A1 2"]);
    let two = read(&["well"], &["time", "signal", "n"], None).expect("sets");
    assert_eq!(two.names, ["A1 signal", "A1 n", "B2 signal", "B2 n"]);
    assert_eq!(two.y.row(3)[0], 12.0);
    let all = read(&["well", "plate"], &[], Some("n")).expect("sets");
    assert_eq!((all.names.len(), all.x_names), (3, words(&["time"])));
    let told = read(&["well"], &["well", "signal"], None).expect_err("refused").to_string();
    assert_eq!(told, "column 'well' cannot be what data sets are told by and x");
    assert!(read(&["hole"], &[], None).is_err());
}

/// Proves that models of several variables have theirs.
#[test]
fn several_variables() {
    let text = "time dose a b\n0 1 5 6\n1 1 4 7\n0 2 x 8\n1 2 2 9\n";
    let options = ColumnOptions::default().with_x_columns(words(&["time", "dose"]));
    let told = DataSets::read(text.as_bytes(), &options).expect_err("a word").to_string();
    assert!(told.contains("'x' is not a number"), "{told}");
    let sets = DataSets::read(text.replace('x', "-").as_bytes(), &options).expect("sets");
    assert_eq!((sets.x.dim(), sets.y.dim()), ((1, 2, 4), (2, 4)));
    assert_eq!(sets.x_names, ["time", "dose"]);
    assert_eq!(
        sets.x.iter().copied().collect::<Vec<_>>(),
        [0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0]
    );
    let chosen = options.with_columns(words(&["b"]));
    let sets = DataSets::read(text.replace('x', "-").as_bytes(), &chosen).expect("sets");
    assert_eq!(sets.names, ["b"]);
}

/// Proves that 2·10⁵ columns, named one by one, and as many data sets of a long table take no quadratic time, which would
/// be many minutes.
#[test]
fn many_columns_and_groups() {
    const MANY: usize = 200_000;
    let names: Vec<String> = (0..MANY).map(|number| format!("c{number}")).collect();
    let row: Vec<String> = (0..MANY).map(|number| number.to_string()).collect();
    let text = format!("{}\n{}\n{}\n", names.join(","), row.join(","), row.join(","));
    let options = ColumnOptions::default().with_columns(names);
    let sets = DataSets::read(text.as_bytes(), &options).expect("sets");
    assert_eq!(sets.y.dim(), (MANY - 1, 2));
    let rows = (0..MANY).map(|number| format!("g{number} {number} 1\n"));
    let text = "g x y\n".to_owned() + &rows.collect::<String>();
    let options = ColumnOptions::default().with_by(words(&["g"]));
    let sets = DataSets::read(text.as_bytes(), &options).expect("sets");
    assert_eq!(sets.y.dim(), (MANY, 1));
    // One long data set among many short ones.
    let long = (0..20_000).map(|number| format!("long {number} 1\n")).collect::<String>();
    let told = DataSets::read((text + &long).as_bytes(), &options).expect_err("too long");
    assert!(told.to_string().contains("too many to hold"));
}

/// Proves that no mutation of a table makes reading panic, give numbers that are infinite, or weights that are none.
#[test]
fn mutated_tables() {
    let seeds = [
        "t;A;A sd;B;B sd\n[s];V;V;V;V\n0;1,5;0,1;2,5;0,2\n1;2,5;0,1;;0,2\n2;3,5;0;4,5;\n",
        "well,plate,time,signal,n\nA1,1,0,5,10\nA1,1,1,4,11\nB2,1,0,7,12\nA1,2,5,1,13\n,,9,9,9\n",
        "sep=,\ntime,dose,a,b\n0,1,5,6\n1,1,4,7\n0,2,NaN,8\n1,2,2,9\n",
    ];
    let pieces = [
        "\n", ",", ";", "\"", "e999", "-", "NaN", "\u{feff}", "#", "well", "A sd", "\r", "1e308",
        "é",
    ];
    type Names = &'static [&'static str];
    let choices: [(Names, Names, Names, Names); 6] = [
        (&[], &[], &[], &[" sd"]),
        (&["t", "A"], &[], &[], &["3"]),
        (&[], &[], &["well"], &[]),
        (&["time", "signal"], &[], &["well", "plate"], &["n"]),
        (&[], &["time", "dose"], &[], &[]),
        (&["2"], &["1", "3"], &["4"], &["5"]),
    ];
    let is_long = std::env::var_os("SPOTFIT_TESTS").is_some_and(|tests| tests == "all");
    let mut random = fit_sim::Random::new(11, 0);
    let mut pick = |count: usize| (random.uniform() * count as f64) as usize % count;
    let (mut read, mut refused) = (0, 0);
    for _ in 0..if is_long { 100_000 } else { 3000 } {
        let mut text: Vec<char> = seeds[pick(seeds.len())].chars().collect();
        for _ in 0..pick(6) {
            let (from, to) = (pick(text.len()), pick(text.len()));
            match pick(4) {
                0 => drop(text.drain(from.min(to)..from.max(to).min(from.min(to) + 8))),
                1 => text.splice(from..from, pieces[pick(pieces.len())].chars()).for_each(drop),
                2 => text.swap(from, to),
                _ => text.truncate(from.max(text.len() / 2)),
            }
            text.push(' ');
        }
        let (columns, x, by, errors) = choices[pick(choices.len())];
        let options = ColumnOptions::default()
            .with_skip(pick(8) / 6)
            .with_columns(words(columns))
            .with_x_columns(words(x))
            .with_by(words(by))
            .with_error_columns(words(errors));
        let text: String = text.into_iter().collect();
        match DataSets::read(text.as_bytes(), &options) {
            Err(error) => {
                assert!(error.to_string().len() < 1000, "{error}");
                refused += 1;
            }
            Ok(sets) => {
                let (count, points) = sets.y.dim();
                assert_eq!(sets.names.len(), count, "{text:?}");
                assert!([1, count].contains(&sets.x.dim().0) && sets.x.dim().2 == points);
                assert!(sets.x.iter().all(|x| x.is_finite()), "{text:?}");
                assert!(sets.y.iter().all(|y| !y.is_infinite()), "{text:?}");
                assert!(sets.weights().iter().all(|weight| weight.is_finite() && *weight >= 0.0));
                read += 1;
            }
        }
    }
    assert!(read > 200 && refused > 300, "{read} {refused}");
}
