//! What columns mean: one line for each column that is known, and no other list of their names.

use std::fmt;

use fit_core::Status;

use super::Unit;
use crate::depth::DepthStatus;

/// What the numbers of a column are numbers of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dimension {
    /// A length in the plane: pixels or nanometres.
    Length,
    /// A length along the axis: always nanometres.
    Depth,
    /// Photons.
    Photons,
    /// An angle in radians.
    Angle,
    /// A time in seconds.
    Time,
    /// A whole number.
    Count,
    /// A number without a unit, or a word.
    None,
    /// A number of another program, which is only copied.
    Copied,
}

impl Dimension {
    /// The unit of such numbers in a table whose lengths in the plane have this one.
    pub fn unit(self, lengths: Unit) -> Unit {
        match self {
            Self::Length => lengths,
            Self::Depth => Unit::Nanometre,
            Self::Photons => Unit::Photon,
            Self::Angle => Unit::Radian,
            Self::Time => Unit::Second,
            Self::Count | Self::None | Self::Copied => Unit::None,
        }
    }
}

/// How the numbers of localizations that are one molecule become one: see [`Table::combined`](super::Table::combined).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Merge {
    /// That of the first.
    First,
    Sum,
    Mean,
    /// Weighted by 1/σ² of its errors, if there are any.
    Weighted,
    /// 1/√Σσ⁻².
    Precision,
    /// √Σσ².
    Spread,
    /// The mean direction of axes, in radians: they have a period of π.
    Axis,
    /// All bits that are set in any.
    Bits,
}

/// All that is known of a column.
#[derive(Debug)]
struct About {
    name: &'static str,
    csv: &'static [&'static str],
    picasso: Option<&'static str>,
    dimension: Dimension,
    errors: &'static [Meaning],
    merge: Merge,
    title: &'static str,
}

