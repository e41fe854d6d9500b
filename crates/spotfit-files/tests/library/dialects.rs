//! Tables as people have them: what marks, names and rows mean is known, or they are refused.

use spotfit_files::columns::{ColumnOptions, Columns, DataSets, DecimalMark};

use crate::written;

fn read(text: &str) -> Result<Columns, String> {
    Columns::read(text.as_bytes(), &ColumnOptions::default()).map_err(|error| error.to_string())
}

/// The data sets of a text: names, and points as x and y.
fn sets(text: &str) -> Result<(Vec<String>, Vec<Vec<f64>>), String> {
    let sets = DataSets::read(text.as_bytes(), &ColumnOptions::default());
    let sets = sets.map_err(|error| error.to_string())?;
    let x = sets.x.iter().copied().collect();
    let y = sets.y.outer_iter().map(|row| row.to_vec());
    Ok((sets.names.clone(), std::iter::once(x).chain(y).collect()))
}

/// Proves that random tables in all dialects are never read wrong, and that nearly all are read that have one reading.
#[test]
fn tables_of_every_dialect() {
    let count = if crate::nightly() { 100_000 } else { 1000 };
    let mut random = fit_sim::Random::new(66, 0);
    let (mut clear, mut refused, mut read) = (0, Vec::new(), 0);
    for _ in 0..count {
        let written = written::table(&mut random);
        clear += usize::from(written.has_one_reading);
        match Columns::read(&written.file, &ColumnOptions::default()) {
            Ok(found) => {
                read += 1;
                let rows = written.columns[0].len();
                assert_eq!(found.values.dim(), (written.columns.len(), rows), "{}", written.text);
                for (found, expected) in found.values.outer_iter().zip(&written.columns) {
                    let same =
                        found.iter().zip(expected).all(|(a, b)| a == b || a.is_nan() && b.is_nan());
                    assert!(same, "{found:?} is not {expected:?} in\n{}", written.text);
                }
                if let Some(names) = &written.names {
                    assert_eq!(&found.names, names, "{}", written.text);
                }
            }
            Err(error) if written.has_one_reading => {
                refused.push(format!("{error}\n{}", written.text));
            }
            Err(_) => {}
        }
    }
    println!(
        "{read} of {count} are read; {} of {clear} with one reading are refused",
        refused.len()
    );
    assert!(
        100 * refused.len() <= 3 * clear,
        "{} of {clear}, the first: {}",
        refused.len(),
        refused[0]
    );
    assert!(clear > count * 8 / 10 && read > count * 8 / 10, "{clear} {read} of {count}");
}

