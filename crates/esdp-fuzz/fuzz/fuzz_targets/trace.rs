//! See `esdp_fuzz::trace`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| esdp_fuzz::trace::hold(data));
