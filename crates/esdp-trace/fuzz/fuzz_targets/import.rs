//! Any bytes, in any format: the first byte chooses it, or leaves it to be found by content.

#![no_main]

use esdp_trace::FORMATS;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Some((first, bytes)) = data.split_first() {
        esdp_trace::hostile::hold(FORMATS.get(*first as usize % (FORMATS.len() + 1)).copied(), bytes);
    }
});