/// Proves that each file of a report is read right, or refused with its reason, and so are ten more of its kind.
#[test]
fn tables_as_people_have_them() {
    let nan = f64::NAN;
    let right = [
        // Thousands between tabs and semicolons, with points and with commas.
        (
            "dose\tcounts\n250\t510\n500\t1,010\n750\t1,510\n1,000\t2,010\n1,250\t2,510\n",
            "counts",
            [250.0, 510.0],
            [1250.0, 2510.0],
        ),
        (
            "dose;counts\n250;510\n750;1,510\n1,000;2,010\n",
            "counts",
            [250.0, 510.0],
            [1000.0, 2010.0],
        ),
        (
            "dose;counts\n250;510\n750;1.510\n1.000;2.010\n",
            "counts",
            [250.0, 510.0],
            [1000.0, 2010.0],
        ),
        ("a;b\n0,5;1.510\n1;2.010\n", "b", [0.5, 1510.0], [1.0, 2010.0]),
        ("a\tb\n0.5\t1,510\n1\t2,010\n", "b", [0.5, 1510.0], [1.0, 2010.0]),
        ("a,b\n0.5,\"1,510\"\n1,\"2,010\"\n", "b", [0.5, 1510.0], [1.0, 2010.0]),
        ("a,b\n\"0,5\",\"1,510\"\n1,\"2,010\"\n", "b", [0.5, 1.51], [1.0, 2.01]),
        ("a;b\n1;1,000,000\n2;2,000\n", "b", [1.0, 1e6], [2.0, 2000.0]),
        ("a;b\n1;1.234,5\n2;2.000\n", "b", [1.0, 1234.5], [2.0, 2000.0]),
        ("a;b\n1;1'234.5\n2;2\u{a0}000\n", "b", [1.0, 1234.5], [2.0, 2000.0]),
        ("a;b\n1;10,125\n2;12345\n", "b", [1.0, 10.125], [2.0, 12345.0]),
        ("a b\n1.000 2.500\n2.000 3.500\n", "b", [1.0, 2.5], [2.0, 3.5]),
        ("a;b\n\u{2212}1,5;1e\u{2212}3\n2;3\n", "b", [-1.5, 1e-3], [2.0, 3.0]),
        // Names of rows.
        ("time\tsignal\n1\t0.5\t11.0\n2\t1.5\t13.0\n", "signal", [0.5, 11.0], [1.5, 13.0]),
        ("time signal\n7 0.5 11.0\n9 1.5 13.0\n", "signal", [0.5, 11.0], [1.5, 13.0]),
        ("\"time\" \"signal\"\n\"a b\" 0.5 11\n\"c\" 1.5 13\n", "signal", [0.5, 11.0], [1.5, 13.0]),
        ("time,signal\n1,0.5,11\n2,1.5,13\n", "signal", [0.5, 11.0], [1.5, 13.0]),
        ("time;signal\nx1;0,5;11\nx2;1,5;13\n", "signal", [0.5, 11.0], [1.5, 13.0]),
        (
            "\"\",\"time\",\"signal\"\n\"1\",0.5,11\n\"2\",1.5,13\n",
            "signal",
            [0.5, 11.0],
            [1.5, 13.0],
        ),
        (
            "\"\",\"time\",\"signal\"\n\"a\",0.5,11\n\"b\",1.5,13\n",
            "signal",
            [0.5, 11.0],
            [1.5, 13.0],
        ),
        (",time,signal\n0,0.5,11\n1,1.5,13\n", "signal", [0.5, 11.0], [1.5, 13.0]),
        ("Unnamed: 0;time;signal\n0;0,5;11\n1;1,5;13\n", "signal", [0.5, 11.0], [1.5, 13.0]),
        // What does not count is x, and so is what counts before one column only.
        (",signal,other\n0,0.5,11\n5,1.5,13\n", "signal", [0.0, 0.5], [5.0, 1.5]),
        (",signal\n0,0.5\n1,1.5\n", "signal", [0.0, 0.5], [1.0, 1.5]),
        ("n,time,signal\n0,0.5,11\n1,1.5,13\n", "time", [0.0, 0.5], [1.0, 1.5]),
        // Lines above names, and units below them.
        ("Instrument: A; version 1,2\nx,y\n1,10\n2,20\n", "y", [1.0, 10.0], [2.0, 20.0]),
        ("Instrument A,version B\nx,y\n1,10\n2,20\n", "y", [1.0, 10.0], [2.0, 20.0]),
        ("Date;2024\nx;y\n1;10\n2;20\n", "y", [1.0, 10.0], [2.0, 20.0]),
        ("Run,a=2\nx,y\ns,mV\n1,10\n2,20\n", "y", [1.0, 10.0], [2.0, 20.0]),
        ("Device,Model 5\n1234,serial\nx,y\n1,10\n2,20\n", "y", [1.0, 10.0], [2.0, 20.0]),
        ("t,y\nseconds,counts/s\n1,10\n2,20\n", "y", [1.0, 10.0], [2.0, 20.0]),
        ("t,y\nmin,µmol/L\ncontrol,drug A\n1,10\n2,20\n", "y", [1.0, 10.0], [2.0, 20.0]),
        ("t,y,z\n,control,drug\n1,10,1\n2,20,2\n", "y", [1.0, 10.0], [2.0, 20.0]),
        // A row in which one number is missing is none of units.
        ("x,y\n1,inf\n2,20\n3,30\n", "y", [1.0, nan], [3.0, 30.0]),
        ("x,y,z\ninf,5,6\n2,20,6\n3,30,7\n", "y", [2.0, 20.0], [3.0, 30.0]),
    ];
    let mut wrong = Vec::new();
    for (text, name, first, last) in right {
        let found = sets(text).and_then(|(names, points)| {
            let column = names.iter().position(|known| known == name);
            let column = column.ok_or_else(|| format!("{names:?}"))? + 1;
            let row = |row: usize| [points[0][row], points[column][row]].map(f64::to_bits);
            let rows = [row(0), row(points[0].len() - 1)];
            let columns = read(text)?;
            let same = rows == [first, last].map(|row| row.map(f64::to_bits))
                && columns.names.iter().any(|known| known == name)
                && columns.values.row(0)[0] == first[0];
            if same { Ok(()) } else { Err(format!("{points:?} {columns:?}")) }
        });
        wrong.extend(found.err().map(|found| format!("{text:?}: {found}")));
    }
    for (text, says) in [
        (
            "a;b\n1;1,250\n2;2,500\n",
            "'1,250' is 1250 with a decimal point and 1.25 with a decimal comma",
        ),
        (
            "a\tb\n1\t1.250\n2\t2.500\n",
            "'1.250' is 1.25 with a decimal point and 1250 with a decimal comma",
        ),
        ("a,b\n1,\"1,250\"\n2,\"2,500\"\n", "nothing tells which is meant"),
        (
            "a;b;c\n1;1,250;1.5\n2;2,500;0,5\n",
            "line 3, column 3: '0,5' is not a number where the others have decimal points",
        ),
        ("x,y\n0,5,11,0\n1,5,13,0\n", "line 2 has 4 cells below 2 names"),
        ("x,y\n0,5,11\n1,5,13\n", "line 2 has 3 cells below 2 names"),
        ("x,y\n1,5,11\n2,5,13\n", "line 2 has 3 cells below 2 names"),
        ("x;y\n5;1;2\n3;4;5\n", "line 2 has 3 cells below 2 names"),
        ("x;y\n1;5;2\n2;4\n", "line 3 has 2 columns, but 3 are expected"),
        ("x,y\n1,<0.1\n2,20\n3,30\n", "line 2, column 2: '<0.1' is not a number"),
        ("x,y\n1,20\n2,<0.1\n3,30\n", "line 3, column 2: '<0.1' is not a number"),
        ("x;y;z\n1;n.d.;2\n1;below;2\n2;20;3\n", "line 2, column 2: 'n.d.' is not a number"),
        (",x,y\n1,1,2\na,2,3\n", "line 3, column 1: 'a' is not a number"),
        (
            "##TITLE=made\n##JCAMP-DX=4.24\n##XYDATA=(X++(Y..Y))\n400 51 53\n##END=\n",
            "it is JCAMP-DX; in Python",
        ),
        ("$$ made\n##title= made\n##JcampDX= 5.01 $$ by\n1 2\n2 3\n", "it is JCAMP-DX; in Python"),
    ] {
        let errors = [sets(text).err(), read(text).err()];
        if !errors.iter().all(|error| error.as_ref().is_some_and(|error| error.contains(says))) {
            wrong.push(format!("{text:?}: {errors:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} are wrong: {wrong:#?}", wrong.len());
    let columns = read("x,y,z\ninf,5,6\n2,20,6\n3,inf,7\n").expect("columns");
    assert_eq!(
        columns.notes,
        ["1 row without x is left out", "1 cell without a number is left out"]
    );
    for (mark, y) in [(DecimalMark::Point, 1250.0), (DecimalMark::Comma, 1.25)] {
        let options = ColumnOptions::default().with_decimal(Some(mark));
        let columns = Columns::read(b"a;b\n1;1,250\n2;2,500\n", &options).expect("columns");
        assert_eq!(columns.values.row(1)[0], y);
    }
    let long = ColumnOptions::default().with_by(vec!["well".to_owned()]);
    let error = DataSets::read(b"well,t,y\nA,<0,5\nA,1,6\nA,2,7\n", &long).expect_err("a word");
    assert_eq!(error.to_string(), "line 2, column 2: '<0' is not a number");
    // A column that is not read tells the mark.
    let some = ColumnOptions::default().with_columns(vec!["a".to_owned(), "b".to_owned()]);
    let text = b"a;b;c\n1;1,125;v\n2;2,250;0,5\n";
    assert_eq!(Columns::read(text, &some).expect("columns").values.row(1).to_vec(), [1.125, 2.25]);
    // Half of a number is none of the names of rows, whichever columns are read.
    let some = ColumnOptions::default().with_columns(vec!["x".to_owned(), "y".to_owned()]);
    let error = Columns::read(b"x,y\n0,5,11\n1,5,13\n", &some).expect_err("halves").to_string();
    assert!(error.contains("line 2 has 3 cells below 2 names"), "{error}");
    let rows = Columns::read(b"x;y\na;5;11\n7;6;13\n", &some).expect("names of rows");
    assert_eq!(rows.values.row(0).to_vec(), [5.0, 6.0]);
    let indexed = ColumnOptions::default().with_columns(vec!["1".to_owned(), "signal".to_owned()]);
    let columns = Columns::read(b",time,signal\n0,0.5,11\n1,1.5,13\n", &indexed).expect("columns");
    assert_eq!(columns.values.row(0).to_vec(), [0.0, 1.0]);
}
