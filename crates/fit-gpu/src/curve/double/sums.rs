//! The kernel that visits the points of one long data set, whose points are shared by all threads, as PTX that is written for a formula.

use std::mem::offset_of;

use fit_formula::Program;

use super::kernel::{DoubleVariant, Kernel, Place};
use super::text::{Real, line};

/// Parameters that there is room for.
pub(super) const MOST_PARAMETERS: usize = 32;

/// The argument of the kernel. Pointers are those of the device: `points` data, weights, and values of each variable; of each warp the numbers
/// that [`long_numbers`] counts, one kind after the other: cost, size, points, gradient, and Hessian from the diagonal on.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct LongJob {
    pub(super) data: *const u8,
    pub(super) weights: *const f64,
    pub(super) variables: *const f64,
    pub(super) found: *mut f64,
    pub(super) parameters: [f64; MOST_PARAMETERS],
    pub(super) points: u32,
    /// Of all blocks.
    pub(super) warps: u32,
}

/// The numbers that a warp finds for so many parameters that are not held.
pub(super) const fn long_numbers(free: usize) -> usize {
    3 + free + free * (free + 1) / 2
}

/// The text of the kernel; `None` as for [`super::kernel::finishing`].
pub(super) fn summing(program: &Program, variant: DoubleVariant) -> Option<String> {
    let mut kernel = Kernel::new(program, variant)?;
    if kernel.parameters > MOST_PARAMETERS {
        return None;
    }
    kernel.write_sums()?;
    Some(kernel.text.module("fit", size_of::<LongJob>()))
}

impl Kernel<'_> {
    fn write_sums(&mut self) -> Option<()> {
        let data = self.pointer(offset_of!(LongJob, data));
        let weights = self.pointer(offset_of!(LongJob, weights));
        let first = self.pointer(offset_of!(LongJob, variables));
        let found = self.pointer(offset_of!(LongJob, found));
        let points = self.word(offset_of!(LongJob, points));
        let warps = self.word(offset_of!(LongJob, warps));
        let variables = self.rows(first, points);
        let parameters: Vec<Real> = (0..self.parameters)
            .map(|j| {
                let to = self.text.real();
                let field = offset_of!(LongJob, parameters) + 8 * j;
                line!(self.text, "ld.param.f64 {to}, [job+{field}];");
                to
            })
            .collect();
        let text = &mut self.text;
        let [thread, block, threads, lane, step, warp] = [(); 6].map(|()| text.word());
        line!(text, "mov.u32 {thread}, %tid.x;");
        line!(text, "mov.u32 {block}, %ctaid.x;");
        line!(text, "mov.u32 {threads}, %ntid.x;");
        line!(text, "mad.lo.u32 {lane}, {block}, {threads}, {thread};");
        line!(text, "mul.lo.u32 {step}, {warps}, 32;");
        line!(text, "shr.u32 {warp}, {lane}, 5;");
        let place = Place { fit: warp, count: warps, points, lane, step, data, weights, variables };
        let sums = self.visit(&place, &parameters)?;
        let text = &mut self.text;
        let (within, end, others) = (text.word(), text.label(), text.truth());
        line!(text, "and.b32 {within}, {thread}, 31;");
        line!(text, "setp.ne.u32 {others}, {within}, 0;");
        text.go_if(others, end);
        let numbers: Vec<Real> = [sums.cost, sums.size, sums.seen]
            .into_iter()
            .chain(sums.gradient)
            .chain(sums.hessian)
            .collect();
        self.put(&place, &numbers, found, 0);
        self.text.place(end);
        line!(self.text, "ret;");
        Some(())
    }
}
