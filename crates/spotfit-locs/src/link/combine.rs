//! One row for all localizations of a molecule.

use super::Groups;
use crate::table::{Column, Kind, Table, Unit};

/// How the numbers of a column become one.
enum Way {
    /// That of the first.
    First,
    Sum,
    /// Weighted by 1/σ² of these columns, if there are any.
    Mean(Option<Vec<f64>>),
    /// 1/√Σσ⁻².
    Precision,
    /// √Σσ².
    Spread,
    /// The mean direction of axes, in radians: they have a period of π.
    Axis,
    /// All bits that are set in any.
    Bits,
}

impl Table {
    /// One row for each group: photons and background are summed, positions weighted by 1/σ² of their uncertainties,
    /// uncertainties combined to 1/√Σσ⁻². The frame, words, `id` and `group` are those of the first; bits of `flags` are those of any;
    /// all else is the mean. Three columns are new: `detections`, their number; `on_time`, the frames from the first to the last;
    /// and `molecule`, the group, from 0. Where rows were linked before, `detections` adds up theirs, and `on_time` ends with the
    /// last frame of any.
    ///
    /// # Panics
    /// If a group has a row that there is not.
    #[must_use]
    pub fn combined(&self, groups: &Groups) -> Self {
        let mut table = Self::new(self.info.clone());
        for column in self.columns() {
            let values = combine(&self.way(column), column, groups);
            let kind = match &column.kind {
                Kind::Whole
                    if !matches!(
                        column.name.as_str(),
                        "frame" | "id" | "flags" | "molecule" | "group"
                    ) =>
                {
                    Kind::Double
                }
                kind => kind.clone(),
            };
            table.set(Column { values, kind, ..column.clone() });
        }
        let whole =
            |name: &str, values: Vec<f64>| Column::new(name, Unit::None, Kind::Whole, values);
        let of = |name: &str| self.column(name).map(|column| &column.values[..]);
        table.set(whole("molecule", (0..groups.len()).map(|group| group as f64).collect()));
        // What is no count counts as one.
        let before = |of: Option<&[f64]>, row: u32| of.map_or(1.0, |of| of[row as usize].max(1.0));
        let counted = of("detections");
        let detections = |rows: &[u32]| rows.iter().map(|&row| before(counted, row)).sum();
        table.set(whole("detections", groups.iter().map(detections).collect()));
        if let Some(frames) = of("frame") {
            let lasted = of("on_time");
            let length = |rows: &[u32]| {
                let end = |&row: &u32| frames[row as usize] + before(lasted, row);
                let begin = rows.first().map_or(0.0, |&row| frames[row as usize]);
                rows.iter().map(end).fold(begin, f64::max) - begin
            };
            table.set(whole("on_time", groups.iter().map(length).collect()));
        }
        table
    }

    fn way(&self, column: &Column) -> Way {
        let weight = |name: &str| {
            let known = self.column(name).or_else(|| match name {
                "uncertainty_z" => None,
                _ => self.column("uncertainty"),
            });
            Way::Mean(known.map(|column| column.values.clone()))
        };
        match (column.name.as_str(), &column.kind) {
            ("frame" | "id" | "molecule" | "group", _) | (_, Kind::Words(_)) => Way::First,
            ("photons" | "background", _) => Way::Sum,
            ("x", _) => weight("uncertainty_x"),
            ("y", _) => weight("uncertainty_y"),
            ("z", _) => weight("uncertainty_z"),
            ("uncertainty" | "uncertainty_x" | "uncertainty_y" | "uncertainty_z", _) => {
                Way::Precision
            }
            ("photons_error" | "background_error", _) => Way::Spread,
            ("angle", _) => Way::Axis,
            ("flags", _) => Way::Bits,
            _ => Way::Mean(None),
        }
    }
}

