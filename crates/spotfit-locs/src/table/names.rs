//! What the names of columns in files mean.

use super::{Dimension, Meaning, Unit};

/// The meaning of the column with this name here, unless it is only copied.
pub(super) fn used(name: &str) -> Option<Meaning> {
    Meaning::of(name).filter(|meaning| meaning.is_used())
}

/// All columns that are not only copied.
fn all() -> impl Iterator<Item = Meaning> {
    Meaning::ALL.iter().copied().filter(|meaning| meaning.is_used())
}

/// The column that is called so in Picasso's tables: columns that Picasso has not have the names that are used here.
pub(super) fn from_picasso(name: &str) -> Option<Meaning> {
    let called = |meaning: &Meaning| meaning.picasso().unwrap_or(meaning.name()) == name;
    Meaning::ALL.iter().copied().find(called)
}

/// The column with this name in a CSV table, its unit, and what its numbers are multiplied by to be in that unit.
/// `None` if the name is not known or the unit is not one of it. Nobody means spaces around a name that is known.
pub(super) fn from_csv(header: &str) -> Option<(Meaning, Unit, f64)> {
    let header = header.trim();
    let (name, unit) = match header.split_once(" [") {
        Some((name, rest)) => (name, Some(rest.strip_suffix(']')?)),
        None => (header, None),
    };
    // Tables of positions, and truths, have the names that are used here.
    let called = |meaning: &Meaning| meaning.csv().contains(&name) || meaning.name() == name;
    let known = all().find(called)?;
    let (unit, scale) = match (known.dimension(), unit) {
        (Dimension::Length, Some("px") | None) => (Unit::Pixel, 1.0),
        (Dimension::Length | Dimension::Depth, Some("nm")) => (Unit::Nanometre, 1.0),
        (Dimension::Length | Dimension::Depth, Some("um" | "µm" | "μm")) => {
            (Unit::Nanometre, 1e3)
        }
        (Dimension::Depth, None) => (Unit::Nanometre, 1.0),
        (Dimension::Photons, Some("photon" | "photons") | None) => (Unit::Photon, 1.0),
        (Dimension::Angle, Some("rad") | None) => (Unit::Radian, 1.0),
        (Dimension::Angle, Some("deg")) => (Unit::Radian, std::f64::consts::PI / 180.0),
        (Dimension::Time, Some("s") | None) => (Unit::Second, 1.0),
        (Dimension::Time, Some("ms")) => (Unit::Second, 1e-3),
        (Dimension::Count | Dimension::None, None) => (Unit::None, 1.0),
        _ => return None,
    };
    Some((known, unit, scale))
}

/// Names of columns in tables of other programs (Elyra, Nanoimager, SMAP, Picasso), without their units, spaces and capitals.
const OTHERS: [(&[&str], Meaning); 16] = [
    (&["id", "index"], Meaning::Id),
    (&["frame", "firstframe", "framenumber", "imagenumber"], Meaning::Frame),
    (&["x", "positionx", "xposition", "xpos", "posx"], Meaning::X),
    (&["y", "positiony", "yposition", "ypos", "posy"], Meaning::Y),
    (&["z", "positionz", "zposition", "zpos", "posz"], Meaning::Z),
    (&["sigma", "psfsigma"], Meaning::Sigma),
    (&["sx", "sigmax", "sigma1", "psfsigmax", "psfx"], Meaning::SigmaX),
    (&["sy", "sigmay", "sigma2", "psfsigmay", "psfy"], Meaning::SigmaY),
    (&["photons", "phot", "intensity", "numberphotons", "numberofphotons"], Meaning::Photons),
    (&["bg", "background", "offset"], Meaning::Background),
    (&["bkgstd", "backgroundstd"], Meaning::BackgroundStd),
    (
        &["uncertainty", "uncertaintyxy", "precision", "xyprecision", "locprec", "lp"],
        Meaning::Uncertainty,
    ),
    (&["lpx", "uncertaintyx", "precisionx", "xprecision", "locprecx"], Meaning::UncertaintyX),
    (&["lpy", "uncertaintyy", "precisiony", "yprecision", "locprecy"], Meaning::UncertaintyY),
    (&["lpz", "uncertaintyz", "precisionz", "zprecision", "locprecz"], Meaning::UncertaintyZ),
    (&["chi2", "chisquare", "chisquared"], Meaning::Chi2),
];

