//! `antiphon completions`: what a shell needs to complete our commands.

use clap::{Args, CommandFactory as _, ValueEnum};
use clap_complete::{Shell, generate};
use clap_complete_nushell::Nushell;

use crate::cli::Cli;
use crate::failure::Outcome;
use crate::terminal;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  antiphon completions bash > ~/.local/share/bash-completion/completions/antiphon
  antiphon completions zsh > ~/.zfunc/_antiphon        with ~/.zfunc in $fpath, before compinit
  antiphon completions fish > ~/.config/fish/completions/antiphon.fish
  antiphon completions nushell > ~/.config/nushell/antiphon.nu        then `use antiphon.nu *`")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: CompletedShell,
}

/// A shell whose completions are known.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum CompletedShell {
    Bash,
    Zsh,
    Fish,
    Nushell,
}

pub(crate) fn run(args: &CompletionsArgs) -> anyhow::Result<Outcome> {
    let mut command = Cli::command();
    let mut script = Vec::new();
    let name = command.get_name().to_owned();
    match args.shell {
        CompletedShell::Bash => generate(Shell::Bash, &mut command, name, &mut script),
        CompletedShell::Zsh => generate(Shell::Zsh, &mut command, name, &mut script),
        CompletedShell::Fish => generate(Shell::Fish, &mut command, name, &mut script),
        CompletedShell::Nushell => generate(Nushell, &mut command, name, &mut script),
    }
    terminal::document(&String::from_utf8(script)?)?;
    Ok(Outcome::Done)
}
