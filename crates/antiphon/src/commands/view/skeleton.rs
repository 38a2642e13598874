//! `view skeleton`: columns of numbers, for programs.

use antiphon_views::{SkeletonOptions, skeleton};
use clap::Args;
use std::path::PathBuf;

use crate::failure::{Outcome, UserError};
use crate::opened::Opened;
use crate::price_table;
use crate::terminal;

#[derive(Debug, Args)]
pub(crate) struct SkeletonArgs {
    /// The session
    session: PathBuf,
    /// Only what came after this many events
    #[arg(long, value_name = "N", default_value_t = 0)]
    from: usize,
}

pub(crate) fn run(args: &SkeletonArgs) -> anyhow::Result<Outcome> {
    let opened = Opened::read(&args.session)?;
    let events = opened.session.len();
    if args.from > events {
        return Err(UserError::usage(format!("the session has only {events} events")).into());
    }
    let prices = price_table::load(None)?;
    let session_id = &opened.id();
    // A file that is read once has one epoch.
    let options = SkeletonOptions { session_id, epoch: 0, from: args.from, prices: &prices };
    let bytes = skeleton(&opened.reading(), &options)?;
    if !terminal::bytes(&bytes)? {
        let what = "a skeleton is binary, and is not printed to a terminal";
        return Err(UserError::usage(what).hint("redirect it to a file or a program").into());
    }
    Ok(opened.outcome())
}
