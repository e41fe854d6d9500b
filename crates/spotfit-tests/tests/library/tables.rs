//! Tables of localizations, and conditions on their rows.

use std::fs;

use spotfit::Status;
use spotfit::localize::Localization;
use spotfit::table::{
    CsvReader, CsvWriter, Filter, Info, Kind, Layout, Table, TableError, Unit, WidthColumns,
};

fn table(layout: &Layout, spots: &[Localization]) -> Table {
    layout.table(spots, &Info::default())
}

fn written(table: &Table) -> Vec<u8> {
    let mut writer = CsvWriter::new(Vec::new());
    writer.write(table).unwrap();
    writer.finish().unwrap()
}

fn read(text: &[u8]) -> Result<Table, TableError> {
    CsvReader::new(text)?.read_all(1 << 20)
}

/// Proves that the columns of a table are those that it was written with.
fn comes_back(table: &Table) {
    let back = read(&written(table)).unwrap();
    assert_eq!((back.columns().len(), back.rows()), (table.columns().len(), table.rows()));
    for (own, read) in table.columns().iter().zip(back.columns()) {
        assert_eq!((&own.name, own.unit), (&read.name, read.unit));
        if let (Kind::Words(words), Kind::Words(read_words)) = (&own.kind, &read.kind) {
            let pairs = own.values.iter().zip(&read.values);
            let mut pairs = pairs.map(|(&own, &read)| (own as usize, read as usize));
            assert!(pairs.all(|(own, read)| words[own] == read_words[read]), "{}", own.name);
            continue;
        }
        // Lengths have four decimals in nanometres.
        let near = |(own, read): (&f64, &f64)| own == read || (own - read).abs() <= 5.1e-5;
        assert!(own.values.iter().zip(&read.values).all(near), "{}", own.name);
    }
}

fn spots() -> Vec<Localization> {
    let spot = |i: u64| Localization {
        id: 3 * i + 1,
        frame: i as usize / 3,
        x: 10.25 + i as f64,
        y: 7.125,
        sigma: 1.3125,
        sigma_x: 1.3125,
        sigma_y: 1.3125,
        angle: 0.0,
        intensity: 812.5,
        offset: 3.25,
        offset_x: 0.0,
        offset_y: 0.0,
        background_std: 2.5,
        chi2: 130.75,
        uncertainty: 0.0625,
        uncertainty_x: 0.0625,
        uncertainty_y: 0.0625,
        status: if i == 2 { Status::AtLimit } else { Status::MinStep },
        ..Localization::UNKNOWN
    };
    (0..10_000).map(spot).collect()
}

/// Proves that a table is read as it was written, in either unit, with either origin.
#[test]
fn tables_come_back() {
    let formats = [
        Layout::default().with_status(true),
        Layout::default().with_status(true).with_pixel_size(Some(128.0)),
        Layout::default().with_status(true).with_corner_origin(true),
    ];
    for format in formats {
        comes_back(&table(&format, &spots()));
    }
}

/// Proves that two widths and an angle come back, and that ThunderSTORM's columns are there.
#[test]
fn other_columns_come_back() {
    let wide = |spot: &Localization| Localization {
        sigma: 1.5,
        sigma_x: 1.125,
        sigma_y: 2.0,
        angle: -0.625,
        uncertainty: (0.25f64 * 0.25 + 0.75 * 0.75).sqrt() / 2f64.sqrt(),
        uncertainty_x: 0.25,
        uncertainty_y: 0.75,
        ..*spot
    };
    let spots: Vec<Localization> = spots().iter().take(16).map(wide).collect();
    let format = Layout::default().with_pixel_size(Some(100.0)).with_status(true);
    for widths in [WidthColumns::One, WidthColumns::Two, WidthColumns::Turned] {
        let table = table(&format.clone().with_widths(widths), &spots);
        comes_back(&table);
        let file = written(&table);
        let header =
            String::from_utf8_lossy(&file[..file.iter().position(|b| *b == b'\n').unwrap()])
                .into_owned();
        let two = "\"sigma1 [nm]\",\"sigma2 [nm]\"";
        assert_eq!(header.contains(two), widths != WidthColumns::One, "{header}");
        assert_eq!(header.contains("angle"), widths == WidthColumns::Turned, "{header}");
        assert!(header.contains("\"uncertainty_xy [nm]\""), "{header}");
    }
}

