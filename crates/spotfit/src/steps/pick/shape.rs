//! The shapes of picks.

use std::fmt;
use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Length;
use crate::steps::{Source, StepError};
use crate::table::{Info, Unit};

/// A part of the plane: `circle:x,y,radius`, `box:left,top,right,bottom` or `polygon:x,y,x,y,…`. Lengths without a unit have that of the
/// table.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Pick {
    /// Centre and radius.
    Circle([Length; 3]),
    /// Left, top, right and bottom edge.
    Box([Length; 4]),
    /// Three corners or more; where its sides cross each other, a place is inside if a ray from it crosses an odd number of them.
    Polygon(Vec<[Length; 2]>),
}

/// A text is no pick.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}: a pick is circle:x,y,radius or box:left,top,right,bottom or polygon:x,y,x,y,x,y,…")]
pub struct PickError(String);

/// Lengths with commas between them.
fn lengths(text: &str) -> Option<Vec<Length>> {
    text.split(',').map(|part| part.trim().parse().ok()).collect()
}

impl FromStr for Pick {
    type Err = PickError;

    fn from_str(text: &str) -> Result<Self, PickError> {
        let wrong = || PickError(text.chars().take(60).collect());
        let (kind, numbers) = text.trim().split_once(':').ok_or_else(wrong)?;
        let numbers = lengths(numbers).ok_or_else(wrong)?;
        let pick = match kind {
            "circle" => numbers.try_into().ok().map(Self::Circle),
            "box" => numbers.try_into().ok().map(Self::Box),
            "polygon" => {
                let (corners, rest) = numbers.as_chunks::<2>();
                (rest.is_empty() && corners.len() >= 3).then(|| Self::Polygon(corners.to_vec()))
            }
            _ => None,
        };
        pick.ok_or_else(wrong)
    }
}

impl fmt::Display for Pick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, numbers) = match self {
            Self::Circle(numbers) => ("circle", &numbers[..]),
            Self::Box(numbers) => ("box", &numbers[..]),
            Self::Polygon(corners) => ("polygon", corners.as_flattened()),
        };
        write!(f, "{kind}:")?;
        for (place, number) in numbers.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            // What has no unit is written without one.
            match number.unit() {
                None => write!(f, "{comma}{}", number.value())?,
                Some(_) => write!(f, "{comma}{number}")?,
            }
        }
        Ok(())
    }
}

impl Serialize for Pick {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Pick {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// A pick in the unit of a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    Circle([f64; 3]),
    Box([f64; 4]),
    Polygon(Vec<[f64; 2]>),
}

impl Pick {
    /// The pick in the unit of a table of which this is known.
    pub(super) fn shape(
        &self,
        source: &Source,
        unit: Unit,
        info: &Info,
    ) -> Result<Shape, StepError> {
        let length = |length: Length| source.length("pick", length.or(unit), unit, info);
        let shape = match self {
            Self::Circle([x, y, radius]) => {
                Shape::Circle([length(*x)?, length(*y)?, length(*radius)?])
            }
            Self::Box([left, top, right, bottom]) => {
                Shape::Box([length(*left)?, length(*top)?, length(*right)?, length(*bottom)?])
            }
            Self::Polygon(corners) => {
                let corner = |[x, y]: &[Length; 2]| Ok([length(*x)?, length(*y)?]);
                Shape::Polygon(corners.iter().map(corner).collect::<Result<_, StepError>>()?)
            }
        };
        let refused = |reason: &str| Err(StepError::Options(format!("{self}: {reason}")));
        match &shape {
            Shape::Circle([x, y, radius]) => {
                if !(*radius > 0.0 && [x, y, radius].iter().all(|number| number.is_finite())) {
                    return refused("the radius must be above 0, and all numbers finite");
                }
            }
            Shape::Box([left, top, right, bottom]) => {
                let good = (right - left).is_finite() && (bottom - top).is_finite();
                if !(good && left < right && top < bottom) {
                    return refused("left must be less than right, and top less than bottom");
                }
            }
            Shape::Polygon(corners) => {
                if !corners.iter().flatten().all(|number| number.is_finite()) {
                    return refused("all numbers must be finite");
                }
            }
        }
        Ok(shape)
    }

