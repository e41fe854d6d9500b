#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| spotfit_fuzz::read("columns", file));