/// Proves that a table of ThunderSTORM's is read, and that what is wrong is named.
#[test]
fn foreign_tables_are_read() {
    let text = "\"frame\",\"x [nm]\",\"y [nm]\",\"uncertainty [nm]\"\n2,1000,500.5,12\n";
    let mut table = read(text.as_bytes()).unwrap();
    assert_eq!(table.values("frame").unwrap(), [1.0]);
    assert!(matches!(table.lengths("x", Unit::Pixel), Err(TableError::PixelSize { .. })));
    table.info.pixel_size = Some(100.0);
    assert_eq!(*table.lengths("uncertainty_x", Unit::Pixel).unwrap(), [0.12]);
    for (text, said) in [
        (text.replace("2,", "0,"), "line 2: frame = '0' is not the number of a frame, from 1"),
        (text.replace("500.5", "high"), "line 2: y [nm] = 'high' is not a number"),
        (text.replace("y [nm]", "z [nm]"), "there is no column 'y'"),
    ] {
        let read = read(text.as_bytes()).and_then(|table| table.values("y").map(drop));
        assert_eq!(read.unwrap_err().to_string(), said);
    }
}

/// Proves that a table that cannot be written leaves nothing behind.
#[test]
fn a_failed_table_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    // A folder has the name already.
    let path = folder.path().join("locs.csv");
    fs::create_dir(&path).unwrap();
    let table = table(&Layout::default(), &spots());
    assert!(table.save(&path).is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let path = folder.path().join("others.csv");
    table.save(&path).unwrap();
    assert_eq!(Table::load(&path).unwrap().rows(), 10_000);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

fn few() -> Table {
    let text = "frame,\"x [nm]\",\"sigma1 [nm]\",\"sigma2 [nm]\",\"intensity [photon]\",\
        \"offset [photon]\",\"bkgstd [photon]\",\"uncertainty_xy [nm]\",area,status\n\
        1,100,120,130,500,10,3,7,7,min_step\n2,200,90,100,NaN,10,3,8,8,min_step\n3,300,200,210,50,10,3,9,9,max\n";
    let mut reader = CsvReader::new(text.as_bytes()).unwrap();
    let mut table = reader.read_all(10).unwrap();
    table.info.pixel_size = Some(100.0);
    table
}

/// Proves that columns have all their names, in either unit, that NaN fulfils nothing, and that a condition names all the
/// columns that it needs.
#[test]
fn conditions_know_every_name() {
    let table = few();
    for (text, keep) in [
        ("photons > 100", [true, false, false]),
        ("!(photons > 100)", [false, true, true]),
        ("\"intensity [photon]\" > 10 & x < 250", [true, false, false]),
        ("intensity > 100", [true, false, false]),
        ("intensity > 100 & uncertainty_xy < 8", [true, false, false]),
        ("sigma1 > 100 & bkgstd == 3 & offset == 10", [true, false, true]),
        ("80 < sigma < 150 & frame < 3", [true, true, false]),
        ("sx > 100", [true, false, true]),
        ("sigma_px < 1", [false, true, false]),
        ("x_px == 3 | area == 7", [true, false, true]),
        ("frame == 1", [true, false, false]),
        ("status == min_step & frame > 1", [false, true, false]),
        ("status != min_step", [false, false, true]),
        ("!(status == stalled)", [true, true, true]),
    ] {
        let filter = Filter::new(text, &table).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(filter.keep(&table).unwrap(), keep, "{text}");
        let mut needed = table.clone();
        for column in table.columns() {
            if !filter.columns().contains(&column.name.as_str()) {
                needed.remove(&column.name);
            }
        }
        assert_eq!(filter.keep(&needed).unwrap(), keep, "{text} with its columns only");
    }
    for wrong in ["photon > 1", "photons", "status == 1", "photons >", "sy_unc < 1", ""] {
        assert!(Filter::new(wrong, &table).is_err(), "{wrong}");
    }
}
