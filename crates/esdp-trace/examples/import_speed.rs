//! How fast ten million rows of `batch_task` are read, and in how much memory.
//!
//! ```sh
//! cargo run --release -p esdp-trace --example import_speed            # ten million rows
//! cargo run --release -p esdp-trace --example import_speed -- 1000000
//! ```
//!
//! Rows come from a reader that makes them on the fly from a block, so no disk is measured. Four passes: the
//! reader alone, the importer, the importer with its summary, and the `csv` crate's `ByteRecord` with the
//! same numbers parsed, as the rival.

#![allow(clippy::print_stdout, reason = "an example that prints what it measured")]

use esdp_trace::summary::TraceSummary;
use esdp_trace::{BUFFER, Format, Ignore, Import, Ledger, Sink, Source};
use std::hint::black_box;
use std::io::{BufRead, BufReader, Read};
use std::time::Instant;

/// Rows of a block; jobs and times go on from block to block by what is written in front.
const BLOCK: u64 = 1000;

/// `rows` rows of `batch_task`, made block by block.
struct Rows {
    next: u64,
    rows: u64,
    block: Vec<u8>,
    at: usize,
}

impl Rows {
    fn new(rows: u64) -> Self {
        Self { next: 0, rows, block: Vec::new(), at: 0 }
    }

    /// Digits without the formatting machinery, which would be slower than what is measured.
    fn put(&mut self, mut number: u64) {
        let mut digits = [0; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.block.extend_from_slice(&digits[at..]);
    }

    fn fill(&mut self) {
        self.block.clear();
        self.at = 0;
        for n in self.next..(self.next + BLOCK).min(self.rows) {
            let start = 1 + n / 15;
            self.block.extend_from_slice(b"R2_1,");
            self.put(1 + n * 7 % 90);
            self.block.extend_from_slice(b",j_");
            self.put(n / 4);
            self.block.extend_from_slice(b",1,Terminated,");
            self.put(start);
            self.block.push(b',');
            self.put(start + n * 13 % 300);
            self.block.extend_from_slice(if n % 3 == 0 { b",50.0,0." } else { b",100.0,0." });
            self.put(20 + n * 31 % 40);
            self.block.push(b'\n');
        }
        self.next = (self.next + BLOCK).min(self.rows);
    }
}

impl Read for Rows {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.block.len() && self.next < self.rows {
            self.fill();
        }
        let length = out.len().min(self.block.len() - self.at);
        out[..length].copy_from_slice(&self.block[self.at..self.at + length]);
        self.at += length;
        Ok(length)
    }
}

fn input(rows: u64) -> BufReader<Rows> {
    BufReader::with_capacity(BUFFER, Rows::new(rows))
}

fn import(rows: u64, sink: &mut dyn Sink) {
    let mut ledger = Ledger::new(false);
    let read = Import::open(input(rows), Some(Format::AlibabaTasks));
    read.and_then(|mut import| import.stream(&mut ledger, sink)).expect("the rows are valid");
    assert_eq!(ledger.rows(), rows);
}

/// What the rival does: split, and parse the numbers that we parse.
fn with_csv(rows: u64) {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(input(rows));
    let mut record = csv::ByteRecord::new();
    let mut sum = 0.0;
    while reader.read_byte_record(&mut record).expect("the rows are valid") {
        for column in [1, 5, 6, 7, 8] {
            let text = std::str::from_utf8(&record[column]).expect("UTF-8");
            sum += text.parse::<f64>().expect("a number");
        }
        black_box(&record[0]);
        black_box(&record[2]);
    }
    black_box(sum);
}

/// The most memory the process ever had, in MB, where the system tells.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.map_or_else(|| "not known".to_owned(), |kilobytes| format!("{:.1} MB", kilobytes / 1024.0))
}

fn main() {
    let rows = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(10_000_000);
    let measure = |name: &str, work: &mut dyn FnMut()| {
        let started = Instant::now();
        work();
        let seconds = started.elapsed().as_secs_f64();
        println!(
            "{name:<28} {:>6.2} M rows/s   {seconds:>6.2} s   peak {}",
            rows as f64 / seconds / 1e6,
            peak()
        );
    };
    println!("{rows} rows of batch_task");
    measure("making the rows", &mut || {
        let mut input = input(rows);
        loop {
            let length = input.fill_buf().expect("it cannot fail").len();
            if length == 0 {
                break;
            }
            input.consume(length);
        }
    });
    measure("import", &mut || import(rows, &mut Ignore));
    measure("csv crate, ByteRecord", &mut || with_csv(rows));
    let mut summary = TraceSummary::default();
    measure("import and summary", &mut || import(rows, &mut summary));
    let tasks = summary.finish().tasks.expect("there are tasks");
    println!("{} tasks, {} jobs, {} request vectors", tasks.count, tasks.jobs.count, tasks.distinct_requests);
}
