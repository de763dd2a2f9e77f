//! `esdp slurm weights`: node weights by learned speed.

use super::options::{DriverOptions, time};
use crate::output;
use anyhow::Context;
use clap::Args;
use esdp::live::Mode;
use esdp_cluster::slurm::driver::{Picture, SlurmDriver, drive};
use esdp_cluster::slurm::weights::{self, Change, WeightLimits};
use esdp_report::table::TextTable;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const DETAILS: &str = "\
Slurm takes the nodes with the lowest weights first. Learns from finished jobs as `esdp slurm watch`
does, and shows the weights that nodes should have: their own, and more for those that are slow.
Nothing is changed without --apply, which needs the rights of an operator. The weights that were
there before are kept in DIR/weights.json; a restart of slurmctld goes back to slurm.conf too.

Examples:
  esdp slurm weights                      what would change now
  esdp slurm weights --apply --every 60s  keeps watching, and moves weights at most once per minute
  esdp slurm weights --restore            puts back what was there before";

/// Gives nodes weights by learned speed, so that Slurm takes fast ones first.
#[derive(Debug, Args)]
#[command(after_long_help = DETAILS, after_help = "See `esdp slurm weights --help` for examples.")]
pub(super) struct WeightsArgs {
    #[command(flatten)]
    options: DriverOptions,
    /// Change weights
    #[arg(long)]
    apply: bool,
    /// Only show what would change; this is the default
    #[arg(long, conflicts_with = "apply")]
    dry_run: bool,
    /// Go on, and do it again after this time
    #[arg(long, value_name = "TIME", value_parser = time)]
    every: Option<Duration>,
    /// The most that a weight moves at once
    #[arg(long, value_name = "N", default_value_t = WeightLimits::default().step)]
    step: u64,
    /// The most that a weight differs from the site's own
    #[arg(long, value_name = "N", default_value_t = WeightLimits::default().most)]
    most: u64,
    /// Restore the weights that were there before
    #[arg(long, conflicts_with_all = ["apply", "every"])]
    restore: bool,
}

pub(super) fn run(args: &WeightsArgs) -> anyhow::Result<()> {
    let file = args.options.data.join("weights.json");
    if args.restore {
        return restore(args, &file);
    }
    let plan = Plan { file, apply: args.apply, limits: WeightLimits { step: args.step, most: args.most } };
    let every = args.every;
    let mut due = Instant::now();
    args.options.serve(Mode::Observe, move |slurm, client, settings| {
        drive(slurm, client, settings, |driver, picture| {
            if Instant::now() >= due {
                plan.carry_out(driver, picture).map_err(|error| format!("{error:#}"))?;
                due = Instant::now() + every.unwrap_or_default();
            }
            Ok(every.is_some())
        })
    })
}

struct Plan {
    file: PathBuf,
    apply: bool,
    limits: WeightLimits,
}

impl Plan {
    fn carry_out(&self, driver: &SlurmDriver<'_>, picture: &Picture) -> anyhow::Result<()> {
        let mut saved = weights::saved(&self.file).with_context(|| self.file.display().to_string())?;
        let view = driver.core().view()?;
        let changes = weights::plan(&picture.nodes, &view.servers, &saved, self.limits);
        output::print(&table(&changes, self.apply))?;
        if self.apply && changes.iter().any(|change| change.from != change.to) {
            weights::save(&self.file, &mut saved, &picture.nodes)
                .with_context(|| self.file.display().to_string())?;
            let said = weights::apply(driver.slurm(), &changes)?;
            if !said.is_empty() {
                output::note(&format!("Slurm says: {said}"));
            }
        }
        Ok(())
    }
}

fn table(changes: &[Change], apply: bool) -> String {
    let mut table = TextTable::new(&["node", "speed", "weight", if apply { "new" } else { "would be" }]);
    for change in changes {
        let speed = change.factor.map_or_else(|| "?".to_owned(), |factor| format!("{factor:.2}"));
        table.row([change.node.clone(), speed, change.from.to_string(), change.to.to_string()]);
    }
    table.render() + "\n"
}

fn restore(args: &WeightsArgs, file: &std::path::Path) -> anyhow::Result<()> {
    let saved = weights::saved(file).with_context(|| file.display().to_string())?;
    if saved.is_empty() {
        return output::print("nothing was changed, so there is nothing to put back\n");
    }
    let slurm = args.options.cluster.probe()?;
    let changes = weights::restoration(&slurm.nodes()?, &saved);
    output::print(&table(&changes, true))?;
    let said = weights::apply(&slurm, &changes)?;
    if !said.is_empty() {
        anyhow::bail!("Slurm says: {said}; {} is kept", file.display());
    }
    std::fs::remove_file(file).with_context(|| file.display().to_string())
}
