//! `esdp completions` and `esdp man`: what shells and `man` know of the command line.

use crate::{files, output};
use anyhow::Context;
use clap::{Args, Command};
use clap_complete::Shell;
use std::path::PathBuf;

/// Prints what makes a shell complete commands and flags.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esdp completions bash > ~/.local/share/bash-completion/completions/esdp
  esdp completions zsh > \"${fpath[1]}/_esdp\"
  esdp completions fish > ~/.config/fish/completions/esdp.fish")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the manual page, or writes one for every command.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esdp man | man -l -
  esdp man ~/.local/share/man/man1")]
pub struct ManArgs {
    /// The directory for a page per command
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

/// Runs `esdp completions`.
///
/// # Errors
/// When standard output cannot be written.
pub fn run_completions(args: &CompletionsArgs, mut command: Command) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "esdp", &mut script);
    output::print(&String::from_utf8(script).context("the script is not text")?)
}

/// Runs `esdp man`.
///
/// # Errors
/// When the pages cannot be written.
pub fn run_man(args: &ManArgs, command: Command) -> anyhow::Result<()> {
    match &args.directory {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page).context("the page cannot be made")?;
            output::print(&String::from_utf8(page).context("the page is not text")?)
        }
        Some(directory) => {
            files::directory(directory)?;
            clap_mangen::generate_to(command, directory).with_context(|| files::cannot(directory))?;
            output::print(&format!("One page per command in {}\n", directory.display()))
        }
    }
}
