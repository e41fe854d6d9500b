//! What is not in a report, and why: said once, for all figures.

use super::claims::{GPU_LMFIT, PARTS_OF_A_FIT, Row};
use super::figures::Figure;
use super::methods::Backend;
use super::record::{Data, Record};

/// Something that is missing.
#[derive(Clone, Debug, PartialEq)]
pub struct Gap {
    /// The methods that are missing, if it is methods.
    pub methods: Vec<String>,
    /// What is missing, and why.
    pub text: String,
}

impl Gap {
    fn of(methods: &[&str], why: &str) -> Self {
        let text = format!("{}: {why}.", methods.join(" and "));
        Self { methods: methods.iter().map(|&method| method.to_owned()).collect(), text }
    }

    fn text(text: String) -> Self {
        Self { methods: Vec::new(), text }
    }
}

/// What is missing, and for each row of the claims that was not measured the number of the reason in that list.
pub struct Missing {
    /// What is missing.
    pub gaps: Vec<Gap>,
    /// A place in `gaps` for each row that needs one.
    pub of_rows: Vec<Option<usize>>,
}

/// What has the same reason, in the order in which reasons first come.
fn by_reason<'r, R: PartialEq>(
    all: impl Iterator<Item = (R, &'r str)>,
) -> Vec<(R, Vec<(&'r str, usize)>)> {
    let mut reasons: Vec<(R, Vec<(&str, usize)>)> = Vec::new();
    for (reason, method) in all {
        let at = reasons.iter().position(|(other, _)| *other == reason).unwrap_or(reasons.len());
        if at == reasons.len() {
            reasons.push((reason, Vec::new()));
        }
        let methods = &mut reasons[at].1;
        match methods.iter_mut().find(|(other, _)| *other == method) {
            Some((_, count)) => *count += 1,
            None => methods.push((method, 1)),
        }
    }
    reasons
}

/// The methods that could not be measured, by reason.
pub fn absent(record: &Record) -> Vec<Gap> {
    let missing = record.about.missing.iter().map(|(name, why)| (why.as_str(), name.as_str()));
    let gap = |(why, methods): (&str, Vec<(&str, usize)>)| {
        Gap::of(&methods.iter().map(|method| method.0).collect::<Vec<_>>(), why)
    };
    by_reason(missing).into_iter().map(gap).collect()
}

/// What a record, its figures and the claims do not have.
pub fn missing(record: &Record, figures: &[Figure], rows: &[Row]) -> Missing {
    let mut gaps = absent(record);
    let known = |gaps: &[Gap], method: &str| {
        let has = |gap: &Gap| gap.methods.iter().any(|other| other == method);
        gaps.iter().position(has)
    };
    let measured = |method: &&str| record.cells.iter().any(|cell| cell.method == **method);
    let given = |name: &&str| record.about.command.contains(&format!("{name}="));
    let peers = ["gpufit", "cpufit"].into_iter();
    let peers: Vec<&str> = peers.filter(|name| !measured(name) && !given(name)).collect();
    if !peers.is_empty() {
        gaps.push(Gap::of(&peers, "no library was given (--peer NAME=LIBRARY)"));
    }
    let backends = Backend::ALL.map(Backend::name).into_iter();
    let backends: Vec<&str> =
        backends.filter(|name| !measured(name) && known(&gaps, name).is_none()).collect();
    if !backends.is_empty() && !record.cells.is_empty() {
        gaps.push(Gap::of(&backends, "not measured in this run (--backends, --figures)"));
    }
    gaps.push(Gap::of(&[GPU_LMFIT], "closed source, and for 32 bits only"));
    gaps.push(Gap::of(&[PARTS_OF_A_FIT], "the suite does not time model and solver separately"));
    gaps.extend(cells(record));
    let mut rest = None;
    let of_rows = rows.iter().map(|row| {
        let method = row.found.as_ref().err()?;
        Some(known(&gaps, method).unwrap_or_else(|| *rest.get_or_insert(gaps.len())))
    });
    let of_rows = of_rows.collect();
    if rest.is_some() {
        let why = if record.cells.is_empty() {
            "Nothing was measured."
        } else {
            "Some experiments: left out or cut short by --quick, --figures or --budget."
        };
        gaps.push(Gap::text(why.to_owned()));
    }
    let empty = figures.iter().filter(|figure| figure.is_empty()).map(|figure| figure.title);
    let panels = figures.iter().filter(|figure| !figure.is_empty()).flat_map(|figure| {
        figure.left_out.iter().map(|panel| format!("\"{panel}\" of {}", figure.title))
    });
    let left_out: Vec<String> = empty.map(str::to_owned).chain(panels).collect();
    if !left_out.is_empty() {
        let text = format!("Figures for which there are no numbers: {}.", left_out.join("; "));
        gaps.push(Gap::text(text));
    }
    Missing { gaps, of_rows }
}

/// Cells without a number, by reason.
fn cells(record: &Record) -> impl Iterator<Item = Gap> {
    let missing = record.cells.iter().filter_map(|cell| match &cell.data {
        // Times differ a little from cell to cell.
        Data::Missing(reason) if reason.starts_with("stopped") => {
            let budget = record.about.budget;
            let text = format!("a call would take more than {budget} s (--budget)");
            Some((text, cell.method.as_str()))
        }
        Data::Missing(reason) => Some((reason.clone(), cell.method.as_str())),
        _ => None,
    });
    by_reason(missing).into_iter().map(|(reason, methods)| {
        let all: usize = methods.iter().map(|(_, cells)| cells).sum();
        let each = methods.iter().map(|(method, cells)| format!("{cells} of \"{method}\""));
        let each = each.collect::<Vec<_>>().join(", ");
        Gap::text(format!("{all} measurements: {reason}. They are {each}."))
    })
}
