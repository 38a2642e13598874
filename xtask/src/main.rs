//! The chores of this repository: `cargo xtask <chore>`.
//!
//! A chore is a module beside this file with a `run` function, and a row of [`CHORES`].

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a chore talks to the person at the terminal, and shows nothing that was recorded"
)]

mod counting;
mod formats;
mod growth;
mod library;
mod recording;
mod samples;
mod schemas;
mod shapes;
mod small;
mod startup;
mod talking;
mod tidy;
mod torture;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

/// The exit codes are those of the binary: 1 the answer is no, 2 usage, 4 failed.
type Outcome = Result<ExitCode, Box<dyn Error>>;

struct Chore {
    name: &'static str,
    about: &'static str,
    run: fn(&Path) -> Outcome,
}

// A new chore: its module above, and its row here.
const CHORES: &[Chore] = &[
    Chore {
        name: "tidy",
        about: "check the rules of this repository that no other tool checks",
        run: tidy::run,
    },
    Chore { name: "samples", about: "seal the drafts of the samples", run: samples::run },
    Chore {
        name: "schemas",
        about: "write the JSON Schemas of all documents, and their TypeScript types",
        run: schemas::run,
    },
    Chore {
        name: "formats",
        about: "write the table of formats into the README",
        run: formats::run,
    },
    Chore {
        name: "counting",
        about: "measure `stats` beside its floor and other counters",
        run: counting::run,
    },
    Chore {
        name: "growth",
        about: "measure how the cost of a library grows with its bytes and its sessions",
        run: growth::run,
    },
    Chore {
        name: "library",
        about: "measure keeping, counting and searching beside grep and agentsview",
        run: library::run,
    },
    Chore {
        name: "recording",
        about: "measure what an agent feels of being recorded",
        run: recording::run,
    },
    Chore {
        name: "shapes",
        about: "measure large sessions and full folders beside what is wanted",
        run: shapes::run,
    },
    Chore {
        name: "small",
        about: "measure keeping and listing many small sessions",
        run: small::run,
    },
    Chore {
        name: "startup",
        about: "time the start of the release binary, and weigh it",
        run: startup::run,
    },
    Chore {
        name: "talking",
        about: "measure what the runtime of agents costs beside its models",
        run: talking::run,
    },
    Chore {
        name: "torture",
        about: "kill, cut and flip what keeps sessions, and count what is lost",
        run: torture::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let chore = match arguments.as_slice() {
        [name] => CHORES.iter().find(|chore| chore.name == name),
        _ => None,
    };
    let Some(chore) = chore else {
        return usage();
    };
    // The chores belong to this checkout, wherever they are called from.
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = package.parent().unwrap_or(package);
    (chore.run)(root).unwrap_or_else(|error| {
        eprintln!("{}: {error}", chore.name);
        ExitCode::from(4)
    })
}

fn usage() -> ExitCode {
    eprintln!("usage: cargo xtask <chore>\n");
    for chore in CHORES {
        eprintln!("  {:<10} {}", chore.name, chore.about);
    }
    ExitCode::from(2)
}
