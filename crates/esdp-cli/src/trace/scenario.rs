//! `esdp trace scenario`: a scenario for `esdp run` from a trace.

use super::input::InputArgs;
use crate::files;
use crate::output;
use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use esdp_report::table::percent;
use esdp_trace::plan::{Window, slot_for};
use esdp_trace::scenario::{Draft, Edges, Plan};
use esdp_trace::summary::TraceSummary;
use std::path::PathBuf;

const DETAILS: &str = r#"The ports are the most frequent request vectors, the arrivals those of the
trace in their real order, the servers machines drawn from the machine table (give it among the
files), and the capacities what these machines have together, times one factor for all devices: by
default the one with which mean demand for the scarcest device is --contention times what there is
of it.
Requests are in whole units, rounded up; units and names stand in comments of the file.

Edges, where the request fits the machine in any case:
  probability  each port and server with --probability, as in the paper
  fit          everywhere
  domain       in --groups failure domains, drawn for every port
  kind         on --groups kinds of machine (GPU models), drawn for every port

The files are read twice. Everything that is drawn depends on --seed alone.

Examples:
  esdp trace scenario machine_meta.csv batch_task.csv -o real.toml && esdp run real.toml
  esdp trace scenario tasks.csv -o real.toml --rho 0.9 --slot 5 --slots 4000
  esdp trace scenario openb_node_list.csv openb_pod_list.csv -o gpu.toml --slot 600 --edges kind
  esdp trace scenario jobs.swf.gz -o swf.toml --ports 6 --servers 16 --units cpu=4"#;

/// Builds a scenario from a trace, the way the paper makes its own.
#[derive(Debug, Args)]
#[command(
    after_long_help = DETAILS,
    after_help = "See `esdp trace scenario --help` for the rules and examples."
)]
pub(super) struct ScenarioArgs {
    #[command(flatten)]
    input: InputArgs,
    /// The scenario to write; `-` is standard output
    // Its name of old stays, for scripts.
    #[arg(short, long, alias = "output", value_name = "SCENARIO.toml")]
    out: PathBuf,
    /// How many job types: the most frequent request vectors
    #[arg(long, value_name = "N", default_value_t = 8)]
    ports: usize,
    /// How many servers, drawn from the machine table
    #[arg(long, value_name = "N", default_value_t = 40)]
    servers: usize,
    /// The length of a slot [default: such that every other port has a job, at least 1]
    #[arg(long, value_name = "SECONDS")]
    slot: Option<f64>,
    /// The most slots
    #[arg(long, value_name = "T", default_value_t = 2000)]
    slots: u64,
    /// Where to start, after the first arrival
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0)]
    start: f64,
    /// The probability with which an arrival is kept: the paper's thinning
    #[arg(long, value_name = "P", default_value_t = 1.0)]
    rho: f64,
    /// The most jobs of a port in a slot
    #[arg(long, value_name = "N", default_value_t = 1)]
    most: u32,
    /// Which server may run which port
    #[arg(long, value_enum, default_value_t = Rule::Probability)]
    edges: Rule,
    /// The probability of a channel
    #[arg(long, value_name = "P", default_value_t = 0.1)]
    probability: f64,
    /// How many failure domains or kinds a port may use
    #[arg(long, value_name = "N", default_value_t = 3)]
    groups: usize,
    /// Devices to model [default: every device the tasks request]
    #[arg(long, value_name = "cpu,mem,gpu", value_delimiter = ',')]
    devices: Vec<String>,
    /// The size of a unit [default: the smallest request]
    #[arg(long, value_name = "cpu=0.5", value_delimiter = ',', value_parser = size)]
    units: Vec<(String, f64)>,
    /// Mean demand as a multiple of the scarcest capacity
    #[arg(long, value_name = "X", default_value_t = 2.0)]
    contention: f64,
    /// Capacities as a multiple of the servers' own, in place of --contention
    #[arg(long, value_name = "X", conflicts_with = "contention")]
    scale: Option<f64>,
    /// The seed of everything that is drawn
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

/// Which server may run which port.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Rule {
    Probability,
    Fit,
    Domain,
    Kind,
}

fn size(text: &str) -> Result<(String, f64), String> {
    let pair = text
        .split_once('=')
        .and_then(|(name, value)| Some((name.trim().to_owned(), value.trim().parse().ok()?)));
    pair.ok_or_else(|| "expected a device and a number, such as cpu=0.5".to_owned())
}

pub(super) fn run(args: &ScenarioArgs) -> anyhow::Result<()> {
    let mut summary = TraceSummary::default();
    args.input.read(&mut summary)?;
    let (first, last) = summary.arrivals().unwrap_or_default();
    let slot = args.slot.unwrap_or_else(|| slot_for(summary.count(), last - first, args.ports));
    let plan = plan(args, slot);
    let mut draft = Draft::new(plan, &mut summary).with_context(|| args.input.names())?;
    args.input.read(&mut draft)?;
    let built = draft.finish().with_context(|| args.input.names())?;
    if built.jobs == 0 {
        bail!(
            "{}: no task of the {} most frequent requests arrives in {} slots of {slot} s from {} s on; the \
             trace has {} \
             tasks in {} s: try a longer --slot or another --start",
            args.input.names(),
            args.ports,
            args.slots,
            args.start,
            summary.count(),
            last - first
        );
    }
    if args.out.is_dir() {
        bail!("{}: it is a directory, expected a file", args.out.display());
    }
    files::write(&args.out, &built.toml)?;
    let capacities =
        built.capacities.iter().map(|(name, units)| format!("{name} {units}")).collect::<Vec<_>>();
    let busy = built.busy.iter().map(|share| format!("{share:.2}")).collect::<Vec<_>>();
    let text = format!(
        "{}: {} slots of {slot} s with {} jobs, {} ports ({} of the tasks), {} servers, {} channels\n\
         capacities in units: {}\nslots with a job, by port: {}\nRun it: esdp run {}\n",
        args.out.display(),
        built.slots,
        built.jobs,
        built.ports,
        percent(built.covered),
        built.servers,
        built.channels,
        capacities.join(", "),
        busy.join(" "),
        args.out.display()
    );
    output::print_about(&[&args.out], &text)
}

fn plan(args: &ScenarioArgs, slot: f64) -> Plan {
    let stem = args.out.file_stem().filter(|_| !files::is_stdout(&args.out));
    let name = stem.map_or_else(|| "trace".to_owned(), |stem| stem.to_string_lossy().into_owned());
    let edges = match args.edges {
        Rule::Probability => Edges::Probability(args.probability),
        Rule::Fit => Edges::Fit,
        Rule::Domain => Edges::Domain(args.groups),
        Rule::Kind => Edges::Kind(args.groups),
    };
    let &ScenarioArgs { ports, servers, slots, start, seed, .. } = args;
    Plan {
        window: Window { ports, servers, slot, slots, start, seed },
        rho: args.rho,
        most: args.most,
        edges,
        devices: args.devices.clone(),
        units: args.units.clone(),
        contention: args.contention,
        scale: args.scale,
        name,
    }
}
