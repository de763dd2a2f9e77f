//! See `esdp_fuzz::scenario`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| esdp_fuzz::scenario::hold(data));
