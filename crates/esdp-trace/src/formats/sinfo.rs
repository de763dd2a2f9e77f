//! Slurm's nodes as `sinfo` prints them, with whatever columns were asked for, between blanks, bars or
//! commas.
//!
//! A node needs its name and its processors; memory (MiB), generic resources and the state are read where
//! they are there. A line may stand for several nodes (`gpu[01-04]`), each of which has what the line says. A
//! node that is in several partitions is one machine. `sinfo -N -o '%N|%c|%m|%G|%T'` asks for all that
//! counts.

use crate::error::TraceError;
use crate::event::{CPU, GPU, MEMORY, Machine, Sink};
use crate::formats::gres;
use crate::hostlist;
use crate::ledger::{Ledger, Reason};
use crate::table::{self, Fields, MOST_FIELDS, Row, Stop};
use std::io::BufRead;

/// The columns, by any of their names.
const COLUMNS: [&[&str]; 5] =
    [&["NODELIST", "HOSTNAMES", "NODE", "NODENAME"], &["CPUS"], &["MEMORY"], &["GRES"], &["STATE"]];
const NODES: usize = 0;
const CPUS: usize = 1;
const MEM: usize = 2;
const GRES: usize = 3;
const STATE: usize = 4;

/// Whether a line is the header of `sinfo`: it names nodes and processors.
pub(crate) fn is_header(line: &[u8]) -> bool {
    let mut fields = Fields::default();
    split(line, separator(line), &mut fields);
    let places = places(&fields, line);
    places[NODES].is_some() && places[CPUS].is_some()
}

pub(super) fn read(
    input: &mut dyn BufRead,
    ledger: &mut Ledger,
    sink: &mut dyn Sink,
) -> Result<(), TraceError> {
    let mut header: Option<(u8, Vec<Option<usize>>)> = None;
    let mut fields = Fields::default();
    table::rows(input, ledger, |ledger, number, line| {
        let Some((separator, places)) = &header else {
            if is_header(line) {
                let separator = separator(line);
                split(line, separator, &mut fields);
                header = Some((separator, places(&fields, line)));
                return Err(Stop::NoRow);
            }
            if number > 2 {
                let (missing, column) = ("CPUS", line.len() as u64 + 1);
                let expected = "NODELIST, CPUS, MEMORY, GRES, STATE".to_owned();
                return Err(Stop::Fatal(TraceError::Header { line: number, column, missing, expected }));
            }
            return Err(Stop::NoRow);
        };
        split(line, *separator, &mut fields);
        node(&Row::new(line, &fields, places), ledger, sink)
    })
}

fn node(row: &Row<'_>, ledger: &mut Ledger, sink: &mut dyn Sink) -> Result<(), Stop> {
    let names = row.text(NODES)?;
    if !gres::in_service(row.text(STATE)?) {
        row.fault(ledger, Reason::OutOfService, STATE)?;
        return Ok(());
    }
    // Where a line stands for nodes of several sizes, Slurm tells the least and adds a sign.
    let number = |column: usize| {
        let text = row.text(column)?.trim_end_matches('+');
        let found = text.parse::<f64>().ok().filter(|value| (0.0..=1e12).contains(value));
        found.ok_or_else(|| Stop::Skip(Reason::NoCapacity, row.column(column), row.bytes(column).to_vec()))
    };
    let bad = || Stop::Skip(Reason::NoNumber, row.column(GRES), row.bytes(GRES).to_vec());
    let (gpus, kind) = gres::gpus(row.text(GRES)?).ok_or_else(bad)?;
    let mut capacity = vec![(CPU, number(CPUS)?)];
    if row.has(MEM) {
        capacity.push((MEMORY, number(MEM)? / 1024.0));
    }
    if row.has(GRES) {
        capacity.push((GPU, gpus));
    }
    if names.is_empty() || capacity[0].1 == 0.0 {
        return Err(Stop::Skip(Reason::NoCapacity, row.column(NODES), row.bytes(NODES).to_vec()));
    }
    hostlist::expand(names, |name| {
        sink.machine(&Machine { name, capacity: &capacity, domain: "", kind: &kind })
    });
    Ok(())
}

fn separator(line: &[u8]) -> u8 {
    [b'|', b','].into_iter().find(|mark| memchr::memchr(*mark, line).is_some()).unwrap_or(b' ')
}

/// Fields between marks, or between blanks.
fn split(line: &[u8], separator: u8, fields: &mut Fields) {
    match separator {
        b' ' => fields.split_words(line, MOST_FIELDS),
        mark => drop(fields.split(line, mark)),
    }
}

fn places(fields: &Fields, line: &[u8]) -> Vec<Option<usize>> {
    let is = |field: &[u8], names: &[&str]| {
        names.iter().any(|name| field.trim_ascii().eq_ignore_ascii_case(name.as_bytes()))
    };
    COLUMNS.iter().map(|names| fields.of(line).position(|field| is(field, names))).collect()
}
