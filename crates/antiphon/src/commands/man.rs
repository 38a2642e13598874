//! `antiphon man`: the manual pages, made from the help of the commands.

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Command, CommandFactory as _};
use clap_mangen::Man;

use crate::cli::Cli;
use crate::failure::Outcome;
use crate::terminal;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  antiphon man -o ~/.local/share/man/man1    then `man antiphon-search`
  antiphon man | man -l -                    only the main page")]
pub(crate) struct ManArgs {
    /// The folder to write to, one page for each command; without it the main page is printed
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &ManArgs) -> anyhow::Result<Outcome> {
    // `help` would have a page for each command once more.
    let mut command = Cli::command().disable_help_subcommand(true);
    // Gives each command its full name.
    command.build();
    let Some(folder) = &args.output else {
        terminal::document(&page(command)?)?;
        return Ok(Outcome::Done);
    };
    let cannot_write = || format!("cannot write to `{}`", folder.display());
    fs::create_dir_all(folder).with_context(cannot_write)?;
    let mut left = vec![command];
    while let Some(command) = left.pop() {
        left.extend(command.get_subcommands().filter(|it| !it.is_hide_set()).cloned());
        let name = command.get_display_name().unwrap_or(command.get_name());
        let path = folder.join(format!("{name}.1"));
        fs::write(path, page(command)?).with_context(cannot_write)?;
    }
    Ok(Outcome::Done)
}

/// A page, in ASCII: not every formatter expects UTF-8.
fn page(command: Command) -> anyhow::Result<String> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    let mut text = String::new();
    for letter in String::from_utf8(page)?.chars() {
        match letter.is_ascii() {
            true => text.push(letter),
            false => text.push_str(&format!("\\[u{:04X}]", u32::from(letter))),
        }
    }
    Ok(text)
}
