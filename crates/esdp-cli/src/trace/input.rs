//! Files of a trace: opened, read in their format, and what became of their rows.

use crate::progress::Progress;
use anyhow::{Context, bail};
use clap::Args;
use esdp_trace::{BUFFER, Fate, Format, Import, Ledger, Sink, Source};
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The flags of every command that reads traces.
#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// The files, plain or gzip; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The format of all files [default: recognised by their content]
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    from: Option<Format>,
    /// Fail on the first malformed row, with its line and column
    #[arg(long)]
    strict: bool,
    /// No progress on standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// What came by standard input, kept since files are read more than once.
    #[arg(skip)]
    spooled: OnceLock<File>,
}

fn format(text: &str) -> Result<Format, String> {
    text.parse()
}

/// What became of the rows of a file.
#[derive(Debug, Serialize)]
pub(crate) struct Account {
    pub(crate) file: String,
    pub(crate) format: &'static str,
    pub(crate) rows: u64,
    pub(crate) clean: u64,
    pub(crate) repaired: u64,
    pub(crate) skipped: u64,
    pub(crate) set_aside: u64,
    pub(crate) reasons: Vec<Cause>,
}

impl Account {
    /// The file without its folders.
    pub(crate) fn title(&self) -> String {
        Path::new(&self.file).file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// A reason and how often it came.
#[derive(Debug, Serialize)]
pub(crate) struct Cause {
    pub(crate) reason: &'static str,
    pub(crate) words: &'static str,
    pub(crate) rule: &'static str,
    pub(crate) dirty: bool,
    pub(crate) count: u64,
    pub(crate) first_line: u64,
    pub(crate) first_column: u64,
    pub(crate) first_value: String,
}

impl InputArgs {
    /// Files whose formats are found by their content.
    pub(crate) fn of(files: &[PathBuf], strict: bool, quiet: bool) -> Self {
        Self { files: files.to_vec(), from: None, strict, quiet, spooled: OnceLock::new() }
    }

    /// The files without their folders, for a title.
    pub(crate) fn titles(&self) -> String {
        let title = |file: &PathBuf| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.files.iter().map(title).collect::<Vec<_>>().join(", ")
    }

    /// The files in words, for an error.
    pub(crate) fn names(&self) -> String {
        self.files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ")
    }

    /// Reads all files into a sink, one after another.
    ///
    /// # Errors
    /// With the file, the line and the column, the value and what is accepted.
    pub(crate) fn read(&self, sink: &mut dyn Sink) -> anyhow::Result<Vec<Account>> {
        if self.files.iter().filter(|file| file.as_path() == Path::new("-")).count() > 1 {
            bail!("`-` is given twice, but standard input can be read once");
        }
        let sizes = self.files.iter().map(|file| file.metadata().map_or(0, |about| about.len()));
        let progress = Progress::new(sizes.sum(), self.quiet);
        let accounts = self.files.iter().map(|file| {
            progress.message(file.display().to_string());
            self.read_one(file, &progress, sink).with_context(|| file.display().to_string())
        });
        let accounts = accounts.collect();
        progress.finish();
        accounts
    }

    /// Standard input from its start, however often it is asked for.
    fn spooled(&self) -> io::Result<File> {
        if self.spooled.get().is_none() {
            let mut kept = tempfile::tempfile()?;
            io::copy(&mut io::stdin().lock(), &mut kept)?;
            let _ = self.spooled.set(kept);
        }
        let mut file = self.spooled.get().expect("it was set").try_clone()?;
        file.rewind()?;
        Ok(file)
    }

    fn read_one(&self, path: &PathBuf, progress: &Progress, sink: &mut dyn Sink) -> anyhow::Result<Account> {
        let file = if path == Path::new("-") { self.spooled() } else { File::open(path) };
        let file = file.context("cannot be read")?;
        if file.metadata().is_ok_and(|about| about.is_dir()) {
            bail!("it is a directory, expected a file");
        }
        let input = BufReader::with_capacity(BUFFER, Watched { file, progress });
        let mut ledger = Ledger::new(self.strict);
        let mut import = Import::open(input, self.from)?;
        import.stream(&mut ledger, sink)?;
        Ok(account(path.display().to_string(), import.format(), &ledger))
    }
}

fn account(file: String, format: Format, ledger: &Ledger) -> Account {
    let causes = ledger.reasons().map(|(reason, tally)| Cause {
        reason: reason.name(),
        words: reason.words(),
        rule: reason.rule(),
        dirty: matches!(reason.fate(), Fate::Repaired | Fate::Skipped),
        count: tally.count,
        first_line: tally.first.as_ref().map_or(0, |place| place.line),
        first_column: tally.first.as_ref().map_or(0, |place| place.column),
        first_value: tally.first.as_ref().map_or_else(String::new, |place| place.value.clone()),
    });
    Account {
        file,
        format: format.name(),
        rows: ledger.rows(),
        clean: ledger.clean,
        repaired: ledger.repaired,
        skipped: ledger.skipped,
        set_aside: ledger.aside,
        reasons: causes.collect(),
    }
}

/// A file that moves the bar as it is read.
struct Watched<'p> {
    file: File,
    progress: &'p Progress,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.file.read(buffer)?;
        self.progress.advance(length as u64);
        Ok(length)
    }
}
