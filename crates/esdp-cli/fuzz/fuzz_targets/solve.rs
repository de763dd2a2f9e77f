//! Any bytes as a problem of `esdp solve`, with every solver; the first byte chooses the budget.

#![no_main]

#[path = "../../tests/hold/mod.rs"]
mod hold;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Some((first, bytes)) = data.split_first() {
        hold::check(bytes, [None, Some(0), Some(1), Some(100)][*first as usize % 4]);
    }
});
