//! `esdp slurm prefer`: speed classes as node features, and a script that lets jobs prefer them.

use super::options::DriverOptions;
use crate::output;
use clap::Args;
use esdp::live::Mode;
use esdp_cluster::slurm::driver::drive;
use esdp_cluster::slurm::prefer::{self, Features};
use esdp_report::table::TextTable;

const DETAILS: &str = "\
For each rule of the configuration, nodes that are fast for its jobs get a feature, `esdp_train` for the
rule `train`, and the printed job_submit.lua adds `--prefer=esdp_train` to its jobs. Nothing is held: Slurm
decides as before, and takes those nodes if they are free. Nothing is changed without --apply.

Examples:
  esdp slurm prefer --config ports.toml                 what would change now
  esdp slurm prefer --config ports.toml --print-lua > job_submit.lua
  esdp slurm prefer --config ports.toml --apply
  esdp slurm prefer --restore                           takes our features off";

/// Lets jobs prefer the nodes that are fast for them; nothing is held.
#[derive(Debug, Args)]
#[command(after_long_help = DETAILS, after_help = "See `esdp slurm prefer --help` for examples.")]
pub(super) struct PreferArgs {
    #[command(flatten)]
    options: DriverOptions,
    /// Change the features of nodes
    #[arg(long)]
    apply: bool,
    /// Print job_submit.lua for the rules, and nothing else
    #[arg(long, conflicts_with = "apply")]
    print_lua: bool,
    /// Remove our features from all nodes
    #[arg(long, conflicts_with_all = ["apply", "print_lua"])]
    restore: bool,
}

pub(super) fn run(args: &PreferArgs) -> anyhow::Result<()> {
    let config = args.options.rules()?;
    if args.restore {
        let slurm = args.options.cluster.probe()?;
        let changes = prefer::restoration(&slurm.nodes()?);
        output::print(&table(&changes))?;
        let said = slurm.command(&prefer::lines(&changes))?;
        return if said.is_empty() { Ok(()) } else { Err(anyhow::anyhow!("Slurm says: {said}")) };
    }
    if config.port.is_empty() {
        anyhow::bail!("there are no rules for job types: give a file with [[port]] entries with --config");
    }
    if args.print_lua {
        return output::print(&prefer::script(&config));
    }
    let apply = args.apply;
    args.options.serve(Mode::Observe, move |slurm, client, settings| {
        drive(slurm, client, settings, |driver, picture| {
            let view = driver.core().view().map_err(|error| error.to_string())?;
            let changes = prefer::plan(&config, &picture.nodes, &view.channels);
            output::print(&table(&changes)).map_err(|error| format!("{error:#}"))?;
            if apply {
                let said =
                    driver.slurm().command(&prefer::lines(&changes)).map_err(|error| error.to_string())?;
                if !said.is_empty() {
                    return Err(format!("Slurm says: {said}"));
                }
            }
            Ok(false)
        })
    })
}

fn table(changes: &[Features]) -> String {
    let mut table = TextTable::new(&["node", "features", "new"]);
    for change in changes {
        table.row([change.node.clone(), change.from.join(","), change.to.join(",")]);
    }
    table.render()
}
