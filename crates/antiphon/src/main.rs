//! The command line: parse, dispatch, exit.

mod cli;
mod commands;
mod cost_note;
mod failure;
mod fresh;
mod opened;
mod price_table;
mod range;
mod redaction;
mod shell;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

use crate::failure::Outcome;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    let ended = commands::run(cli);
    fresh::report_left();
    match ended {
        Ok(outcome) => outcome.into(),
        Err(error) if failure::is_broken_pipe(&error) => Outcome::Done.into(),
        Err(error) => failure::report(&error),
    }
}
