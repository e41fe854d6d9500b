//! What columns are, as the user says.

use spotfit_locs::table::{ColumnNames, ColumnNamesError, CsvReader};

/// Proves that units are told from names, that what is wrong is said, and that columns are found and renamed.
#[test]
fn columns_are_named() {
    let text = "Time,PosX,Pos Y,x,Signal\n3,1,2,77,500\n";
    let read = |names: &str| {
        let names: ColumnNames =
            names.parse().map_err(|error: ColumnNamesError| error.to_string())?;
        let reader = CsvReader::new(text.as_bytes()).and_then(|one| one.with_names(&names));
        reader.and_then(|mut one| one.read_all(9)).map_err(|error| error.to_string())
    };
    let found = read("x = PosX um, y=Pos Y um,frame=Time, photons=Signal photons, odd=x");
    let found = found.expect("a table");
    for (name, value) in
        [("x", 1000.0), ("y", 2000.0), ("frame", 3.0), ("photons", 500.0), ("odd", 77.0)]
    {
        assert_eq!(found.values(name).expect(name), [value], "{name}");
    }
    for (names, says) in [
        ("", "no column is named"),
        ("x", "'x' is not NAME=COLUMN"),
        ("x=", "is not NAME=COLUMN"),
        ("x=PosX photons", "'x' cannot be in photon"),
        ("x=PosX nm,x=PosX nm", "twice"),
        ("x=PosX nm,y=PosX nm", "twice"),
        ("x=Posx nm", "there is no column 'Posx'"),
        ("x=PosX nm", "two columns"),
    ] {
        let error = read(names).expect_err(names);
        assert!(error.to_lowercase().contains(&says.to_lowercase()), "{names}: {error}");
    }
}

/// Proves that rapidSTORM's files of tracks, whose rows have localizations in themselves, are called what they are.
#[test]
fn tracks_of_rapidstorm_are_named() {
    let field = |name: &str| format!("<field identifier=\"{name}\" unit=\"nanometer\" />");
    let fields = ["Position-0-0", "Position-1-0"].map(field).concat();
    let inner = format!(
        "<localizations insequence=\"false\" repetitions=\"variable\">{fields}</localizations>"
    );
    for (inner, is_tracks) in [(inner, true), (String::new(), false)] {
        let text = format!(
            "# <localizations insequence=\"true\" repetitions=\"variable\">{fields}{inner}</localizations>\n1 2\n"
        );
        let error = CsvReader::new(text.as_bytes()).err().map(|error| error.to_string());
        let named =
            error.as_deref().is_some_and(|error| error.contains("rapidSTORM's file of tracks"));
        assert_eq!((named, error.is_some()), (is_tracks, is_tracks), "{error:?}");
    }
}
