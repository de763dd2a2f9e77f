//! Runs the real binary.

use std::io::Write;
use std::path::Path;
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
#[allow(dead_code)] // tests of Slurm run it in a directory of their own
pub fn esdp(args: &[&str], stdin: &[u8]) -> Run {
    esdp_in(Path::new("."), args, stdin)
}

/// The same in a directory of its own.
pub fn esdp_in(directory: &Path, args: &[&str], stdin: &[u8]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_esdp"));
    command.args(args).current_dir(directory);
    run(command, stdin)
}

/// The same with other environment variables.
#[allow(dead_code)] // not every command reads one
pub fn esdp_with(variables: &[(&str, &str)], args: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_esdp"));
    command.args(args).envs(variables.iter().copied());
    run(command, b"")
}

fn run(mut command: Command, stdin: &[u8]) -> Run {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    // It may refuse its arguments and leave without reading.
    let _ = child.stdin.take().expect("piped").write_all(stdin);
    let output = child.wait_with_output().expect("the binary ends");
    let text = |bytes| String::from_utf8(bytes).expect("esdp writes UTF-8");
    Run {
        code: output.status.code().expect("no signal"),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

impl Run {
    /// Exit code 0, nothing on standard error, and the result.
    #[allow(dead_code)] // demos tell their progress on standard error
    pub fn fine(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""), "{}", self.stdout);
        self.stdout
    }

    /// Exit code 2, nothing on standard output, and one sentence.
    #[allow(dead_code)] // not every command has something to refuse
    pub fn refused(self) -> String {
        assert_eq!((self.code, self.stdout.as_str()), (2, ""), "{}", self.stderr);
        let sentence = self.stderr.strip_prefix("error: ").expect("it starts with `error: `");
        let sentence = sentence.strip_suffix('\n').expect("it ends its line");
        assert!(!sentence.contains('\n'), "more than one line: {sentence}");
        assert!(!sentence.contains("internal error"), "{sentence}");
        sentence.to_owned()
    }
}

/// A CSV text without its columns of times, which differ from run to run.
#[allow(dead_code)] // not every test has times
pub fn untimed_csv(text: &str) -> String {
    let header: Vec<&str> = text.lines().next().expect("a header").split(',').collect();
    let times = header.iter().filter(|name| name.starts_with("decision_us")).count();
    assert!(header[..header.len() - times].iter().all(|name| !name.contains("_us")), "times are last");
    let untimed = |line: &str| {
        // From the right: a field before may hold a comma in quotes.
        let end = line.rmatch_indices(',').nth(times - 1).expect("enough columns").0;
        line[..end].to_owned() + "\n"
    };
    text.lines().map(untimed).collect()
}

/// A JSON text without its times.
#[allow(dead_code)]
pub fn untimed_json(text: &str) -> String {
    fn strip(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(map) => {
                map.retain(|key, _| !key.starts_with("decision_us"));
                map.values_mut().for_each(strip);
            }
            serde_json::Value::Array(list) => list.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut value = serde_json::from_str(text).expect("JSON");
    strip(&mut value);
    value.to_string()
}

/// Waits until something holds, for at most a minute.
#[allow(dead_code)]
pub fn wait_for(mut holds: impl FnMut() -> bool) {
    let started = std::time::Instant::now();
    while !holds() {
        assert!(started.elapsed().as_secs() < 60, "it never happened");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// Sends a signal: `-INT` is Ctrl-C.
#[allow(dead_code)]
pub fn signal(child: &std::process::Child, signal: &str) {
    let status = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill runs");
    assert!(status.success());
}
