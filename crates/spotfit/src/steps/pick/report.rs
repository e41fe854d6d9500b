//! What was found in picks.

use std::collections::BTreeSet;
use std::fmt;

use spotfit_locs::private::short;

use super::shape::Pick;
use crate::table::{Column, Kind, Meaning, Table, Unit};

/// The column that has the text of a pick.
const PICK: &str = "pick";

/// What lies in a pick. Lengths are in the unit of the table, heights in nanometres; what does not exist is missing.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Picked {
    /// The pick.
    pub pick: Pick,
    /// The localizations in it.
    pub rows: usize,
    /// Their photons.
    pub photons: Option<f64>,
    /// The mean of x.
    pub x: Option<f64>,
    /// The mean of y.
    pub y: Option<f64>,
    /// The mean of z.
    pub z: Option<f64>,
    /// The standard deviation of x.
    pub x_sd: Option<f64>,
    /// The standard deviation of y.
    pub y_sd: Option<f64>,
    /// The standard deviation of z.
    pub z_sd: Option<f64>,
    /// The frame of the first, from 1.
    pub from_frame: Option<u64>,
    /// The frame of the last, from 1.
    pub to_frame: Option<u64>,
    /// In how many frames there are some.
    pub frames: Option<usize>,
    /// The rectangle around them: left, top, right, bottom.
    pub extent: Option<[f64; 4]>,
    /// The area of the pick, in squares of the unit.
    pub area: f64,
}

/// The report of picking.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct PickReport {
    /// The localizations of the table that fulfil the condition, if there is one.
    pub localizations: usize,
    /// Those whose x or y is not finite, which lie in no pick.
    pub without_place: usize,
    /// What lies in each pick, in the order in which they were given.
    pub picks: Vec<Picked>,
    /// The unit of the table, `px` or `nm`.
    pub unit: &'static str,
}

/// Mean and sum of squares as numbers come (Welford 1962).
#[derive(Clone, Copy, Debug, Default)]
struct Spread {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Spread {
    fn add(&mut self, value: f64) {
        if !value.is_finite() {
            return;
        }
        self.count += 1;
        let from = value - self.mean;
        self.mean += from / self.count as f64;
        self.squares += from * (value - self.mean);
    }

    fn mean(&self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }

    fn deviation(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.squares / (self.count - 1) as f64).sqrt())
    }
}

/// What is summed over the localizations of a pick.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    rows: usize,
    photons: Option<f64>,
    places: [Spread; 3],
    frames: BTreeSet<u64>,
    extent: Option<[f64; 4]>,
}

impl Sums {
    /// Adds a localization; numbers that it has not are not finite. Frames are counted from 0.
    pub(super) fn add(&mut self, place: [f64; 3], photons: f64, frame: f64) {
        self.rows += 1;
        self.places.iter_mut().zip(place).for_each(|(spread, value)| spread.add(value));
        if photons.is_finite() {
            *self.photons.get_or_insert(0.0) += photons;
        }
        if frame.is_finite() && frame >= 0.0 {
            self.frames.insert(frame as u64 + 1);
        }
        let [x, y, _] = place;
        let [left, top, right, bottom] = self.extent.unwrap_or([x, y, x, y]);
        self.extent = Some([left.min(x), top.min(y), right.max(x), bottom.max(y)]);
    }

    pub(super) fn picked(&self, pick: &Pick, area: f64) -> Picked {
        let [x, y, z] = &self.places;
        Picked {
            pick: pick.clone(),
            rows: self.rows,
            photons: self.photons,
            x: x.mean(),
            y: y.mean(),
            z: z.mean(),
            x_sd: x.deviation(),
            y_sd: y.deviation(),
            z_sd: z.deviation(),
            from_frame: self.frames.first().copied(),
            to_frame: self.frames.last().copied(),
            frames: (!self.frames.is_empty()).then_some(self.frames.len()),
            extent: self.extent,
            area,
        }
    }
}

