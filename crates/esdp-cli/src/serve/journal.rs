//! `esdp journal`: what a service has kept, read without it.

use crate::output::{self, OutputFormat};
use clap::{Args, Subcommand};
use esdp_serve::offline;
use esdp_serve::settings::DEFAULT_DATA;
use std::io::Write;
use std::path::PathBuf;

/// Reads a service's journal: shows, verifies or exports it.
#[derive(Debug, Args)]
pub struct JournalArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show events, the oldest first
    Show {
        #[command(flatten)]
        data: Data,
        /// The first event to show
        #[arg(long, value_name = "N", default_value_t = 1)]
        from: u64,
        /// The most events to show
        #[arg(long, value_name = "N", default_value_t = 100)]
        limit: u64,
    },
    /// Check checksums, gaps, and snapshots against the events before them
    Verify {
        #[command(flatten)]
        data: Data,
        /// How to print what was found
        #[arg(long, value_enum, default_value_t)]
        format: OutputFormat,
    },
    /// Print every event as one line of JSON
    Export {
        #[command(flatten)]
        data: Data,
        /// The first event to print
        #[arg(long, value_name = "N", default_value_t = 1)]
        from: u64,
        /// Print the whole state after the last event instead
        #[arg(long)]
        state: bool,
    },
}

#[derive(Debug, Args)]
struct Data {
    /// The service's data directory
    #[arg(long, value_name = "DIR", default_value = DEFAULT_DATA)]
    data: PathBuf,
}

pub(crate) fn run(args: &JournalArgs) -> anyhow::Result<()> {
    match &args.action {
        Action::Show { data, from, limit } => show(data, *from, *limit),
        Action::Verify { data, format } => verify(data, *format),
        Action::Export { data, state: true, .. } => {
            let state = offline::snapshot(&data.data)?.unwrap_or_default();
            output::print(&state)
        }
        Action::Export { data, from, .. } => export(data, *from),
    }
}

fn show(data: &Data, from: u64, limit: u64) -> anyhow::Result<()> {
    let mut lines = String::new();
    let mut left = limit;
    offline::entries(&data.data, from, &mut |frame, entry| {
        if left > 0 {
            left -= 1;
            let event = serde_json::to_string(&entry.event)?;
            lines.push_str(&format!("{:>10}  {}  {event}\n", entry.sequence, time(frame.at)));
        }
        Ok(())
    })?;
    output::print(&lines)
}

fn export(data: &Data, from: u64) -> anyhow::Result<()> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let done = offline::entries(&data.data, from, &mut |_, entry| {
        serde_json::to_writer(&mut out, &entry)?;
        out.write_all(b"\n")
    });
    done?;
    Ok(out.flush()?)
}

fn verify(data: &Data, format: OutputFormat) -> anyhow::Result<()> {
    let found = offline::verify(&data.data)?;
    output::print(&match format {
        OutputFormat::Json => serde_json::to_string(&found)? + "\n",
        _ => format!(
            "{} events in {} frames, {} to {}; slot {}; {} answers and {} snapshots compared: all is well\n",
            found.events, found.frames, found.first, found.last, found.slot, found.answers, found.snapshots
        ),
    })
}

/// Milliseconds since 1970 as a date and a time, UTC.
pub(super) fn time(millis: u64) -> String {
    let (seconds, days) = (millis / 1000 % 86_400, (millis / 86_400_000) as i64);
    // The civil calendar from the number of days, after Howard Hinnant.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    #[test]
    fn times_are_those_of_the_calendar() {
        assert_eq!(super::time(0), "1970-01-01T00:00:00Z");
        assert_eq!(super::time(951_782_400_000), "2000-02-29T00:00:00Z");
        assert_eq!(super::time(1_794_876_605_999), "2026-11-17T00:50:05Z");
    }
}