fn combine(way: &Way, column: &Column, groups: &Groups) -> Vec<f64> {
    let values = &column.values;
    let of = |row: &u32| values[*row as usize];
    let one = |rows: &[u32]| match way {
        Way::First => rows.first().map_or(f64::NAN, of),
        Way::Sum => rows.iter().map(of).sum(),
        Way::Precision => {
            let known = rows.iter().map(of).filter(|error| *error > 0.0 && error.is_finite());
            let sum: f64 = known.map(|error| error.powi(-2)).sum();
            if sum > 0.0 { sum.sqrt().recip() } else { rows.first().map_or(f64::NAN, of) }
        }
        Way::Spread => rows.iter().map(|row| of(row).powi(2)).sum::<f64>().sqrt(),
        Way::Axis => {
            let sum =
                |part: fn(f64) -> f64| rows.iter().map(|row| part(2.0 * of(row))).sum::<f64>();
            0.5 * sum(f64::sin).atan2(sum(f64::cos))
        }
        Way::Bits => rows.iter().fold(0u64, |bits, row| bits | of(row) as u64) as f64,
        Way::Mean(errors) => {
            let weight = |row: &u32| match errors.as_ref().map(|errors| errors[*row as usize]) {
                Some(error) if error > 0.0 && error.is_finite() => error.powi(-2),
                Some(_) => 0.0,
                None => 1.0,
            };
            let all: f64 = rows.iter().map(weight).sum();
            if all > 0.0 {
                rows.iter().map(|row| weight(row) * of(row)).sum::<f64>() / all
            } else {
                rows.iter().map(of).sum::<f64>() / rows.len() as f64
            }
        }
    };
    match groups.len() {
        0 => Vec::new(),
        _ => groups
            .iter()
            .map(|rows| match rows {
                // What is alone stays as it is, to the last bit.
                [row] => of(row),
                rows => one(rows),
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use crate::link::{Groups, LinkOptions, link};
    use crate::table::CsvReader;

    /// Proves what becomes of each column.
    #[test]
    fn rows_are_combined() {
        let text = "id,frame,x [nm],y [nm],intensity [photon],offset [photon],uncertainty_xy [nm],flags,area,status\n\
            1,1,100,50,200,10,10,1,3,good\n2,2,110,50,300,11,20,4,5,bad\n3,2,900,900,7,1,5,0,1,good\n";
        let table = CsvReader::new(text.as_bytes()).unwrap().read_all(10).unwrap();
        let (frames, x, y) =
            (table.frames().unwrap(), table.values("x").unwrap(), table.values("y").unwrap());
        let options = LinkOptions { radius: 50.0, radius_z: 1.0, gap: 0 };
        let links = link(&frames, x, y, None, &options).unwrap();
        let combined = table.combined(&Groups::new(&frames, &links).unwrap());
        let of = |name: &str| combined.values(name).unwrap().to_vec();
        assert!((of("x")[0] - (100.0 * 4.0 + 110.0) / 5.0).abs() < 1e-9);
        assert_eq!(of("x")[1], 900.0);
        assert_eq!(of("photons"), [500.0, 7.0]);
        assert_eq!(of("background"), [21.0, 1.0]);
        assert!((of("uncertainty")[0] - (1.0 / (0.01f64 + 0.0025)).sqrt()).abs() < 1e-12);
        assert_eq!((of("flags"), of("area")), (vec![5.0, 0.0], vec![4.0, 1.0]));
        assert_eq!((of("detections"), of("on_time")), (vec![2.0, 1.0], vec![2.0, 1.0]));
        assert_eq!((of("frame"), of("id")), (vec![0.0, 1.0], vec![1.0, 3.0]));
        assert_eq!(of("status"), [0.0, 0.0]);
    }

    /// Proves that rows that were linked before count as what they were, that columns of others stay, and that a molecule that is on while
    /// another row of it ends is on to the end.
    #[test]
    fn linked_rows_are_added_up() {
        let text = "frame,x [nm],y [nm],detections,on_time,group\n\
            1,100,50,3,9,7\n2,110,50,2,3,7\n2,900,900,4,5,8\n3,500,500,1,1,9\n";
        let table = CsvReader::new(text.as_bytes()).unwrap().read_all(10).unwrap();
        let (frames, x, y) =
            (table.frames().unwrap(), table.values("x").unwrap(), table.values("y").unwrap());
        let options = LinkOptions { radius: 50.0, radius_z: 1.0, gap: 0 };
        let links = link(&frames, x, y, None, &options).unwrap();
        let combined = table.combined(&Groups::new(&frames, &links).unwrap());
        let of = |name: &str| combined.values(name).unwrap().to_vec();
        assert_eq!(of("detections"), [5.0, 4.0, 1.0]);
        assert_eq!(of("on_time"), [9.0, 5.0, 1.0]);
        assert_eq!((of("molecule"), of("group")), (vec![0.0, 1.0, 2.0], vec![7.0, 8.0, 9.0]));
    }
}