    /// The rectangle around the pick, in the unit of a table: left, top, right, bottom.
    ///
    /// # Errors
    /// [`StepError`] for lengths that cannot be converted or are no pick.
    pub fn around(&self, source: &Source) -> Result<[f64; 4], StepError> {
        let layout = source.layout()?;
        let unit = layout.length_unit().map_err(source.wrong())?;
        Ok(self.shape(source, unit, &layout.info)?.around())
    }
}

impl Shape {
    fn around(&self) -> [f64; 4] {
        match self {
            Self::Circle([x, y, radius]) => [x - radius, y - radius, x + radius, y + radius],
            Self::Box(edges) => *edges,
            Self::Polygon(corners) => {
                let none = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
                corners.iter().fold(none, |[left, top, right, bottom], &[x, y]| {
                    [left.min(x), top.min(y), right.max(x), bottom.max(y)]
                })
            }
        }
    }

    /// Whether a place is inside; a box and a polygon have their left and upper edges, not the others, so that parts that touch each
    /// other share nothing.
    pub(super) fn holds(&self, x: f64, y: f64) -> bool {
        match self {
            Self::Circle([cx, cy, radius]) => (x - cx).hypot(y - cy) <= *radius,
            Self::Box([left, top, right, bottom]) => {
                (*left..*right).contains(&x) && (*top..*bottom).contains(&y)
            }
            Self::Polygon(corners) => {
                let before = corners.iter().cycle().skip(corners.len() - 1);
                let crossed = corners.iter().zip(before).filter(|(a, b)| {
                    (a[1] > y) != (b[1] > y)
                        && x < (b[0] - a[0]) * (y - a[1]) / (b[1] - a[1]) + a[0]
                });
                crossed.count() % 2 == 1
            }
        }
    }

    /// Its area, in squares of the unit.
    pub(super) fn area(&self) -> f64 {
        match self {
            Self::Circle([_, _, radius]) => std::f64::consts::PI * radius * radius,
            Self::Box([left, top, right, bottom]) => (right - left) * (bottom - top),
            Self::Polygon(corners) => {
                let before = corners.iter().cycle().skip(corners.len() - 1);
                let twice: f64 =
                    corners.iter().zip(before).map(|(a, b)| b[0] * a[1] - a[0] * b[1]).sum();
                0.5 * twice.abs()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that picks come back as they were written, and that other texts are refused.
    #[test]
    fn picks_are_texts() {
        for text in ["circle:1,2.5,3", "box:-1,0nm,2um,3px", "polygon:0,0,1,0,0,1"] {
            let pick: Pick = text.parse().unwrap();
            let again: Pick = pick.to_string().parse().unwrap();
            assert_eq!(pick, again, "{text}: {pick}");
        }
        for wrong in [
            "circle:1,2",
            "ring:1,2,3",
            "polygon:0,0,1,1",
            "polygon:0,0,1,1,2",
            "box",
            "box:a,1,2,3",
        ] {
            assert!(wrong.parse::<Pick>().is_err(), "{wrong}");
        }
    }

    /// Proves that places are inside where they are, and that parts that touch each other share none.
    #[test]
    fn shapes_hold_what_is_inside() {
        let square = Shape::Polygon(vec![[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]]);
        let same = Shape::Box([0.0, 0.0, 2.0, 2.0]);
        let beside = Shape::Box([2.0, 0.0, 4.0, 2.0]);
        for (x, y, inside) in [
            (1.0, 1.0, true),
            (0.0, 0.0, true),
            (2.0, 1.0, false),
            (1.0, 2.0, false),
            (-0.1, 1.0, false),
        ] {
            assert_eq!((square.holds(x, y), same.holds(x, y)), (inside, inside), "{x} {y}");
            assert!(!(same.holds(x, y) && beside.holds(x, y)));
        }
        assert_eq!((square.area(), same.area()), (4.0, 4.0));
        let circle = Shape::Circle([1.0, 1.0, 1.0]);
        assert!(circle.holds(2.0, 1.0) && !circle.holds(2.0, 1.1));
        let star = Shape::Polygon(vec![[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [4.0, 4.0]]);
        assert!(star.holds(2.0, 1.0) && !star.holds(0.5, 2.0));
    }
}
