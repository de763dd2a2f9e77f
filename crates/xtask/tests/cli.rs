//! The real binary: help and exit codes, as a script would meet them.

use std::process::{Command, Output};

fn xtask(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask")).args(args).output().unwrap()
}

#[test]
fn help_has_examples_and_succeeds() {
    for args in [&["--help"][..], &["help"], &["test", "--help"]] {
        let output = xtask(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("Examples:\n"), "{args:?} printed {text}");
    }
}

#[test]
fn nonsense_is_one_sentence_and_exit_code_2() {
    for args in [&[][..], &["tset"], &["test", "everything"], &["test", "-x"]] {
        let output = xtask(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty(), "{args:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(text.lines().count(), 1, "{args:?} printed {text}");
    }
}
