//! Runs the real binary.

use std::io::Write;
use std::process::{Command, Stdio};

/// What a run of `esdp` gave.
#[derive(Debug)]
pub struct Run {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// Runs `esdp` with arguments and a standard input.
pub fn esdp(args: &[&str], stdin: &[u8]) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_esdp"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    // It may refuse its arguments and leave without reading.
    let _ = child.stdin.take().expect("piped").write_all(stdin);
    let output = child.wait_with_output().expect("the binary ends");
    let text = |bytes| String::from_utf8(bytes).expect("esdp writes UTF-8");
    Run { code: output.status.code().expect("no signal"), stdout: text(output.stdout), stderr: text(output.stderr) }
}

impl Run {
    /// Exit code 0, nothing on standard error, and the result.
    pub fn fine(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""), "{}", self.stdout);
        self.stdout
    }

    /// Exit code 2, nothing on standard output, and one sentence.
    pub fn refused(self) -> String {
        assert_eq!((self.code, self.stdout.as_str()), (2, ""), "{}", self.stderr);
        let sentence = self.stderr.strip_prefix("error: ").expect("it starts with `error: `");
        let sentence = sentence.strip_suffix('\n').expect("it ends its line");
        assert!(!sentence.contains('\n'), "more than one line: {sentence}");
        assert!(!sentence.contains("internal error"), "{sentence}");
        sentence.to_owned()
    }
}
