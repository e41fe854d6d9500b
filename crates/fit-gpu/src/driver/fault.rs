//! Calls that fail because a test wants them to.

use std::cell::Cell;

use crate::GpuError;

thread_local! {
    /// How many calls of this thread go well before one that fails.
    static BEFORE: Cell<Option<usize>> = const { Cell::new(None) };
}

/// What a call fails with, if it is its turn.
pub(super) fn fault(call: &'static str) -> Option<GpuError> {
    let before = BEFORE.get()?;
    BEFORE.set(before.checked_sub(1));
    (before == 0).then(|| GpuError::Driver { call, message: "a test".to_owned() })
}

/// Does something again and again, each time with another call of the driver by this thread that fails, until all go well. Looks after
/// what is left each time.
pub fn each_fault<S, T>(
    state: &mut S,
    deed: impl Fn(&mut S) -> Result<T, GpuError>,
    look: impl Fn(&S, &str),
) {
    for before in 0.. {
        BEFORE.set(Some(before));
        let done = deed(state);
        let all_well = BEFORE.replace(None).is_some();
        let told = format!("call {before}: {:?}", done.as_ref().err());
        look(state, &told);
        if all_well {
            assert!(done.is_ok(), "{told}");
            return;
        }
        println!("{told}");
    }
}
