//! Tables of localizations, and conditions on their rows.

use std::fs;

use spotfit::Status;
use spotfit::localize::{Checks, Flags, Localization};
use spotfit::table::{CsvReader, CsvWriter, Filter, Info, Layout, Table, TableError, WidthColumns};

fn written(layout: &Layout, spots: &[Localization]) -> Vec<u8> {
    let mut writer = CsvWriter::new(Vec::new());
    writer.write(&layout.table(spots, &Info::default())).unwrap();
    writer.finish().unwrap()
}

fn read(layout: &Layout, text: &[u8]) -> Result<Vec<Localization>, TableError> {
    layout.localizations(&CsvReader::new(text)?.read_all(1 << 20)?)
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
        depth: None,
        errors: None,
        checks: None,
        status: if i == 2 { Status::AtLimit } else { Status::MinStep },
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
        assert_eq!(read(&format, &written(&format, &spots())).unwrap(), spots());
    }
}

/// Proves that two widths, an angle and what was checked come back, and that ThunderSTORM's columns are there.
#[test]
fn other_columns_come_back() {
    // Only the library makes checks.
    let one = read(&Layout::default(), b"frame,x,y,neighbour,flags\n1,2,3,4,0\n").unwrap();
    let of_table = one[0].checks.expect("checks");
    let checked = |i: u8, spot: Localization| {
        let neighbour = if i == 0 { f64::INFINITY } else { 4.25 };
        let mut checks: Checks = of_table;
        (checks.neighbour, checks.goodness, checks.flags) = (neighbour, 1.125, Flags::from_bits(i));
        Localization { checks: Some(checks), ..spot }
    };
    let spots: Vec<Localization> = (0..16).zip(spots()).map(|(i, spot)| checked(i, spot)).collect();
    let wide = |spot: &Localization| Localization {
        sigma: 1.5,
        sigma_x: 1.125,
        sigma_y: 2.0,
        uncertainty: (0.25f64 * 0.25 + 0.75 * 0.75).sqrt() / 2f64.sqrt(),
        uncertainty_x: 0.25,
        uncertainty_y: 0.75,
        ..*spot
    };
    let wide: Vec<Localization> = spots.iter().map(wide).collect();
    let turned: Vec<Localization> =
        wide.iter().map(|spot| Localization { angle: -0.625, ..*spot }).collect();
    let format = Layout::default().with_pixel_size(Some(100.0)).with_checks(true);
    let format = format.with_status(true);
    for (widths, spots) in
        [(WidthColumns::One, &spots), (WidthColumns::Two, &wide), (WidthColumns::Turned, &turned)]
    {
        let format = format.clone().with_widths(widths);
        let file = written(&format, spots);
        let header =
            String::from_utf8_lossy(&file[..file.iter().position(|b| *b == b'\n').unwrap()])
                .into_owned();
        let two = "\"sigma1 [nm]\",\"sigma2 [nm]\"";
        assert_eq!(header.contains(two), widths != WidthColumns::One, "{header}");
        assert!(header.contains("\"uncertainty_xy [nm]\""), "{header}");
        let mut back = read(&format, &file).unwrap();
        for (read, spot) in back.iter_mut().zip(spots) {
            // It has four decimals.
            assert!((read.uncertainty - spot.uncertainty).abs() < 1e-6);
            read.uncertainty = spot.uncertainty;
        }
        assert_eq!(&back, spots);
    }
    let wrong = "frame,x,y,neighbour,flags\n1,2,3,4,-1\n";
    let said = read(&Layout::default(), wrong.as_bytes()).unwrap_err().to_string();
    assert_eq!(said, "row 1: flags = -1 is not a sum of 1, 2, 4, 8 and 16");
}

/// Proves that a table of ThunderSTORM's is read, and that what is wrong is named.
#[test]
fn foreign_tables_are_read() {
    let table = "\"frame\",\"x [nm]\",\"y [nm]\",\"uncertainty [nm]\"\n2,1000,500.5,12\n";
    let format = Layout::default().with_pixel_size(Some(100.0));
    let spots = read(&format, table.as_bytes()).unwrap();
    let Localization { id, frame, x, y, sigma, uncertainty, .. } = spots[0];
    assert_eq!((id, frame, x, y, uncertainty), (1, 1, 10.0, 5.005, 0.12));
    assert!(sigma.is_nan());
    for (table, said) in [
        (table.replace("2,", "0,"), "line 2: frame = '0' is not the number of a frame, from 1"),
        (table.replace("500.5", "high"), "line 2: y [nm] = 'high' is not a number"),
        (table.replace("y [nm]", "z [nm]"), "there is no column 'y'"),
    ] {
        assert_eq!(read(&format, table.as_bytes()).unwrap_err().to_string(), said);
    }
    let error = read(&Layout::default(), table.as_bytes()).unwrap_err();
    assert!(matches!(error, TableError::PixelSize { .. }));
}

/// Proves that a table that cannot be written leaves nothing behind.
#[test]
fn a_failed_table_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    // A folder has the name already.
    let path = folder.path().join("locs.csv");
    fs::create_dir(&path).unwrap();
    assert!(Layout::default().save(&path, &spots()).is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let path = folder.path().join("others.csv");
    Layout::default().save(&path, &spots()).unwrap();
    assert_eq!(Layout::default().load(&path).unwrap().len(), 10_000);
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
