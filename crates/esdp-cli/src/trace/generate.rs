//! `esdp trace generate`: the trace of our own, as files.

use crate::files::{self, Growing};
use crate::output;
use anyhow::{Context, bail};
use clap::Args;
use esdp_trace::generate::{Generator, InstanceWriter, MachineWriter, TaskWriter, Week};
use esdp_trace::{Ledger, Sink, Source};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

const DETAILS: &str = r#"The trace has the statistics of an hour of Alibaba v2018: request vectors
and their shares, over-dispersed arrivals, durations, instances, speeds that differ within a task.
docs/traces.md says what it has and what it lacks. The layout is that of the hour sample, without a
header:
  arrival, job_name, task_name, duration, plan_cpu, plan_mem, instance_num
The same seed gives the same bytes, and a longer trace starts with a shorter one.

Examples:
  esdp trace generate -o tasks.csv
  esdp trace generate --seed 7 --hours 24 -o day.csv --machines machines.csv
  esdp trace generate --hours 0.5 -o tasks.csv --instances instances.csv
  esdp trace generate --hours 24 -o - | gzip > day.csv.gz

--accounting writes a week of Slurm accounting instead, of jobs that repeat on nodes whose speeds are
hidden, to hold `esdp trace speeds` and `esdp replay` against:
  esdp trace generate --accounting -o week.txt --machines nodes.txt --speeds hidden.csv"#;

/// Writes a generated trace: seeded, of any length, like a real one.
#[derive(Debug, Args)]
#[command(
    after_long_help = DETAILS,
    after_help = "See `esdp trace generate --help` for the layout and examples."
)]
pub(super) struct GenerateArgs {
    /// The seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// How long the trace is [default: 1, and 168 with --accounting]
    #[arg(long, value_name = "HOURS")]
    hours: Option<f64>,
    /// Slurm accounting of repeated jobs on nodes of hidden speeds, in place of tasks
    #[arg(long, conflicts_with = "instances")]
    accounting: bool,
    /// With --accounting: how many nodes
    #[arg(long, value_name = "N", default_value_t = 40, requires = "accounting")]
    #[arg(value_parser = output::whole(5, 2000_usize))]
    nodes: usize,
    /// With --accounting: also the hidden speeds, as a speed table
    #[arg(long, value_name = "FILE", requires = "accounting")]
    speeds: Option<PathBuf>,
    /// The file of tasks to write; `-` is standard output
    // Its name of old stays, for scripts.
    #[arg(short, long, alias = "output", value_name = "FILE")]
    out: PathBuf,
    /// Also a machine table: 400 machines in the layout of `machine_meta`, or the nodes as `sinfo` has them
    #[arg(long, value_name = "FILE")]
    machines: Option<PathBuf>,
    /// Also up to 64 instances of every task
    #[arg(long, value_name = "FILE")]
    instances: Option<PathBuf>,
}

pub(super) fn run(args: &GenerateArgs) -> anyhow::Result<()> {
    let most = esdp_trace::generate::MOST_SECONDS as f64 / 3600.0;
    let hours = args.hours.unwrap_or(if args.accounting { 168.0 } else { 1.0 });
    if !(hours > 0.0 && hours <= most) {
        bail!("--hours {hours}: expected a number above 0, at most {most}");
    }
    let seconds = ((hours * 3600.0).round() as u64).max(1);
    if args.accounting {
        return accounting(args, seconds);
    }
    let generator = Generator { seconds, ..Generator::new(args.seed) };
    let tasks = write(&args.out, generator, TaskWriter::new, TaskWriter::finish)?;
    let mut text = format!("{}: {tasks} tasks in {seconds} s, seed {}\n", args.out.display(), args.seed);
    if let Some(path) = &args.machines {
        let machines =
            write(path, Generator { seconds: 0, ..generator }, MachineWriter::new, MachineWriter::finish)?;
        text += &format!("{}: {machines} machines\n", path.display());
    }
    if let Some(path) = &args.instances {
        let generator = Generator { instances: 64, ..generator };
        let instances = write(path, generator, InstanceWriter::new, InstanceWriter::finish)?;
        text += &format!("{}: {instances} instances\n", path.display());
    }
    let files = [Some(&args.out), args.machines.as_ref(), args.instances.as_ref()];
    output::print_about(&files.into_iter().flatten().map(PathBuf::as_path).collect::<Vec<_>>(), &text)
}

/// Accounting, its machines and their hidden speeds.
fn accounting(args: &GenerateArgs, seconds: u64) -> anyhow::Result<()> {
    let week = Week { seconds, nodes: args.nodes, ..Week::new(args.seed) }.make();
    let (jobs, nodes) = (week.jobs.len(), week.nodes.len());
    let mut text =
        format!("{}: {jobs} jobs in {seconds} s on {nodes} nodes, seed {}\n", args.out.display(), args.seed);
    files::write(&args.out, week.accounting())?;
    for (path, content, what) in
        [(&args.machines, week.machines(), "nodes"), (&args.speeds, week.speeds(), "hidden speeds")]
    {
        if let Some(path) = path {
            files::write(path, content)?;
            text += &format!("{}: {nodes} {what}\n", path.display());
        }
    }
    let files = [Some(&args.out), args.machines.as_ref(), args.speeds.as_ref()];
    output::print_about(&files.into_iter().flatten().map(PathBuf::as_path).collect::<Vec<_>>(), &text)
}

/// Streams a trace into a file, which appears when it is whole; the number of rows.
fn write<W: Sink>(
    path: &Path,
    mut generator: Generator,
    writer: fn(BufWriter<File>) -> W,
    finish: fn(W) -> io::Result<u64>,
) -> anyhow::Result<u64> {
    let open = || -> io::Result<(Growing, BufWriter<File>)> {
        let growing = Growing::create(path)?;
        let handle = growing.handle()?;
        Ok((growing, BufWriter::new(handle)))
    };
    let (growing, handle) = open().with_context(|| files::cannot(path))?;
    let mut sink = writer(handle);
    generator.stream(&mut Ledger::new(true), &mut sink)?;
    let mut rows = 0;
    let written = finish(sink).map(|written| rows = written);
    growing.finish(written).with_context(|| files::cannot(path))?;
    Ok(rows)
}
