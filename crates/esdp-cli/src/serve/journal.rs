//! `esdp journal`: what a service has kept, read without it.

use crate::output::{self, OutputFormat};
use clap::{Args, Subcommand};
use esdp::live::DecidedStart;
use esdp::policy::PolicySpec;
use esdp_serve::clock::utc;
use esdp_serve::offline::{self, LostJob, LostOutcome, LostSlot, Repaired};
use esdp_serve::settings::DEFAULT_DATA;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Reads a service's journal: shows, verifies, exports or repairs it.
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
    /// Check everything as a start does: exit code 0 exactly if `esdp serve` starts without a warning
    Verify {
        #[command(flatten)]
        data: Data,
        /// How to print what was found
        #[arg(long, value_enum, default_value_t)]
        format: OutputFormat,
    },
    /// Write what is sound to a new directory, and list what is lost; the old one stays as it is
    Repair {
        #[command(flatten)]
        data: Data,
        /// The last event to keep [default: the last one up to which everything is sound]
        #[arg(long, value_name = "N")]
        to: Option<u64>,
        /// The new data directory
        #[arg(long, value_name = "NEWDIR")]
        out: PathBuf,
        /// The policy of the data, if its note is damaged
        #[arg(long, value_name = "NAME")]
        policy: Option<PolicySpec>,
        /// The seed of that policy
        #[arg(long, requires = "policy", default_value_t = 0)]
        seed: u64,
        /// How to print what is lost
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
        Action::Repair { data, to, out, policy, seed, format } => {
            let policy = policy.as_ref().map(|policy| (policy, *seed));
            let repaired = offline::repair(&data.data, *to, policy, out)?;
            output::print(&match format {
                OutputFormat::Json => serde_json::to_string(&repaired)? + "\n",
                _ => table(&repaired, out),
            })
        }
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
            lines.push_str(&format!("{:>10}  {}  {event}\n", entry.sequence, utc(frame.at)));
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

/// What was repaired and what is lost, one line for each.
fn table(repaired: &Repaired, out: &Path) -> String {
    let Repaired { to, why, acknowledged, unreadable, slots, jobs, outcomes, others } = repaired;
    let mut lines = format!("{}: the journal up to event {to} of {acknowledged}\n", out.display());
    why.iter().for_each(|why| lines.push_str(&format!("why       {why}\n")));
    for (first, last) in unreadable {
        lines.push_str(&format!("gone      events {first} to {last}, which cannot be read\n"));
    }
    for LostSlot { slot, key, starts } in slots {
        let key = key.as_ref().map_or_else(|| "key unknown".to_owned(), |key| format!("key {key:?}"));
        lines.push_str(&format!("slot      {slot}, {key}: {}\n", started(starts.as_deref())));
    }
    jobs.iter().for_each(|LostJob { job, what }| lines.push_str(&format!("job       {job:?} {what}\n")));
    for LostOutcome { event, report } in outcomes {
        let report = serde_json::to_string(report).unwrap_or_default();
        lines.push_str(&format!("outcome   event {event}: {report}\n"));
    }
    others.iter().for_each(|(kind, count)| lines.push_str(&format!("other     {count} x {kind}\n")));
    lines
        + &format!(
            "lost: {} slots, {} changes of jobs, {} outcomes, {} other events that can be read\n",
            slots.len(),
            jobs.len(),
            outcomes.len(),
            others.values().sum::<u64>()
        )
}

fn started(starts: Option<&[DecidedStart]>) -> String {
    let Some(starts) = starts else { return "its answer cannot be read".to_owned() };
    let tasks = |start: &DecidedStart| -> Vec<String> {
        start.tasks.iter().map(|tasks| format!("{} on {}", tasks.count, tasks.server)).collect()
    };
    let one =
        |start: &DecidedStart| format!("{:?} as {} ({})", start.job, start.ticket, tasks(start).join(", "));
    match starts {
        [] => "nothing started".to_owned(),
        starts => starts.iter().map(one).collect::<Vec<_>>().join("; "),
    }
}