/// The column with this name in a table of another program, as [`from_csv`]: `x_nm`, `lpx`, `X (nm)`, `Position X [nm]`.
pub(super) fn from_others(header: &str) -> Option<(Meaning, Unit, f64)> {
    let small = header.trim().to_lowercase();
    let bracketed =
        small.split_once(['[', '(']).map(|(name, rest)| (name, rest.trim_end_matches([']', ')'])));
    let (name, unit) = match bracketed {
        Some((name, unit)) => (name, Some(unit.trim())),
        None => {
            let units = [
                ("_nm", "nm"),
                ("_um", "um"),
                ("_px", "px"),
                ("_pixel", "px"),
                ("_pix", "px"),
                ("_photons", "photons"),
                ("_photon", "photons"),
            ];
            let suffix =
                units.iter().find_map(|&(end, unit)| Some((small.strip_suffix(end)?, Some(unit))));
            // SMAP's: xnm, locprecnm.
            let merged = || {
                small
                    .strip_suffix("nm")
                    .filter(|name| !name.is_empty())
                    .map(|name| (name, Some("nm")))
            };
            suffix.or_else(merged).unwrap_or((&small, None))
        }
    };
    let plain = name.replace([' ', '-', '_', '.'], "");
    let &(_, known) = OTHERS.iter().find(|(names, _)| names.contains(&&*plain))?;
    let unit = match unit {
        Some("pix" | "pixel" | "pixels") => Some("px"),
        Some("micron" | "microns" | "micrometer" | "micrometre") => Some("um"),
        Some("nanometer" | "nanometre") => Some("nm"),
        unit => unit,
    };
    let header = match unit {
        Some(unit) => format!("{} [{unit}]", known.csv()[0]),
        None => known.csv()[0].to_owned(),
    };
    from_csv(&header)
}

/// What is known of a column by its name in a CSV table, ours or another program's.
pub(super) fn known(header: &str) -> Option<(Meaning, Unit, f64)> {
    from_csv(header).or_else(|| from_others(header))
}

/// Names of the columns of rapidSTORM's tables, whose first line describes them.
pub(super) fn of_rapidstorm(line: &str) -> Option<Vec<String>> {
    let text = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("<localizations")?;
    let attribute = |field: &str, name: &str| {
        let (_, rest) = field.split_once(&format!(" {name}=\""))?;
        Some(rest.split_once('"')?.0.to_owned())
    };
    let name = |field: &str| {
        let identifier = attribute(field, "identifier")?;
        let unit = match attribute(field, "unit").as_deref() {
            Some("nanometer") => " [nm]",
            Some("micrometer") => " [um]",
            Some("pixel") => " [px]",
            Some("A/D count") => " [ADU]",
            _ => "",
        };
        Some(match identifier.as_str() {
            "Position-0-0" => format!("x{unit}"),
            "Position-1-0" => format!("y{unit}"),
            "Position-2-0" => format!("z{unit}"),
            "ImageNumber-0-0" => "frame".to_owned(),
            "Amplitude-0-0" => format!("amplitude{unit}"),
            other => format!("{other}{unit}"),
        })
    };
    let names: Vec<String> = text.split("<field").skip(1).filter_map(name).collect();
    (!names.is_empty()).then_some(names)
}

/// Whether the first line of one of rapidSTORM's tables describes rows that have localizations in themselves.
pub(super) fn has_tracks(line: &str) -> bool {
    line.matches("<localizations").count() > 1
}