macro_rules! columns {
    (@first $first:literal $($rest:literal)*) => { $first };
    (@option) => { None };
    (@option $name:literal) => { Some($name) };
    ($($variant:ident $name:literal [$($csv:literal)+] [$($picasso:literal)?] $dimension:ident [$($error:ident)*] $merge:ident $title:literal;)*) => {
        /// What a column means.
        ///
        /// A column that is known has one name here, whatever the file calls it. In CSV tables its unit follows, as in `x [nm]`.
        ///
        /// | here | ThunderSTORM, and our CSV | Picasso | |
        /// |---|---|---|---|
        $(#[doc = concat!("| `", $name, "` | `", columns!(@first $($csv)+), "` | ", $("`", $picasso, "`",)? " | ", $title, " |")])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Meaning {
            $(#[doc = concat!("`", $name, "`: ", $title)] $variant,)*
        }

        impl Meaning {
            /// All, in the order in which they are written.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];
        }

        const ABOUT: &[About] = &[$(About {
            name: $name,
            csv: &[$($csv),+],
            picasso: columns!(@option $($picasso)?),
            dimension: Dimension::$dimension,
            errors: &[$(Meaning::$error),*],
            merge: Merge::$merge,
            title: $title,
        }),*];
    };
}

// The name here; those in CSV tables without the unit, of which the first is written and all are read; Picasso's; what the
// numbers are; the columns of their errors, of which the first that a table has counts; how several become one; and what it is.
columns! {
    Id              "id"                 ["id"]              []              Count   [] First     "Number of the localization";
    Frame           "frame"              ["frame"]           ["frame"]       Count   [] First     "Frame, from 0 here and from 1 in CSV tables with units";
    Time            "time"               ["time"]            []              Time    [] First     "Time of the frame";
    X               "x"                  ["x"]               ["x"]           Length  [UncertaintyX Uncertainty] Weighted "x";
    Y               "y"                  ["y"]               ["y"]           Length  [UncertaintyY Uncertainty] Weighted "y";
    Z               "z"                  ["z"]               ["z"]           Depth   [UncertaintyZ] Weighted "z";
    Sigma           "sigma"              ["sigma"]           []              Length  [SigmaError]  Mean "Sigma";
    SigmaX          "sigma_x"            ["sigma1"]          ["sx"]          Length  [SigmaXError] Mean "Sigma along x";
    SigmaY          "sigma_y"            ["sigma2"]          ["sy"]          Length  [SigmaYError] Mean "Sigma along y";
    Angle           "angle"              ["angle"]           ["angle"]       Angle   [] Axis      "Angle of the first axis to x";
    Photons         "photons"            ["intensity"]       ["photons"]     Photons [PhotonsError] Sum "Photons";
    Background      "background"         ["offset"]          ["bg"]          Photons [BackgroundError] Sum "Background (photons per pixel)";
    OffsetX         "offset_x"           ["offset_x"]        []              Photons [] Sum       "Slope of the background along x (photons per pixel, per pixel)";
    OffsetY         "offset_y"           ["offset_y"]        []              Photons [] Sum       "Slope of the background along y (photons per pixel, per pixel)";
    BackgroundStd   "background_std"     ["bkgstd"]          []              Photons [] Mean      "Standard deviation of the background";
    Chi2            "chi2"               ["chi2"]            ["chi_square"]  None    [] Mean      "Squares of the residuals (χ²)";
    Uncertainty     "uncertainty"        ["uncertainty_xy" "uncertainty"] [] Length  [] Precision "Uncertainty of x and y";
    UncertaintyX    "uncertainty_x"      ["uncertainty_x"]   ["lpx"]         Length  [] Precision "Uncertainty of x";
    UncertaintyY    "uncertainty_y"      ["uncertainty_y"]   ["lpy"]         Length  [] Precision "Uncertainty of y";
    UncertaintyZ    "uncertainty_z"      ["uncertainty_z"]   ["lpz"]         Depth   [] Precision "Uncertainty of z";
    PhotonsError    "photons_error"      ["intensity_error"] ["photons_unc"] Photons [] Spread    "Standard error of the photons";
    BackgroundError "background_error"   ["offset_error"]    ["bg_unc"]      Photons [] Spread    "Standard error of the background";
    SigmaError      "sigma_error"        ["sigma_error"]     []              Length  [] Mean      "Standard error of sigma";
    SigmaXError     "sigma_x_error"      ["sigma1_error"]    ["sx_unc"]      Length  [] Mean      "Standard error of sigma along x";
    SigmaYError     "sigma_y_error"      ["sigma2_error"]    ["sy_unc"]      Length  [] Mean      "Standard error of sigma along y";
    ZDistance       "z_distance"         ["z_distance"]      ["d_zcalib"]    None    [] Mean      "Distance from the calibration";
    ZStatus         "z_status"           ["z_status"]        []              None    [] First     "How z was found";
    Neighbour       "neighbour"          ["neighbour"]       []              Length  [] Mean      "Nearest neighbour in the frame";
    Goodness        "goodness"           ["goodness"]        []              None    [] Mean      "Goodness of fit (χ² per degree of freedom)";
    Flags           "flags"              ["flags"]           []              Count   [] Bits      "What was remarkable of the fit, as bits";
    Iterations      "iterations"         ["iterations"]      ["iterations"]  None    [] Mean      "Iterations of the fit";
    Molecule        "molecule"           ["molecule"]        []              Count   [] First     "Number of the molecule, after linking";
    OnTime          "on_time"            ["on_time"]         ["len"]         Count   [] Mean      "Frames from the first to the last of a molecule";
    Detections      "detections"         ["detections"]      ["n"]           Count   [] Mean      "Localizations of a molecule";
    Status          "status"             ["status"]          []              None    [] First     "How the fit ended";
    File            "file"               ["file"]            []              Copied  [] First     "Table that it was joined from, from 0";
    Group           "group"              ["group"]           ["group"]       Copied  [] First     "Picasso's picks";
    NetGradient     "net_gradient"       ["net_gradient"]    ["net_gradient"] Copied [] Mean      "Picasso's net gradient";
    Ellipticity     "ellipticity"        ["ellipticity"]     ["ellipticity"] Copied  [] Mean      "Picasso's ellipticity";
    Likelihood      "likelihood"         ["likelihood"]      ["likelihood"]  Copied  [] Mean      "Picasso's likelihood";
    LogLikelihood   "log_likelihood"     ["log_likelihood"]  ["log_likelihood"] Copied [] Mean    "Picasso's log likelihood";
    PhotonRate      "photon_rate"        ["photon_rate"]     ["photon_rate"] Copied  [] Mean      "Picasso's photons a frame of a molecule";
    Chi2Reduced     "chi_square_reduced" ["chi_square_reduced"] ["chi_square_reduced"] Copied [] Mean "Picasso's χ² per degree of freedom";
}

impl Meaning {
    const fn about(self) -> &'static About {
        &ABOUT[self as usize]
    }

    /// The name of such a column here.
    pub const fn name(self) -> &'static str {
        self.about().name
    }

    /// The names of such columns here, for those who list what they need.
    pub const fn names<const N: usize>(of: [Self; N]) -> [&'static str; N] {
        let mut names = [""; N];
        let mut at = 0;
        while at < N {
            names[at] = of[at].name();
            at += 1;
        }
        names
    }

    /// Its names in CSV tables without the unit: the first is written, all are read, and so is [`Meaning::name`].
    pub fn csv(self) -> &'static [&'static str] {
        self.about().csv
    }

    /// Its name in Picasso's tables, if they have one.
    pub fn picasso(self) -> Option<&'static str> {
        self.about().picasso
    }

    /// What its numbers are numbers of.
    pub fn dimension(self) -> Dimension {
        self.about().dimension
    }

    /// What it is, in a few words, for plots and summaries.
    pub fn title(self) -> &'static str {
        self.about().title
    }

    /// The columns that may hold the errors of its numbers; the first that a table has counts.
    pub fn errors(self) -> &'static [Self] {
        self.about().errors
    }

    pub(crate) fn merge(self) -> Merge {
        self.about().merge
    }

    /// The columns for x and for y that one for both stands for.
    pub fn axes(self) -> Option<[Self; 2]> {
        match self {
            Self::Sigma => Some([Self::SigmaX, Self::SigmaY]),
            Self::Uncertainty => Some([Self::UncertaintyX, Self::UncertaintyY]),
            _ => None,
        }
    }

    /// The column for both axes that stands for one for x or y.
    pub fn of_both_axes(self) -> Option<Self> {
        Self::ALL.iter().copied().find(|both| both.axes().is_some_and(|axes| axes.contains(&self)))
    }

    /// The words that such a column has, in the order of their numbers; `None` for numbers.
    pub fn words(self) -> Option<Vec<String>> {
        match self {
            Self::Status => Some(Status::ALL.map(|status| status.name().to_owned()).to_vec()),
            Self::ZStatus => Some(DepthStatus::ALL.map(|status| status.name().to_owned()).to_vec()),
            _ => None,
        }
    }

    /// The meaning of the column that has this name here.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|meaning| meaning.name() == name)
    }

    /// Whether something is computed with such a column: it is not only copied.
    pub(super) fn is_used(self) -> bool {
        self.dimension() != Dimension::Copied
    }
}

