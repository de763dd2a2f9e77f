//! Gavel: measured training throughput by job type and GPU kind, alone and in pairs that share GPUs.
//!
//! A throughput of 0 says that a job cannot run there, or that a pair cannot share: an answer, not an error.

use crate::event::{Sink, Speed};
use crate::ledger::{Ledger, Reason};
use crate::table::{Row, Rows, Stop};

pub(crate) struct Isolated;

impl Rows for Isolated {
    const COLUMNS: &'static [&'static str] = &["worker", "job", "sf", "thr"];
    const REQUIRED: usize = 4;

    fn row(&mut self, row: &Row<'_>, ledger: &mut Ledger, sink: &mut dyn Sink) -> Result<(), Stop> {
        let (server, job) = (row.text(0)?, row.text(1)?);
        let (devices, value) = (row.count(ledger, 2)?, row.time(3, Reason::NoSpeed)?);
        sink.speed(&Speed { job, server, kind: server, devices, beside: "", at: None, value });
        Ok(())
    }
}

pub(crate) struct Colocated;

impl Rows for Colocated {
    const COLUMNS: &'static [&'static str] = &["worker", "job1", "sf1", "job2", "sf2", "t1", "t2"];
    const REQUIRED: usize = 7;

    fn row(&mut self, row: &Row<'_>, ledger: &mut Ledger, sink: &mut dyn Sink) -> Result<(), Stop> {
        let (server, first, second) = (row.text(0)?, row.text(1)?, row.text(3)?);
        let devices = [row.count(ledger, 2)?, row.count(ledger, 4)?];
        let values = [row.time(5, Reason::NoSpeed)?, row.time(6, Reason::NoSpeed)?];
        let pair = [(first, second), (second, first)];
        for ((job, beside), (devices, value)) in pair.into_iter().zip(devices.into_iter().zip(values)) {
            sink.speed(&Speed { job, server, kind: server, devices, beside, at: None, value });
        }
        Ok(())
    }
}
