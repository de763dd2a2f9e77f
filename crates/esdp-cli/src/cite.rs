//! `esdp cite`: how to cite the software and the paper.

use crate::{output, provenance};
use clap::{Args, ValueEnum};

const TITLE: &str = "esdp: a scheduler that learns how fast your machines really are";

/// The article, as in `CITATION.cff`.
const PAPER: &str = "@article{zhao2023learning,
  author  = {Zhao, Hailiang and Deng, Shuiguang and Chen, Feiyi and Yin, Jianwei and Dustdar, Schahram
             and Zomaya, Albert Y.},
  title   = {Learning to Schedule Multi-Server Jobs With Fluctuated Processing Speeds},
  journal = {IEEE Transactions on Parallel and Distributed Systems},
  year    = {2023},
  doi     = {10.1109/TPDS.2022.3215947},
  eprint  = {2204.04371},
  archivePrefix = {arXiv},
}
";

/// Prints how to cite this version of esdp and the paper it implements
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esdp cite >> references.bib
  esdp cite --format text")]
pub(crate) struct CiteArgs {
    /// How to print them
    #[arg(long, value_enum, default_value_t)]
    format: CiteFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum CiteFormat {
    /// Two entries for a bibliography of LaTeX
    #[default]
    Bibtex,
    /// For people
    Text,
}

/// Runs the command.
pub(crate) fn run(args: &CiteArgs) -> anyhow::Result<()> {
    output::print(&match args.format {
        CiteFormat::Bibtex => bibtex(),
        CiteFormat::Text => text(),
    })
}

fn bibtex() -> String {
    let year = provenance::BUILD.year().map(|year| format!("  year    = {{{year}}},\n")).unwrap_or_default();
    format!(
        "@software{{esdp,\n  author  = {{{{The esdp authors}}}},\n  title   = {{{{{TITLE}}}}},\n  version = \
         {{{}}},\n{year}  url     = {{{}}},\n}}\n\n{PAPER}",
        provenance::VERSION,
        env!("CARGO_PKG_REPOSITORY"),
    )
}

fn text() -> String {
    let year = provenance::BUILD.year().map(|year| format!(" ({year})")).unwrap_or_default();
    format!(
        "\
The esdp authors{year}. {TITLE}.
Version {}. {}

H. Zhao, S. Deng, F. Chen, J. Yin, S. Dustdar, A. Y. Zomaya (2023).
Learning to Schedule Multi-Server Jobs With Fluctuated Processing Speeds.
IEEE Transactions on Parallel and Distributed Systems.
https://doi.org/10.1109/TPDS.2022.3215947, arXiv:2204.04371
",
        provenance::VERSION,
        env!("CARGO_PKG_REPOSITORY"),
    )
}