impl PickReport {
    /// A table with a row for each pick: x and y are its means, so that picks of beads are their places. Numbers that do not exist are NaN.
    pub fn table(&self) -> Table {
        let unit = if self.unit == "nm" { Unit::Nanometre } else { Unit::Pixel };
        let mut table = Table::default();
        let mut add = |name: &str, unit: Unit, kind: Kind, of: &dyn Fn(&Picked) -> Option<f64>| {
            let values: Vec<f64> =
                self.picks.iter().map(|pick| of(pick).unwrap_or(f64::NAN)).collect();
            table.set(Column::new(name, unit, kind, values));
        };
        let (length, depth) = (Kind::Rounded(unit.decimals()), Kind::Rounded(4));
        add(Meaning::X.name(), unit, length.clone(), &|pick| pick.x);
        add(Meaning::Y.name(), unit, length.clone(), &|pick| pick.y);
        let has_z = self.picks.iter().any(|pick| pick.z.is_some());
        if has_z {
            add(Meaning::Z.name(), Unit::Nanometre, depth.clone(), &|pick| pick.z);
        }
        if self.picks.iter().any(|pick| pick.photons.is_some()) {
            add(Meaning::Photons.name(), Unit::Photon, Kind::Rounded(4), &|pick| pick.photons);
        }
        add("rows", Unit::None, Kind::Whole, &|pick| Some(pick.rows as f64));
        add("x_sd", unit, length.clone(), &|pick| pick.x_sd);
        add("y_sd", unit, length.clone(), &|pick| pick.y_sd);
        if has_z {
            add("z_sd", Unit::Nanometre, depth, &|pick| pick.z_sd);
        }
        if self.picks.iter().any(|pick| pick.frames.is_some()) {
            let number = |number: Option<u64>| number.map(|number| number as f64);
            add("from_frame", Unit::None, Kind::Double, &|pick| number(pick.from_frame));
            add("to_frame", Unit::None, Kind::Double, &|pick| number(pick.to_frame));
            add("frames", Unit::None, Kind::Double, &|pick| pick.frames.map(|count| count as f64));
        }
        for (place, name) in ["left", "top", "right", "bottom"].into_iter().enumerate() {
            add(name, unit, length.clone(), &|pick| pick.extent.map(|extent| extent[place]));
        }
        let texts: Vec<String> = self.picks.iter().map(|pick| pick.pick.to_string()).collect();
        let mut words: Vec<String> = Vec::new();
        let places = texts.into_iter().map(|text| {
            let known = words.iter().position(|word| *word == text);
            known.unwrap_or_else(|| {
                words.push(text);
                words.len() - 1
            }) as f64
        });
        let places: Vec<f64> = places.collect();
        table.set(Column::new(PICK, Unit::None, Kind::Words(words), places));
        table
    }
}

impl fmt::Display for PickReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { localizations, without_place, picks, unit } = self;
        let mut said = vec![format!("{localizations} localizations, {} picks", picks.len())];
        if *without_place > 0 {
            said.push(format!("; {without_place} have no place: x or y is not finite"));
        }
        for picked in picks {
            said.push(format!("\n{}: {} localizations", picked.pick, picked.rows));
            for (name, mean, deviation, unit) in [
                ("x", picked.x, picked.x_sd, *unit),
                ("y", picked.y, picked.y_sd, *unit),
                ("z", picked.z, picked.z_sd, "nm"),
            ] {
                let sd = deviation.map(|sd| format!(" (sd {})", short(sd))).unwrap_or_default();
                said.extend(mean.map(|mean| format!(", {name} {}{sd} {unit}", short(mean))));
            }
            said.extend(picked.photons.map(|photons| format!(", {} photons", short(photons))));
            let frames = picked.from_frame.zip(picked.to_frame);
            said.extend(frames.map(|(first, last)| format!(", frames {first} to {last}")));
        }
        f.write_str(&said.concat())
    }
}
