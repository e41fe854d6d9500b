//! How much of a spot's light looks like emitters that are not there, where its image is not quite that of the model.
//!
//! The score of one emitter more beside a spot of A photons is more than noise then: it grows with A. Of spots that are alone, this has been
//! measured: an empirical null (Efron 2004, J. Am. Stat. Assoc. 99:96). Beside a spot at a distance d, an emitter of a share κ(d) of its
//! photons is found that is none; with the information n² of its amplitude, its score has the variance 1 + (κ·A·n)² instead of 1.

use std::sync::Arc;

use crate::error::CrowdError;

/// What a spot's light looks like that is not quite that of the model, as the share κ(d) of its photons that another emitter seems to have.
#[derive(Clone, Debug, PartialEq)]
pub struct Misfit {
    /// Along the range of heights.
    nodes: Arc<[MisfitShares]>,
}

/// The misfit of spots of one height.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct MisfitShares {
    /// The rms share of the photons of an emitter that is none, at each of [`Misfit::DISTANCES`].
    pub shares: [f64; Misfit::DISTANCES.len()],
    /// By how much the second moment of a spot differs from that of the model in any direction, in pixels squared (rms).
    pub moment: f64,
}

impl MisfitShares {
    /// Of these numbers.
    pub const fn new(shares: [f64; Misfit::DISTANCES.len()], moment: f64) -> Self {
        Self { shares, moment }
    }
}

impl Default for Misfit {
    /// None at all.
    fn default() -> Self {
        Self { nodes: [MisfitShares::default()].into() }
    }
}

impl Misfit {
    /// Distances from a spot, in pixels.
    pub const DISTANCES: [f64; 6] = [0.8, 1.6, 2.4, 3.2, 4.8, 6.4];

    /// That of one or more heights, which lie at equal distances from the least to the greatest.
    ///
    /// # Errors
    /// [`CrowdError::Option`] if there is none, or a number is negative or not finite.
    pub fn new(nodes: &[MisfitShares]) -> Result<Self, CrowdError> {
        let numbers = nodes.iter().flat_map(|node| node.shares.into_iter().chain([node.moment]));
        let bad = numbers.clone().find(|&number| !(number >= 0.0 && number.is_finite()));
        let count = nodes.len();
        CrowdError::check("heights of a misfit", count as f64, count > 0, "1 or more")?;
        CrowdError::check("misfit", bad.unwrap_or(0.0), bad.is_none(), "0 or more")?;
        Ok(Self { nodes: nodes.into() })
    }

    /// The greater of both, at the heights of both.
    #[must_use]
    pub fn or_more(&self, other: &Self) -> Self {
        let count = match [self, other].map(|misfit| misfit.nodes.len()) {
            [own, others] if own == others => own,
            [own, others] => 1 + (own - 1).max(1) * (others - 1).max(1),
        };
        let node = |node: usize| {
            let height = node as f64 / (count - 1).max(1) as f64;
            let more =
                |of: &dyn Fn(&MisfitShares) -> f64| self.at(height, of).max(other.at(height, of));
            let shares = std::array::from_fn(|at| more(&|node| node.shares[at]));
            MisfitShares::new(shares, more(&|node| node.moment))
        };
        Self { nodes: (0..count).map(node).collect() }
    }

    /// The misfit at each height.
    pub fn nodes(&self) -> &[MisfitShares] {
        &self.nodes
    }

    /// A number at a share of the range of heights.
    fn at(&self, height: f64, of: impl Fn(&MisfitShares) -> f64) -> f64 {
        let last = self.nodes.len() - 1;
        let place = (height * last as f64).clamp(0.0, last as f64);
        let low = (place as usize).min(last.saturating_sub(1));
        let [a, b] = [low, (low + 1).min(last)].map(|node| of(&self.nodes[node]));
        a + (place - low as f64) * (b - a)
    }

    /// κ at a distance, of a spot at a share of the range of heights.
    pub(crate) fn share(&self, height: f64, distance: f64) -> f64 {
        let all = Self::DISTANCES;
        let last = all.len() - 1;
        let after = all.iter().position(|&known| known > distance).unwrap_or(all.len());
        match after {
            0 => self.at(height, |node| node.shares[0]),
            // What the window of a spot did not show is taken to fall with the light.
            _ if after > last => self.at(height, |node| node.shares[last]) * all[last] / distance,
            _ => {
                let t = (distance - all[after - 1]) / (all[after] - all[after - 1]);
                self.at(height, |node| {
                    node.shares[after - 1] + t * (node.shares[after] - node.shares[after - 1])
                })
            }
        }
    }

    /// The rms second moment, of a spot at a share of the range of heights.
    pub(crate) fn moment(&self, height: f64) -> f64 {
        self.at(height, |node| node.moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that the greater of two is nowhere below either, whatever heights they are known at.
    #[test]
    fn the_greater_is_nowhere_below() {
        let of = |numbers: &[f64]| {
            let nodes = numbers.iter().map(|&number| MisfitShares::new([number; 6], 2.0 * number));
            Misfit::new(&nodes.collect::<Vec<_>>()).expect("sound")
        };
        let all = [of(&[0.2]), of(&[0.1, 0.3]), of(&[0.0, 0.5, 0.1, 0.4]), of(&[0.3, 0.0, 0.6])];
        for one in &all {
            assert_eq!(one.or_more(one), *one);
            for other in &all {
                let more = one.or_more(other);
                for height in (0..=60).map(|at| f64::from(at) / 60.0) {
                    let least = one.share(height, 1.6).max(other.share(height, 1.6));
                    assert!(more.share(height, 1.6) > least - 1e-12, "{height}");
                    assert!(more.moment(height) > 2.0 * least - 1e-12, "{height}");
                }
            }
        }
    }

    /// Proves that numbers between those that are known lie on lines, along distances and heights, and fall beyond.
    #[test]
    fn numbers_lie_between_those_that_are_known() {
        let low = MisfitShares::new([0.6, 0.5, 0.4, 0.3, 0.2, 0.1], 0.2);
        let high = MisfitShares::new([0.0; 6], 0.4);
        let misfit = Misfit::new(&[low, high]).expect("sound");
        for (height, distance, expected) in [
            (0.0, 0.0, 0.6),
            (0.0, 1.2, 0.55),
            (0.5, 1.6, 0.25),
            (-1.0, 5.6, 0.15),
            (0.0, 12.8, 0.05),
            (2.0, 3.0, 0.0),
        ] {
            let found = misfit.share(height, distance);
            assert!((found - expected).abs() < 1e-12, "{height} {distance}: {found}");
        }
        assert!((misfit.moment(0.25) - 0.25).abs() < 1e-12);
        let one = Misfit::new(&[low]).expect("sound");
        assert_eq!((one.share(0.7, 1.6), one.moment(3.0)), (0.5, 0.2));
        assert!(Misfit::new(&[]).is_err());
        assert!(Misfit::new(&[MisfitShares::new([0.0; 6], f64::NAN)]).is_err());
        assert!(Misfit::new(&[MisfitShares::new([-1.0; 6], 0.0)]).is_err());
    }
}
