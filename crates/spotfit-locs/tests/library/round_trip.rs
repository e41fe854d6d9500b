//! Tables that are written are read again as what they were.

use std::io::Cursor;

use proptest::prelude::*;
use spotfit_files::hdf5::{H5Writer, Member, NumberKind};
use spotfit_locs::table::{
    Column, CsvReader, CsvWriter, Info, Kind, PicassoReader, PicassoWriter, Table, TableError, Unit,
};

fn csv(table: &Table) -> std::io::Result<Vec<u8>> {
    let mut writer = CsvWriter::new(Vec::new());
    writer.write(table)?;
    writer.finish()
}

fn read_csv(text: &[u8]) -> Table {
    let table = CsvReader::new(text).and_then(|mut reader| reader.read_all(1 << 20));
    table.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(text)))
}

fn hdf5(table: &Table) -> Result<Vec<u8>, TableError> {
    let mut writer = PicassoWriter::new(Cursor::new(Vec::new()));
    writer.write(table)?;
    Ok(writer.finish()?.0.into_inner())
}

fn read_hdf5(file: &[u8]) -> Result<Table, TableError> {
    let mut reader = PicassoReader::new(Cursor::new(file), None)?;
    Ok(reader.read()?.expect("rows"))
}

/// Rows as another program may have written them: frames, and single precision.
fn foreign(names: &[String], values: &[Vec<f64>]) -> Vec<u8> {
    let kind = |name: &str| if name == "frame" { NumberKind::U32 } else { NumberKind::F32 };
    let member = |name: &String| Member { name: name.clone(), kind: kind(name) };
    let members: Vec<Member> = names.iter().map(member).collect();
    let mut writer = H5Writer::new(Cursor::new(Vec::new()), "locs", &members).expect("names");
    let values: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
    writer.append(&values).expect("rows");
    writer.finish(None).expect("a file").into_inner()
}

/// Names with whatever may be in one: what delimits and quotes fields, spaces at the ends, units, and names that mean another column.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[ a-z;,\"\t\\[\\]'µé=]{1,8}",
        1 => "\\PC{1,6}",
        1 => "[a\"\n\r,]{1,4}",
        2 => prop::sample::select(vec![
            "x [nm]", "intensity", "offset", "sigma1", "uncertainty_xy", " x", "area [nm]", "sep=;",
            "\u{feff}x", "Photons", "\"", "\"\"", "a,b", "a;b", "a\",\"b", " ", "z [px]", "id",
        ]).prop_map(str::to_owned),
    ]
}

