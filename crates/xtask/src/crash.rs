//! `cargo xtask crash`: the crash test of `esdp serve`, as often as one likes.

use crate::Failure;
use crate::cargo::{cargo, run};

/// How often it is killed if nothing else is said.
const TIMES: u64 = 1000;

/// Runs `cargo xtask crash` with the arguments that follow the word `crash`.
pub(crate) fn main(args: &[String]) -> Result<(), Failure> {
    let times = times(args)?;
    let mut command = cargo();
    command.args([
        "test",
        "--locked",
        "--release",
        "--package",
        "esdp-cli",
        "--test",
        "serve_crash",
        "--",
        "--nocapture",
    ]);
    command.env("ESDP_CRASHES", times.to_string());
    println!("killing the service {times} times under load");
    run(command)
}

fn times(args: &[String]) -> Result<u64, Failure> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words[..] {
        [] => Ok(TIMES),
        ["--times", times] => {
            times.parse().map_err(|_| Failure::Usage(format!("`--times {times}`: expected a number")))
        }
        _ => Err(Failure::Usage("usage: cargo xtask crash [--times N]".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        let read = |args: &[&str]| times(&args.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(read(&[]).unwrap(), TIMES);
        assert_eq!(read(&["--times", "7"]).unwrap(), 7);
        assert!(read(&["--times", "x"]).is_err() && read(&["7"]).is_err());
    }
}
