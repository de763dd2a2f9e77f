//! The commands that compute and end: what they print, write and refuse. One program, since linking one for
//! every command takes longer than running it; `cargo test -p esdp --test commands sweep::` runs the
//! tests of one.

mod bench;
mod first_scenario;
mod oracle;
mod provenance;
mod replay;
mod reproduce;
mod results;
mod run;
mod scenario;
mod scenario_keys;
mod solve;
mod solve_extremes;
mod sweep;
mod trace;
#[path = "../util/mod.rs"]
mod util;