/// The name in CSV tables of the column that one of another name may be meant for, such as `Photons` or `x_nm`.
pub(super) fn similar(header: &str) -> Option<&'static str> {
    let plain = |name: &str| {
        let name = name.split(['[', '(']).next().unwrap_or_default().trim().to_lowercase();
        let units =
            ["_nm", "nm", "_px", "_um", "_pixel", "_pix", " nm", " px", "_photons", "_photon"];
        let name = units.iter().find_map(|unit| name.strip_suffix(unit)).unwrap_or(&name);
        name.replace([' ', '-', '_', '.'], "")
    };
    let wanted = plain(header);
    // SMAP's.
    let others = [
        ("phot", "intensity"),
        ("locprec", "uncertainty_xy"),
        ("locprecz", "uncertainty_z"),
        ("psfx", "sigma1"),
        ("psfy", "sigma2"),
    ];
    if let Some((_, name)) = others.iter().find(|(other, _)| *other == wanted) {
        return Some(name);
    }
    let called = |meaning: &Meaning| {
        let all = meaning.csv().iter().copied().chain([meaning.name()]).chain(meaning.picasso());
        all.into_iter().any(|name| plain(name) == wanted)
    };
    all().find(called).map(|meaning| meaning.csv()[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that no name means two columns.
    #[test]
    fn every_name_is_one_column() {
        for &meaning in Meaning::ALL {
            assert_eq!(Meaning::of(meaning.name()), Some(meaning));
            for name in meaning.csv().iter().copied().chain([meaning.name()]) {
                let found = from_csv(name).map(|(found, ..)| found);
                assert_eq!(found, Some(meaning).filter(|meaning| meaning.is_used()), "{name}");
            }
            if let Some(name) = meaning.picasso() {
                assert_eq!(from_picasso(name), Some(meaning), "{name}");
            }
        }
    }

    /// Proves that names that are nearly known are told.
    #[test]
    fn similar_names_are_told() {
        for (header, meant) in [
            ("Photons", "intensity"),
            ("x_nm", "x"),
            ("X (nm)", "x"),
            ("Intensity [ADU]", "intensity"),
            ("sigma 1", "sigma1"),
            ("LPX", "uncertainty_x"),
            ("frame_px", "frame"),
            ("xnm", "x"),
            ("phot", "intensity"),
            ("locprecnm", "uncertainty_xy"),
            ("PSFxnm", "sigma1"),
        ] {
            assert_eq!(similar(header), Some(meant), "{header}");
        }
        for header in ["area", "", "[nm]", "net_gradient"] {
            assert_eq!(similar(header), None, "{header}");
        }
    }

    /// Proves that names of other programs are understood where their unit can be, and that ours are not taken for theirs.
    #[test]
    fn names_of_others_are_understood() {
        let of =
            |header| from_others(header).map(|(known, unit, scale)| (known.name(), unit, scale));
        for (header, name, unit, scale) in [
            ("Position X [nm]", "x", Unit::Nanometre, 1.0),
            ("X (nm)", "x", Unit::Nanometre, 1.0),
            ("x_nm", "x", Unit::Nanometre, 1.0),
            ("ynm", "y", Unit::Nanometre, 1.0),
            ("Z (µm)", "z", Unit::Nanometre, 1e3),
            ("lpx", "uncertainty_x", Unit::Pixel, 1.0),
            ("locprecnm", "uncertainty", Unit::Nanometre, 1.0),
            ("PSF Sigma X (pix)", "sigma_x", Unit::Pixel, 1.0),
            ("Number Photons", "photons", Unit::Photon, 1.0),
            ("First Frame", "frame", Unit::None, 1.0),
        ] {
            assert_eq!(of(header), Some((name, unit, scale)), "{header}");
        }
        for other in
            ["intensity [ADU]", "Background variance", "nm", "z_px", "frame (s)", "channel", ""]
        {
            assert_eq!(of(other), None, "{other}");
        }
        for (names, meaning) in OTHERS {
            assert!(
                names
                    .iter()
                    .all(|name| from_others(name).is_some_and(|(found, ..)| found == meaning))
            );
        }
    }

    /// Proves that units are understood, and that a unit that a column cannot have makes it another column.
    #[test]
    fn units_are_understood() {
        let of = |header| from_csv(header).map(|(known, unit, scale)| (known.name(), unit, scale));
        assert_eq!(of("x [nm]"), Some(("x", Unit::Nanometre, 1.0)));
        assert_eq!(of("x [um]"), Some(("x", Unit::Nanometre, 1e3)));
        assert_eq!(of("x"), Some(("x", Unit::Pixel, 1.0)));
        assert_eq!(of("uncertainty [nm]"), Some(("uncertainty", Unit::Nanometre, 1.0)));
        assert_eq!(of("intensity [photon]"), Some(("photons", Unit::Photon, 1.0)));
        for other in ["intensity [ADU]", "z [px]", "x [nm", "frame [s]", "area"] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
