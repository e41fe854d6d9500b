//! The marks in the texts of kernels ([`Specialization`]).

use fit_gpu_kernel::Specialization;

/// The text of a kernel with these numbers in the place of its marks.
pub(crate) fn specialized(text: &str, constants: &Specialization) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match replaced(line, constants) {
            Some(other) => out.push_str(&other),
            None => out.push_str(line),
        }
    }
    out
}

/// What a line becomes if it has a mark that is to be replaced.
fn replaced(line: &str, constants: &Specialization) -> Option<String> {
    let (before, mark) = line.split_once("//@")?;
    if before.trim().is_empty() {
        // For fits of more threads than so many.
        let (lanes, instruction) = mark.split_once(' ')?;
        let more = lanes.parse::<usize>().ok()? < constants.lanes;
        return more.then(|| instruction.to_owned());
    }
    let number = match mark.trim_end() {
        "width" => constants.width,
        "height" => constants.height,
        "shift" => constants.lanes.ilog2() as usize,
        "row" => constants.row,
        "fit" => constants.fit,
        _ => return None,
    };
    let (instruction, _) = before.trim_end().rsplit_once(' ')?;
    Some(format!("{instruction} {number};\n"))
}

#[cfg(test)]
mod tests {
    use fit_gpu_kernel::KERNELS;
    use fit_gpu_ptx::ptx;

    use super::*;

    /// Proves that marks become numbers and instructions, and that nothing else changes.
    #[test]
    fn marks_are_replaced() {
        let text = "mov.u32 %r1, 9; //@width\n\tmov.u32 %r2, 0; //@shift\n//@4 shfl %r3;\n//@1 shfl %r4;\n//@point %r5\n";
        let four = specialized(text, &Specialization::new(20, 12, 4));
        assert_eq!(
            four,
            "mov.u32 %r1, 20;\n\tmov.u32 %r2, 2;\n//@4 shfl %r3;\nshfl %r4;\n//@point %r5\n"
        );
        let one = specialized(text, &Specialization::new(20, 12, 1));
        assert!(one.contains("//@4 shfl") && one.contains("//@1 shfl"), "{one}");
    }

    /// Proves that every kernel that is told its window has all marks, and that none is left; others have none.
    #[test]
    fn kernels_have_marks() {
        for kernel in KERNELS {
            let text = ptx(kernel.name).expect("every kernel is embedded");
            let all = ["//@width", "//@height", "//@shift", "//@row", "//@fit"];
            let Some(constants) = kernel.specialization(fit_core::Size::new(20, 12), false, true)
            else {
                assert!(!text.contains("//@"), "{}", kernel.name);
                continue;
            };
            for mark in all {
                assert!(text.contains(mark), "{}: {mark}", kernel.name);
            }
            assert!(text.contains("//@16 shfl"), "{}", kernel.name);
            let text = specialized(&text, &Specialization { lanes: 32, ..constants });
            assert!(!text.contains("//@"), "{}", kernel.name);
        }
    }
}
