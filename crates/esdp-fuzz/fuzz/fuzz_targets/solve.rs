//! See `esdp_fuzz::solve`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| esdp_fuzz::solve::hold(data));
