use fit_core::pass::Group;

use crate::{DeviceF32, device};

/// The threads of a warp that have a fit in common.
pub(super) struct Threads<const LANES: usize> {
    pub(super) lane: u32,
    pub(super) members: u32,
}

impl<const LANES: usize> Threads<LANES> {
    /// This thread's group, and the number of its fit.
    #[inline(always)]
    pub(super) fn new() -> (Self, usize) {
        let (thread, block, threads) = device::place();
        let lane = thread % LANES as u32;
        let all = if LANES == 32 { u32::MAX } else { (1 << LANES) - 1 };
        let members = all << (thread % 32 - lane);
        let number = (block as usize * threads as usize + thread as usize) / LANES;
        (Self { lane, members }, number)
    }
}

impl<const LANES: usize> Group<DeviceF32> for Threads<LANES> {
    const LANES: usize = LANES;

    #[inline(always)]
    fn lane(&self) -> DeviceF32 {
        if LANES == 1 { DeviceF32(0.0) } else { DeviceF32(device::anew(self.lane) as f32) }
    }
    #[inline(always)]
    fn first(&self, value: DeviceF32) -> DeviceF32 {
        if LANES == 1 {
            return value;
        }
        DeviceF32(device::shuffle(value.0, self.members.trailing_zeros(), self.members))
    }
    #[inline(always)]
    fn exchanged(&self, value: DeviceF32, step: usize) -> DeviceF32 {
        DeviceF32(device::shuffle_xor(value.0, step as u32, self.members))
    }
    #[inline(always)]
    fn neighbour(&self, value: DeviceF32, step: isize) -> DeviceF32 {
        if LANES == 1 {
            return value;
        }
        let lane = self.lane.saturating_add_signed(step as i32);
        let lane = if lane < LANES as u32 { lane } else { LANES as u32 - 1 };
        DeviceF32(device::shuffle(value.0, self.members.trailing_zeros() + lane, self.members))
    }
}
