//! Where events come from: an input in some format, or the generator.

use crate::error::TraceError;
use crate::event::Sink;
use crate::formats::Format;
use crate::input;
use crate::ledger::Ledger;
use crate::sniff::{self, sniff};
use std::io::BufRead;

/// A trace: something that tells its events to a sink, once.
pub trait Source {
    /// Tells all events, in the order of the trace, and enters every row in the ledger.
    ///
    /// # Errors
    /// When the input cannot be read, is of another format, or has a dirty row where none is tolerated.
    fn stream(&mut self, ledger: &mut Ledger, sink: &mut dyn Sink) -> Result<(), TraceError>;
}

/// An input whose format is known.
pub struct Import<'r> {
    input: Box<dyn BufRead + 'r>,
    format: Format,
}

impl<'r> Import<'r> {
    /// Opens an input, plain or gzip. Its format is found by its first lines unless it is told.
    ///
    /// # Errors
    /// When the start cannot be read, or looks like no known format.
    pub fn open(input: impl BufRead + 'r, format: Option<Format>) -> Result<Self, TraceError> {
        let input = input::plain(input)?;
        if let Some(format) = format {
            return Ok(Self { input, format });
        }
        let (start, input) = input::peek(input, sniff::START)?;
        Ok(Self { format: sniff(&start)?, input })
    }

    /// The format it is read in.
    pub fn format(&self) -> Format {
        self.format
    }
}

impl Source for Import<'_> {
    fn stream(&mut self, ledger: &mut Ledger, sink: &mut dyn Sink) -> Result<(), TraceError> {
        self.format.read(self.input.as_mut(), ledger, sink)
    }
}
