//! `antiphon lead`: leads the session of a recorded command's terminal.

use std::ffi::OsString;

use clap::Args;

use crate::failure::Outcome;

#[derive(Debug, Args)]
pub(crate) struct LeadArgs {
    #[arg(required = true, last = true)]
    command: Vec<OsString>,
}

pub(crate) fn run(args: &LeadArgs) -> Outcome {
    antiphon_recorder::lead(&args.command);
    Outcome::Done
}
