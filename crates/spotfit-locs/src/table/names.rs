//! What columns are called: here, by ThunderSTORM, and by Picasso.

use super::Unit;

/// What a number of a column is a number of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// A length in the plane: pixels or nanometres.
    Length,
    /// A length along the axis: always nanometres.
    Depth,
    Photons,
    Angle,
    /// A whole number.
    Count,
    /// A number without a unit.
    Other,
}

/// A column that is known.
#[derive(Debug)]
pub(super) struct Known {
    /// Its name here.
    pub(super) name: &'static str,
    /// Its name in CSV tables, without the unit; the first is written, all are read.
    pub(super) csv: &'static [&'static str],
    /// Its name in Picasso's tables.
    pub(super) picasso: Option<&'static str>,
    pub(super) quantity: Quantity,
}

const fn known(
    name: &'static str,
    csv: &'static [&'static str],
    picasso: Option<&'static str>,
    quantity: Quantity,
) -> Known {
    Known { name, csv, picasso, quantity }
}

/// All that are known, in the order in which they are written.
#[rustfmt::skip]
pub(super) static KNOWN: &[Known] = {
    use Quantity::{Angle, Count, Depth, Length, Other, Photons};
    &[
        known("id", &["id"], None, Count),
        known("frame", &["frame"], Some("frame"), Count),
        known("x", &["x"], Some("x"), Length),
        known("y", &["y"], Some("y"), Length),
        known("z", &["z"], Some("z"), Depth),
        known("sigma", &["sigma"], None, Length),
        known("sigma_x", &["sigma1"], Some("sx"), Length),
        known("sigma_y", &["sigma2"], Some("sy"), Length),
        known("angle", &["angle"], Some("angle"), Angle),
        known("photons", &["intensity"], Some("photons"), Photons),
        known("background", &["offset"], Some("bg"), Photons),
        known("background_std", &["bkgstd"], None, Photons),
        known("chi2", &["chi2"], Some("chi_square"), Other),
        known("uncertainty", &["uncertainty_xy", "uncertainty"], None, Length),
        known("uncertainty_x", &["uncertainty_x"], Some("lpx"), Length),
        known("uncertainty_y", &["uncertainty_y"], Some("lpy"), Length),
        known("uncertainty_z", &["uncertainty_z"], Some("lpz"), Depth),
        known("photons_error", &["intensity_error"], Some("photons_unc"), Photons),
        known("background_error", &["offset_error"], Some("bg_unc"), Photons),
        known("sigma_error", &["sigma_error"], None, Length),
        known("sigma_x_error", &["sigma1_error"], Some("sx_unc"), Length),
        known("sigma_y_error", &["sigma2_error"], Some("sy_unc"), Length),
        known("z_distance", &["z_distance"], Some("d_zcalib"), Other),
        known("z_status", &["z_status"], None, Other),
        known("neighbour", &["neighbour"], None, Length),
        known("goodness", &["goodness"], None, Other),
        known("flags", &["flags"], None, Count),
        known("iterations", &["iterations"], Some("iterations"), Other),
        known("molecule", &["molecule"], None, Count),
        known("on_time", &["on_time"], Some("len"), Count),
        known("detections", &["detections"], Some("n"), Count),
        known("status", &["status"], None, Other),
    ]
};

pub(super) fn find(name: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.name == name)
}

/// Columns of Picasso that are copied, and that nobody has to be told about.
pub(super) const PICASSO_ALONE: &[&str] =
    &["group", "net_gradient", "ellipticity", "likelihood", "log_likelihood", "chi_square_reduced"];

/// The column that Picasso calls so.
pub(super) fn from_picasso(name: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.picasso == Some(name))
}

/// The column with this name in a CSV table, its unit, and what its numbers are multiplied by to be in that unit.
/// `None` if the name is not known or the unit is not one of it.
pub(super) fn from_csv(header: &str) -> Option<(&'static Known, Unit, f64)> {
    let (name, unit) = match header.split_once(" [") {
        Some((name, rest)) => (name, Some(rest.strip_suffix(']')?)),
        None => (header, None),
    };
    // Tables of positions, and truths, have the names that are used here.
    let called = |known: &&Known| known.csv.contains(&name) || known.name == name;
    let known = KNOWN.iter().find(called)?;
    let (unit, scale) = match (known.quantity, unit) {
        (Quantity::Length, Some("px") | None) => (Unit::Pixel, 1.0),
        (Quantity::Length | Quantity::Depth, Some("nm")) => (Unit::Nanometre, 1.0),
        (Quantity::Length | Quantity::Depth, Some("um" | "µm" | "μm")) => (Unit::Nanometre, 1e3),
        (Quantity::Depth, None) => (Unit::Nanometre, 1.0),
        (Quantity::Photons, Some("photon" | "photons") | None) => (Unit::Photon, 1.0),
        (Quantity::Angle, Some("rad") | None) => (Unit::Radian, 1.0),
        (Quantity::Angle, Some("deg")) => (Unit::Radian, std::f64::consts::PI / 180.0),
        (Quantity::Count | Quantity::Other, None) => (Unit::None, 1.0),
        _ => return None,
    };
    Some((known, unit, scale))
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
    let called = |known: &&Known| {
        let all = known.csv.iter().chain([&known.name]).chain(&known.picasso);
        all.into_iter().any(|name| plain(name) == wanted)
    };
    KNOWN.iter().find(called).map(|known| known.csv[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that no name means two columns.
    #[test]
    fn every_name_is_one_column() {
        for known in KNOWN {
            assert!(std::ptr::eq(find(known.name).unwrap(), known));
            for name in known.csv.iter().chain([&known.name]) {
                assert!(std::ptr::eq(from_csv(name).unwrap().0, known), "{name}");
            }
            if let Some(name) = known.picasso {
                assert!(std::ptr::eq(from_picasso(name).unwrap(), known), "{name}");
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

    /// Proves that units are understood, and that a unit that a column cannot have makes it another column.
    #[test]
    fn units_are_understood() {
        let of = |header| from_csv(header).map(|(known, unit, scale)| (known.name, unit, scale));
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
