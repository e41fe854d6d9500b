//! What the papers claim, and whether it holds here: the first screen of the report.

mod found;
mod list;

use std::sync::LazyLock;

use spotfit::report::number::label;

pub(super) use found::{GPU_LMFIT, PARTS_OF_A_FIT};

use super::record::Record;
use super::texts;

/// A paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paper {
    /// Leutenegger & Weber 2021.
    LeuteneggerWeber,
    /// Przybylski et al. 2017.
    Przybylski,
}

impl Paper {
    /// Both, in the order of the report.
    pub const ALL: [Self; 2] = [Self::LeuteneggerWeber, Self::Przybylski];

    /// Authors and year.
    pub const fn name(self) -> &'static str {
        ["Leutenegger & Weber 2021", "Przybylski et al. 2017 (Gpufit)"][self as usize]
    }
}

/// When a number that is found here agrees with the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// No less than this.
    AtLeast(f64),
    /// No more than this.
    AtMost(f64),
    /// The paper's number, but for this share of it.
    Within(f64),
    /// The paper's number, times or divided by no more than this.
    Factor(f64),
}

impl Limit {
    fn holds(self, paper: f64, here: f64) -> bool {
        match self {
            Self::AtLeast(least) => here >= least,
            Self::AtMost(most) => here <= most,
            Self::Within(share) => (here / paper - 1.0).abs() <= share,
            Self::Factor(factor) => here >= paper / factor && here <= paper * factor,
        }
    }

    /// In short, for numbers of a unit.
    pub fn text(self, unit: &str) -> String {
        match self {
            Self::AtLeast(least) => format!("≥ {}", quantity(least, unit)),
            Self::AtMost(most) => format!("≤ {}", quantity(most, unit)),
            Self::Within(share) => format!("± {} %", label(100.0 * share)),
            Self::Factor(factor) => format!("factor ≤ {}", label(factor)),
        }
    }
}

/// A number with its unit.
pub fn quantity(number: f64, unit: &str) -> String {
    if unit.is_empty() { label(number) } else { format!("{} {unit}", label(number)) }
}

/// What is found in a record: the number and the method it was found with, or the method that is missing.
pub type Found = Result<(f64, String), &'static str>;

/// A claim of a paper.
pub struct Claim {
    /// Whose it is.
    pub paper: Paper,
    /// The figure of the report that shows it.
    pub figure: &'static str,
    /// Where the paper says it.
    pub place: &'static str,
    /// What it says.
    pub text: &'static str,
    /// The unit of the numbers; none if they are ratios or counts.
    pub unit: &'static str,
    /// The paper's number; `None` where it gives words only.
    pub number: Option<f64>,
    /// When a number agrees.
    pub limit: Limit,
    found: fn(&Record) -> Found,
}

/// All claims, in the order of the report.
pub static CLAIMS: LazyLock<Vec<Claim>> = LazyLock::new(|| {
    let mut claims = Vec::new();
    for same in list::CLAIMS.chunk_by(|one, next| one.0 == next.0) {
        let figure = same[0].0;
        let papers = if figure.starts_with("lw") { 0 } else { 1 };
        let words = texts::claims(figure);
        assert_eq!(words.len(), same.len(), "{figure}: as many claims in texts.md as in the list");
        for (&(_, number, unit, limit, found), (place, text)) in same.iter().zip(words) {
            let paper = Paper::ALL[papers];
            claims.push(Claim { paper, figure, place, text, unit, number, limit, found });
        }
    }
    claims
});

/// A claim beside what a record says.
pub struct Row {
    /// The claim.
    pub claim: &'static Claim,
    /// What was found.
    pub found: Found,
}

impl Row {
    /// Whether what was found agrees with the paper; `None` if it was not measured.
    pub fn agrees(&self) -> Option<bool> {
        let (here, _) = self.found.as_ref().ok()?;
        Some(self.claim.limit.holds(self.claim.number.unwrap_or(f64::NAN), *here))
    }
}

/// All claims beside what a record says.
pub fn rows(record: &Record) -> Vec<Row> {
    CLAIMS.iter().map(|claim| Row { claim, found: (claim.found)(record) }).collect()
}

/// How many claims agree, how many do not, and how many were not measured.
pub fn tally(rows: &[Row]) -> [usize; 3] {
    [Some(true), Some(false), None].map(|wanted| {
        let same = |row: &&Row| row.agrees() == wanted;
        rows.iter().filter(same).count()
    })
}