impl AsRef<str> for Meaning {
    fn as_ref(&self) -> &str {
        self.name()
    }
}

impl fmt::Display for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Column, Kind};

    /// Proves that every line says what it must: errors have the dimension of the numbers whose errors they are, a column for both axes
    /// is a length as theirs are, and a column that is made here has its unit and kind.
    #[test]
    fn lines_agree() {
        for &meaning in Meaning::ALL {
            assert_eq!(Meaning::ALL[meaning as usize], meaning);
            for error in meaning.errors() {
                assert_eq!(error.dimension(), meaning.dimension(), "{meaning}: {error}");
            }
            for axis in meaning.axes().into_iter().flatten() {
                assert_eq!(axis.of_both_axes(), Some(meaning));
                assert_eq!(axis.dimension(), meaning.dimension());
            }
            let column = Column::of(meaning, Unit::Pixel, Vec::new());
            assert_eq!(column.meaning(), Some(meaning));
            assert_eq!(column.is_length(), meaning.dimension() == Dimension::Length, "{meaning}");
            match meaning.dimension() {
                Dimension::Count => assert_eq!(column.kind, Kind::Whole),
                Dimension::Length => assert_eq!(column.kind, Kind::Rounded(6)),
                Dimension::Depth => assert_eq!(column.kind, Kind::Rounded(4)),
                _ => {}
            }
        }
    }
}
