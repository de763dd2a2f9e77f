//! Memory does not grow with the rows: 300,000 rows made on the fly, counted in what the summary holds.

use esdp_trace::summary::TraceSummary;
use esdp_trace::{Format, Import, Ledger, Source};
use std::io::{BufReader, Read};

/// Rows of `batch_task` without end, from a counter.
struct Rows {
    next: u64,
    rows: u64,
    buffer: Vec<u8>,
    at: usize,
}

impl Rows {
    fn new(rows: u64) -> Self {
        Self { next: 0, rows, buffer: Vec::new(), at: 0 }
    }
}

impl Read for Rows {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.buffer.len() && self.next < self.rows {
            let n = self.next;
            self.next += 1;
            let (start, cpu, memory) = (1 + n / 20 % 3600, 50 + 50 * (n % 2), 1 + n % 7);
            self.buffer = format!(
                "M1,{},j_{},1,Terminated,{start},{},{cpu}.0,0.{memory}\n",
                1 + n % 9,
                n / 3,
                start + n % 90
            )
            .into_bytes();
            self.at = 0;
        }
        let length = out.len().min(self.buffer.len() - self.at);
        out[..length].copy_from_slice(&self.buffer[self.at..self.at + length]);
        self.at += length;
        Ok(length)
    }
}

fn held(rows: u64) -> (usize, TraceSummary) {
    let (mut ledger, mut summary) = (Ledger::new(false), TraceSummary::default());
    let input = BufReader::new(Rows::new(rows));
    Import::open(input, Some(Format::AlibabaTasks)).unwrap().stream(&mut ledger, &mut summary).unwrap();
    assert_eq!(ledger.rows(), rows);
    (summary.held(), summary)
}

#[test]
fn what_is_held_does_not_grow_with_the_rows() {
    let (_, mut summary) = held(300_000);
    let tasks = summary.finish().tasks.unwrap();
    assert_eq!((tasks.count, tasks.distinct_requests, tasks.jobs.count), (300_000, 14, 100_000));
    // Beyond the window of jobs the count of what is held stands still.
    let window = esdp_trace::summary::WINDOW;
    let (some, more) = (held(3 * window as u64 + 90_000).0, held(3 * window as u64 + 300_000).0);
    assert_eq!(some, more);
    assert!(some <= window + 14 + 256 * (15 + 1), "{some}");
}
