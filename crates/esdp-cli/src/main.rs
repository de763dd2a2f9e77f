//! The binary `esdp`; see the library for everything.

use std::process::ExitCode;

fn main() -> ExitCode {
    esdp_cli::main(std::env::args_os())
}
