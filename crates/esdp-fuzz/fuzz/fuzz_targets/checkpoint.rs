//! See `esdp_fuzz::checkpoint`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| esdp_fuzz::checkpoint::hold(data));
