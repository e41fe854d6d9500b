//! The four lanes that every processor has. Elsewhere they are arrays, which there is nothing to compare with.
#![cfg(target_arch = "x86_64")]

use fit_cpu::internals::register_operations;

/// Proves that on x86-64, whose own registers stand for the arrays of other processors, each operation gives the same bits:
/// of ordinary numbers, of those at the ends of their range, and of what is no number.
#[test]
fn registers_give_the_bits_of_arrays() {
    let ends = [
        0.0,
        -0.0,
        1.0,
        f32::MIN_POSITIVE,
        f32::from_bits(1),
        f32::MAX,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        -1e-38,
        60.0,
        7.7459,
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u32
    };
    let mut wrong = std::collections::BTreeMap::new();
    for round in 0..200_000 {
        let mut number = || match next() % 4 {
            0 => ends[next() as usize % ends.len()],
            1 => f32::from_bits(next()),
            // Some that are alike.
            2 => (next() % 5) as f32 - 2.0,
            _ => (next() as f32 / u32::MAX as f32 - 0.5) * 20.0,
        };
        let mut numbers = [[0.0; 16]; 3];
        for lanes in &mut numbers {
            lanes[..4].fill_with(|| number().into());
        }
        let all = register_operations(&numbers, next() as i32 % 60, false);
        let [registers, arrays] = [0, 1].map(|of| &all[of].lanes);
        assert!(round > 0 || registers.len() > 40);
        for ((name, here), (_, there)) in registers.iter().zip(arrays) {
            // One NaN is as good as another.
            let same =
                |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
            if !here.iter().zip(there).all(same) {
                wrong.entry(*name).or_insert((numbers, here.clone(), there.clone()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
