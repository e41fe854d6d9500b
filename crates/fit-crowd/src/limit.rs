//! How many emitters one window may hold.

use crate::emitter::Emitter;

/// The most spots that may be described in one window.
///
/// Two spots share a window if they are less than half its side apart along x and along y. With those that share a window with it, no spot
/// that is reported is one of more than [`WindowLimit::most`]. Where the light asks for one more, those that are there share all of it,
/// and their status is [`fit_core::Status::MaxIterations`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowLimit {
    /// The most spots. Range: 1 or more.
    pub most: usize,
    /// The side of a window in pixels; infinite if the frame is one. Range: above 0.
    pub side: f64,
}

impl WindowLimit {
    /// Whether two places share a window.
    pub(crate) fn shared(&self, [x, y]: [f64; 2], other: [f64; 2]) -> bool {
        let half = 0.5 * self.side;
        (x - other[0]).abs() < half && (y - other[1]).abs() < half
    }

    /// Whether windows have room for emitters at these places, beside those that stay.
    pub(crate) fn allows(
        &self,
        stays: impl Iterator<Item = [f64; 2]>,
        added: impl Iterator<Item = [f64; 2]>,
    ) -> bool {
        let added: Vec<[f64; 2]> = added.collect();
        let wide = Self { side: 2.0 * self.side, ..*self };
        // Those in whose windows somebody is added, and those in the windows of these.
        let around = stays.filter(|&own| added.iter().any(|&new| wide.shared(own, new)));
        let all: Vec<[f64; 2]> = around.chain(added.iter().copied()).collect();
        let fuller = all.iter().filter(|&&own| added.iter().any(|&new| self.shared(own, new)));
        fuller
            .into_iter()
            .all(|&own| all.iter().filter(|&&other| self.shared(own, other)).count() <= self.most)
    }

    /// Which of some emitters (x, y and photons) have to go, by rising number: the dimmest that is in a window of too many, one after the
    /// other, and of equal ones the last from top to bottom.
    pub(crate) fn surplus(&self, all: &[[f64; 3]]) -> Vec<usize> {
        let mut down: Vec<usize> = (0..all.len()).collect();
        let place = |number: usize| [all[number][0], all[number][1]];
        down.sort_by(|&a, &b| {
            let [[x, y], other] = [place(a), place(b)];
            y.total_cmp(&other[1]).then(x.total_cmp(&other[0]))
        });
        let half = 0.5 * self.side;
        let near = |rank: usize| {
            let own = place(down[rank]);
            let reached = move |&&other: &&usize| (all[other][1] - own[1]).abs() < half;
            let (before, after) = (&down[..rank], &down[rank + 1..]);
            let both =
                before.iter().rev().take_while(reached).chain(after.iter().take_while(reached));
            both.copied().filter(move |&other| self.shared(own, place(other)))
        };
        let mut counts = vec![0; all.len()];
        for (rank, &number) in down.iter().enumerate() {
            counts[number] = near(rank).count() + 1;
        }
        if counts.iter().all(|&count| count <= self.most) {
            return Vec::new();
        }
        let mut ranks: Vec<usize> = (0..all.len()).rev().collect();
        ranks.sort_by(|&a, &b| all[down[a]][2].total_cmp(&all[down[b]][2]));
        let (mut gone, mut is_gone) = (Vec::new(), vec![false; all.len()]);
        // Counts only fall: who was passed over is in no window of too many.
        for rank in ranks {
            let own = down[rank];
            let stays = |&other: &usize| !is_gone[other];
            let full = |number: usize| counts[number] > self.most;
            if full(own) || near(rank).filter(stays).any(full) {
                near(rank).filter(stays).for_each(|other| counts[other] -= 1);
                (counts[own], is_gone[own]) = (0, true);
                gone.push(own);
            }
        }
        gone.sort_unstable();
        gone
    }

    /// Says of emitters from `first` on that they are too few, where they share a window with one of these places.
    pub(crate) fn tell(&self, places: &[[f64; 2]], emitters: &mut [Emitter]) {
        for emitter in emitters {
            let own = [emitter.x, emitter.y];
            if places.iter().any(|&place| self.shared(own, place)) {
                emitter.status = fit_core::Status::MaxIterations;
                emitter.crowd = true;
            }
        }
    }

    /// Takes the surplus of a frame away, which parts of it saw from either side, and tells those around.
    pub(crate) fn join(&self, emitters: &mut Vec<Emitter>) {
        let places: Vec<[f64; 3]> =
            emitters.iter().map(|one| [one.x, one.y, one.photons]).collect();
        let surplus = self.surplus(&places);
        let gone: Vec<[f64; 2]> =
            surplus.iter().map(|&number| [places[number][0], places[number][1]]).collect();
        for &number in surplus.iter().rev() {
            emitters.remove(number);
        }
        self.tell(&gone, emitters);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that the dimmest go until no window holds too many, that brighter ones stay where it is enough, and that the order of emitters does not
    /// matter.
    #[test]
    fn the_dimmest_go() {
        let limit = WindowLimit { most: 2, side: 7.0 };
        // A chain: each shares a window with the next two.
        let chain = [
            [0.0, 0.0, 5.0],
            [1.5, 0.0, 9.0],
            [3.0, 0.0, 1.0],
            [4.5, 0.0, 8.0],
            [6.0, 0.0, 7.0],
            [30.0, 0.0, 0.1],
        ];
        let gone = limit.surplus(&chain);
        // The second and the fourth are left of five.
        assert_eq!(gone, [0, 2, 4]);
        let turned: Vec<[f64; 3]> = chain.iter().rev().copied().collect();
        let mut same: Vec<usize> = limit.surplus(&turned).iter().map(|number| 5 - number).collect();
        same.sort_unstable();
        assert_eq!(same, gone);
        assert!(WindowLimit { most: 5, ..limit }.surplus(&chain).is_empty());
        let whole = WindowLimit { most: 1, side: f64::INFINITY };
        assert_eq!(whole.surplus(&chain), [0, 2, 3, 4, 5]);
        assert!(whole.surplus(&[]).is_empty());
    }
}
