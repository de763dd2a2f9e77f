//! `esdp slurm doctor`: what a cluster needs, with the exact lines, and how to go back.

use super::options::ClusterOptions;
use crate::output;
use clap::Args;
use esdp_cluster::slurm::doctor::{DoctorVerdict, Examined, Finding};
use esdp_cluster::slurm::lua;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// Says what a cluster needs for each of the commands, and how to go back; changes nothing.
#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    cluster: ClusterOptions,
    /// Print job_submit.lua for the partition, and nothing else
    #[arg(long)]
    print_lua: bool,
    /// The file of `esdp slurm run --wake`, for job_submit.lua; an absolute path
    #[arg(long, value_name = "FILE", requires = "print_lua")]
    wake: Option<PathBuf>,
}

pub(super) fn run(args: &DoctorArgs) -> anyhow::Result<()> {
    let partition = &args.cluster.partition;
    if args.print_lua {
        if let Some(wake) = args.wake.as_ref().filter(|wake| !wake.is_absolute()) {
            anyhow::bail!(
                "--wake {}: expected an absolute path, since slurmctld writes to it",
                wake.display()
            );
        }
        return output::print(&lua::script(std::slice::from_ref(partition), args.wake.as_deref()));
    }
    let slurm = args.cluster.probe()?;
    // The owner of our own process, without another library for it.
    let user = std::fs::metadata("/proc/self").map_or(0, |file| file.uid());
    let findings = Examined::of(&slurm, partition, user)?.findings(partition);
    let mut text =
        format!("ok      Slurm {} answers; read and controlled by {}\n", slurm.version, slurm.ways());
    findings.iter().for_each(|finding| text.push_str(&shown(finding)));
    output::print(&text)
}

fn shown(finding: &Finding) -> String {
    let word = match finding.verdict {
        DoctorVerdict::Fine => "ok    ",
        DoctorVerdict::Note => "note  ",
        DoctorVerdict::Change => "change",
    };
    let mut text = format!("{word}  {}\n", finding.found);
    finding.change.iter().for_each(|line| text.push_str(&format!("          {line}\n")));
    if let Some(back) = &finding.back {
        text.push_str(&format!("        to go back: {back}\n"));
    }
    text
}
