//! A target for each format: the same text, compiled under its name.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| spotfit_fuzz::read(env!("CARGO_BIN_NAME"), file));