/// What Picasso has, in the order of the rows.
const PICASSO: [&str; 12] =
    ["frame", "x", "y", "photons", "sx", "sy", "bg", "lpx", "lpy", "z", "angle", "net_gradient"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Proves that names, units and values in single precision survive the way from HDF5 to CSV and back, whatever the names, and that
    /// what CSV cannot hold is refused by name.
    #[test]
    fn hdf5_comes_back_through_csv(
        others in prop::collection::vec(name(), 0..4),
        rows in prop::collection::vec(prop::collection::vec(0.0f32..250.0, 16), 1..4),
        tiny in -30i32..3,
    ) {
        let mut names: Vec<String> = PICASSO.map(str::to_owned).to_vec();
        for name in others {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let scale = 10f32.powi(tiny);
        let value = |(column, name): (usize, &String)| -> Vec<f64> {
            let value = |row: &Vec<f32>| match name.as_str() {
                "frame" | "id" | "n" | "len" => f64::from(row[column].floor()),
                "angle" => f64::from(row[column] / 250.0 * 179.0 - 89.0),
                _ => f64::from(row[column] * scale),
            };
            rows.iter().map(value).collect()
        };
        let values: Vec<Vec<f64>> = names.iter().enumerate().map(value).collect();
        let table = match read_hdf5(&foreign(&names, &values)) {
            Err(TableError::TwoColumns(_)) => return Ok(()),
            table => table.expect("a table"),
        };
        let text = match csv(&table) {
            Ok(text) => text,
            Err(error) => {
                let said = error.to_string();
                prop_assert!(said.starts_with("the column '") && said.contains("cannot be written"), "{}", said);
                prop_assert!(names.len() > PICASSO.len(), "{}", said);
                return Ok(());
            }
        };
        let through = read_csv(&text);
        let of = |table: &Table| -> Vec<(String, Unit)> {
            let columns = table.columns().iter();
            let mut of: Vec<_> = columns.map(|one| (one.name.clone(), one.unit)).collect();
            // Picasso's columns have an order of their own.
            of.sort_by(|a, b| a.0.cmp(&b.0));
            of
        };
        prop_assert_eq!(of(&through), of(&table), "{}", String::from_utf8_lossy(&text));
        let back = read_hdf5(&hdf5(&through).expect("a table")).expect("a table");
        prop_assert_eq!(of(&back), of(&table));
        for original in table.columns() {
            let column = back.column(&original.name).expect("its name");
            let bits = |column: &Column| -> Vec<u32> {
                column.values.iter().map(|&value| (value as f32).to_bits()).collect()
            };
            prop_assert_eq!(bits(column), bits(original), "{}", column.name);
        }
    }

    /// Proves that positions and photons at any scale come back with three digits more than their errors need, or with six.
    #[test]
    fn digits_suffice_at_any_scale(
        rows in prop::collection::vec((0.0..500.0f64, 1.0..5000.0f64, 0.01..30.0f64), 1..20),
        lengths in -12i32..12,
        light in -12i32..12,
        known in any::<bool>(),
    ) {
        let (length, light) = (10f64.powi(lengths), 10f64.powi(light));
        let mut table = Table::new(Info::default());
        let mut add = |name: &str, unit: Unit, of: &dyn Fn(&(f64, f64, f64)) -> f64| {
            let values = rows.iter().map(of).collect();
            table.set(Column::new(name, unit, Kind::Rounded(unit.decimals()), values));
        };
        add("x", Unit::Nanometre, &|row| row.0 * length);
        add("photons", Unit::Photon, &|row| row.1 * light);
        if known {
            add("uncertainty", Unit::Nanometre, &|row| row.2 * length);
        }
        let read = read_csv(&csv(&table).expect("usual names"));
        for (row, &(x, photons, error)) in rows.iter().enumerate() {
            let of = |name: &str| read.values(name).expect("a column")[row];
            let near = |found: f64, value: f64, step: f64| {
                (found - value).abs() <= 0.5 * step * (1.0 + 1e-9) + 2.0 * f64::EPSILON * value
            };
            let step = if known { 1e-3 * error * length } else { 1e-5 * x * length };
            prop_assert!(near(of("x"), x * length, step), "{} is {}", x * length, of("x"));
            prop_assert!(near(of("photons"), photons * light, 1e-5 * photons * light));
            if known {
                prop_assert!(near(of("uncertainty"), error * length, 1e-5 * error * length));
            }
        }
    }

    /// Proves that words come back as they are, spaces and quotes included.
    #[test]
    fn words_come_back(words in prop::collection::btree_set("[ a-z;,\"]{0,5}[a-z\"]", 1..5)) {
        let words: Vec<String> = words.into_iter().collect();
        let rows = words.len();
        let mut table = Table::new(Info::default());
        table.set(Column::new("x", Unit::Pixel, Kind::Double, vec![1.0; rows]));
        let values = (0..rows).map(|row| row as f64).collect();
        table.set(Column::new("kind", Unit::None, Kind::Words(words), values));
        // Words that are numbers to every reader are none.
        let is_number = |word: &String| word.trim().parse::<f64>().is_ok();
        if let Kind::Words(words) = &table.columns()[1].kind {
            prop_assume!(!words.iter().any(is_number));
        }
        prop_assert_eq!(read_csv(&csv(&table).expect("usual names")), table);
    }
}

/// Proves what is said of names and words that a format cannot hold, and that two columns never get one name.
#[test]
fn what_cannot_be_written_is_refused() {
    let table = |names: &[&str]| {
        let mut table = Table::new(Info::default());
        for name in ["frame", "x", "y"] {
            let unit = if name == "frame" { Unit::None } else { Unit::Pixel };
            table.set(Column::new(name, unit, Kind::Double, vec![1.0]));
        }
        for name in names {
            table.set(Column::new(name, Unit::None, Kind::Double, vec![1.0]));
        }
        table
    };
    for (name, reason) in [
        ("a\nb", "'a\\nb' cannot be written: a name in a CSV table has no line breaks"),
        (
            "offset",
            "'offset' cannot be written: a CSV table with this name would be read as one of 'background'",
        ),
        (" y", "' y' cannot be written: a CSV table with this name would be read as one of 'y'"),
    ] {
        let said = csv(&table(&[name])).expect_err(name).to_string();
        assert!(said.ends_with(reason), "{said}");
    }
    for (names, reason) in [
        (
            &["a\0b"][..],
            "'a\\0b' cannot be written: a name in HDF5 is not empty and has no zero byte",
        ),
        (&[""], "'' cannot be written: a name in HDF5 is not empty and has no zero byte"),
        (
            &["background", "bg"],
            "'bg' cannot be written: it and 'background' would both be 'bg' in HDF5",
        ),
    ] {
        let said = hdf5(&table(names)).expect_err("a name").to_string();
        assert!(said.ends_with(reason), "{said}");
    }
    let mut words = table(&[]);
    let kind = Kind::Words(vec!["good".into(), "a\nb".into()]);
    words.set(Column::new("kind", Unit::None, kind, vec![1.0]));
    let said = csv(&words).expect_err("a word").to_string();
    assert!(said.starts_with("row 1: kind = 'a\\nb' is not a word without line breaks"), "{said}");
}
