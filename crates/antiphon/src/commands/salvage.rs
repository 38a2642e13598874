//! `antiphon salvage`: a clean copy of a damaged log.

use antiphon_journal::{Options, salvage};

use crate::cli;
use crate::failure::Outcome;
use crate::opened::find;
use crate::terminal;

pub(crate) fn run(args: &cli::Salvage) -> anyhow::Result<Outcome> {
    let log = find(&args.session)?;
    let options = Options { program: "antiphon salvage".to_owned(), ..Options::default() };
    let found = salvage(&log, &args.output, options)?;
    let path = args.output.display();
    terminal::lines(&format!("{} events written to {path}", found.events))?;
    if found.changed > 0 {
        terminal::complain(&format!(
            "{} of them were changed after they were written; they are marked `salvaged`",
            found.changed
        ));
    }
    if found.lost > 0 {
        terminal::complain(&format!("{} lines could not be read or are missing", found.lost));
    }
    Ok(if found.lost + found.changed > 0 { Outcome::BadInput } else { Outcome::Done })
}
