//! The kernels' logic on the host. A fit is compiled anew for each tile, method, shape and number of lanes, and with all its passes in it:
//! what is compiled here is what has lines of its own, and sizes that are numbers at run time are many.

mod double;
mod fits;
mod operations;
mod rows;
mod turns;

/// Runs a test in a thread of its own: all passes of a fit are inlined, and without optimization their numbers in many lanes take
/// more than the 2 MB that a test has.
fn on_a_large_stack(test: fn()) {
    let thread = std::thread::Builder::new().stack_size(32 << 20).spawn(test);
    let result = thread.expect("a thread").join();
    if let Err(panic) = result {
        std::panic::resume_unwind(panic);
    }
}
